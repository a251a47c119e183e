"""The way of packets: by routes as Linux takes them, and by links alone."""

from __future__ import annotations

import dataclasses

import pytest

from longfat.model.network import (
    ROOT_NAMESPACE,
    Host,
    Link,
    Network,
    NoRouteError,
    Route,
    Switch,
    follow_back,
    follow_links,
    trace_route,
)


def default(via: str) -> tuple[Route, ...]:
    return (Route(to="default", via=via),)


# Two ways lead from r1 to h2: by r2, and, for the one address of h2, by r3.
NET = Network(
    hosts=(
        Host(name="h1", address="10.0.1.1/24", routes=default("10.0.1.254")),
        Host(name="h2", address="10.0.2.1/24", routes=default("10.0.2.254")),
        Host(
            name="r1",
            address="10.0.1.254/24",
            forwards=True,
            routes=(
                Route(to="10.0.0.0/16", via="10.1.0.2"),
                Route(to="10.0.2.1/32", via="10.2.0.2"),
            ),
        ),
        Host(name="r2", address="10.1.0.2/30", forwards=True, routes=default("10.1.0.1")),
        Host(name="r3", address="10.2.0.2/30", forwards=True, routes=default("10.2.0.1")),
    ),
    switches=(Switch(name="s1"), Switch(name="s2")),
    links=(
        Link(a="h1", b="s1"),
        Link(a="s1", b="r1"),
        Link(a="r1", b="r2", a_address="10.1.0.1/30"),
        Link(a="r1", b="r3", a_address="10.2.0.1/30"),
        Link(a="s2", b="h2"),
        Link(a="r2", b="s2", a_address="10.0.2.254/24"),
        Link(a="r3", b="s2", a_address="10.0.2.253/24"),
    ),
)


def changed(network: Network, name: str, **fields: object) -> Network:
    hosts = [
        dataclasses.replace(host, **fields) if host.name == name else host  # type: ignore[arg-type]
        for host in network.hosts
    ]
    return dataclasses.replace(network, hosts=tuple(hosts))


def test_the_longest_prefix_wins() -> None:
    assert trace_route(NET, "h1", "h2") == [
        *(("h1", "h1-eth0"), (ROOT_NAMESPACE, "s1-eth2"), ("r1", "r1-eth2"), ("r3", "r3-eth1")),
        (ROOT_NAMESPACE, "s2-eth1"),
    ]


def test_an_answer_takes_its_own_way() -> None:
    assert follow_back(NET, "h1", "h2") == [
        *(("h2", "h2-eth0"), (ROOT_NAMESPACE, "s2-eth2"), ("r2", "r2-eth0"), ("r1", "r1-eth0")),
        (ROOT_NAMESPACE, "s1-eth1"),
    ]


def test_neighbours_need_no_router() -> None:
    assert trace_route(NET, "r1", "h1") == [("r1", "r1-eth0"), (ROOT_NAMESPACE, "s1-eth1")]


@pytest.mark.parametrize(
    ("network", "reason"),
    [
        (changed(NET, "h1", routes=()), "h1 has no route to 10.0.2.1"),
        (changed(NET, "r1", forwards=False), "r1, on the way to h2, does not forward"),
        (
            changed(NET, "h1", routes=default("10.0.1.7")),
            "h1 finds no interface with the address 10.0.1.7",
        ),
        (changed(NET, "h2", address=None), "h2 has no address"),
    ],
)
def test_where_packets_stop(network: Network, reason: str) -> None:
    with pytest.raises(NoRouteError) as stopped:
        trace_route(network, "h1", "h2")
    assert str(stopped.value) == reason


def test_packets_that_go_round_in_a_circle() -> None:
    network = changed(NET, "r1", routes=default("10.1.0.2"))
    network = dataclasses.replace(
        network, links=tuple(link for link in network.links if link.a != "r2")
    )
    with pytest.raises(
        NoRouteError, match=r"packets to h2 \(10.0.2.1\) go round in a circle at r[12]"
    ):
        trace_route(network, "h1", "h2")


def test_by_links_the_shortest_way_through_what_forwards() -> None:
    way = follow_links(NET, "h1", "h2")
    assert way is not None
    assert [interface for _, interface in way] == [
        *("h1-eth0", "s1-eth2", "r1-eth1", "r2-eth1", "s2-eth1"),
    ]
    assert follow_links(changed(NET, "r1", forwards=False), "h1", "h2") is None
