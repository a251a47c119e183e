"""Whether a flow with DCTCP has ECN depends on when its socket gets DCTCP, and on the other end."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.flow_path.setting_warnings import setting_warnings
from longfat.model.network import Host, Link, LinkImpairments, Network
from longfat.model.probes import Queue
from longfat.model.traffic import Iperf3, Transfer

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
