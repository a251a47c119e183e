"""Links of a live network: properties of each direction, changed, cut and mended."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from longfat.errors import InputError
from longfat.live import LiveHost, Network
from tests.live.conftest import host, two_hosts

MakeNetwork = Callable[..., Network]


def rtt_s(net: Network) -> float:
    return host(net, "h1").ping("h2", count=3, interval=0.2)["min_s"]


def rate_bps(sender: LiveHost, target: str) -> float:
    return sender.iperf3(target, time=3)["receiver_bps"]


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_each_direction_has_its_own_properties(kernel: str, make_network: MakeNetwork) -> None:
    net = two_hosts(
        make_network(kernel=kernel),
        rate="40mbit",
        delay="10ms",
        queue="200KB",
        reverse={"rate": 10_000_000, "delay": 0.03},
    )
    assert rtt_s(net) == pytest.approx(0.040, rel=1e-3)
    assert rate_bps(host(net, "h1"), "h2") == pytest.approx(38e6, rel=0.05)
    assert rate_bps(host(net, "h2"), "h1") == pytest.approx(9.5e6, rel=0.1)
    shown = net.run("tc qdisc show dev s1-eth2").stdout
    assert "delay 10ms" in shown
    assert "rate 40Mbit" in shown


def test_loss_is_what_was_asked_for(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), loss="20%", reverse={"loss": 0})
    lost = host(net, "h1").ping("h2", count=500, interval=0.01)["loss"]
    assert lost == pytest.approx(0.2, abs=0.06)


def test_jitter_moves_packets(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), delay="50ms", jitter="5ms", reverse={"jitter": None})
    rtt_s(net)  # asks for the address, which would be one long answer among these
    found = host(net, "h1").ping("h2", count=200, interval=0.2)
    assert found["avg_s"] == pytest.approx(0.1, rel=0.02)
    assert found["mdev_s"] == pytest.approx(0.005, rel=0.3)


def test_an_mtu_holds_for_both_ends(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), mtu=9000)
    assert "mtu 9000" in host(net, "h2").run("ip link show h2-eth0").stdout
    assert "mtu 9000" in net.run("ip link show s1-eth2").stdout
    assert host(net, "h1").run("ping -c 1 -W 1 -M do -s 1472 h2").returncode == 0
    assert host(net, "h1").run("ping -c 1 -W 1 -M do -s 1473 h2").returncode == 1


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_a_link_is_cut_and_mended(kernel: str, make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(kernel=kernel), delay="5ms")
    h1, link = host(net, "h1"), net.links[1]
    pinging = h1.spawn("ping -i 0.1 -c 100 h2")
    net.sleep(3)
    link.down()
    assert "state DOWN" in net.run("ip link show s1-eth2").stdout
    net.sleep(4)
    link.up()
    done = pinging.complete(timeout=60)
    received = done.stdout.count("bytes from")
    assert received == pytest.approx(60, abs=12)
    assert h1.run("ping -c 1 -W 1 h2").returncode == 0


def test_a_connection_survives_a_cut_that_is_short_enough(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="10mbit", delay="5ms")
    bulk = host(net, "h1").start_iperf3("h2", time=20)
    net.sleep(5)
    net.links[1].down()
    net.sleep(3)
    net.links[1].up()
    found = bulk.result()
    assert 4e6 < found["receiver_bps"] < 9e6
    assert found["retransmits"] > 0


def test_properties_change_while_packets_are_under_way(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="40mbit", delay="10ms", queue="200KB")
    link = net.links[1]
    assert rtt_s(net) == pytest.approx(0.020, rel=1e-3)
    link.change(delay="30ms", reverse={"delay": "5ms"})
    assert rtt_s(net) == pytest.approx(0.035, rel=1e-3)
    link.change(rate="10mbit")
    assert rate_bps(host(net, "h1"), "h2") == pytest.approx(9.5e6, rel=0.1)
    link.change(rate=None, queue=None)
    assert rate_bps(host(net, "h1"), "h2") > 100e6
    link.change(delay=None)
    assert "netem" not in net.run("tc qdisc show dev s1-eth2").stdout
    assert rtt_s(net) < 1e-3
    link.change(loss="100%")
    assert host(net, "h1").run("ping -c 2 -W 1 h2").returncode == 1
    link.change(loss=None)
    assert host(net, "h1").run("ping -c 2 -W 1 h2").returncode == 0
    with pytest.raises(InputError, match="jitter"):
        link.change(jitter="1ms")  # there is no delay
    with pytest.raises(InputError, match="a link has no 'speed'"):
        link.change(speed=3)
    assert rtt_s(net) < 1e-3


def test_offloads_decide_how_large_packets_are(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="100mbit", delay="5ms")
    h1 = host(net, "h1")
    largest = {}
    for on in (True, False):
        for link in net.links:
            link.offloads(on)
        with net.probe(capture="h2-eth0", filter="tcp and dst host 10.0.0.2") as series:
            h1.iperf3("h2", time=1)
        largest[on] = max(series.packets("h2-eth0")["payload_bytes"].to_pylist())
    assert largest[False] == 1448
    assert largest[True] > 1448
    assert "tcp-segmentation-offload: off" in h1.run("ethtool -k h1-eth0").stdout


def test_a_virtual_hour_of_nothing_costs_nothing(net: Network) -> None:
    net.build()
    before_s = net.clock.now
    net.sleep(3600)
    assert net.clock.now - before_s == pytest.approx(3600, abs=1e-6)
