"""The addresses that set-up lines give to hosts, and those that flows are sent to."""

from __future__ import annotations

import dataclasses

import pytest

from longfat.model.addresses import called_addresses, configured_hosts, target_address
from longfat.model.case import Case, Command
from longfat.model.network import Host, Link, Network, Switch
from longfat.model.traffic import Ping
from longfat.study.reachability import check_reach

NET = Network(
    hosts=(Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address=None)),
    switches=(Switch(name="s1"),),
    links=(Link(a="h1", b="s1"), Link(a="h2", b="s1")),
)


@pytest.mark.parametrize(
    ("node", "line", "address"),
    [
        ("h2", "ip addr add 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("h2", "sudo ip a a 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("h2", "/sbin/ip address replace 10.1.0.2 dev bond0", "10.1.0.2"),
        ("h2", "ip addr add dev bond0 10.1.0.2/24", "10.1.0.2"),
        ("h2", "ip addr add brd 10.1.0.255 local 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("h2", "ip -6 addr add 2001:DB8::2/64 dev bond0 nodad", "2001:db8::2"),
        ("h2", "ip link set bond0 up && ip addr add 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("root", "ip -n h2 addr add 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("root", "ip netns exec h2 ip addr add 10.1.0.2/24 dev bond0", "10.1.0.2"),
        ("root", "ip addr add 10.1.0.2/24 dev s1", None),
        ("h1", "ip addr add 10.1.0.2/24 dev bond0", None),
        ("h2", "ip addr add 127.0.0.2/8 dev lo", None),
        ("h2", "ip addr add fe80::2/64 dev bond0", None),
        ("h2", "ip addr add 10.1.0.$N/24 dev bond0", None),
        ("h2", "ip addr add 10.1.0.2/24 dev bond0; ip addr del 10.1.0.2/24 dev bond0", None),
        ("h2", "ip route add 10.1.0.0/24 dev bond0", None),
        ("h2", "ip addr add '10.1.0.2/24 dev bond0", None),
        ("h2", "ip addr", None),
        ("h2", "echo ip addr add 10.1.0.2/24 dev bond0", None),
    ],
)
def test_addresses_of_set_up_lines(node: str, line: str, address: str | None) -> None:
    called = called_addresses(NET, [Command(node=node, line=line)])
    assert called["h1"] == "10.0.0.1"
    assert called.get("h2") == address


def test_an_address_by_links_comes_first() -> None:
    setup = [Command(node="h1", line="ip addr add 10.9.0.1/24 dev bond0")]
    assert called_addresses(NET, setup)["h1"] == "10.0.0.1"


def test_the_address_of_a_flow() -> None:
    setup = (Command(node="h2", line="ip addr add 10.0.0.2/8 dev h2-eth0"),)
    flow = Ping(name="p", source="h1", target="h2")
    case = Case(kernel="6.1", network=NET, setup=setup, flows=(flow,))
    assert target_address(case, flow) == "10.0.0.2"
    named = dataclasses.replace(flow, address="192.168.7.2")
    assert target_address(case, named) == "192.168.7.2"
    assert "address" not in case.to_json()["flows"][0]
    copy = dataclasses.replace(case, flows=(named,))
    assert Case.from_json(copy.to_json()) == copy


def test_a_named_address_is_followed_only_to_an_interface() -> None:
    hosts = (Host(name="h1", address="10.0.0.1/8"), Host(name="h2", address="172.16.0.2/24"))
    network = dataclasses.replace(NET, hosts=hosts)
    assert check_reach(network, "h1", "h2") == "h1 has no route to 172.16.0.2"
    assert check_reach(network, "h1", "h2", address="172.16.0.2") == "h1 has no route to 172.16.0.2"
    assert check_reach(network, "h1", "h2", address="10.7.7.7") is None
    assert check_reach(network, "h1", "h3", address="10.7.7.7") == "h3 has no link"


@pytest.mark.parametrize(
    "line",
    [
        *("ip addr add 10.0.0.1/8 dev h1-eth0", "sudo ip a add 10.1.1.1/24 dev x"),
        *("ip -4 address change 10.0.0.1/8 dev x", "/sbin/ip addr flush dev x"),
        *("ip r add 10.1.0.0/16 via 10.0.0.9", "ip -6 route replace default via fd00::1"),
        "for i in 1 2; do ip addr add 10.0.$i.1/24 dev x; done",
        *("ifconfig h1-eth0 10.0.0.3", "route add default gw 10.0.0.1", "brctl addbr br0"),
        *("ip link add br0 type bridge", "bird -c /etc/bird.conf"),
    ],
)
def test_lines_that_configure_a_host(line: str) -> None:
    assert configured_hosts([Command(node="h1", line=line)]) == {"h1"}


@pytest.mark.parametrize(
    "line",
    [
        *("ip addr show", "ip a", "ip route", "ip route get 10.0.0.1", "ip -6 route list"),
        *("ip link set dev h1-eth0 mtu 9000", "ip rule add from 10.0.0.1 table 5"),
        *(
            "ip neigh add 10.0.0.1 lladdr 00:00:00:00:00:01 dev x",
            "sysctl -w net.ipv4.ip_forward=1",
        ),
        *("ip mptcp endpoint add 10.0.0.1 dev x", "nft add rule ip nat out", "iperf3 -s -D"),
    ],
)
def test_lines_that_leave_addresses_and_routes_alone(line: str) -> None:
    assert configured_hosts([Command(node="h1", line=line)]) == frozenset()


def test_lines_at_root_configure_the_hosts_that_they_name() -> None:
    line = "ip -n h2 addr add 10.0.0.2/8 dev x; ip netns exec h3 ip route add default via 10.0.0.9"
    assert configured_hosts([Command(node="root", line=line)]) == {"h2", "h3"}
