"""Each kind of error in a network: its message, line, column and field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from longfat.common.suggest import listed
from longfat.model.fields import fields_of
from longfat.model.network import Host, Link, LinkImpairments, Route
from tests.study.messages import error, read

NETWORK = [
    ("{}", "2:10: network", "the network has no hosts: write hosts: [h1, h2]"),
    (
        "{hosts: h1}",
        "2:18: network.hosts",
        "found 'h1', expected a list of names (such as [h1, h2]), or a mapping to addresses (such "
        "as {h1: 10.0.0.1/8})",
    ),
    (
        "{hosts: [h1, r1], routers: [r1]}",
        "2:38: network.routers[0]",
        "the name 'r1' is taken already, in line 2",
    ),
    ("{hosts: [[h1]]}", "2:19: network.hosts[0]", "found a sequence, expected a host's name"),
    (
        "{routers: [lo]}",
        "2:21: network.routers[0]",
        "no node can be called 'lo': it is the loopback interface",
    ),
    (
        "{hosts: [h1], addresses: ipv5}",
        "2:35: network.addresses",
        "'ipv5' is not a family of addresses; did you mean 'ipv4'? (there are: ipv4, ipv6, none)",
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
        "{hosts: {h23456789012345678901234567890123: 10.0.0.1/8}}",
        "2:19: network.hosts.h23456789012345678901234567890123",
        "'h23456789012345678901234567890123' cannot be a node's name: write a letter or a digit, "
        "then up to 31 letters, digits, - or _",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8}, links: [[h1, s1]]}",
        "2:49: network.links[0][1]",
        "there is no node 's1' (there are: h1)",
    ),
    (
        "{hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2, {delay: 432000s}]]}",
        "2:77: network.links[0][2].delay",
        "432000s is outside of what is allowed: 0s to 274s",
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
        "the link closes a loop of switches, c - a - b - c, in which a frame would circle for "
        "ever: leave out one of its links, make routers of the switches, or join parallel links by "
        "a bond",
    ),
    (
        "{hosts: {h1: , h2: }, switches: [s1], links: [[h1, s1], [h2, s1, {mtu: 9000}]]}",
        "2:81: network.links[1][2].mtu",
        "the switch s1 has links of different MTUs: 9000 here and 1500 between h1 and s1; it would "
        "drop larger frames without a word: give them the same MTU, or put a router there",
    ),
    (
        "{hosts: {h1: {offloads: gro=on}}}",
        "2:34: network.hosts.h1.offloads",
        "'gro=on' are no offloads: write names and on or off (such as tso off gro on)",
    ),
    (
        "{hosts: {h1: {rx_coalescing: 20}}}",
        "2:39: network.hosts.h1.rx_coalescing",
        "'20' has no unit: write a number with s, ms, us, ns or min, such as 20ms",
    ),
    (
        "{hosts: {h2345678: 10.0.0.1/8}, hots: 1}",
        "2:42: network.hots",
        "unknown field 'hots'; did you mean 'hosts'? (there are: hosts, routers, switches, links, "
        "bonds, tunnels, testbed, "
        "setup, frames, cold_neighbours, shared_kernel, addresses)",
    ),
]


HEAD = "{hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, switches: [s1], links: [[h1, s1], "
LINK = "network.links[1]"
IMPAIRMENTS = listed(fields_of(LinkImpairments))

LINKS = [
    ("[s1, h2, 1gbit]", "[2]", "found '1gbit', expected a mapping of the link's properties "
     "(such as {rate: 1gbit})"),
    ("[s1, h2, {rte: 1gbit}]", ".rte", "unknown field 'rte'; did you mean 'rate'? (there are: "
     f"{IMPAIRMENTS}, {listed(fields_of(Link))}, addresses, to)"),
    ("[s1, h2, {delay: 20}]", "[2].delay", "'20' has no unit: write a number with s, ms, us, ns "
     "or min, such as 20ms"),
    ("[s1, h2, {loss: 101%}]", "[2].loss", "'101%' is more than all: write a percentage from 0% "
     "to 100%, such as 0.01%"),
    ("[s1, h2, {jitter: 1ms}]", "[2].jitter", "there is a jitter and no delay for it to vary: "
     "write a delay"),
    ("[s1, h2, {corrupt: 5}]", "[2].corrupt", "'5' is not a percentage: write a percentage from "
     "0% to 100%, such as 0.01%"),
    ("[s1, h2, {delay: 1ms, reorder: 5%, to: {s1: {delay: }}}]", "[2].reorder", "there is no "
     "delay, without which no packet overtakes another: write one"),
    ("[s1, h2, {rate: 1gbit, queue: 1MB, to: {h2: {qdisc: fq}}}]", "[2].queue", "packets wait in "
     "the qdisc, fq, which has a limit of its own: leave one of the two out"),
    ("[s1, h2, {qdisc: htb default 1}]", "[2].qdisc", "htb needs more lines than this one: write "
     "its lines of tc under setup, without a rate, delay or qdisc here"),
    ("[s1, h2, {to: {h2: {qdisc: tbf rate 1gbit}}}]", "[2].to.h2.qdisc", "tbf is not a queue: the "
     "link's rate becomes one; for your own, write its lines of tc under setup, without a rate, "
     "delay or qdisc here"),
    ("[s1, h2, {qdisc: pfifo limit `id`}]", "[2].qdisc", "'pfifo limit `id`' are no words of tc: "
     "write a queueing discipline and its options with one blank between them, such as 'pfifo "
     "limit 100'"),
    ("[s1, h2, {queue: 1MB}]", "[2].queue", "there is a queue and no rate for packets to wait "
     "for: write a rate"),
    ("[s1, h2, {rate: 1gbit, queue: 1500}]", "[2].queue", "1500 bytes hold no full "
     "packet: at least 1518"),
    ("[s1, h2, {burst_loss: 1%}]", "[2].burst_loss", "here are 1 values, where two to four "
     "percentages are needed"),
    ("[s1, h2, {loss: 1%, burst_loss: 1% 25%}]", "[2].burst_loss", "losses are written twice: "
     "leave out loss or burst_loss"),
    ("[s1, h2, {rate: 64tbit}]", "[2].rate", "64tbit is outside of what is allowed: 8bit to 1tbit"),
    ("[s1, h2, {rate: 1bit}]", "[2].rate", "1bit is outside of what is allowed: 8bit to 1tbit"),
    ("[s1, h2, {mtu: 60}]", "[2].mtu", "60 bytes is outside of what is allowed: 68 to 65535 bytes"),
    ("[s1, h2, {to: {h3: {rate: 1gbit}}}]", "[2].to.h3", "'h3' is no end of this link: write s1 "
     "or h2"),
    ("[s1, h2, {to: {h2: {mtu: 1}}}]", "[2].to.h2.mtu", "unknown field 'mtu' (there are: "
     f"{IMPAIRMENTS})"),
    ("[s1, h2, {rate: 1gbit, to: {s1: {rate: , queue: 1MB}}}]", "[2].to.s1.queue", "there is a "
     "queue and no rate for packets to wait for: write a rate"),
    ("[s1, h2, {rate: 1gbit, queue: 1MB, to: {s1: {rate: }}}]", "[2].queue", "there is a queue "
     "and no rate for packets to wait for: write a rate"),
    ("[s1, h2, {addresses: {s1: 10.0.0.9/8}}]", "[2].addresses.s1", "s1 is a switch, whose "
     "interfaces have no addresses"),
    ("[s1, h2, {addresses: {h2: 10.0.0.9/8}}]", "[2].addresses.h2", "h2 has the address "
     "10.0.0.2/8 of its own, which is that of this first interface: leave one of them out"),
    ("[h1, h2, {addresses: {h1: 10.0.0.2/24}}]", "[2].addresses.h1", "the address 10.0.0.2 is "
     "that of h2 already"),
]  # fmt: skip


@pytest.mark.parametrize(("link", "field", "message"), LINKS)
def test_the_properties_of_a_link(link: str, field: str, message: str, tmp_path: Path) -> None:
    place, found = error(f"title: x\nnetwork: {HEAD}{link}]}}\n", tmp_path)
    assert found == message
    assert place.endswith(f": {LINK}{field}" if field[0] == "[" else field)


HOSTS = [
    (
        "{address: 10.0.0.9/8, forward: yes}",
        ".forward",
        "unknown field 'forward'; did you mean 'forwards'? (there are: address, "
        f"{listed(fields_of(Host))}, routes, profile, timer_latency, cpu)",
    ),
    ("{address: 10.0.0.9}", ".address", "'10.0.0.9' has no prefix length: write it as "
     "10.0.0.9/8 or the like"),
    ("{forwards: 1}", ".forwards", "found '1', expected true or false"),
    (
        "{address: 10.0.0.9/8, routes: {default: 192.168.0.1}}",
        ".routes.default",
        "192.168.0.1 is on none of the networks of r (it is on: 10.0.0.0/8)",
    ),
    ("{address: 10.0.0.9/8, routes: {default: 10.0.0.9}}", ".routes.default",
     "10.0.0.9 is an address of r itself"),
    ("{routes: {default: 192.168.0.1}}", ".routes.default",
     "192.168.0.1 is on none of the networks of r (it is on: 10.0.0.0/8)"),
    ("{address: 10.0.0.9/8, routes: {default: 10.0.0.1/8}}", ".routes.default",
     "'10.0.0.1/8' is not the address of a router, such as 10.0.0.254"),
    ("{address: 10.0.0.9/8, routes: {10.1.0.1/16: 10.0.0.1}}", ".routes.10.1.0.1/16",
     "'10.1.0.1/16' is not a network: 10.1.0.1/16 has host bits set"),
    ("{address: 10.0.0.9/8, routes: {everywhere: 10.0.0.1}}", ".routes.everywhere",
     "'everywhere' is not a network, such as 10.1.0.0/16, or default"),
    ('{address: 10.0.0.9/8, routes: {"fd00::/8": 10.0.0.1}}', ".routes.fd00::/8",
     "fd00::/8 and 10.0.0.1 are of different families"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "field", "message"), HOSTS)
def test_a_hosts_fields(host: str, field: str, message: str, tmp_path: Path) -> None:
    text = f"title: x\nnetwork: {{hosts: {{r: {host}, h: 10.0.0.1/8}}, links: [[r, h]]}}\n"
    place, found = error(text, tmp_path)
    assert found == message
    assert place.endswith(f": network.hosts.r{field}")


WHOLE = """\
title: x
network:
  hosts:
    h1: {address: 10.0.1.1/24, routes: {default: 10.0.1.254}}
    h2: {address: 10.0.2.1/24, routes: {default: 10.0.2.254}}
    r1: {forwards: yes}
    lone:
  switches: [s1]
  links:
    - [h1, s1, {mtu: 9000}]
    - [s1, r1, {rate: 1gbit, delay: 10ms, jitter: 1ms, loss: 0.01%, queue: 25MB, mtu: 9000,
               addresses: {r1: 10.0.1.254/24}, to: {s1: {rate: 10mbit, loss: , queue: }}}]
    - [r1, h2, {addresses: {r1: 10.0.2.254/24}}]
"""


def test_a_network_with_all_properties(tmp_path: Path) -> None:
    network = read(WHOLE, tmp_path).cases["default"].case.network
    assert network.hosts[2:] == (
        Host(name="r1", address=None, forwards=True),
        Host(name="lone", address=None),
    )
    assert network.hosts[0].routes == (Route(to="default", via="10.0.1.254"),)
    assert network.links[1] == Link(
        a="s1",
        b="r1",
        a_to_b=LinkImpairments(
            rate_bps=10**9, delay_s=0.01, jitter_s=0.001, loss=1e-4, queue_bytes=25 * 2**20
        ),
        b_to_a=LinkImpairments(rate_bps=10**7, delay_s=0.01, jitter_s=0.001),
        b_address="10.0.1.254/24",
        mtu_bytes=9000,
    )


BY_HAND = WHOLE.replace("network:\n", "network:\n  addresses: none\n")
FLOW = "flows: {x: {ping: h1 -> h2}}\n"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("", "", ""),
        ("forwards: yes", "forwards: no", "r1, on the way to h2, does not forward"),
        (", routes: {default: 10.0.1.254}", "", "h1 has no route to 10.0.2.1"),
        (
            ", routes: {default: 10.0.2.254}",
            "",
            "no answer comes back: h2 has no route to 10.0.1.1",
        ),
        (
            "address: 10.0.2.1/24, routes: {default: 10.0.2.254}",
            "",
            "h2 has no address: give it one, or write the address that the flow is sent to"
            " (address: 10.1.0.2)",
        ),
        (
            "default: 10.0.1.254",
            "default: 10.0.1.7",
            "h1 finds no interface with the address 10.0.1.7",
        ),
    ],
)
def test_flows_pass_routers(old: str, new: str, reason: str, tmp_path: Path) -> None:
    text = BY_HAND.replace(old, new, 1) if old else BY_HAND
    if not reason:
        read(text + FLOW, tmp_path)
        return
    place, message = error(text + FLOW, tmp_path)
    assert message == f"the flow 'x' cannot pass: {reason}"
    assert place.endswith("flows.x.ping")


@pytest.mark.parametrize(
    ("line", "may_reroute"),
    [
        ("ip route add default via 10.0.1.254", True),
        ("sysctl -w net.ipv4.ip_forward=1", True),
        ("./set-up.sh", True),
        ("tc qdisc add dev h1-eth0 root netem", False),
        ("sysctl -w net.ipv4.tcp_sack=0", False),
    ],
)
def test_what_set_up_lines_may_change_is_not_judged(
    line: str, may_reroute: bool, tmp_path: Path
) -> None:
    text = BY_HAND.replace(", routes: {default: 10.0.1.254}", "") + FLOW
    text += f"setup: [{{h1: {line}}}]\n"
    if may_reroute:
        read(text, tmp_path)
    else:
        assert "h1 has no route" in error(text, tmp_path)[1]


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


def test_what_happens_to_single_packets_and_how_they_queue(tmp_path: Path) -> None:
    red = "red limit 1000000 min 30000 max 90000 avpkt 1000 probability 1"
    link = (
        "[s1, h2, {delay: 5ms, duplicate: 1%, corrupt: 0.1%, reorder: 25%, "
        f"qdisc:  fq_codel   limit 100, to: {{s1: {{reorder: , qdisc: {red}}}}}}}]"
    )
    network = read(f"title: x\nnetwork: {HEAD}{link}]}}\n", tmp_path).cases["default"].case.network
    shape = LinkImpairments(
        delay_s=0.005, duplicate=0.01, corrupt=0.001, reorder=0.25, qdisc="fq_codel limit 100"
    )
    assert network.links[1] == Link(
        a="s1", b="h2", a_to_b=shape, b_to_a=replace(shape, reorder=None, qdisc=red)
    )


NET = "network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, switches: [s1], links: [[h1, s1]]}"


def test_a_layout_is_no_part_of_a_case(tmp_path: Path) -> None:
    bare = read(f"title: x\n{NET}\n", tmp_path)
    assert bare.layout == {}
    study = read(f"title: x\n{NET}\nlayout: {{h1: [120, 80], s1: [240.5, -8e1]}}\n", tmp_path)
    assert study.layout == {"h1": (120, 80), "s1": (240.5, -80)}
    assert study.cases["default"].case == bare.cases["default"].case


def test_a_layout_of_nodes_of_several_networks(tmp_path: Path) -> None:
    own = "network: {hosts: {far: 10.0.0.9/8}}"
    text = f"title: x\n{NET}\ncases: {{a: , b: {{{own}}}}}\nlayout: {{h1: [1, 2], far: [3, 4]}}\n"
    assert read(text, tmp_path).layout == {"h1": (1, 2), "far": (3, 4)}


@pytest.mark.parametrize(
    ("layout", "place", "message"),
    [
        ("{hh1: [1, 2]}", "3:10: layout.hh1", "there is no node 'hh1'; did you mean 'h1'? (there "
         "are: h1, h2, s1)"),
        ("{h1: 3}", "3:14: layout.h1", "found '3', expected a place as two numbers of pixels "
         "(such as [120, 80])"),
        ("{h1: [3]}", "3:14: layout.h1", "found 1 values, expected a place as two numbers of "
         "pixels (such as [120, 80])"),
        ("{h1: [3, 4, 5]}", "3:14: layout.h1", "found 3 values, expected a place as two numbers "
         "of pixels (such as [120, 80])"),
        ("{h1: [3, x]}", "3:18: layout.h1[1]", "found 'x', expected a number of pixels"),
        ("{h1: [.nan, 1]}", "3:15: layout.h1[0]", "found '.nan', expected a number of pixels"),
        ("{h1: [1, 1e9]}", "3:18: layout.h1[1]", "1e9 is outside of what is allowed: -1000000 to "
         "1000000"),
        ("[h1]", "3:9: layout", "found a sequence, expected a mapping of nodes to places (such "
         "as {h1: [120, 80]})"),
    ],
)  # fmt: skip
def test_a_wrong_layout(layout: str, place: str, message: str, tmp_path: Path) -> None:
    where, found = error(f"title: x\n{NET}\nlayout: {layout}\n", tmp_path)
    assert found == message
    assert where.endswith(place)
