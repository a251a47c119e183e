"""The labs' networks at a hundredth of their rate, with buffers scaled alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from longfat.model.case import Case, Command
from longfat.model.network import ROOT_NAMESPACE, Host, Link, Network, Switch
from longfat.model.probes import Probe, Queue, Tcp
from longfat.model.traffic import Flow, Iperf3, Ping

TIME_S = 6.0
LAB08 = ("h1-s1", "s1-s2", "h2-s2")
LAB11 = ("s1-s2", "h1-s1", "h3-s1", "h2-s2", "h4-s2")
LAB16 = ("s1-s2", "h1-s1", "h2-s1", "h3-s2")


def case(
    links: Sequence[str],
    *root: str,
    flows: Sequence[Flow],
    probed: str,
    buffer_bytes: int,
    more: Sequence[Command] = (),
) -> Case:
    names = sorted({name for link in links for name in link.split("-")})
    hosts = [name for name in names if name.startswith("h")]
    bulk = tuple(flow.name for flow in flows if isinstance(flow, Iperf3) and not flow.udp)
    probes: tuple[Probe, ...] = (Queue(name="queue", of=(probed,), every_s=0.1),)
    if bulk:
        probes += (Tcp(name="tcp", of=bulk, every_s=0.1),)
    buffers = [
        Command(node=host, line=f"sysctl -w net.ipv4.tcp_{which}='10240 87380 {buffer_bytes}'")
        for host in hosts
        for which in ("rmem", "wmem")
    ]
    return Case(
        kernel="6.1",
        network=Network(
            hosts=tuple(
                Host(name=name, address=f"10.0.0.{number}/8")
                for number, name in enumerate(hosts, start=1)
            ),
            switches=(Switch(name="s1"), Switch(name="s2")),
            links=tuple(Link(a=link.split("-")[0], b=link.split("-")[1]) for link in links),
        ),
        setup=(*(Command(node=ROOT_NAMESPACE, line=line) for line in root), *buffers, *more),
        flows=tuple(flows),
        probes=probes,
        memory_bytes=512 << 20,
    )


def netem(device: str, options: str) -> str:
    return f"tc qdisc add dev {device} root handle 1: netem {options}"


def tbf(device: str, limit_bytes: int) -> str:
    return (
        f"tc qdisc add dev {device} parent 1: handle 2: tbf rate 100mbit burst 50000 "
        f"limit {limit_bytes}"
    )


def bulk(**fields: Any) -> Iperf3:
    plain = Iperf3(name="bulk", source="h1", target="h2", time_s=TIME_S)
    return dataclasses.replace(plain, **fields)


def lab08(buffer_bytes: int, *, limit_bytes: int = 250_000, **fields: Any) -> Case:
    return case(
        LAB08,
        netem("s1-eth2", "delay 20ms"),
        tbf("s1-eth2", limit_bytes),
        flows=[bulk(**fields)],
        probed="s1-eth2",
        buffer_bytes=buffer_bytes,
    )


def lab11(limit_bytes: int, congestion: str, *, loss: str = "") -> Case:
    beside = Iperf3(
        name="beside",
        source="h3",
        target="h4",
        time_s=TIME_S,
        congestion="cubic",
        start_spread_s=0.02,
    )
    return case(
        LAB11,
        netem("s1-eth1", f"delay 10ms {loss}"),
        netem("s2-eth1", "delay 10ms"),
        tbf("s1-eth1", limit_bytes),
        flows=[bulk(congestion=congestion), beside],
        probed="s1-eth1",
        buffer_bytes=1_310_720,
    )


def lab16(*more: str) -> Case:
    queue = "tc qdisc add dev s2-eth2 root handle 1: tbf rate 100mbit burst 50000 limit 2621440"
    return case(
        LAB16,
        "tc qdisc add dev s1-eth1 root netem delay 20ms",
        queue,
        *more,
        flows=[bulk(target="h3"), Ping(name="rtt", source="h2", target="h3", count=6)],
        probed="s2-eth2",
        buffer_bytes=5_242_880,
    )


RED = (
    "tc qdisc add dev s2-eth2 parent 1: handle 2: red limit 2621440 max 873813 min 218453 "
    "burst 437 avpkt 1000 bandwidth 100mbit adaptive"
)
SLOWER = "tc qdisc change dev s2-eth2 root handle 1: tbf rate 10mbit burst 5000 limit 2621440"

LABS: Mapping[str, Case] = {
    "lab08 default": lab08(167_772),
    "lab08 tuned": lab08(524_288),
    "lab09 single": lab08(167_772, limit_bytes=150_000),
    "lab09 parallel": lab08(167_772, limit_bytes=150_000, parallel=8),
    "lab09 loss": case(
        LAB08,
        netem("s1-eth2", "loss 1%"),
        tbf("s1-eth2", 150_000),
        flows=[bulk()],
        probed="s1-eth2",
        buffer_bytes=167_772,
    ),
    **{f"lab11 tiny {cc}": lab11(20_000, cc) for cc in ("cubic", "reno")},
    **{f"lab11 bdp {cc}": lab11(262_144, cc) for cc in ("cubic", "bbr")},
    # Windows are smaller at a hundredth of the rate, so the loss must be larger to matter.
    **{f"lab11 loss {cc}": lab11(262_144, cc, loss="loss 1%") for cc in ("cubic", "reno", "bbr")},
    "lab16 drop tail": lab16(),
    "lab16 red": lab16(RED),
    "lab16 red slower": lab16(RED, SLOWER),
}
