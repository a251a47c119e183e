"""Cuts of a network: links that no packet between two nodes can avoid."""

from __future__ import annotations

from longfat.model.network import Network
from longfat.model.network.cuts import cuts_between
from longfat.study.read import parse_study

STUDY = """\
title: A ladder
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8, lone: 10.0.0.9/8, r1: null, r2: null, r3: null}
  links: [[h1, r1], [r1, r2], [r1, r3], [r2, r3], [r2, h2], [r3, h2]]
"""


def network() -> Network:
    return parse_study(STUDY, name="study.yaml").cases["default"].case.network


def test_each_cut_has_all_links_of_a_distance() -> None:
    cuts = cuts_between(network(), "h1", "h2")
    assert [cut.interfaces for cut in cuts] == [
        ("h1-eth0",),
        ("r1-eth1", "r1-eth2"),
        ("r2-eth2", "r3-eth2"),
    ]
    assert cuts[1].near == {"h1", "r1"}


def test_a_cut_separates_what_is_on_its_two_sides_in_its_direction() -> None:
    first = cuts_between(network(), "h1", "h2")[0]
    assert first.separates("h1", "r3")
    assert not first.separates("r3", "h1")
    assert not first.separates("r1", "h2")


def test_there_is_none_where_no_links_lead() -> None:
    assert cuts_between(network(), "h1", "lone") == ()
