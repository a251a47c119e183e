"""What the code believes of its own transfer: it is iperf3's equal, on the wire and in figures."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.execution.runs import Run
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, Network, Switch
from longfat.model.probes import Capture
from longfat.model.traffic import Iperf3, Transfer
from longfat.model.traffic.bulk import Bulk

# The workloads of benchmarks/speed.yaml, shorter; in the first seconds losses decide much.
TIMES_S = {"A": 6.0, "B": 10.0, "C": 10.0}
SHAPES = {
    "A": ("s1-eth1 parent 1: handle 2: tbf rate 10gbit burst 5000000 limit 25000000",),
    "B": ("s2-eth2 root handle 1: tbf rate 1gbit burst 500000 limit 26214400",),
    "C": (
        "s2-eth2 root handle 1: tbf rate 100mbit burst 50000 limit 26214400",
        "s2-eth2 parent 1: handle 2: red limit 26214400 max 8738133 min 2184533 burst 2185"
        " avpkt 1000 bandwidth 1gbit adaptative",
    ),
}

Play = Callable[..., Run]


@pytest.fixture
def play(tmp_path: Path) -> Play:
    def played(shape: str, flow: Bulk, *probes: Capture, kernel: str = "6.1") -> Run:
        buffers = "net.ipv4.tcp_{}='10240 87380 52428800'"
        case = Case(
            kernel=kernel,
            network=Network(
                hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2)),
                switches=(Switch(name="s1"), Switch(name="s2")),
                links=(Link(a="s1", b="s2"), Link(a="h1", b="s1"), Link(a="h2", b="s2")),
            ),
            setup=(
                Command(
                    node="root", line="tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms"
                ),
                *(
                    Command(node=host, line=f"sysctl -w {buffers.format(name)}")
                    for host in ("h1", "h2")
                    for name in ("rmem", "wmem")
                ),
                *(Command(node="root", line=f"tc qdisc add dev {line}") for line in SHAPES[shape]),
            ),
            flows=(flow,),
            probes=probes,
        )
        return run_case(case, name=flow.tool, out=tmp_path / shape)

    return played


def pair(time_s: float) -> tuple[Transfer, Iperf3]:
    return (
        Transfer(name="bulk", source="h1", target="h2", time_s=time_s),
        Iperf3(name="bulk", source="h1", target="h2", time_s=time_s),
    )


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
def test_it_moves_what_iperf3_moves(shape: str, play: Play) -> None:
    ours, theirs = (play(shape, flow).metrics for flow in pair(TIMES_S[shape]))
    assert ours["bulk.receiver_bps"] == pytest.approx(theirs["bulk.receiver_bps"], rel=0.005)
    # Each is a mean of looks at a queue that fills and empties.
    for name in ("mean_rtt_s", "max_rtt_s"):
        assert ours[f"bulk.{name}"] == pytest.approx(theirs[f"bulk.{name}"], rel=0.1)


@pytest.mark.parametrize("kernel", ["6.1", "7.2"])
def test_its_packets_are_those_of_iperf3(kernel: str, play: Play) -> None:
    # References to pages are cut into packets as copies are; 7.2 refers to its one page of zeros.
    capture = Capture(name="wire", of="h1-eth0", filter="tcp and src host 10.0.0.1", snap_bytes=64)
    shares = []
    for flow in pair(1.0):
        run = play("B", flow, capture, kernel=kernel)
        sizes = Counter(lengths((run.raw / "wire.pcap").read_bytes()))
        ((size, count),) = sizes.most_common(1)
        assert size == 65226
        shares.append(count / sum(sizes.values()))
    assert 0.75 < shares[0] == pytest.approx(shares[1], abs=0.05)


def lengths(pcap: bytes) -> Iterator[int]:
    at = 24
    while at < len(pcap):
        kept, length = struct.unpack_from("<8xII", pcap, at)
        yield length
        at += 16 + kept
