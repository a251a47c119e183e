"""The slowest interface on a flow's way. More of the path is tested with the report's windows."""

import dataclasses
from collections.abc import Callable

import pytest

from longfat.model.case import Case
from longfat.model.flow_path import (
    Bottleneck,
    bottleneck,
    egress_interfaces,
    flow_path,
    idle_rtt,
    interface_lines,
)
from longfat.model.network import Host, Link, LinkImpairments, Network, Route, Switch
from longfat.model.traffic import Iperf3

MakeCase = Callable[..., Case]
NETEM = "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms loss 1%"
WIRE = "tc qdisc add dev s1-eth2 parent 1: handle 2: wire rate 1gbit limit 2500000"
BACK = "tc qdisc add dev s1-eth1 root netem delay 5ms rate 5gbit"


def bulk(**fields: bool) -> Iperf3:
    return Iperf3(name="bulk", source="h1", target="h2", **fields)  # type: ignore[arg-type]


def test_bottleneck(make_case: MakeCase) -> None:
    case = make_case(bulk(), root=(NETEM, WIRE, BACK))
    found = bottleneck(case, bulk())
    assert found is not None
    assert found == Bottleneck(
        node="root",
        interface="s1-eth2",
        rate_bps=1e9,
        rate_origin="a set-up line",
        queue=found.queue,
        loss=0.01,
    )
    assert found.queue is not None
    assert (found.queue.kind, found.queue.limit_bytes, found.queue.line) == (
        "wire",
        2_500_000,
        WIRE,
    )
    back = bottleneck(case, bulk(reverse=True))
    assert back is not None
    assert (back.interface, back.rate_bps, back.queue) == ("s1-eth1", 5e9, None)
    assert idle_rtt(case, bulk(), {})[0] == pytest.approx(0.025)


def test_a_path_without_delay_has_a_bottleneck_all_the_same(make_case: MakeCase) -> None:
    case = make_case(bulk(), root=(WIRE.replace("parent 1:", "root"),))
    assert flow_path(case, bulk(), {}) is None
    found = bottleneck(case, bulk())
    assert found is not None
    assert found.rate_bps == 1e9


def test_no_rate_no_bottleneck(make_case: MakeCase) -> None:
    assert bottleneck(make_case(bulk(), root=(NETEM,)), bulk()) is None


def shaped(case: Case, *, there: LinkImpairments, back: LinkImpairments) -> Case:
    """Give the link between the switch and h2 properties."""
    first, second = case.network.links
    # The link is [h2, s1].
    links = (first, dataclasses.replace(second, a_to_b=back, b_to_a=there))
    return dataclasses.replace(case, network=dataclasses.replace(case.network, links=links))


def test_links_shape_a_path_without_set_up_lines(make_case: MakeCase) -> None:
    there = LinkImpairments(rate_bps=10**9, delay_s=0.02, loss=0.01, queue_bytes=2_500_000)
    case = shaped(make_case(bulk()), there=there, back=LinkImpairments(delay_s=0.005))
    found = bottleneck(case, bulk())
    assert found is not None
    assert (found.interface, found.rate_bps, found.loss) == ("s1-eth2", 1e9, 0.01)
    assert found.rate_origin == "its link"
    assert found.queue is not None
    assert found.queue.limit_bytes == 2_500_000
    assert idle_rtt(case, bulk(), {})[0] == pytest.approx(0.025)
    assert bottleneck(case, bulk(reverse=True)) is None


def test_set_up_lines_come_after_the_links_own(make_case: MakeCase) -> None:
    line = "tc qdisc change dev s1-eth2 root handle 1: wire rate 100mbit limit 300000"
    case = make_case(bulk(), root=(line,))
    case = shaped(case, there=LinkImpairments(rate_bps=10**9), back=LinkImpairments())
    assert [str(one) for one in interface_lines(case, "s1-eth2")] == [line]
    without = dataclasses.replace(case, setup=())
    assert [str(one) for one in interface_lines(without, "s1-eth2")] == [
        "tc qdisc add dev s1-eth2 root handle 1: wire rate 1gbit limit 1250000"
    ]
    found = bottleneck(case, bulk())
    assert found is not None
    assert (found.rate_bps, found.rate_origin) == (1e8, "a set-up line")
    assert found.queue is not None
    assert found.queue.limit_bytes == 300_000


ROUTED = Network(
    hosts=(
        Host(name="h1", address="10.0.1.1/24", routes=(Route(to="default", via="10.0.1.254"),)),
        Host(name="h2", address="10.0.2.1/24", routes=(Route(to="default", via="10.0.2.254"),)),
        Host(name="r1", address=None, forwards=True),
    ),
    switches=(Switch(name="s1"),),
    links=(
        Link(a="h1", b="s1"),
        Link(a="s1", b="r1", b_address="10.0.1.254/24"),
        Link(
            a="r1",
            b="h2",
            a_address="10.0.2.254/24",
            a_to_b=LinkImpairments(rate_bps=10**8, delay_s=0.01),
        ),
    ),
)


def test_a_path_leads_through_routers(make_case: MakeCase) -> None:
    case = dataclasses.replace(make_case(bulk()), network=ROUTED)
    assert egress_interfaces(ROUTED, "h1", "h2") == [
        *(("h1", "h1-eth0"), ("root", "s1-eth2"), ("r1", "r1-eth1")),
    ]
    found = bottleneck(case, bulk())
    assert found is not None
    assert (found.node, found.interface, found.rate_bps) == ("r1", "r1-eth1", 1e8)


def test_where_set_up_lines_make_routes_any_way_by_links_counts() -> None:
    hosts = tuple(dataclasses.replace(host, routes=()) for host in ROUTED.hosts)
    way = egress_interfaces(dataclasses.replace(ROUTED, hosts=hosts), "h1", "h2")
    assert way is not None
    assert way[-1] == ("r1", "r1-eth1")


def incast(make_case: MakeCase, *flows: Iperf3) -> Case:
    """Return a case in which h2 and h3 send to h1; all links have the same rate."""
    limited = LinkImpairments(rate_bps=10**9)
    network = Network(
        hosts=tuple(Host(name=f"h{n}", address=f"10.0.0.{n}/8") for n in (1, 2, 3)),
        switches=(Switch(name="s1"),),
        links=tuple(Link(a=f"h{n}", b="s1", a_to_b=limited, b_to_a=limited) for n in (1, 2, 3)),
    )
    return dataclasses.replace(make_case(*flows), network=network)


def test_of_links_with_one_rate_that_which_is_shared_is_the_bottleneck(
    make_case: MakeCase,
) -> None:
    one = Iperf3(name="one", source="h2", target="h1")
    two = Iperf3(name="two", source="h3", target="h1")

    def interface(*flows: Iperf3) -> str:
        found = bottleneck(incast(make_case, *flows), one)
        assert found is not None
        return found.interface

    assert interface(one, two) == "s1-eth1"
    # Alone, its packets wait where they first may.
    assert interface(one) == "h2-eth0"
    assert interface(one, dataclasses.replace(two, after="one")) == "h2-eth0"
    assert interface(one, dataclasses.replace(two, rate_bps=10**6, udp=True)) == "h2-eth0"
