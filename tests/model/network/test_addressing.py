"""Addresses and routes that are assigned automatically."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_interface

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.model.network import Host, Link, Network, NoRouteError, Switch, problems, trace_route
from longfat.model.network.addressing import Addressing, complete
from longfat.model.network.subnets import broadcast_domains
from longfat.study.network import read_section
from longfat.study.read import parse_study

IPV6 = Addressing(addresses="ipv6")


def network(
    *links: Sequence[object],
    hosts: object,
    routers: object = None,
    switches: Sequence[str] = (),
    **other: object,
) -> Network:
    section = {"hosts": hosts, "switches": list(switches), "links": list(links), **other}
    return read_section(section if routers is None else {**section, "routers": routers})


def addresses(completed: Network) -> dict[str, str | None]:
    """Return the address of each interface of a host."""
    return {
        name: address
        for link, names, pair in zip(
            completed.links, completed.interfaces(), completed.written_addresses(), strict=True
        )
        for node, name, address in zip((link.a, link.b), names, pair, strict=True)
        if any(host.name == node for host in completed.hosts)
    }


def routes(completed: Network) -> dict[str, list[str]]:
    return {host.name: [route.words for route in host.routes] for host in completed.hosts}


def all_reach_each_other(completed: Network) -> bool:
    names = [host.name for host in completed.hosts]
    for source in names:
        for target in names:
            if source != target:
                trace_route(completed, source, target)
    return True


def test_a_network_without_routers_is_one_subnet() -> None:
    completed = complete(
        network(["h1", "s1"], ["s1", "s2"], ["h2", "s2"], hosts=["h1", "h2"], switches=["s1", "s2"])
    )
    assert addresses(completed) == {"h1-eth0": "10.0.0.1/8", "h2-eth0": "10.0.0.2/8"}
    assert routes(completed) == {"h1": [], "h2": []}


def test_each_broadcast_domain_is_a_subnet_and_routers_get_the_last_addresses() -> None:
    completed = complete(
        network(
            *(["h1", "s1"], ["h2", "s1"], ["s1", "r1"], ["r1", "r2"], ["r2", "h3"]),
            hosts=["h1", "h2", "h3"],
            routers=["r1", "r2"],
            switches=["s1"],
        )
    )
    assert addresses(completed) == {
        "h1-eth0": "10.0.1.1/24",
        "h2-eth0": "10.0.1.2/24",
        "r1-eth0": "10.0.1.254/24",
        "r1-eth1": "10.0.2.254/24",
        "r2-eth0": "10.0.2.253/24",
        "r2-eth1": "10.0.3.254/24",
        "h3-eth0": "10.0.3.1/24",
    }
    assert routes(completed) == {
        "h1": ["default via 10.0.1.254"],
        "h2": ["default via 10.0.1.254"],
        "h3": ["default via 10.0.3.254"],
        "r1": ["10.0.3.0/24 via 10.0.2.253"],
        "r2": ["10.0.1.0/24 via 10.0.2.254"],
    }
    assert list(problems(completed)) == []
    assert all_reach_each_other(completed)


def test_a_ring_is_crossed_by_shortest_paths_and_ties_by_the_earlier_link() -> None:
    ring = network(
        *([f"r{i}", f"r{i % 4 + 1}"] for i in (1, 2, 3, 4)),
        *([f"h{i}", f"r{i}"] for i in (1, 2, 3, 4)),
        hosts=[f"h{i}" for i in (1, 2, 3, 4)],
        routers=[f"r{i}" for i in (1, 2, 3, 4)],
    )
    completed = complete(ring)
    hops = {node for node, _ in trace_route(completed, "h1", "h2")}
    assert hops == {"h1", "r1", "r2"}
    # Both ways round are as long: the one by the link r1 - r2, which is the first.
    assert [node for node, _ in trace_route(completed, "h1", "h3")] == ["h1", "r1", "r2", "r3"]
    assert not any("default" in line for name in ("r1", "r2") for line in routes(completed)[name])
    with pytest.raises(NoRouteError, match=r"r1 has no route to 172\.31\.0\.1"):
        trace_route(completed, "h1", "h3", address="172.31.0.1")


def test_what_is_written_wins_and_the_rest_of_its_domain_follows() -> None:
    completed = complete(
        network(
            *(["h1", "s1"], ["h2", "s1"], ["h3", "s1"], ["s1", "r1"]),
            ["r1", "h4", {"addresses": {"r1": "10.0.1.1/30"}}],
            hosts={"h1": None, "h2": "192.168.7.2/28", "h3": None, "h4": None},
            routers={"r1": {"routes": {"192.0.2.0/24": "192.168.7.9"}}},
            switches=["s1"],
        )
    )
    assert addresses(completed) == {
        "h1-eth0": "192.168.7.1/28",
        "h2-eth0": "192.168.7.2/28",
        "h3-eth0": "192.168.7.3/28",
        "r1-eth0": "192.168.7.14/28",
        "r1-eth1": "10.0.1.1/30",
        "h4-eth0": "10.0.1.2/30",
    }
    assert routes(completed)["r1"] == ["192.0.2.0/24 via 192.168.7.9"]
    assert all_reach_each_other(completed)


def test_what_is_written_in_one_domain_changes_no_other() -> None:
    links = (["h1", "r1"], ["r1", "r2"], ["r2", "h2"])
    bare = complete(network(*links, hosts=["h1", "h2"], routers=["r1", "r2"]))
    written = complete(
        network(*links, hosts={"h1": "172.20.0.1/24", "h2": None}, routers=["r1", "r2"])
    )
    changed = {"h1-eth0": "172.20.0.1/24", "r1-eth0": "172.20.0.254/24"}
    assert addresses(written) == addresses(bare) | changed


def test_written_subnets_are_not_given_again() -> None:
    completed = complete(
        network(
            ["h1", "r1"],
            ["h2", "r1", {"addresses": {"r1": "10.0.1.254/24"}}],
            hosts=["h1", "h2"],
            routers=["r1"],
        )
    )
    assert addresses(completed)["h1-eth0"] == "10.0.3.1/24"
    wide = complete(
        network(["h1", "r1"], ["h2", "r1"], hosts={"h1": "10.0.0.1/8", "h2": None}, routers=["r1"])
    )
    assert addresses(wide)["h2-eth0"] == "172.16.2.1/24"


def test_a_written_route_is_kept_and_no_other_leads_there() -> None:
    detour = {"routes": {"10.0.2.0/24": "10.0.3.253"}}
    completed = complete(
        network(
            *(["h1", "r1"], ["h2", "r2"], ["r1", "r3"], ["r1", "r2"], ["r3", "r2"]),
            hosts=["h1", "h2"],
            routers={"r1": detour, "r2": None, "r3": None},
        )
    )
    assert [node for node, _ in trace_route(completed, "h1", "h2")] == ["h1", "r1", "r3", "r2"]
    assert [node for node, _ in trace_route(completed, "h2", "h1")] == ["h2", "r2", "r1"]


def test_a_written_default_route_covers_everything() -> None:
    completed = complete(
        network(
            *(["h1", "r1"], ["r1", "r2"], ["r2", "h2"]),
            hosts=["h1", "h2"],
            routers={"r1": {"routes": {"default": "10.0.2.253"}}, "r2": None},
        )
    )
    assert routes(completed)["r1"] == ["default via 10.0.2.253"]


def test_ipv6_is_given_if_asked_or_if_all_that_is_written_is_of_it() -> None:
    links = (["h1", "r1"], ["r1", "h2"])
    asked = complete(network(*links, hosts=["h1", "h2"], routers=["r1"]), IPV6)
    assert addresses(asked) == {
        "h1-eth0": "fd00:1::1/64",
        "r1-eth0": "fd00:1::fe/64",
        "r1-eth1": "fd00:2::fe/64",
        "h2-eth0": "fd00:2::1/64",
    }
    assert all_reach_each_other(asked)
    written = complete(network(*links, hosts={"h1": "2001:db8::5/64", "h2": None}, routers=["r1"]))
    assert addresses(written)["r1-eth0"] == "2001:db8::fe/64"
    assert addresses(written)["h2-eth0"] == "fd00:2::1/64"
    completed = complete(network(["h1", "h2"], hosts=["h1", "h2"]), IPV6)
    assert addresses(completed) == {"h1-eth0": "fd00::1/64", "h2-eth0": "fd00::2/64"}


def test_hosts_that_form_their_addresses_get_a_router_that_advertises() -> None:
    completed = complete(
        network(
            *(["h1", "s1"], ["s1", "r1"], ["r1", "h2"]),
            hosts={"h1": "slaac", "h2": None},
            routers=["r1"],
            switches=["s1"],
        ),
        IPV6,
    )
    assert list(problems(completed)) == []
    assert addresses(completed)["r1-eth0"] == "fd00:1::fe/64"
    assert routes(completed)["h1"] == []  # by the advertisements
    assert all_reach_each_other(completed)


def test_each_vlan_is_a_domain_of_its_own() -> None:
    completed = complete(
        network(
            ["h1", "s1", {"vlan": 10}],
            ["h2", "s2", {"vlan": 10}],
            ["h3", "s2", {"vlan": 20}],
            ["s1", "s2"],
            ["r1", "s1", {"vlans": [10, 20]}],
            hosts=["h1", "h2", "h3"],
            routers=["r1"],
            switches=["s1", "s2"],
        )
    )
    assert [len(ends) for ends in broadcast_domains(completed)] == [3, 2]
    assert addresses(completed) == {
        "h1-eth0": "10.0.1.1/24",
        "h2-eth0": "10.0.1.2/24",
        "h3-eth0": "10.0.2.1/24",
        "r1-eth0": None,
    }
    (trunk,) = [link for link in completed.links if link.a == "r1"]
    assert [(entry.vlan, entry.address) for entry in trunk.a_vlan_addresses] == [
        (10, "10.0.1.254/24"),
        (20, "10.0.2.254/24"),
    ]
    assert list(problems(completed)) == []
    assert all_reach_each_other(completed)


def test_a_bond_has_one_address() -> None:
    completed = complete(
        network(
            *(["h1", "s1"], ["h1", "s1"], ["h2", "s1"]),
            hosts=["h1", "h2"],
            switches=["s1"],
            bonds=[["h1", "s1", {"mode": "802.3ad"}]],
        )
    )
    assert addresses(completed) == {
        "h1-eth0": "10.0.0.1/8",
        "h1-eth1": None,
        "h2-eth0": "10.0.0.2/8",
    }
    assert list(problems(completed)) == []


def test_no_route_leads_to_what_is_behind_a_router_that_translates() -> None:
    completed = complete(
        network(
            *(["h1", "home"], ["home", "isp"], ["isp", "server"]),
            hosts=["h1", "server"],
            routers={
                "home": {"nat": "home", "routes": {"default": "10.0.2.253"}},
                "isp": None,
            },
        )
    )
    assert routes(completed) == {
        "h1": ["default via 10.0.1.254"],
        "server": ["default via 10.0.3.254"],
        "home": ["default via 10.0.2.253"],
        "isp": [],
    }


def test_excluded_hosts_and_networks_get_nothing() -> None:
    bare = network(*(["h1", "r1"], ["r1", "h2"]), hosts=["h1", "h2"], routers=["r1"])
    assert complete(bare, Addressing(addresses="none")) is bare
    completed = complete(bare, excluded=frozenset({"h1"}))
    assert addresses(completed)["h1-eth0"] is None
    assert routes(completed)["h1"] == []
    assert addresses(completed)["r1-eth0"] is not None


def test_a_large_domain_gets_a_large_subnet() -> None:
    names = [f"n{number}" for number in range(300)]
    completed = complete(
        network(
            *([name, "s1"] for name in names),
            *(["s1", "r1"], ["r1", "h1"]),
            hosts=[*names, "h1"],
            routers=["r1"],
            switches=["s1"],
        )
    )
    given = [ip_interface(text) for text in addresses(completed).values() if text]
    assert len(given) == len({interface.ip for interface in given}) == 303
    assert {interface.network.prefixlen for interface in given} == {16, 24}
    assert list(problems(completed)) == []
    assert all_reach_each_other(
        Network(
            hosts=tuple(
                host for host in completed.hosts if host.name in {"n0", "n299", "r1", "h1"}
            ),
            switches=completed.switches,
            links=tuple(
                link for link in completed.links if {link.a, link.b} & {"n0", "n299", "r1", "h1"}
            ),
        )
    )


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """Return a network whose nodes are all linked, with neither addresses nor loops of switches."""
    kinds = draw(st.lists(st.sampled_from("hrs"), min_size=1, max_size=8))
    names = [f"{kind}{number}" for number, kind in enumerate(kinds)]
    links = []
    for number in range(1, len(names)):
        # A tree of routers and switches; hosts are its leaves.
        inner = [name for name in names[:number] if name[0] != "h"]
        if inner:
            links.append(Link(a=names[number], b=draw(st.sampled_from(inner))))
    routers = [name for name in names if name[0] == "r"]
    if len(routers) > 1:
        pairs = st.lists(st.sampled_from(routers), min_size=2, max_size=2, unique=True)
        links += [Link(a=a, b=b) for a, b in draw(st.lists(pairs, max_size=3))]
    linked = {name for link in links for name in (link.a, link.b)}
    return Network(
        hosts=tuple(
            Host(name=name, address=None, forwards=name[0] == "r")
            for name in names
            if name in linked and name[0] != "s"
        ),
        switches=tuple(Switch(name=name) for name in names if name in linked and name[0] == "s"),
        links=tuple(links),
    )


@settings(max_examples=200, deadline=None)
@given(completed=networks(), family=st.sampled_from(["ipv4", "ipv6"]))
def test_all_hosts_of_any_network_reach_each_other(completed: Network, family: str) -> None:
    whole = complete(completed, Addressing(addresses=family))
    assert list(problems(whole)) == []
    groups = _parts(whole)
    for source in whole.hosts:
        for target in whole.hosts:
            if source != target and groups[source.name] == groups[target.name]:
                assert trace_route(whole, source.name, target.name)
    assert complete(whole) == whole


def _parts(completed: Network) -> dict[str, str]:
    parts = {name: name for name in completed.node_names()}
    for _ in parts:
        for link in completed.links:
            parts[link.a] = parts[link.b] = min(parts[link.a], parts[link.b])
    return parts


def test_set_up_lines_that_configure_a_host_leave_it_to_them() -> None:
    text = """\
title: By hand
network:
  hosts: [h1, h2, h3]
  switches: [s1]
  links: [[h1, s1], [h2, s1], [h3, s1]]
setup:
  - h1: ip -4 addr add 10.0.0.7/8 dev h1-eth0
  - root: ip netns exec h2 ip address add 10.0.0.8/8 dev h2-eth0
  - h3: |
      ip link set dev h3-eth0 txqueuelen 100
      ip addr show
      tc qdisc add dev h3-eth0 root netem delay 1ms
"""
    completed = parse_study(text, name="x.yaml").cases["default"].case.network
    assert addresses(completed) == {"h1-eth0": None, "h2-eth0": None, "h3-eth0": "10.0.0.3/8"}


def test_a_study_can_do_without() -> None:
    text = """\
title: Without
network: {addresses: none, hosts: [h1, h2], links: [[h1, h2]]}
"""
    completed = parse_study(text, name="x.yaml").cases["default"].case.network
    assert addresses(completed) == {"h1-eth0": None, "h2-eth0": None}
    with pytest.raises(InputError, match="'both' is not a family of addresses"):
        parse_study(text.replace("none", "both"), name="x.yaml")
