"""All errors of a study are reported at once, each with its location, and no consequential ones."""

from __future__ import annotations

import pytest

from longfat.errors import InputError, MistakesError
from longfat.study.read import parse_study

TEXT = """\
title: Many mistakes
network:
  hosts:
    h1: 10.0.0.1/8
    h2: 10.0.0.2
    r1: {forwards: maybe, nat: x y}
  switches: [s1]
  links:
    - [h1, s1, {rate: fast, dellay: 5ms}]
    - [s1, h3]
setup:
  - h9: sysctl -w x=1
  - h1: "true"
    h2: "true"
flows:
  bulk: {iperf3: h1 -> h2, time: 1.5s, parallel: 0}
  rtt: {ping: h7 -> h2}
  none: {}
probes:
  queue: {of: s1-eth1, every: soon}
events:
  - {at: now, h1: "true"}
cases:
  one:
  two: {seed: x, setup: [h8: "true"]}
layuot: {}
"""


def places(text: str) -> list[str]:
    with pytest.raises(InputError) as raised:
        parse_study(text, name="t")
    return [f"{one.place.line}: {one.place.field}" for one in raised.value.mistakes if one.place]


def test_all_are_reported_in_the_order_of_the_file() -> None:
    assert places(TEXT) == [
        "5: network.hosts.h2",
        "6: network.hosts.r1.forwards",
        "6: network.hosts.r1.nat",
        "9: network.links[0][2].rate",
        "9: network.links[0][2].dellay",
        "10: network.links[1][1]",
        "12: setup[0].h9",
        "13: setup[1]",
        "16: flows.bulk.time",
        "16: flows.bulk.parallel",
        "17: flows.rtt.ping",
        "18: flows.none",
        "20: probes.queue.every",
        "22: events[0].at",
        "25: cases.two.seed",
        "25: cases.two.setup[0].h8",
        "26: layuot",
    ]


def test_the_first_found_stands_for_all() -> None:
    with pytest.raises(MistakesError) as raised:
        parse_study(TEXT, name="t")
    assert str(raised.value).startswith("17 mistakes:\n  t:5:9: network.hosts.h2: ")
    assert raised.value.place is not None


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        # A host that is wrong is there all the same, and so is a link.
        ("10.0.0.2", "10.0.0.2.3/8", ["4: network.hosts.h2"]),
        ("rate: 1gbit", "rate: 1gbot", ["6: network.links[0][2].rate"]),
        # A mistake in a common field is met in each case, and told once.
        ("time: 2s", "time: 1.5s", ["8: flows.bulk.time"]),
        ("iperf3: h1 -> h2", "iperf3: h1 -> h9", ["8: flows.bulk.iperf3"]),
        ("title: ", "titel: ", ["1: titel"]),
    ],
)
def test_what_follows_from_a_mistake_is_none(old: str, new: str, place: list[str]) -> None:
    text = """\
title: One mistake
network:
  hosts:
    h2: 10.0.0.2/8
    h1: 10.0.0.1/8
  links: [[h1, h2, {rate: 1gbit}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
probes: {queue: {of: h1-eth0}}
cases: {one: , two: {seed: 2}}
claims: [one.bulk.receiver_bps > 1mbit]
"""
    parse_study(text, name="t")
    whole = text.replace(old, new, 1)
    found = places(whole)
    assert [one.partition(": ")[2] for one in found] == [one.partition(": ")[2] for one in place]


def test_claims_are_all_examined() -> None:
    text = """\
title: Claims
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {bulk: {iperf3: h1 -> h2}}
claims:
  - default.bulk.sender_bsp > 1mbit
  - default.bulk.sender_bps > 1mbit
  - default.bulk.sender_bps > 3ms
layout: {h9: [1, 2]}
"""
    assert places(text) == ["8: layout.h9"]
    assert places(text.replace("h9", "h1")) == ["5: claims[0]", "7: claims[2]"]


def test_a_file_full_of_mistakes_has_an_end() -> None:
    hosts = "".join(f"    h{number}: nowhere\n" for number in range(500))
    assert len(places(f"title: t\nnetwork:\n  hosts:\n{hosts}")) == 100


def test_what_is_no_yaml_hides_nothing_but_itself() -> None:
    # As a text is while it is typed.
    assert places(f"{TEXT}even\n")[:3] == [
        "5: network.hosts.h2",
        "6: network.hosts.r1.forwards",
        "6: network.hosts.r1.nat",
    ]
    broken = TEXT.replace("time: 1.5s, parallel: 0}", "time: [1s}")
    found = places(broken)
    assert "16: " in found
    assert "5: network.hosts.h2" in found
    assert not any("flows" in one for one in found)


GRID = """\
title: Many mistakes in a grid
grid:
  rate: [10mbit, 20mbit]
  cc: [cubic, reno]
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2}
  links:
    - [h1, h2, {rate: $<rate>, dellay: 5ms}]
setup:
  - h1: "sysctl -w net.ipv4.tcp_congestion_control=$<cc>"
  - h1: "true"
    h2: "true"
flows:
  bulk: {iperf3: h1 -> h2, time: soon}
memory: $<rate>
probes:
  queue: {of: h1-eth0, every: $<unknown>}
"""


def test_all_mistakes_of_a_grid_are_reported() -> None:
    with pytest.raises(MistakesError) as raised:
        parse_study(GRID, name="t")
    found = {one.place.line: one.message for one in raised.value.mistakes if one.place}
    assert set(found) == {6, 8, 11, 14, 15, 17}
    # Where a parameter has to do with it, the case is named.
    assert "in the case 'rate10mbit-cubic', with rate" in found[15]
    assert "in the case" not in found[14]


def test_nothing_else_is_reported_where_the_grid_itself_is_wrong() -> None:
    assert places(GRID.replace("[cubic, reno]", "[]")) == ["4: grid.cc"]
