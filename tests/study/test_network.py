"""Each kind of error in a network: its message, line, column and field."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.study.messages import error

NETWORK = [
    ("{}", "2:10: network", "the network has no hosts: write hosts: {h1: 10.0.0.1/8}"),
    (
        "{hosts: [h1]}",
        "2:18: network.hosts",
        "here stands a sequence, where a mapping of hosts to addresses (such as {h1: 10.0.0.1/8}) "
        "is needed",
    ),
    (
        "{hosts: {h1: 10.0.0.1}}",
        "2:23: network.hosts.h1",
        "'10.0.0.1' has no prefix length: write it as 10.0.0.1/8 or the like",
    ),
    (
        "{hosts: {h1: 10.0.0.256/8}}",
        "2:23: network.hosts.h1",
        "'10.0.0.256/8' is not an address: '10.0.0.256/8' does not appear to be an IPv4 or IPv6 "
        "interface",
    ),
    (
        "{hosts: {h1: 127.0.0.1/8}}",
        "2:23: network.hosts.h1",
        "'127.0.0.1/8' cannot be a host's own address",
    ),
    (
        "{hosts: {h1: 10.0.0.0/8}}",
        "2:23: network.hosts.h1",
        "'10.0.0.0/8' is the address of the network itself, not of a host",
    ),
    (
        "{hosts: {h1: 10.255.255.255/8}}",
        "2:23: network.hosts.h1",
        "'10.255.255.255/8' is the network's broadcast address, not a host's",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8, h2: 10.0.0.1/24}}",
        "2:39: network.hosts.h2",
        "the address 10.0.0.1 is that of h1 already",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8, h1: 10.0.0.2/8}}",
        "2:35",
        "'h1' is written twice here, first in line 2",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, switches: [h1]}",
        "2:47: network.switches[0]",
        "the name 'h1' is taken already, in line 2",
    ),
    (
        "{hosts: {root: 10.0.0.1/8}}",
        "2:19: network.hosts.root",
        "no node can be called 'root': it is the shell where the switches' interfaces are visible",
    ),
    (
        "{hosts: {h234567890: 10.0.0.1/8}}",
        "2:19: network.hosts.h234567890",
        "'h234567890' cannot be a node's name: write a letter, then up to 8 letters, digits, - or "
        "_ (interfaces are named after it, in at most 15 characters)",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1, s1]]}",
        "2:49: network.links[0][1]",
        "there is no node 's1' (there are: h1)",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1, h1]]}",
        "2:44: network.links[0]",
        "the link leads from h1 to itself",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1]]}",
        "2:44: network.links[0]",
        "a link has two ends, and here are 1: write [NODE, NODE]",
    ),
    (
        "{hosts: {s1-eth1: 10.0.0.1/8}, switches: [s1], links: [[s1, s1-eth1]]}",
        "2:28: network.hosts.s1-eth1",
        "the node 's1-eth1' has the name of an interface of a link",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, switches: [a, b, c], links: [[a, b], [b, c], [c, a]]}",
        "2:81: network.links[2]",
        "the link closes a loop of switches: c and a are connected already, and a frame would "
        "circle for ever",
    ),
    (
        "{hosts: {h2345678: 10.0.0.1/8}, hots: 1}",
        "2:42: network.hots",
        "unknown field 'hots'; did you mean 'hosts'? (there are: hosts, switches, links)",
    ),
]


@pytest.mark.parametrize(("value", "place", "message"), NETWORK)
def test_the_network(value: str, place: str, message: str, tmp_path: Path) -> None:
    assert error(f"title: x\nnetwork: {value}\n", tmp_path) == (place, message)


def test_an_interface_with_too_long_a_name(tmp_path: Path) -> None:
    hosts = ", ".join(f"h{i}: 10.0.0.{i + 1}/8" for i in range(100))
    links = ", ".join(f"[h{i}, s23456789]" for i in range(100))
    text = f"title: x\nnetwork:\n hosts: {{{hosts}}}\n switches: [s23456789]\n links: [{links}]\n"
    place, message = error(text, tmp_path)
    assert place.endswith("network.links[99]")
    assert message == (
        "the interface s23456789-eth100 has more than 15 characters: "
        "give its node a shorter name or fewer links"
    )
