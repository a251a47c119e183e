"""Addresses, routes and forwarding that a network lacks: found, and set right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from longfat.model.case import Command
from longfat.model.network import Network
from longfat.model.network.addressing import Addressing
from longfat.study.check import check_text, repaired
from longfat.study.network import read_section
from longfat.study.reachability import check_reach
from longfat.study.read import parse_study
from longfat.study.repair import repair, unreached
from longfat.study.templates import TEMPLATES, make_template


def network(
    hosts: Mapping[str, object], links: Sequence[object], switches: tuple[str, ...] = ()
) -> Network:
    return read_section({"hosts": hosts, "switches": list(switches), "links": links})


ROUTER = {"forwards": True}
CASES = {
    "as it is drawn": network(
        {"h1": "10.0.0.1/8", "r1": ROUTER, "h2": "10.0.0.2/8"}, [["h1", "r1"], ["r1", "h2"]]
    ),
    "no address at all": network({"h1": None, "h2": None}, [["h1", "s1"], ["s1", "h2"]], ("s1",)),
    "two routers in a row": network(
        {"h1": "10.0.0.1/8", "r1": ROUTER, "r2": ROUTER, "h2": "10.0.0.2/8"},
        [["h1", "r1"], ["r1", "r2"], ["r2", "h2"]],
    ),
    "a host that does not forward": network(
        {"h1": "10.0.1.1/24", "m": "10.0.1.2/24", "h2": "10.0.2.1/24"},
        [["h1", "m"], ["m", "h2", {"addresses": {"m": "10.0.2.2/24"}}]],
    ),
    "a missing route": network(
        {
            "h1": {"address": "10.0.1.1/24", "routes": {"default": "10.0.1.254"}},
            "r1": {"address": "10.0.1.254/24", "forwards": True},
            "h2": "10.0.2.1/24",
        },
        [["h1", "r1"], ["r1", "h2", {"addresses": {"r1": "10.0.2.254/24"}}]],
    ),
    "a star of five sites": network(
        {"core": ROUTER}
        | {f"r{site}": ROUTER for site in range(5)}
        | {f"h{site}": f"10.0.0.{site + 1}/8" for site in range(5)},
        [[f"r{site}", "core"] for site in range(5)]
        + [[f"h{site}", f"r{site}"] for site in range(5)],
    ),
    "a ring of routers": network(
        {f"r{one}": ROUTER for one in range(4)} | {f"h{one}": None for one in range(4)},
        [[f"r{one}", f"r{(one + 1) % 4}"] for one in range(4)]
        + [[f"h{one}", f"r{one}"] for one in range(4)],
    ),
}


HOSTS_OF_ONE_NETWORK = {
    "as it is drawn": ["h1", "h2"],
    "two routers in a row": ["h1", "h2"],
    "a star of five sites": [f"h{site}" for site in range(5)],
}
BY_HAND = Addressing(addresses="none")


@pytest.mark.parametrize("name", CASES)
def test_everybody_is_reached_afterwards(name: str) -> None:
    assert unreached(CASES[name])
    assert repair(CASES[name], addressing=BY_HAND)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_written_that_comes_by_itself(name: str) -> None:
    edits = repair(CASES[name]) or []
    written = [edit.path for edit in edits]
    if name == "a host that does not forward":
        assert written == [("hosts", "m", "forwards")]
    elif name in {"no address at all", "a missing route", "a ring of routers"}:
        assert written == []
    else:  # the hosts' addresses are of one network, and each is in a domain of its own
        assert written == [("hosts", one, "address") for one in HOSTS_OF_ONE_NETWORK[name]]


def test_what_was_written_stays_where_it_does_no_harm() -> None:
    (edit,) = repair(CASES["a missing route"], addressing=BY_HAND) or []
    assert (edit.path, edit.value) == (("hosts", "h2", "routes", "default"), "10.0.2.254")
    (edit, *_) = repair(CASES["a host that does not forward"]) or []
    assert edit.path == ("hosts", "m", "forwards")


@pytest.mark.parametrize("name", [name for name in TEMPLATES if name != "home"])
def test_nothing_is_repaired_where_nothing_is_wrong(name: str) -> None:
    whole = parse_study(make_template(TEMPLATES[name], {}).text(), name=name)
    found = next(iter(whole.cases.values())).case.network
    assert unreached(found) == []
    assert repair(found) == []


def test_it_says_nothing_of_what_it_does_not_know() -> None:
    drawn = CASES["as it is drawn"]
    assert unreached(drawn, [Command(node="r1", line="ip addr add 10.1.0.1/24 dev r1-eth0")]) == []
    assert unreached(
        drawn, [Command(node="r1", line="tc qdisc add dev r1-eth0 root netem delay 1ms")]
    )


def test_addresses_of_ipv6_are_repaired() -> None:
    six = network({"h1": "fd00::1/64", "h2": "fd01::1/64"}, [["h1", "h2"]])
    assert unreached(six)
    (edit,) = repair(six) or []
    assert (edit.path, edit.value) == (("hosts", "h2", "address"), "fd00::2/64")


def test_routers_get_no_default_routes_towards_each_other() -> None:
    edits = repair(CASES["two routers in a row"], addressing=BY_HAND) or []
    routes = {edit.path[1:] for edit in edits if edit.path[0] == "hosts" and len(edit.path) == 4}
    assert routes == {
        ("h1", "routes", "default"),
        ("h2", "routes", "default"),
        ("r1", "routes", "10.0.3.0/24"),
        ("r2", "routes", "10.0.1.0/24"),
    }


def test_a_line_at_one_host_leaves_the_check_of_others() -> None:
    drawn = network(
        {"h1": "10.0.0.1/24", "h2": "10.0.0.2/24", "h3": "10.1.0.3/24"},
        [["h1", "s1"], ["h2", "s1"], ["h3", "s1"]],
        ("s1",),
    )
    line = "ip addr add 192.0.2.1/24 dev h2-eth0"
    assert [pair[:2] for pair in unreached(drawn, [Command(node="h2", line=line)])] == [
        ("h1", "h3")
    ]
    assert check_reach(drawn, "h1", "h3", [Command(node="h2", line=line)])
    assert unreached(drawn, [Command(node="h3", line="ip route add default dev h3-eth0")]) == []
    assert (
        unreached(drawn, [Command(node="root", line="ip netns exec h3 ip addr add 10.0.0.3/24")])
        == []
    )


def test_a_repair_is_offered_only_where_it_helps() -> None:
    drawn = network(
        {"h1": "10.0.0.1/8", "r1": ROUTER, "h2": "10.0.0.2/8", "h3": "10.0.0.3/8"},
        [["h1", "r1"], ["r1", "h2"]],
    )
    assert repair(drawn, [("h1", "h2")])
    assert repair(drawn, [("h3", "h1")]) is None


def test_hosts_without_links_to_each_other_are_a_warning() -> None:
    text = """\
title: Islands
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8, h4: 10.0.0.4/8}
  links: [[h1, h2], [h3, h4]]
flows: {p: {ping: h1 -> h2, count: 1}}
"""
    (finding,) = check_text(text, name="x.yaml").findings
    assert not finding.is_mistake
    assert "no links lead from h1 to h3 or h4" in str(finding.error)


LISTED = """\
title: A list of hosts
network:
  hosts: [h1, m, h2]  # m is in the middle
  links: [[h1, m], [m, h2]]
flows: {p: {ping: h1 -> h2, count: 1}}
"""


def test_a_host_of_a_list_becomes_a_router() -> None:
    checked = check_text(LISTED, name="x.yaml")
    text = repaired(LISTED, checked.repair)
    assert "hosts: [h1, h2]" in text
    assert "routers: [m]" in text
    assert "# m is in the middle" in text
    assert check_text(text, name="x.yaml").findings == ()


def test_a_route_to_nowhere_is_removed_and_its_router_stays() -> None:
    text = """\
title: A route to nowhere
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  routers: {r1: {routes: {default: 10.7.7.7}}, r2: }
  links: [[h1, r1], [r1, r2], [r2, h2]]
flows: {p: {ping: h1 -> h2, count: 1}}
"""
    checked = check_text(text, name="x.yaml")
    assert [edit.path for edit in checked.repair] == [
        ("hosts", "h1", "address"),
        ("hosts", "h2", "address"),
        ("routers", "r1", "routes", "default"),
    ]
    text = repaired(text, checked.repair)
    assert "r1: {}" in text
    assert check_text(text, name="x.yaml").findings == ()
