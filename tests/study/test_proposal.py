"""Addresses and routes that a link gets when it is drawn."""

from __future__ import annotations

from longfat.model.network import Network
from longfat.study.check import proposed, repaired
from longfat.study.network import read_section
from longfat.study.proposal import propose
from longfat.study.read import parse_study
from longfat.study.repair import Edit, unreached

HEAD = "title: drawn\nnetwork:\n"


def drawn(hosts: str, links: str, switches: str = "[]") -> str:
    return f"{HEAD}  hosts: {hosts}\n  switches: {switches}\n  links: {links}\n"


def values(edits: tuple[Edit, ...]) -> dict[str, str | None]:
    return {".".join(map(str, edit.path)): edit.value for edit in edits}


def network_of(text: str) -> Network:
    return parse_study(text, name="drawn").cases["default"].case.network


def given(edits: tuple[Edit, ...]) -> set[str]:
    """Return what edits give, as the page notes it."""
    return {
        f"{edit.path[-1] if edit.path[0] == 'links' else edit.path[1]} "
        + (f"{edit.path[3]} " if len(edit.path) == 4 and edit.path[2] == "routes" else "")
        + str(edit.value)
        for edit in edits
    }


def test_the_first_link_to_a_router_gets_a_network_of_its_own() -> None:
    text = drawn("{h1: 10.0.0.1/8, r1: {forwards: yes}}", "[[h1, r1]]")
    found = proposed(text, 0, name="drawn", automatic={"h1 10.0.0.1/8"})
    assert values(found) == {
        "hosts.h1.address": "10.0.1.1/24",
        "hosts.r1.address": "10.0.1.254/24",
    }


def test_a_network_that_is_drawn_link_by_link_is_reached_everywhere() -> None:
    hosts = (
        "{h1: 10.0.0.1/8, h2: 10.0.0.2/8, h3: 10.0.0.3/8, r1: {forwards: yes}, "
        "r2: {forwards: yes}, r3: {forwards: yes}}"
    )
    text = drawn(hosts, "[]", "[s1]")
    automatic = {"h1 10.0.0.1/8", "h2 10.0.0.2/8", "h3 10.0.0.3/8"}
    links = [("h1", "s1"), ("s1", "r1"), ("r1", "r2"), ("r2", "h2"), ("r1", "r3"), ("r3", "h3")]
    for index, (a, b) in enumerate(links):
        (line,) = [line for line in text.splitlines() if line.startswith("  links:")]
        new = f"[{a}, {b}]"
        head, _, _ = line.rpartition("]")
        text = text.replace(line, f"{head}{', ' if index else ''}{new}]")
        found = proposed(text, index, name="drawn", automatic=automatic)
        text = repaired(text, found)
        automatic |= given(found)
    assert unreached(network_of(text), is_thorough=True) == []
    # Each of them has been told its way by one route.
    by_name = {host.name: host for host in network_of(text).hosts}
    assert [route.to for route in by_name["h1"].routes] == ["default"]
    assert [route.to for route in by_name["r3"].routes] == ["default"]
    assert "default" not in [route.to for route in by_name["r1"].routes]


def test_what_was_typed_stays() -> None:
    typed = drawn(
        "{h1: 10.0.0.1/8, r1: {address: 10.7.7.7/8, forwards: yes}, h2: 10.0.0.2/8}",
        "[[h1, r1], [r1, h2]]",
    )
    found = values(proposed(typed, 1, name="drawn", automatic={"h2 10.0.0.2/8"}))
    assert not {"hosts.h1.address", "hosts.r1.address"} & set(found)
    # 10.0.0.0/8 is taken by what was typed.
    assert found["hosts.h2.address"] == "172.16.0.1/24"
    assert found["links.1.2.addresses.r1"] == "172.16.0.254/24"
    assert found["hosts.h2.routes.default"] == "172.16.0.254"
    routed = drawn(
        "{h1: {address: 10.1.0.1/24, routes: {default: 10.1.0.9}}, r1: {forwards: yes}, "
        "h2: 10.0.0.2/8}",
        "[[h1, r1], [r1, h2]]",
    )
    found = values(proposed(routed, 1, name="drawn", automatic={"h2 10.0.0.2/8"}))
    assert "hosts.h1.address" not in found
    assert "hosts.h1.routes.default" not in found


def test_nothing_is_proposed_where_it_is_not_known_to_help() -> None:
    plain = drawn("{h1: 10.0.0.1/8, h2: 10.0.0.2/8}", "[[h1, h2]]")
    assert proposed(plain, 0, name="drawn", automatic={"h1 10.0.0.1/8"}) == ()
    router = drawn("{h1: 10.0.0.1/8, r1: {forwards: yes}}", "[[h1, r1]]")
    assert proposed(router, 7, name="drawn", automatic=()) == ()
    by_hand = f"{router}setup:\n  - r1: ip addr add 10.0.0.9/8 dev r1-eth0\n"
    assert proposed(by_hand, 0, name="drawn", automatic=()) == ()
    assert proposed("network: {hosts: ", 0, name="drawn", automatic=()) == ()
    hosts = {"h1": "fd00::1/64", "r1": {"forwards": True}}
    six = read_section({"hosts": hosts, "links": [["h1", "r1"]]})
    assert propose(six, 0, automatic=()) == []


def test_other_parts_of_the_network_are_left_alone() -> None:
    text = drawn(
        "{h1: 10.0.0.1/8, r1: {forwards: yes}, h2: , r2: {forwards: yes}}",
        "[[h1, r1], [h2, r2]]",
    )
    found = proposed(text, 1, name="drawn", automatic={"h1 10.0.0.1/8"})
    assert {edit.path[1] for edit in found} == {"h2", "r2"}
