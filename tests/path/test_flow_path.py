"""The slowest interface on a flow's way. More of the path is tested with the report's windows."""

from collections.abc import Callable

import pytest

from longfat.case import Case
from longfat.path import Bottleneck, QueueLine, bottleneck, flow_path, idle_rtt
from longfat.traffic import Iperf3

MakeCase = Callable[..., Case]
NETEM = "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms loss 1%"
TBF = "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2500000"
BACK = "tc qdisc add dev s1-eth1 root netem delay 5ms rate 5gbit"


def bulk(**fields: bool) -> Iperf3:
    return Iperf3(name="bulk", source="h1", target="h2", **fields)  # type: ignore[arg-type]


def test_bottleneck(make_case: MakeCase) -> None:
    case = make_case(bulk(), root=(NETEM, TBF, BACK))
    queue = QueueLine(kind="tbf", limit_bytes=2_500_000, line=TBF)
    assert bottleneck(case, bulk()) == Bottleneck(
        node="root", interface="s1-eth2", rate_bps=1e9, queue=queue, loss=0.01
    )
    back = bottleneck(case, bulk(reverse=True))
    assert back is not None
    assert (back.interface, back.rate_bps, back.queue) == ("s1-eth1", 5e9, None)
    assert idle_rtt(case, bulk(), {})[0] == pytest.approx(0.025)


def test_a_path_without_delay_has_a_bottleneck_all_the_same(make_case: MakeCase) -> None:
    case = make_case(bulk(), root=(TBF.replace("parent 1:", "root"),))
    assert flow_path(case, bulk(), {}) is None
    found = bottleneck(case, bulk())
    assert found is not None
    assert found.rate_bps == 1e9


def test_no_rate_no_bottleneck(make_case: MakeCase) -> None:
    assert bottleneck(make_case(bulk(), root=(NETEM,)), bulk()) is None
