"""Links in real machines: both kernels take the lines, and do what the properties say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from longfat.errors import InputError, MachineError
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, LinkImpairments, Network, Route, Switch
from longfat.model.network.qdisc import QDISCS
from longfat.model.traffic import Flow, Iperf3, Ping, Transfer
from tests.kernels import KERNELS

PLAIN = LinkImpairments()


def run(network: Network, *flows: Flow, kernel: str, out: Path) -> dict[str, float]:
    case = Case(kernel=kernel, network=network, flows=flows, memory_bytes=512 << 20)
    return dict(run_case(case, name="c", out=out).metrics)


def bulk(name: str = "bulk", **fields: object) -> Iperf3:
    values = {"source": "h1", "target": "h2", "time_s": 4.0, "omit_s": 2.0, **fields}
    return Iperf3(name=name, **values)  # type: ignore[arg-type]


def pair(*, there: LinkImpairments, back: LinkImpairments = PLAIN) -> Network:
    return Network(
        hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
        switches=(Switch(name="s1"),),
        links=(
            Link(a="h1", b="s1"),
            Link(a="s1", b="h2", a_to_b=there, b_to_a=back),
        ),
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_direction_has_its_own_rate_and_delay(kernel: str, tmp_path: Path) -> None:
    network = pair(
        there=LinkImpairments(rate_bps=80_000_000, delay_s=0.010),
        back=LinkImpairments(rate_bps=20_000_000, delay_s=0.005, queue_bytes=100_000),
    )
    metrics = run(
        network,
        Ping(name="rtt", source="h1", target="h2", count=3),
        bulk("there", after="rtt"),
        bulk("back", after="there", reverse=True),
        kernel=kernel,
        out=tmp_path,
    )
    # A ping has 98 bytes on each way.
    wires_s = 98 * 8 / 80e6 + 98 * 8 / 20e6
    assert metrics["rtt.min_s"] == pytest.approx(0.015 + wires_s, abs=2e-6)
    # Of a frame of 1514 bytes, TCP carries 1448.
    assert metrics["there.receiver_bps"] == pytest.approx(80e6 * 1448 / 1514, rel=0.02)
    assert metrics["back.receiver_bps"] == pytest.approx(20e6 * 1448 / 1514, rel=0.02)
    # A full queue of 100 KB takes 40 ms to empty, after 15 ms on the way.
    assert 0.045 < metrics["back.max_rtt_s"] < 0.057


@pytest.mark.parametrize("rate_bps", [500_000, 5_000_000_000, 40_000_000_000])
def test_slow_and_fast_rates_are_reached(rate_bps: int, tmp_path: Path) -> None:
    # 40 Gbit/s is over 4 GB/s; there, little is sent, for each second takes long.
    # A full queue of the usual length takes 2.4 s to empty at 500 kbit/s: what is said at the
    # end waits behind it, and behind what is lost there. For an amount, iperf3 from 3.16 on takes
    # a second at least.
    fast = rate_bps > 10**9
    shape = LinkImpairments(rate_bps=rate_bps, queue_bytes=None if fast else 20 * 1514)
    flow = Transfer(
        name="bulk",
        source="h1",
        target="h2",
        time_s=None if fast else 10.0,
        bytes=400_000_000 if fast else None,
    )
    metrics = run(pair(there=shape), flow, kernel="6.1", out=tmp_path)
    assert metrics["bulk.receiver_bps"] == pytest.approx(rate_bps * 1448 / 1514, rel=0.08)


@pytest.mark.parametrize("kernel", KERNELS)
def test_loss_and_jitter(kernel: str, tmp_path: Path) -> None:
    network = pair(there=LinkImpairments(delay_s=0.010, jitter_s=0.001, loss=0.2))
    # The first replies wait for ARP, too.
    first = Ping(name="first", source="h1", target="h2", count=10)
    ping = Ping(name="rtt", source="h1", target="h2", count=300, interval_s=0.05, after="first")
    metrics = run(network, first, ping, kernel=kernel, out=tmp_path)
    assert 0.1 < metrics["rtt.loss"] < 0.3
    assert metrics["rtt.avg_s"] == pytest.approx(0.010, abs=3e-4)
    assert metrics["rtt.mdev_s"] == pytest.approx(0.001, rel=0.2)


def test_a_delay_line_drops_nothing(tmp_path: Path) -> None:
    # More small packets are on the line than netem's own default holds, 1000.
    network = pair(there=LinkImpairments(delay_s=0.5))
    flow = bulk(udp=True, rate_bps=8_000_000, args=("-l", "200"), time_s=1.0, omit_s=0.0)
    assert run(network, flow, kernel="6.1", out=tmp_path)["bulk.loss"] == 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_routers_of_both_families(kernel: str, tmp_path: Path) -> None:
    def host(name: str, address: str, via: str) -> Host:
        return Host(name=name, address=address, routes=(Route(to="default", via=via),))

    network = Network(
        hosts=(
            host("h1", "10.0.1.1/24", "10.0.1.254"),
            host("h2", "10.0.2.1/24", "10.0.2.254"),
            host("h3", "fd00:1::1/64", "fd00:1::ff"),
            host("h4", "fd00:2::1/64", "fd00:2::ff"),
            Host(name="r1", address=None, forwards=True),
        ),
        switches=(),
        links=(
            Link(a="h1", b="r1", b_address="10.0.1.254/24", mtu_bytes=9000),
            Link(a="r1", b="h2", a_address="10.0.2.254/24", a_to_b=LinkImpairments(delay_s=0.01)),
            Link(a="h3", b="r1", b_address="fd00:1::ff/64"),
            Link(a="r1", b="h4", a_address="fd00:2::ff/64", b_to_a=LinkImpairments(delay_s=0.02)),
        ),
    )
    metrics = run(
        network,
        Ping(name="four", source="h1", target="h2", count=2),
        Ping(name="six", source="h3", target="h4", count=3),
        Ping(name="near", source="h1", target="r1", count=2, size_bytes=8972, args=("-M", "do")),
        kernel=kernel,
        out=tmp_path,
    )
    assert [metrics[f"{name}.loss"] for name in ("four", "six", "near")] == [0, 0, 0]
    assert metrics["four.min_s"] == pytest.approx(0.01, abs=2e-5)
    assert metrics["six.min_s"] == pytest.approx(0.02, abs=2e-5)


def test_a_line_that_fails_is_reported_alone(tmp_path: Path) -> None:
    wrong = Host(name="h1", address="10.0.0.1/8", routes=(Route(to="default", via="192.168.0.1"),))
    network = Network(hosts=(wrong,), switches=(Switch(name="s1"),), links=(Link(a="h1", b="s1"),))
    case = Case(kernel="6.1", network=network, memory_bytes=512 << 20)
    with pytest.raises(MachineError, match=r"`ip -n h1 route add default via 192.168.0.1` exited"):
        run_case(case, name="c", out=tmp_path)


def test_a_setup_line_may_change_a_links_shape(tmp_path: Path) -> None:
    line = "tc qdisc change dev s1-eth2 root handle 1: netem delay 30ms limit 1000"
    case = Case(
        kernel="6.1",
        network=pair(there=LinkImpairments(delay_s=0.01)),
        setup=(Command(node="root", line=line),),
        flows=(Ping(name="rtt", source="h1", target="h2", count=2),),
        memory_bytes=512 << 20,
    )
    run = run_case(case, name="c", out=tmp_path)
    assert run.metrics["rtt.min_s"] == pytest.approx(0.03, abs=2e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_what_is_sent_at_once_passes_by_the_rate(kernel: str, tmp_path: Path) -> None:
    # netem hands a packet that it reorders to the device, and not to what stands below it.
    network = pair(there=LinkImpairments(rate_bps=10_000_000, delay_s=0.02, reorder=0.25))
    flow = bulk(udp=True, rate_bps=20_000_000, time_s=3.0, omit_s=0.0)
    metrics = run(network, flow, kernel=kernel, out=tmp_path)
    assert metrics["bulk.receiver_bps"] == pytest.approx(10e6 + 0.25 * 20e6, rel=0.06)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("place", ["alone", "below a rate", "below a delay"])
def test_every_discipline_is_there(kernel: str, place: str, tmp_path: Path) -> None:
    more = {"red": " limit 100000 avpkt 1000", "choke": " limit 100 bandwidth 10mbit"}
    around = {"alone": LinkImpairments(), "below a rate": LinkImpairments(rate_bps=10**7)}
    shape = around.get(place, LinkImpairments(delay_s=0.001))
    kinds = [kind for kind in QDISCS if kind != "dualpi2" or kernel == "7.2"]
    hosts = [Host(name=f"h{n}", address=f"10.0.0.{n + 1}/8") for n in range(len(kinds) + 1)]
    links = [
        Link(a="s1", b=host.name, a_to_b=replace(shape, qdisc=kind + more.get(kind, "")))
        for host, kind in zip(hosts[1:], kinds, strict=True)
    ]
    network = Network(
        hosts=tuple(hosts),
        switches=(Switch(name="s1"),),
        links=(Link(a="h0", b="s1"), *links),
    )
    pings = [Ping(name=f"p{n}", source="h0", target=f"h{n}", count=1) for n in range(1, len(hosts))]
    metrics = run(network, *pings, kernel=kernel, out=tmp_path)
    assert {metrics[f"{ping.name}.loss"] for ping in pings} == {0}


def test_a_discipline_that_the_kernel_lacks_is_named(tmp_path: Path) -> None:
    network = pair(there=LinkImpairments(qdisc="dualpi2"))
    ping = Ping(name="ping", source="h1", target="h2", count=1)
    with pytest.raises(InputError, match="qdisc kind is unknown"):
        run(network, ping, kernel="6.1", out=tmp_path)


@pytest.mark.parametrize("kernel", KERNELS)
def test_losses_come_in_bursts(kernel: str, tmp_path: Path) -> None:
    # Of a Markov chain with these chances of going and coming back: 1 / (1 + 25) of all is
    # lost, in bursts of 1 / 0.25 on average (tc-netem(8), `loss gemodel`).
    network = pair(there=LinkImpairments(burst_loss="1% 25%"))
    ping = Ping(name="ping", source="h1", target="h2", count=20_000, interval_s=0.01)
    case = Case(kernel=kernel, network=network, flows=(ping,), memory_bytes=512 << 20)
    result = run_case(case, name="c", out=tmp_path)
    answered = {reply.sequence for reply in ping.replies(result.raw)}
    lost = [number not in answered for number in range(1, ping.count + 1)]
    bursts = sum(now and not before for before, now in zip([False, *lost], lost, strict=False))
    assert sum(lost) / len(lost) == pytest.approx(1 / 26, rel=0.25)
    assert sum(lost) / bursts == pytest.approx(4, rel=0.25)
