"""Whether a flow with DCTCP has ECN depends on when its socket gets DCTCP, and on the other end."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.analysis.advice.diagnosis import diagnose
from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.flow_path.setting_warnings import setting_warnings
from longfat.model.network import Host, Link, LinkImpairments, Network
from longfat.model.probes import Queue, Tcp
from longfat.model.traffic import Iperf3, Transfer
from tests.kernels import KERNELS

ECN = "sysctl -w net.ipv4.tcp_ecn=1"
DCTCP = "sysctl -w net.ipv4.tcp_congestion_control=dctcp"


@pytest.mark.parametrize("tool", [Iperf3, Transfer])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "setup",
    [(), (("h1", ECN),), (("h2", DCTCP),), (("h1", DCTCP), ("h2", DCTCP))],
    ids=["none", "tcp_ecn", "target", "both"],
)
def test_warnings_are_right_about_marks(
    tool: type[Iperf3] | type[Transfer],
    reverse: bool,
    setup: tuple[tuple[str, str], ...],
    tmp_path: Path,
) -> None:
    link = LinkImpairments(rate_bps=10**8, delay_s=0.01, qdisc="codel ecn")
    case = Case(
        kernel="6.1",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(),
            links=(Link(a="h1", b="h2", a_to_b=link, b_to_a=link),),
        ),
        setup=tuple(Command(node=node, line=line) for node, line in setup),
        flows=(
            tool(
                name="x",
                source="h1",
                target="h2",
                time_s=2.0,
                congestion="dctcp",
                reverse=reverse,
            ),
        ),
        probes=(Queue(name="queue", of=("h1-eth0", "h2-eth0"), every_s=0.1),),
        memory_bytes=512 << 20,
    )
    marks = run_case(case, name="c", out=tmp_path).metrics["queue.marks"]
    assert (marks == 0) is bool(list(setting_warnings(case)))


MARKED = [
    *((kernel, congestion, 1) for kernel in KERNELS for congestion in ("cubic", "dctcp")),
    (KERNELS[-1], "cubic", 3),  # AccECN
]


@pytest.mark.parametrize(("kernel", "congestion", "ecn"), MARKED)
def test_the_marks_of_sockets_are_those_of_the_queue(
    kernel: str, congestion: str, ecn: int, tmp_path: Path
) -> None:
    marking = "codel ecn ce_threshold 1ms" if congestion == "dctcp" else "codel ecn"
    link = LinkImpairments(rate_bps=2 * 10**7, delay_s=0.01, qdisc=marking)
    setup = [
        *((node, f"sysctl -w net.ipv4.tcp_ecn={ecn}") for node in ("h1", "h2")),
        # A qdisc marks a packet of several segments once, and they arrive as several marked ones.
        ("h1", "ip link set h1-eth0 gso_max_segs 1"),
    ]
    if congestion == "dctcp":
        setup.append(("h2", DCTCP))
    case = Case(
        kernel=kernel,
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(),
            links=(Link(a="h1", b="h2", a_to_b=link, b_to_a=link),),
        ),
        setup=tuple(Command(node=node, line=line) for node, line in setup),
        flows=(Transfer(name="x", source="h1", target="h2", time_s=5.0, congestion=congestion),),
        probes=(
            Queue(name="queue", of=("h1-eth0",), every_s=0.1),
            Tcp(name="tcp", of=("x",), every_s=0.1),
        ),
        memory_bytes=512 << 20,
    )
    run = run_case(case, name="c", out=tmp_path)
    marks, metrics = run.metrics["queue.marks"], run.metrics
    assert marks > 0
    assert metrics["tcp.ecn_streams"] == 1
    (found,) = diagnose(run, "x")
    if kernel == KERNELS[-1]:
        assert metrics["tcp.received_ce_packets"] == marks
        assert f"{marks:,.0f} of " in found.verdict
        assert "were marked." in found.verdict
    else:
        assert "tcp.received_ce_packets" not in metrics
    by_acks = metrics["tcp.delivered_ce_packets"]
    if ecn == 3:
        assert "(AccECN)" in found.verdict
        assert marks - 1 <= by_acks <= marks  # the last ACK may be on its way
    elif congestion == "dctcp":
        assert by_acks == pytest.approx(marks, rel=0.15)
    else:
        # All ACKs up to the sender's response repeat a mark.
        assert by_acks > 10 * marks
    assert by_acks < metrics["tcp.ecn_delivered_packets"]


RED = "red limit 250000 min 20000 max 60000 avpkt 1000 burst 28 bandwidth 50mbit"
CHOKE = "choke limit 1000 min 20 max 60 avpkt 1000 burst 28 bandwidth 50mbit"
QUEUES = [
    ("bfifo limit 250000", False),
    ("cake", True),
    (CHOKE, False),
    (f"{CHOKE} ecn", True),
    ("codel", False),
    ("codel ecn", True),
    ("fq", False),
    ("fq ce_threshold 5ms", True),
    ("fq_codel", True),
    ("fq_pie", False),
    ("fq_pie ecn", True),
    ("hhf", False),
    ("pie", False),
    ("pie ecn", True),
    (RED, False),
    (f"{RED} ecn", True),
    ("sfb", True),
    ("sfq", False),
]


@pytest.mark.parametrize(
    ("kernel", "qdisc", "marks"),
    [
        *((kernel, *queue) for kernel in KERNELS for queue in QUEUES),
        (KERNELS[-1], "dualpi2", True),
    ],
)
@pytest.mark.slow
def test_which_queues_mark(kernel: str, qdisc: str, marks: bool, tmp_path: Path) -> None:
    link = LinkImpairments(rate_bps=5 * 10**7, delay_s=0.01, qdisc=qdisc)
    case = Case(
        kernel=kernel,
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(),
            links=(Link(a="h1", b="h2", a_to_b=link, b_to_a=link),),
        ),
        setup=(Command(node="h1", line=ECN), Command(node="h2", line=DCTCP)),
        flows=(
            # CHOKe drops a packet that meets one of its own flow in the queue, and marks others.
            Transfer(
                name="x", source="h1", target="h2", time_s=5.0, congestion="dctcp", parallel=8
            ),
        ),
        probes=(Tcp(name="tcp", of=("x",), every_s=0.1),),
        memory_bytes=512 << 20,
    )
    run = run_case(case, name="c", out=tmp_path)
    assert (run.metrics["tcp.delivered_ce_packets"] > 0) is marks
    assert (not list(setting_warnings(case))) is marks


def test_without_ecn_there_are_no_marks_to_count(tmp_path: Path) -> None:
    case = Case(
        kernel="6.1",
        network=Network(
            hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="10.0.0.2/8")),
            switches=(),
            links=(Link(a="h1", b="h2"),),
        ),
        flows=(Transfer(name="x", source="h1", target="h2", time_s=1.0),),
        probes=(Tcp(name="tcp", of=("x",)),),
        memory_bytes=512 << 20,
    )
    run = run_case(case, name="c", out=tmp_path)
    assert not [name for name in run.metrics if "ecn" in name or "_ce_" in name]
    assert {row["ecn"] for row in run.series("tcp").to_pylist()} == {"off"}
