"""Addresses, routes and forwarding that a network lacks: found, and set right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from longfat.model.network import Network
from longfat.study.check import check_text
from longfat.study.network import read_section
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


@pytest.mark.parametrize("name", CASES)
def test_everybody_is_reached_afterwards(name: str) -> None:
    assert unreached(CASES[name])
    assert repair(CASES[name])


def test_what_was_written_stays_where_it_does_no_harm() -> None:
    (edit,) = repair(CASES["a missing route"]) or []
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
    assert unreached(drawn, ["ip addr add 10.1.0.1/24 dev r1-eth0"]) == []
    assert unreached(drawn, ["tc qdisc add dev r1-eth0 root netem delay 1ms"]) != []
    six = network({"h1": "fd00::1/64", "h2": "fd01::1/64"}, [["h1", "h2"]])
    assert unreached(six)
    assert repair(six) is None


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
