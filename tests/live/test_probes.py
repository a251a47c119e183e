"""Probes of a live network: they see what is there, and change nothing (law 3 of the design)."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.errors import InputError
from longfat.live import Network
from longfat.model.probes.queue import COLUMNS as QUEUE_COLUMNS
from longfat.model.probes.queue import the_queue
from tests.kernels import KERNELS
from tests.live.conftest import host, two_hosts

MakeNetwork = Callable[..., Network]
SHAPED = {"rate": "50mbit", "delay": "10ms", "queue": "100KB"}
LOSSY = {**SHAPED, "loss": "0.5%"}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    "properties", [SHAPED, LOSSY, {**LOSSY, "delay": None}], ids=["full", "lossy", "no delay"]
)
@pytest.mark.parametrize("every", ["10ms", "100ms"])
def test_looking_changes_nothing(
    kernel: str, properties: dict[str, Any], every: str, make_network: MakeNetwork
) -> None:
    net = two_hosts(make_network(kernel=kernel), **properties)
    bulk = host(net, "h1").start("iperf3", "h2", time=3)
    net.sleep(2)
    bare = bulk.result().raw

    net = two_hosts(make_network(kernel=kernel), **properties)
    bulk = host(net, "h1").start("iperf3", "h2", time=3)
    with net.probe(queue=net.links[1], tcp=["h1", "h2"], rate="s1-eth2", every=every) as series:
        net.sleep(2)
        assert series.tcp.num_rows > 0  # looked into on the way
    assert bulk.result().raw == bare
    assert max(series.queue["backlog_bytes"].to_pylist()) > 0


def test_series_have_a_row_for_each_tick_in_time_since_boot(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), **SHAPED)
    net.sleep(1)
    started_s = net.clock.now
    with net.probe(queue="s1-eth2", rate="s1-eth2", tcp="h1", every="10ms") as series:
        measured = host(net, "h1").iperf3("h2", time=2)
        halfway = series.queue.num_rows
        net.sleep(1)
    ended_s = net.clock.now
    assert 0 < halfway < series.queue.num_rows
    *ticks, last_s = sorted(set(series.queue["time_s"].to_pylist()))
    assert ticks[0] == pytest.approx(started_s, abs=1e-9)
    assert ticks[1] == pytest.approx(started_s + 0.01, abs=1e-9)
    assert len(ticks) == int((ended_s - started_s) / 0.01 + 1e-6) + 1
    assert last_s == pytest.approx(ended_s, abs=1e-6)
    assert series.queue.schema.names == [column.name for column in QUEUE_COLUMNS]
    assert series.queue.schema.field("backlog_bytes").metadata == {b"unit": b"bytes"}
    sent = series.rate["tx_bytes"].to_pylist()
    assert sent[-1] == pytest.approx(measured["sent_bytes"], rel=0.1)
    rows = [row for row in series.tcp.to_pylist() if row["bytes_acked"] > 1_000_000]
    assert {row["local_address"] for row in rows} == {"10.0.0.1"}
    assert {row["remote_address"] for row in rows} == {"10.0.0.2"}
    assert {row["remote_port"] for row in rows} == {measured.json["start"]["connecting_to"]["port"]}
    assert {row["local_port"] for row in rows} == {
        measured.json["start"]["connected"][0]["local_port"]
    }
    assert rows[-1]["retransmits"] >= measured["retransmits"]
    assert rows[-1]["state"] == "close"  # its last counts, when it had ended


def test_what_is_at_this_moment_is_seen(net: Network) -> None:
    with net.probe(rate="s1-eth1", every="100ms") as series:
        net.sleep("1s")
    assert series.rate.num_rows == 11
    with net.probe(rate="s1-eth1", every="100ms") as series:
        net.sleep("150ms")
    times_s = series.rate["time_s"].to_pylist()
    assert [time_s - times_s[0] for time_s in times_s] == pytest.approx([0, 0.1, 0.15], abs=1e-6)
    with net.probe(rate="s1-eth1", every="100ms") as series:
        pass
    assert series.rate.num_rows == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_that_was_counted_lies_between_the_first_sample_and_the_last(
    kernel: str, make_network: MakeNetwork
) -> None:
    net = two_hosts(make_network(kernel=kernel), rate="50mbit", delay="10ms", queue="60KB")
    h1 = host(net, "h1")
    h1.iperf3("h2", bytes="3MB")  # drops that are not the probe's
    before = dropped(net)
    with net.probe(queue="s1-eth2", tcp="h1", every="1s") as series:
        measured = h1.iperf3("h2", bytes="3MB")
    assert measured["retransmits"] > 0
    rows = the_queue(series.queue).to_pylist()
    assert rows[-1]["drops"] - rows[0]["drops"] == dropped(net) - before > 0
    # The sockets of the test before may still be there.
    rows = series.tcp.to_pylist()
    start_s = rows[0]["time_s"]
    before_of = {row["local_port"]: row["retransmits"] for row in rows if row["time_s"] == start_s}
    resent = {row["local_port"]: row["retransmits"] for row in rows}
    newly = sum(count - before_of.get(port, 0) for port, count in resent.items())
    assert newly == measured["retransmits"]


def dropped(net: Network) -> int:
    text = net.run("tc -s qdisc show dev s1-eth2", check=True).stdout
    return max(int(count) for count in re.findall(r"dropped (\d+)", text))


def test_probes_can_overlap(net: Network) -> None:
    with net.probe(rate="s1-eth1", every="100ms") as outer:
        net.sleep(1)
        with net.probe(rate="s1-eth1", every="10ms") as inner:
            net.sleep(1)
        net.sleep(1)
    assert (outer.rate.num_rows, inner.rate.num_rows) == (31, 101)


def test_a_capture_has_all_packets_and_the_clocks_time(net: Network, tmp_path: Path) -> None:
    h1 = host(net, "h1")
    net.sleep(3)
    with net.probe(capture=["h1-eth0", "s1-eth2"], filter="icmp or udp port 5000") as series:
        before_s = net.clock.now
        h1.run(["bash", "-c", "echo hello > /dev/udp/10.0.0.2/5000"], check=True)
        (row,) = series.packets("h1-eth0").to_pylist()
        h1.run("ping -c 2 h2", check=True)
    assert before_s <= row["time_s"] <= before_s + 0.01
    assert (row["source"], row["target_port"]) == ("10.0.0.1", 5000)
    assert row["payload_bytes"] == 6
    for interface, data in series.captures.items():
        path = tmp_path / interface
        path.write_bytes(data)
        shown = subprocess.run(
            ["tcpdump", "-nr", path], capture_output=True, text=True, check=True
        ).stdout
        assert shown.count("ICMP echo re") == 4, shown
    assert "tcpdump" in net.record.text


def test_series_can_be_read_after_the_end(make_network: MakeNetwork) -> None:
    net = make_network()
    h1 = net.host("h1")
    net.link(h1, net.host("h2"))
    with net.probe(rate="h1-eth0", capture="h1-eth0") as series:
        h1.run("ping -c 1 h2", check=True)
        net.sleep(1)
    net.close()
    assert series.rate.num_rows > 0
    assert len(series.captures["h1-eth0"]) > 24


def test_what_cannot_be_examined_is_reported(net: Network) -> None:
    with pytest.raises(InputError, match=r"no interface 's1-eth9' \(there are: h1-eth0, s1-eth1"):
        net.probe(queue="s1-eth9")
    with pytest.raises(InputError, match="no host 'h7'"):
        net.probe(tcp="h7")
    with pytest.raises(InputError, match="needs a target"):
        net.probe()
    with pytest.raises(InputError, match="minimum interval of a probe is 10us"):
        net.probe(queue="s1-eth1", every="1us")
    with (
        pytest.raises(InputError, match=r"tcpdump .* syntax error"),
        net.probe(capture="h1-eth0", filter="tcp porridge 80"),
    ):
        pass
    with net.probe(rate="s1-eth1") as series:
        pass
    with pytest.raises(InputError, match="use queue="):
        series.queue.num_rows  # noqa: B018
    with pytest.raises(InputError, match="use capture="):
        series.packets("s1-eth1")


def test_an_interface_that_goes_away_ends_the_probe_and_not_the_machine(net: Network) -> None:
    probe = net.probe(rate="h1-eth0")
    with probe:
        net.sleep(1)
        rows = probe.rate.num_rows
        host(net, "h1").run("ip link del h1-eth0", check=True)
        net.sleep(1)
        with pytest.raises(InputError, match=r"ended too early: .*ENODEV"):
            probe.__exit__(None, None, None)
    assert probe.rate.num_rows == rows == 11
    assert net.run("echo well").stdout == "well\n"
    with pytest.raises(InputError, match=r"cannot sample: .*ENODEV"), net.probe(rate="h1-eth0"):
        pass
