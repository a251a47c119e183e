"""What is wrong with a network that can be known before a machine boots.

Names that fit Linux's interface names, addresses that no two interfaces share,
routers that can be reached, switches without loops, links whose properties go
together. Where a value was written is not known here: a `Problem` has the path
of fields to it, and who read the value turns that into a place.
"""

from __future__ import annotations

import ipaddress
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.model.fields import field_problems
from longfat.model.network.bond_check import bond_problems
from longfat.model.network.devices import (
    MAX_INTERFACE_LENGTH,
    MAX_STEM_LENGTH,
    device_stem,
    short_stem,
)
from longfat.model.network.model import DEFAULT_MTU_BYTES
from longfat.model.network.routing import tunnel_ends
from longfat.model.network.slaac import SLAAC
from longfat.model.network.slaac_check import slaac_problems
from longfat.model.network.tunnels import IPIP, WIREGUARD

if TYPE_CHECKING:
    from longfat.model.network.model import Host, Link, Network, Route
    from longfat.model.network.tunnels import Tunnel

_MIN_MTU_BYTES = 68  # RFC 791
_MAX_LISTED = 12  # nodes of a path
_MIN_IPV6_MTU_BYTES = 1280  # RFC 8200; Linux takes IPv6 off an interface that has less


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong.

    Attributes:
        path: the fields that lead to it: `("hosts", "h1", "address")`,
            `("hosts", "h1", "routes", "default")`, `("switches", "s1")`,
            `("links", 2)`, `("links", 2, "addresses", "r1")`, or a property of
            one direction of a link, `("links", 2, "to", "s2", "jitter")`.
        message: what was found, and what would be right.
    """

    path: tuple[str | int, ...]
    message: str


def problems(network: Network) -> Iterator[Problem]:
    """Find what is wrong with a network whose names and addresses are well-formed.

    Returns:
        The problems; nothing, if it can be built.
    """
    yield from _interfaces(network)
    yield from _loops(network)
    yield from _bonds(network)
    yield from _addresses(network)
    yield from (Problem(path, text) for path, text in slaac_problems(network))
    yield from _routes(network)
    yield from _tunnels(network)
    yield from _vlans(network)
    yield from _frame_sizes(network)
    yield from _translators(network)
    for index, link in enumerate(network.links):
        yield from _link(index, link)


def _translators(network: Network) -> Iterator[Problem]:
    for host in network.hosts:
        path = ("hosts", host.name, "nat")
        if host.nat is None:
            continue
        if not host.forwards:
            yield Problem(path, f"{host.name} translates what it forwards, and it forwards nothing")
        elif network.outside_interface(host) is None:
            yield Problem(
                path,
                f"{host.name} has no outside: write its default route, which leads there "
                "(routes: {default: ADDRESS})",
            )


def _interfaces(network: Network) -> Iterator[Problem]:
    taken = set(network.full_interface_names().values())
    for index, pair in enumerate(network.interfaces()):
        for interface in pair:
            if len(interface) > MAX_INTERFACE_LENGTH:
                yield Problem(
                    ("links", index),
                    f"the interface {interface} has more than {MAX_INTERFACE_LENGTH} characters: "
                    "give its node a shorter name or fewer links",
                )
            taken.add(interface)
    nodes = [("hosts", host.name) for host in network.hosts]
    nodes += [("switches", switch.name) for switch in network.switches]
    stems: dict[str, str] = {}
    for kind, name in nodes:
        if name in taken:
            yield Problem((kind, name), f"the node {name!r} has the name of an interface of a link")
        # One of the greatest length is whole in some names, and short in others.
        own = {device_stem(name)} | ({short_stem(name)} if len(name) >= MAX_STEM_LENGTH else set())
        for stem in sorted(own):
            other = stems.setdefault(stem, name)
            if other != name:
                yield Problem(
                    (kind, name),
                    f"the interfaces of {name} and of {other} would have the same short names "
                    f"({stem}-eth0): give one of them another name",
                )


def _loops(network: Network) -> Iterator[Problem]:
    # Frames that circle among bridges circle for ever, and in virtual time so
    # does the machine: time moves on only when nothing is left to do.
    switches = {switch.name for switch in network.switches}
    groups = Groups(switches)
    neighbours: dict[str, list[str]] = {name: [] for name in switches}
    first = network.first_bond_links()
    for index, link in enumerate(network.links):
        if first.get(index, index) != index or not {link.a, link.b} <= switches:
            continue
        if not groups.join(link.a, link.b):
            path = _path(neighbours, link.b, link.a)
            yield Problem(
                ("links", index),
                f"the link closes a loop of switches, {_listed_path([link.a, *path])}, in which a "
                "frame would circle for ever: leave out one of its links, make routers of the "
                "switches, or join parallel links by a bond",
            )
        else:
            neighbours[link.a].append(link.b)
            neighbours[link.b].append(link.a)


def _path(neighbours: Mapping[str, Sequence[str]], start: str, end: str) -> list[str]:
    """Return the nodes of a shortest path between two that are connected, with both ends."""
    before = {start: start}
    queue = deque([start])
    while end not in before:
        node = queue.popleft()
        for other in neighbours[node]:
            if other not in before:
                before[other] = node
                queue.append(other)
    path = [end]
    while path[-1] != start:
        path.append(before[path[-1]])
    return path[::-1]


def _listed_path(nodes: Sequence[str]) -> str:
    """Return nodes in their order; of a long path, the first and the last."""
    if len(nodes) > _MAX_LISTED:
        nodes = [*nodes[: _MAX_LISTED - 2], "...", *nodes[-2:]]
    return " - ".join(nodes)


def _bonds(network: Network) -> Iterator[Problem]:
    for end in network.bond_ends():
        if len(end.device) > MAX_INTERFACE_LENGTH:
            yield Problem(
                ("bonds", end.index),
                f"the interface {end.device} has more than {MAX_INTERFACE_LENGTH} characters: "
                f"give {end.node} a shorter name or fewer bonds",
            )
    for index, bond in enumerate(network.bonds):
        for key, message in field_problems(bond):
            yield Problem(("bonds", index, key), message)
    yield from (Problem(path, text) for path, text in bond_problems(network))


def _addresses(network: Network) -> Iterator[Problem]:
    hosts = {host.name: host for host in network.hosts}
    first_link: dict[str, int] = {}
    owners: dict[str, str] = {}
    given: list[tuple[tuple[str | int, ...], str, str]] = [
        (("hosts", host.name, "address"), host.name, host.address)
        for host in network.hosts
        if host.address is not None
    ]
    for index, link in enumerate(network.links):
        for node, address in ((link.a, link.a_address), (link.b, link.b_address)):
            path: tuple[str | int, ...] = ("links", index, "addresses", node)
            first = first_link.setdefault(node, index) == index
            if address is None:
                continue
            if node not in hosts:
                yield Problem(path, f"{node} is a switch, whose interfaces have no addresses")
            elif first and hosts[node].address is not None:
                yield Problem(
                    path,
                    f"{node} has the address {hosts[node].address} of its own, which is that of "
                    "this first interface: leave one of them out",
                )
            given.append((path, node, address))
    given += _further_addresses(network)
    for where, node, address in given:
        if address == SLAAC:
            continue  # formed of a name, which is unique
        alone = str(ipaddress.ip_interface(address).ip)
        if alone in owners:
            yield Problem(where, f"the address {alone} is that of {owners[alone]} already")
        owners.setdefault(alone, node)


def _further_addresses(
    network: Network,
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """Yield the addresses in VLANs and tunnels: where each is written, its node and itself."""
    for index, link in enumerate(network.links):
        for path, node, vlan, address in _in_vlans(index, link):
            yield (*path, vlan), node, address
    for index, tunnel in enumerate(network.tunnels):
        for node, address in ((tunnel.a, tunnel.a_address), (tunnel.b, tunnel.b_address)):
            yield ("tunnels", index, "addresses", node), node, address


def _routes(network: Network) -> Iterator[Problem]:
    own = _own_addresses(network)
    for host in network.hosts:
        for route in host.routes:
            if reason := _route(host, route, own.get(host.name, [])):
                yield Problem(("hosts", host.name, "routes", route.to), reason)


def _own_addresses(
    network: Network,
) -> dict[str, list[ipaddress.IPv4Interface | ipaddress.IPv6Interface]]:
    """Return the addresses of each host's interfaces: of links, VLANs and tunnels."""
    own: dict[str, list[ipaddress.IPv4Interface | ipaddress.IPv6Interface]] = {}
    for link, pair in zip(network.links, network.addresses(), strict=True):
        for node, address in zip((link.a, link.b), pair, strict=True):
            if address is not None:
                own.setdefault(node, []).append(ipaddress.ip_interface(address))
    for index, link in enumerate(network.links):
        for _, node, _, address in _in_vlans(index, link):
            own.setdefault(node, []).append(ipaddress.ip_interface(address))
    for tunnel in network.tunnels:
        for node, address in ((tunnel.a, tunnel.a_address), (tunnel.b, tunnel.b_address)):
            own.setdefault(node, []).append(ipaddress.ip_interface(address))
    return own


def _route(
    host: Host,
    route: Route,
    own: Sequence[ipaddress.IPv4Interface | ipaddress.IPv6Interface],
) -> str | None:
    for hop in route.next_hops:
        if reason := _next_hop(host, route, ipaddress.ip_address(hop), own):
            return reason
    return None


def _next_hop(
    host: Host,
    route: Route,
    via: ipaddress.IPv4Address | ipaddress.IPv6Address,
    own: Sequence[ipaddress.IPv4Interface | ipaddress.IPv6Interface],
) -> str | None:
    if route.to != "default" and ipaddress.ip_network(route.to).version != via.version:
        return f"{route.to} and {via} are of different families"
    if any(via == one.ip for one in own):
        return f"{via} is an address of {host.name} itself"
    if not any(via in one.network for one in own):
        networks = ", ".join(str(one.network) for one in own) or "none"
        return f"{via} is on none of the networks of {host.name} (it is on: {networks})"
    if via.version != ipaddress.ip_address(route.via).version:
        return f"{route.via} and {via} are of different families"
    return None


def _in_vlans(index: int, link: Link) -> Iterator[tuple[tuple[str | int, ...], str, str, str]]:
    """Yield the addresses in VLANs of a link's ends: where, the node, the VLAN, and the address."""
    for node, own in ((link.a, link.a_vlan_addresses), (link.b, link.b_vlan_addresses)):
        for one in own:
            yield ("links", index, "addresses", node), node, str(one.vlan), one.address


def _vlans(network: Network) -> Iterator[Problem]:
    switches = {switch.name for switch in network.switches}
    bonded = network.bond_devices()
    for index, (link, names) in enumerate(zip(network.links, network.interfaces(), strict=True)):
        if not switches & {link.a, link.b}:
            for key in ("vlan", "vlans"):
                if getattr(link, key):
                    yield Problem(
                        ("links", index, key),
                        "VLANs are those of a switch's port, and this link has no switch",
                    )
        if link.vlan in link.vlans:
            yield Problem(
                ("links", index, "vlans"),
                f"the VLAN {link.vlan} is that without tags: leave it out",
            )
        devices = {
            node: bonded.get(name, name) for node, name in zip((link.a, link.b), names, strict=True)
        }
        for path, node, vlan, _ in _in_vlans(index, link):
            device = f"{devices[node]}.{vlan}"
            if node in switches:
                yield Problem(path, f"{node} is a switch, whose interfaces have no addresses")
            elif len(device) > MAX_INTERFACE_LENGTH:
                yield Problem(
                    path,
                    f"the interface {device} has more than {MAX_INTERFACE_LENGTH} characters: "
                    "give its node a shorter name",
                )


def _tunnels(network: Network) -> Iterator[Problem]:
    called = replace(network, tunnels=()).host_addresses()
    has_all = True
    for index, tunnel in enumerate(network.tunnels):
        for node, endpoint in ((tunnel.a, tunnel.a_endpoint), (tunnel.b, tunnel.b_endpoint)):
            if endpoint is None and node not in called:
                has_all = False
                yield Problem(
                    ("tunnels", index),
                    f"{node} has no address that the tunnel's packets could be sent to: give it"
                    f" one, or write endpoints: {{{node}: ADDRESS}}",
                )
        yield from (Problem(("tunnels", index, *path), text) for path, text in _tunnel(tunnel))
    if has_all:
        yield from _tunnel_ends(network)


def _tunnel(tunnel: Tunnel) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the addresses in a tunnel, and where it is written."""
    a, b = ipaddress.ip_interface(tunnel.a_address), ipaddress.ip_interface(tunnel.b_address)
    if a.version != b.version or b.ip not in a.network or a.ip not in b.network:
        yield (
            ("addresses", tunnel.b),
            f"{tunnel.a_address} and {tunnel.b_address} are not in one network",
        )
    elif a.version == 6 and tunnel.kind == IPIP:
        yield ("addresses", tunnel.a), "a tunnel of IPIP carries IPv4 alone: take gre or wireguard"


def _tunnel_ends(network: Network) -> Iterator[Problem]:
    taken: dict[tuple[str, str, str], int] = {}
    for number, end in enumerate(tunnel_ends(network)):
        index = number // 2
        if (":" in end.endpoint) != (":" in end.peer_endpoint):
            reason = f"{end.endpoint} and {end.peer_endpoint} are of different families"
        elif ":" in end.endpoint and end.kind != WIREGUARD:
            reason = (
                f"the outer address {end.endpoint} is one of IPv6, and a tunnel of {end.kind} goes"
                " over IPv4: take wireguard"
            )
        elif end.mtu_bytes < (_MIN_IPV6_MTU_BYTES if ":" in end.address else _MIN_MTU_BYTES):
            reason = f"{end.mtu_bytes} bytes, the MTU in the tunnel, are too few"
        elif (
            end.kind != WIREGUARD
            and taken.setdefault((end.kind, end.endpoint, end.peer_endpoint), index) != index
        ):
            reason = (
                f"there is a tunnel of {end.kind} from {end.endpoint} to {end.peer_endpoint}"
                " already, and Linux could not tell their packets apart"
            )
        else:
            continue
        yield Problem(("tunnels", index), reason)


def _frame_sizes(network: Network) -> Iterator[Problem]:
    # A bridge drops what is larger than the MTU of the egress port, silently: no ICMP comes
    # from a switch.
    first: dict[str, Link] = {}
    switches = {switch.name for switch in network.switches}
    for index, link in enumerate(network.links):
        for node in {link.a, link.b} & switches:
            other = first.setdefault(node, link)
            sizes = [one.mtu_bytes or DEFAULT_MTU_BYTES for one in (other, link)]
            if sizes[0] != sizes[1]:
                yield Problem(
                    ("links", index, "mtu"),
                    f"the switch {node} has links of different MTUs: {sizes[1]} here and {sizes[0]}"
                    f" between {other.a} and {other.b}; it would drop larger frames without a"
                    " word: give them the same MTU, or put a router there",
                )


def _link(index: int, link: Link) -> Iterator[Problem]:
    mtu_bytes = link.mtu_bytes or DEFAULT_MTU_BYTES
    for key, message in field_problems(link):
        yield Problem(("links", index, key), message)
    for address in (link.a_address, link.b_address):
        if address and ":" in address and mtu_bytes < _MIN_IPV6_MTU_BYTES:
            yield Problem(
                ("links", index, "mtu"),
                f"{mtu_bytes} bytes are too few for IPv6: at least {_MIN_IPV6_MTU_BYTES}",
            )
    for to, shape in ((link.b, link.a_to_b), (link.a, link.b_to_a)):
        for field, message in shape.problems(mtu_bytes=mtu_bytes):
            yield Problem(("links", index, "to", to, field), message)


class Groups:
    """Which nodes are connected: a union-find.

    Args:
        names: the nodes; others are added when they are named.
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._parent = {name: name for name in names}

    def find(self, name: str) -> str:
        """Return the name that represents all that a node is connected with."""
        while (parent := self._parent.setdefault(name, name)) != name:
            self._parent[name] = self._parent[parent]
            name = parent
        return name

    def join(self, a: str, b: str) -> bool:
        """Connect two nodes; False where they were connected already."""
        first, second = self.find(a), self.find(b)
        self._parent[first] = second
        return first != second
