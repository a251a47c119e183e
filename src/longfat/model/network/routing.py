"""The way of a packet through a network: what it leaves through, hop by hop.

`trace_route` does what Linux does: the longest prefix among a host's own networks and its
routes selects the interface and the neighbour; switches forward to the node with that
address. Of several next hops (ECMP), which of them a packet takes follows from a hash that is not
known here: the first is followed. It uses only the network's values, so it is valid only if no
typed line has changed them.

`follow_links` considers only links: is there any path, through switches and hosts that forward?
"""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from longfat.model.network.model import DEFAULT_MTU_BYTES, ROOT_NAMESPACE
from longfat.model.network.tunnels import TunnelEnd, overhead_bytes
from longfat.model.network.vlans import ports_of, vlan_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network.model import Network
    from longfat.model.network.tunnels import Tunnel

Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Hop = tuple[str, str]
"""Where a packet leaves: the node (a host or `ROOT_NAMESPACE`), and the interface."""

_MAX_ROUTERS = 64  # the TTL that packets start with


class NoRouteError(Exception):
    """A packet does not arrive; the message says where it stops, and why."""


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a link.

    Attributes:
        node: the node.
        interface: its interface.
        address: the interface's address, if it has one.
        far_node: the node at the other end.
        far_interface: that one's interface.
        outer: of a tunnel, the outer address of the other end.
        vlan: the tag of packets that leave with this address.
        bond: the bond that the interface is part of.
        gateway: the router whose advertisements give the node its default route there.
    """

    node: str
    interface: str
    address: Interface | None
    far_node: str
    far_interface: str
    outer: Address | None = None
    vlan: int | None = None
    bond: str | None = None
    gateway: Address | None = None

    @property
    def device(self) -> str:
        """The interface that has the address."""
        device = self.bond or self.interface
        return device if self.vlan is None else vlan_device(device, self.vlan)


def trace_route(
    network: Network, source: str, target: str, *, address: str | None = None
) -> list[Hop]:
    """Return what a packet to a host's address leaves through on its way.

    Args:
        network: the network.
        source: the host that sends it.
        target: the host that it is for.
        address: the address of the target that it is for; that which others call it by, if None.

    Returns:
        The interfaces in their order.

    Raises:
        NoRouteError: it does not arrive.
    """
    known = _map_of(network)
    return known.follow(source, target, known.address_of(target, address))


def target_addresses(network: Network, host: str) -> set[str]:
    """Return the addresses of a host's interfaces, without prefix length."""
    return {str(address) for address in _map_of(network).addresses_of(host)}


def follow_back(
    network: Network, source: str, target: str, *, address: str | None = None
) -> list[Hop]:
    """Return the path of a reply: from `target` to the address that `source` sent from.

    Args and errors are those of `trace_route`.
    """
    path = trace_route(network, source, target, address=address)
    known = _map_of(network)
    origin = known.origin(source, known.address_of(target, address)) if path else None
    if origin is None:
        return trace_route(network, target, source)
    # Each router that translates on the path is first the destination of the reply.
    hosts = {host.name: host for host in network.hosts}
    targets = [(source, origin)]
    for node, interface in path[1:]:
        if node in hosts and hosts[node].nat:
            outside = known.addresses.get(interface)
            device = known.bonded.get(interface, interface)
            if outside is not None and device == network.outside_interface(hosts[node]):
                targets.append((node, outside))
    way: list[Hop] = []
    here = target
    for node, passed in reversed(targets):
        way += known.follow(here, node, passed)
        here = node
    return way


class Handover(NamedTuple):
    """Whom a host on the way hands packets to.

    Attributes:
        host: the host.
        interface: the interface that packets leave by.
        address: the neighbour's IP address.
        peer: the neighbour.
        peer_interface: the neighbour's interface.
    """

    host: str
    interface: str
    address: str
    peer: str
    peer_interface: str


def trace_handovers(
    network: Network, source: str, target: str, *, address: str | None = None
) -> list[Handover]:
    """Return whom each host on the way of packets hands them to.

    Args:
        network: the network.
        source: the host that the way starts at.
        target: the host that it leads to.
        address: as for `trace_route`.

    Raises:
        NoRouteError: routes lead to no such host.
    """
    known = _map_of(network)
    goal = known.address_of(target, address)
    handed: list[Handover] = []
    known.follow(source, target, goal, handed=handed)
    if any(route.others for host in network.hosts for route in host.routes):
        handed = list(dict.fromkeys((*handed, *known.all_handovers(source, goal))))
    return handed


def follow_links(network: Network, source: str, target: str) -> list[Hop] | None:
    """Return a shortest way through switches and hosts that forward; None if there is none."""
    hosts = {host.name: host.forwards for host in network.hosts}
    leaving = _leaving(network)
    ways: dict[str, list[Hop]] = {source: []}
    waiting = [source]
    for node in waiting:
        if node != source and not hosts.get(node, True):
            continue
        for end in leaving.get(node, ()):
            if end.far_node not in ways:
                home = node if node in hosts else ROOT_NAMESPACE
                ways[end.far_node] = [*ways[node], (home, end.interface)]
                waiting.append(end.far_node)
    return ways.get(target)


def tunnel_ends(network: Network) -> tuple[TunnelEnd, ...]:
    """Return both ends of each tunnel, with their outer addresses and MTUs.

    An end's outer address is that from which its packets to the other end are sent. Where
    routes lead to none, and set-up lines must, it is that which the host is called by.
    """
    outer = _map_of(replace(network, tunnels=()))
    sizes = {
        name: link.mtu_bytes or DEFAULT_MTU_BYTES
        for link, names in zip(network.links, network.interfaces(), strict=True)
        for name in names
    }
    ends = []
    for tunnel, names in zip(network.tunnels, network.tunnel_interfaces(), strict=True):
        at_a, at_b, way = outer.endpoints(tunnel)
        path = min((sizes[interface] for _, interface in way), default=DEFAULT_MTU_BYTES)
        mtu_bytes = tunnel.mtu_bytes or path - overhead_bytes(tunnel.kind, at_a)
        for node, name, address, own, peer, peer_name, peer_own in (
            (tunnel.a, names[0], tunnel.a_address, at_a, tunnel.b, names[1], at_b),
            (tunnel.b, names[1], tunnel.b_address, at_b, tunnel.a, names[0], at_a),
        ):
            ends.append(
                TunnelEnd(
                    node=node,
                    interface=name,
                    address=address,
                    endpoint=own,
                    peer=peer,
                    peer_interface=peer_name,
                    peer_endpoint=peer_own,
                    kind=tunnel.kind,
                    mtu_bytes=mtu_bytes,
                )
            )
    return tuple(ends)


def _tunnel_end(end: TunnelEnd) -> _End:
    return _End(
        node=end.node,
        interface=end.interface,
        address=ipaddress.ip_interface(end.address),
        far_node=end.peer,
        far_interface=end.peer_interface,
        outer=ipaddress.ip_address(end.peer_endpoint),
    )


@lru_cache(maxsize=4)
def _map_of(network: Network) -> _Map:
    """Return the map of a network; every flow of a study asks for the same one."""
    return _Map(network)


def _leaving(network: Network) -> dict[str, list[_End]]:
    leaving: dict[str, list[_End]] = {}
    bonded = network.bond_devices()
    gateways = {
        host.interface: ipaddress.ip_interface(subnet.router.address).ip
        for subnet in network.slaac_subnets()
        if subnet.router is not None
        for host in subnet.hosts
    }
    every_end = zip(network.links, network.interfaces(), network.addresses(), strict=True)
    for link, (at_a, at_b), given in every_end:
        own = [None if text is None else ipaddress.ip_interface(text) for text in given]
        a, b = _End(link.a, at_a, own[0], link.b, at_b), _End(link.b, at_b, own[1], link.a, at_a)
        ends = [
            replace(end, bond=bonded.get(end.interface), gateway=gateways.get(end.interface))
            for end in (a, b)
        ]
        for end, vlan_addresses in zip(
            ends, (link.a_vlan_addresses, link.b_vlan_addresses), strict=True
        ):
            leaving.setdefault(end.node, []).append(end)
            leaving[end.node] += [
                replace(end, address=ipaddress.ip_interface(one.address), vlan=one.vlan)
                for one in vlan_addresses
            ]
    return leaving


class _Map:
    """A network, prepared for following packets.

    Attributes:
        host_addresses: the address that each host is called by.
        addresses: the address of each interface that has one, or whose bond has one.
        bonded: the bond of each interface that is part of one.
    """

    def __init__(self, network: Network) -> None:
        self._network = network
        self._is_inside_tunnel = False
        self.host_addresses = network.host_addresses()
        self.bonded = network.bond_devices()
        self._hosts = {host.name: host for host in network.hosts}
        self._leaving = _leaving(network)
        self.addresses = {
            end.interface: end.address.ip
            for ends in self._leaving.values()
            for end in ends
            if end.address is not None and end.vlan is None
        }
        self._ports = {
            name: port
            for names, port in zip(network.interfaces(), ports_of(network), strict=True)
            for name in names
            if port is not None
        }
        for tunnel in tunnel_ends(network) if network.tunnels else ():
            self._leaving.setdefault(tunnel.node, []).append(_tunnel_end(tunnel))
        self._outside = {
            host.name: network.outside_interface(host) for host in network.hosts if host.nat
        }

    def address_of(self, host: str, address: str | None) -> Address:
        """Return an address of a host, that which it is called by if None.

        Raises:
            NoRouteError: it has none.
        """
        if address is None and host not in self.host_addresses:
            raise NoRouteError(f"{host} has no address")
        return ipaddress.ip_address(address or self.host_addresses[host])

    def follow(
        self,
        source: str,
        target: str,
        address: Address,
        *,
        handed: list[Handover] | None = None,
    ) -> list[Hop]:
        """Return the way to an address; `handed` takes whom each host hands packets to."""
        way: list[Hop] = []
        here = source
        for _ in range(_MAX_ROUTERS):
            if address in self.addresses_of(here):
                return way
            if here != source and not self._hosts[here].forwards:
                raise NoRouteError(f"{here}, on the way to {target}, does not forward")
            end, neighbour = self._routes(here, address)[0]
            before = here
            here, arriving, hops = self._cross(end, neighbour, handed)
            if handed is not None and end.outer is None:
                handed.append(Handover(before, end.device, str(neighbour), here, arriving))
            way += hops
            if arriving == self._outside.get(here) and address not in self.addresses_of(here):
                raise NoRouteError(f"{here} translates addresses, and lets in only replies")
        raise NoRouteError(f"packets to {target} ({address}) go round in a circle at {here}")

    def origin(self, source: str, address: Address) -> Address | None:
        """Return the address that a host sends from to another one."""
        end, _ = self._routes(source, address)[0]
        return None if end.address is None else end.address.ip

    def endpoints(self, tunnel: Tunnel) -> tuple[str, str, list[Hop]]:
        """Return the outer addresses of a tunnel's ends, and the way of its packets."""
        given = tunnel.b_endpoint
        candidates = [ipaddress.ip_address(given)] if given else self._ordered(tunnel.b)
        for at_b in candidates:
            with suppress(NoRouteError):
                forth = self.follow(tunnel.a, tunnel.b, at_b)
                own = tunnel.a_endpoint or str(self.addresses[forth[0][1]])
                back = self.follow(tunnel.b, tunnel.a, ipaddress.ip_address(own))
                if given or self.addresses.get(back[0][1]) == at_b:
                    return own, str(at_b), [*forth, *back]
        called = self.host_addresses
        own, peer = tunnel.a_endpoint or called[tunnel.a], given or called[tunnel.b]
        return own, peer, follow_links(self._network, tunnel.a, tunnel.b) or []

    def _ordered(self, host: str) -> list[Address]:
        return [end.address.ip for end in self._leaving.get(host, ()) if end.address]

    def all_handovers(self, source: str, address: Address) -> list[Handover]:
        """Return whom hosts may hand packets to an address to, by all next hops."""
        handed: list[Handover] = []
        waiting = [source]
        for here in waiting:
            if address in self.addresses_of(here):
                continue
            with suppress(NoRouteError):
                for end, neighbour in self._routes(here, address):
                    peer, arriving, _ = self._cross(end, neighbour, handed)
                    if end.outer is None:
                        handed.append(Handover(here, end.device, str(neighbour), peer, arriving))
                    if peer not in waiting:
                        waiting.append(peer)
        return handed

    def addresses_of(self, host: str) -> set[Address]:
        """Return the addresses of a host's interfaces."""
        return {end.address.ip for end in self._leaving.get(host, ()) if end.address}

    def _routes(self, here: str, address: Address) -> list[tuple[_End, Address]]:
        """Return where a packet may leave a host, and the neighbour it is handed to there."""
        ends = [(end, end.address.network) for end in self._leaving.get(here, ()) if end.address]
        candidates = [(net.prefixlen, 1, [(end, address)]) for end, net in ends if address in net]
        for route in self._hosts[here].routes:
            via = ipaddress.ip_address(route.via)
            if route.to == "default":
                matches, length = via.version == address.version, 0
            else:
                network = ipaddress.ip_network(route.to)
                matches, length = address in network, network.prefixlen
            hops = [ipaddress.ip_address(hop) for hop in route.next_hops]
            near = [next(((end, hop) for end, net in ends if hop in net), None) for hop in hops]
            reached = [step for step in near if step is not None]
            if matches and reached:
                candidates.append((length, 0, reached))
        candidates += [
            (0, 0, [(end, end.gateway)])
            for end, _ in ends
            if end.gateway is not None and end.gateway.version == address.version
        ]
        if not candidates:
            raise NoRouteError(f"{here} has no route to {address}")
        # The longest prefix; of two that are equal, the network that the host is on.
        return max(candidates, key=lambda entry: entry[:2])[2]

    def _cross(
        self, start: _End, neighbour: Address, handed: list[Handover] | None
    ) -> tuple[str, str, list[Hop]]:
        """Return the host that has an address across an interface, where it is, and the way."""
        if start.outer is not None:
            if self._is_inside_tunnel:
                raise NoRouteError(
                    f"the packets of the tunnel {start.interface} go into a tunnel themselves"
                )
            self._is_inside_tunnel = True
            try:
                way = self.follow(start.node, start.far_node, start.outer, handed=handed)
            finally:
                self._is_inside_tunnel = False
            return start.far_node, start.far_interface, way
        first = (start, [(start.node, start.interface)], start.vlan)
        waiting: list[tuple[_End, list[Hop], int | None]] = [first]
        seen = {start.node}
        for end, way, tag in waiting:
            node = end.far_node
            if node in self._hosts:
                for arriving in self._leaving[node]:
                    is_there = arriving.address is not None and arriving.address.ip == neighbour
                    if is_there and (arriving.interface, arriving.vlan) == (end.far_interface, tag):
                        return node, arriving.device, way
            elif node not in seen:
                seen.add(node)
                waiting += [
                    (onward, [*way, (ROOT_NAMESPACE, onward.interface)], onward_tag)
                    for onward, onward_tag in self._onward(end, tag)
                ]
        where = " in its VLAN" if self._ports else ""
        raise NoRouteError(f"{start.node} finds no interface with the address {neighbour}{where}")

    def _onward(self, end: _End, tag: int | None) -> Iterator[tuple[_End, int | None]]:
        """Yield where a switch sends a packet that comes to it, with the tag that it has then."""
        port = self._ports.get(end.far_interface)
        vlan = None if port is None else port.vlan_of(tag)
        if port is not None and vlan is None:
            return
        for onward in self._leaving[end.far_node]:
            out = self._ports.get(onward.interface)
            if onward.interface == end.far_interface:
                continue
            if out is None or vlan is None:
                yield onward, tag
            elif out.lets_out(vlan):
                yield onward, out.tag_of(vlan)
