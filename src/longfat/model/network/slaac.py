"""SLAAC: addresses that hosts form from a router's advertisements (RFC 4862).

The address `slaac` of a host's interface is formed by the host's kernel: the prefix that the router
of the subnet advertises, and an interface identifier of its link-layer address (EUI-64). Such an
interface has a link-layer address that follows from its name, so its address is known before a
run. The router's link-local address becomes the host's default router.

Sources: RFC 4862, sections 5.5.3 and 5.5.4; RFC 4291, appendix A; RFC 4861, section 6.3.4.
"""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

SLAAC = "slaac"
"""What is written in place of the address of an interface that forms its own."""

PREFIX_LENGTH = 64
"""An interface identifier of Ethernet has the other 64 bits (RFC 2464)."""

_LOCAL_UNICAST = 0x02  # the first octet of a locally administered address of one interface


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaacRouter:
    """A router's interface on a subnet.

    Attributes:
        node: the router.
        device: the interface that has the address.
        address: its IPv6 address with prefix length.
    """

    node: str
    device: str
    address: str

    @property
    def network(self) -> ipaddress.IPv6Network:
        """The network whose prefix it can advertise."""
        return ipaddress.IPv6Interface(self.address).network

    @property
    def line(self) -> str:
        """What `longfat.guest.slaac` is given, to advertise the prefix."""
        return f"advertise {self.device} {self.network}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaacHost:
    """A host's interface that forms its address.

    Attributes:
        node: the host.
        link: the index of its link.
        is_first: it is at the link's first end.
        interface: its name.
    """

    node: str
    link: int
    is_first: bool
    interface: str

    @property
    def link_layer(self) -> str:
        """Its link-layer address: locally administered, and of its name alone."""
        digest = hashlib.sha256(self.interface.encode()).digest()
        return bytes((_LOCAL_UNICAST, *digest[:5])).hex(":")

    def address(self, network: ipaddress.IPv6Network) -> str:
        """Return its address with prefix length in a network of 64 bits."""
        octets = bytes.fromhex(self.link_layer.replace(":", ""))
        identifier = bytes((octets[0] ^ 2, *octets[1:3], 0xFF, 0xFE, *octets[3:]))
        return f"{network.network_address + int.from_bytes(identifier)}/{PREFIX_LENGTH}"

    def line(self, network: ipaddress.IPv6Network) -> str:
        """Return what `longfat.guest.slaac` is given, to wait until the address can be used."""
        return f"await {self.interface} {self.address(network).partition('/')[0]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlaacSubnet:
    """The interfaces of hosts that receive each other's frames, some of which form addresses.

    Attributes:
        hosts: those that form addresses.
        routers: those of routers with IPv6 addresses, other than link-local ones.
        others: node and device of the other interfaces of hosts that do not forward.
    """

    hosts: tuple[SlaacHost, ...]
    routers: tuple[SlaacRouter, ...]
    others: tuple[tuple[str, str], ...]

    @property
    def router(self) -> SlaacRouter | None:
        """The router that advertises; None without exactly one whose prefix has 64 bits."""
        if len(self.routers) != 1 or self.routers[0].network.prefixlen != PREFIX_LENGTH:
            return None
        return self.routers[0]

    def address(self, host: SlaacHost) -> str | None:
        """Return the address of one of its hosts, with prefix length; None without a router."""
        return None if self.router is None else host.address(self.router.network)


def subnets_of(
    *,
    pairs: Sequence[tuple[str, str]],
    interfaces: Sequence[tuple[str, str]],
    written: Sequence[tuple[str | None, str | None]],
    switches: Iterable[str],
    routers: Iterable[str],
    bonded: Mapping[str, str],
) -> tuple[SlaacSubnet, ...]:
    """Return the subnets with interfaces that form their addresses.

    Args:
        pairs: the nodes at both ends of each link.
        interfaces: their interfaces.
        written: the interfaces' addresses, as they were written.
        switches: the nodes that are switches.
        routers: the hosts that forward.
        bonded: the bond of each interface that is part of one.
    """
    switches, routers = set(switches), set(routers)
    subnet_of = _subnet_of_links(pairs, switches)
    hosts: dict[int, list[SlaacHost]] = {}
    advertising: dict[int, list[SlaacRouter]] = {}
    others: dict[int, list[tuple[str, str]]] = {}
    for index, (nodes, names, addresses) in enumerate(zip(pairs, interfaces, written, strict=True)):
        subnet = subnet_of[index]
        for node, name, address in zip(nodes, names, addresses, strict=True):
            device = bonded.get(name, name)
            if address == SLAAC:
                hosts.setdefault(subnet, []).append(
                    SlaacHost(node=node, link=index, is_first=name == names[0], interface=name)
                )
            elif node in routers:
                if address is not None and _can_advertise(address):
                    advertising.setdefault(subnet, []).append(
                        SlaacRouter(node=node, device=device, address=address)
                    )
            elif node not in switches:
                others.setdefault(subnet, []).append((node, device))
    return tuple(
        SlaacSubnet(
            hosts=tuple(own),
            routers=tuple(advertising.get(subnet, ())),
            others=tuple(dict.fromkeys(others.get(subnet, ()))),
        )
        for subnet, own in hosts.items()
    )


def _can_advertise(address: str) -> bool:
    own = ipaddress.ip_interface(address)
    return own.version == 6 and not own.is_link_local


def _subnet_of_links(pairs: Sequence[tuple[str, str]], switches: set[str]) -> list[int]:
    """Return the first link of the subnet of each link: those that switches connect."""
    by_switch: dict[str, list[int]] = {}
    for index, pair in enumerate(pairs):
        for node in switches.intersection(pair):
            by_switch.setdefault(node, []).append(index)
    subnet_of = [-1] * len(pairs)
    for first in range(len(pairs)):
        waiting = [first] if subnet_of[first] < 0 else []
        for index in waiting:
            if subnet_of[index] < 0:
                subnet_of[index] = first
                for node in switches.intersection(pairs[index]):
                    waiting += by_switch.pop(node, ())
    return subnet_of
