"""Links of a live network: properties of each direction, changed, cut and mended."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

import pytest

from longfat import CommandFailed
from longfat.errors import InputError
from longfat.live import LiveHost, Network
from longfat.model.network import LinkImpairments, shape_qdiscs
from longfat.model.network.link_changes import change_lines
from longfat.model.network.tc import Interface
from tests.kernels import KERNELS
from tests.live.conftest import host, two_hosts

MakeNetwork = Callable[..., Network]


def rtt_s(net: Network) -> float:
    return host(net, "h1").ping("h2", count=3, interval=0.2)["min_s"]


def rate_bps(sender: LiveHost, target: str) -> float:
    return sender.iperf3(target, time=3)["receiver_bps"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_direction_has_its_own_properties(kernel: str, make_network: MakeNetwork) -> None:
    net = two_hosts(
        make_network(kernel=kernel),
        rate="40mbit",
        delay="10ms",
        queue="200KB",
        reverse={"rate": 10_000_000, "delay": 0.03},
    )
    wires_s = 98 * 8 / 40e6 + 98 * 8 / 10e6
    assert rtt_s(net) == pytest.approx(0.040 + wires_s, rel=1e-4)
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


@pytest.mark.parametrize("kernel", KERNELS)
def test_first_packets_are_not_delayed(kernel: str, make_network: MakeNetwork) -> None:
    # The kernel's link watch processes a hundred interfaces a second.
    net = make_network(kernel=kernel)
    left, right, switch = net.host("left"), net.host("right"), net.switch("s1")
    net.link(left, right)
    hosts = [net.host(f"h{number}") for number in range(120)]
    for host_ in hosts:
        net.link(host_, switch)
    assert left.ping("right", count=1)["max_s"] < 1e-3
    assert hosts[0].ping("h119", count=1)["max_s"] < 1e-3
    late = net.host("late")
    net.link(late, switch)
    assert late.ping("h60", count=1)["max_s"] < 1e-3


def test_an_mtu_holds_for_both_ends(make_network: MakeNetwork) -> None:
    net = make_network()
    h1, h2 = net.host("h1"), net.host("h2")
    net.link(h1, h2, mtu=9000)
    for one in (h1, h2):
        assert "mtu 9000" in one.run(f"ip link show {one.name}-eth0").stdout
    assert h1.run("ping -c 1 -W 1 -M do -s 8972 h2").returncode == 0
    assert h1.run("ping -c 1 -W 1 -M do -s 8973 h2").returncode == 1


def test_frames_and_offloads_are_a_live_networks_too(make_network: MakeNetwork) -> None:
    net = make_network(frames=True)
    h1, h2 = net.host("h1", offloads="tx off"), net.host("h2", rx_coalescing="20us")
    net.link(h1, h2, delay="1ms")
    assert "gso_max_segs 1 " in h1.run("ip -d link show h1-eth0").stdout
    assert "tx-checksumming: off" in h1.run("ethtool -k h1-eth0").stdout
    assert h2.run("cat /sys/class/net/h2-eth0/gro_flush_timeout").stdout == "20000\n"


def test_a_switch_joins_links_of_one_mtu(make_network: MakeNetwork) -> None:
    net = make_network()
    switch = net.switch("s1")
    net.link(net.host("h1"), switch, mtu=9000)
    net.link(net.host("h2"), switch)
    with pytest.raises(InputError, match="the switch s1 has links of different MTUs"):
        net.run("true")


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_link_is_cut_and_repaired(kernel: str, make_network: MakeNetwork) -> None:
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
    bulk = host(net, "h1").start("iperf3", "h2", time=20)
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
    wires_s = 2 * 98 * 8 / 40e6
    assert rtt_s(net) == pytest.approx(0.020 + wires_s, rel=1e-4)
    link.change(delay="30ms", reverse={"delay": "5ms"})
    assert rtt_s(net) == pytest.approx(0.035 + wires_s, rel=1e-4)
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


def test_single_packets_are_duplicated_corrupted_and_reordered(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), delay="20ms", duplicate="20%", reverse={"duplicate": None})
    h1, link = host(net, "h1"), net.links[1]
    said = h1.run("ping -c 400 -i 0.01 h2").stdout
    (doubled,) = re.findall(r"\+(\d+) duplicates", said)
    assert int(doubled) == pytest.approx(80, abs=30)
    link.change(duplicate=None, corrupt="30%", reverse={"corrupt": None})
    lost = h1.ping("h2", count=400, interval=0.01)["loss"]
    assert lost == pytest.approx(0.3, abs=0.1)
    link.change(corrupt=None)
    assert h1.ping("h2", count=400, interval=0.01)["loss"] == 0
    # One that is not delayed passes three that are.
    link.change(reorder="25%", reverse={"reorder": None, "delay": None})
    answers = re.findall(r"icmp_seq=(\d+)", h1.run("ping -c 400 -i 0.01 h2").stdout)
    numbers = [int(answer) for answer in answers]
    assert sorted(numbers) == list(range(1, 401))
    late = sum(now < before for before, now in itertools.pairwise(numbers))
    assert 40 < late < 120
    with pytest.raises(InputError, match="there is no delay, without which no packet overtakes"):
        link.change(delay=None)


RED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 1"


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_queueing_discipline_decides_who_waits(kernel: str, make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(kernel=kernel), rate="20mbit", delay="10ms", queue="400KB")
    h1, link = host(net, "h1"), net.links[1]

    def loaded_rtt_s() -> float:
        bulk = h1.start("iperf3", "h2", time=6)
        net.sleep(3)
        rtt_s = h1.ping("h2", count=20, interval=0.1)["avg_s"]
        assert bulk.result()["receiver_bps"] == pytest.approx(19e6, rel=0.05)
        return rtt_s

    # 400 KB take 160 ms to send, which is what waits in front of a ping.
    assert 0.1 < loaded_rtt_s() < 0.2
    link.change(queue=None, qdisc=RED)
    shown = net.run("tc -s qdisc show dev s1-eth2").stdout
    assert "qdisc red 3: parent 2:1 limit 400000b min 30000b max 90000b" in shown
    assert loaded_rtt_s() < 0.06
    assert int(re.findall(r"early (\d+)", net.run("tc -s qdisc show dev s1-eth2").stdout)[0]) > 0
    link.change(qdisc="fq_codel")
    # A ping has a queue of its own.
    assert loaded_rtt_s() < 0.03
    link.change(qdisc=None)
    assert 0.02 < loaded_rtt_s() < 0.1  # one bandwidth-delay product, of at least 151 KB


def test_what_tc_refuses_leaves_the_link_as_it_was(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="20mbit", delay="10ms", qdisc="pfifo limit 100")
    link = net.links[1]
    net.build()

    def seen() -> tuple[object, list[str]]:
        shown = [net.run("tc qdisc show").stdout, host(net, "h2").run("tc qdisc show").stdout]
        # Newer kernels draw netem's seed at each change, and newer tcs show it.
        return net.model, [re.sub(" seed [0-9]+", "", text) for text in shown]

    before = seen()
    with pytest.raises(CommandFailed, match='unknown parameter "lmit"'):
        link.change(rate="10mbit", reverse={"qdisc": "pfifo lmit 50"})
    assert seen() == before
    with pytest.raises(InputError, match="there is no queueing discipline 'pfofi'; did you mean"):
        link.change(qdisc="pfofi")
    link.change(qdisc="fq_codel")
    assert "fq_codel" in net.run("tc qdisc show dev s1-eth2").stdout
    assert rtt_s(net) == pytest.approx(0.020 + 2 * 98 * 8 / 20e6, rel=1e-4)


def test_words_that_tc_refuses_are_reported_with_their_link(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="20mbit", qdisc="red lim 5")
    with pytest.raises(InputError, match=r'the qdisc of the link s1 - h2: .*What is "lim"'):
        net.build()


# What changes best shows where a change differs from what is built at once: options that a
# change does not take back, queues that follow a filter, queues that come and go.
SHAPES = [
    LinkImpairments(),
    LinkImpairments(delay_s=0.01, loss=0.1),
    LinkImpairments(delay_s=0.02, corrupt=0.1, duplicate=0.2, reorder=0.3),
    LinkImpairments(rate_bps=10**7),
    LinkImpairments(rate_bps=10**8, delay_s=0.01, corrupt=0.5, queue_bytes=50_000),
    LinkImpairments(rate_bps=10**7, qdisc="pfifo limit 100"),
    LinkImpairments(rate_bps=10**8, qdisc="pfifo limit 200"),
    LinkImpairments(rate_bps=10**6, qdisc="pfifo"),
    LinkImpairments(rate_bps=10**7, delay_s=0.01, qdisc=RED),
    LinkImpairments(rate_bps=10**8, delay_s=0.01, qdisc=RED + " ecn"),
    LinkImpairments(delay_s=0.01, qdisc="fq_codel limit 100"),
    LinkImpairments(qdisc="codel target 1ms"),
    LinkImpairments(qdisc="codel limit 20"),
]


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_change_ends_where_a_new_link_begins(kernel: str, make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(kernel=kernel))

    def built(lines: Sequence[str]) -> list[dict[str, Any]]:
        done = net.run("; ".join(["set -e", *lines, "tc -j qdisc show dev s1-eth2 invisible"]))
        assert done.returncode == 0, (lines, done.stderr)
        qdiscs: list[dict[str, Any]] = json.loads(done.stdout)
        for options in (one["options"] for one in qdiscs):
            # That of netem's random numbers, which newer kernels draw and newer tcs show.
            options.pop("seed", None)
        for options in (one["options"] for one in qdiscs if one["kind"] == "tbf"):
            # The burst does not shrink: what waits below may be as large. tc tells the limit,
            # which does, as the time to send it less the burst.
            burst, lat_s = options.pop("burst"), options.pop("lat") / 1e6
            options["limit"] = round(burst + options["rate"] * lat_s, -2)
        return sorted(qdiscs, key=itemgetter("kind"))

    pairs = list(itertools.permutations(SHAPES, 2))
    for before, after in random.Random(kernel).sample(pairs, 40):
        clear = "tc qdisc del dev s1-eth2 root 2>/dev/null || :"
        was, will = (
            Interface(name="s1-eth2", node="root", qdiscs=shape_qdiscs(shape))
            for shape in (before, after)
        )
        old, new = ([clear, *map(str, end.lines)] for end in (was, will))
        changes = [str(line) for line in change_lines(was, will)]
        assert built([*old, *changes]) == built(new), changes


def test_packets_on_their_way_stay_there(make_network: MakeNetwork) -> None:
    net = two_hosts(make_network(), rate="1mbit", delay="500ms", qdisc="pfifo limit 100")
    link = net.links[1]
    rtt_s(net)
    for change in ({"rate": "2mbit"}, {"loss": "1%"}, {"loss": None}, {"qdisc": "pfifo limit 9"}):
        pinging = host(net, "h1").spawn("ping -c 1 -s 1000 -W 9 h2")
        net.sleep(0.2)
        link.change(**change)
        assert pinging.complete(timeout=20).returncode == 0, change
