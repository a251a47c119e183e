"""Whom hosts know when the traffic starts, and that nothing else differs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from longfat.execution import run_case
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, LinkImpairments, Network, Route, Switch
from longfat.model.network.neighbours import needed_neighbours
from longfat.model.traffic import Ping

SLOW = LinkImpairments(delay_s=0.01)


def routed(*, prefix: str = "10.0.", length: int = 24, last: str = ".") -> Network:
    """Return two hosts with a router between them, the second one behind a switch."""
    near, far = f"{prefix}1{last}", f"{prefix}2{last}"
    return Network(
        hosts=(
            Host(
                name="h1",
                address=f"{near}1/{length}",
                routes=(Route(to="default", via=f"{near}9"),),
            ),
            Host(
                name="h2", address=f"{far}1/{length}", routes=(Route(to="default", via=f"{far}9"),)
            ),
            Host(name="h3", address=f"{far}3/{length}"),
            Host(name="r", address=None, forwards=True),
        ),
        switches=(Switch(name="s1"),),
        links=(
            Link(a="h1", b="r", a_to_b=SLOW, b_to_a=SLOW, b_address=f"{near}9/{length}"),
            Link(a="r", b="s1", a_to_b=SLOW, b_to_a=SLOW, a_address=f"{far}9/{length}"),
            Link(a="s1", b="h2"),
            Link(a="s1", b="h3"),
        ),
    )


def test_each_neighbour_on_the_way_and_back() -> None:
    handovers = needed_neighbours(routed(), [("h1", "h2", None), ("h1", "h2", None)])
    assert [tuple(handover)[:3] for handover in handovers] == [
        ("h1", "h1-eth0", "10.0.1.9"),
        ("r", "r-eth1", "10.0.2.1"),
        ("h2", "h2-eth0", "10.0.2.9"),
        ("r", "r-eth0", "10.0.1.1"),
    ]


def test_a_way_that_routes_do_not_give_needs_none() -> None:
    handovers = needed_neighbours(routed(), [("h1", "h3", None)])
    assert [handover.host for handover in handovers] == ["h1", "r"]  # h3 knows no way back


@pytest.mark.parametrize(
    "line",
    ["ip link set dev h1-eth0 address 02:00:00:00:00:01", "ip neigh flush all", "arping -c 1 h2"],
)
def test_lines_about_neighbours_leave_all_to_themselves(line: str) -> None:
    setup = [Command(node="h1", line=line)]
    assert needed_neighbours(routed(), [("h1", "h2", None)], setup=setup) == []


@pytest.mark.parametrize("cold", [False, True])
@pytest.mark.parametrize(
    "network", [routed(), routed(prefix="fd00:0:0:", length=64, last="::")], ids=["IPv4", "IPv6"]
)
def test_the_first_packet_takes_as_long_as_the_others(
    network: Network, cold: bool, tmp_path: Path
) -> None:
    case = Case(
        kernel="6.1",
        network=replace(network, cold_neighbours=cold),
        flows=(Ping(name="ping", source="h1", target="h2", count=3),),
    )
    metrics = run_case(case, name="c", out=tmp_path).metrics
    assert metrics["ping.loss"] == 0
    assert metrics["ping.min_s"] == pytest.approx(0.04, abs=1e-6)
    # ARP on two links, of 20 ms there and back each; who is asked knows the asker then. With
    # IPv6 h2 asks, too.
    cold_s = 0.08 if network.hosts[0].address == "10.0.1.1/24" else 0.1
    assert metrics["ping.max_s"] == pytest.approx(cold_s if cold else 0.04, abs=1e-4)
