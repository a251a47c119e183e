"""Addresses and routes that are assigned automatically wherever none are written.

Each broadcast domain (`longfat.model.network.subnets`) is one subnet. One with a written address
is that address's network; the others get a network of their own: 10.0.0.0/8 if there is only one
domain and no router, as in Mininet, else 10.0.1.0/24, 10.0.2.0/24 and so on in the order of their
first links (of more than 254 interfaces 10.1.0.0/16 or the like); with IPv6 fd00::/64, or
fd00:1::/64, fd00:2::/64 and so on (RFC 1918, RFC 4193). Hosts have the first addresses of their
subnet and routers the last ones, up to 254, in the order in which the study names them.

Each host has a static route by a shortest path, counted in routers, to each subnet that it is not
on and has no written route to. Of paths of the same length, the one by the earlier link and the
earlier router is taken. Where all its routes have the same next router, a host that does not
forward has a default route instead; routers never do, so packets to unknown destinations do not
circle between them. No path leads into a router that translates addresses from its outside.

What is written is never changed.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, count, islice
from typing import TYPE_CHECKING, Any

from longfat.model.fields import declare
from longfat.model.kinds import OneOf
from longfat.model.network.model import Route, VlanAddress
from longfat.model.network.slaac import SLAAC
from longfat.model.network.subnets import Attachment, Domain, broadcast_domains

if TYPE_CHECKING:
    from longfat.model.network.model import Host, Network

Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
Subnet = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

IPV4, IPV6, NONE = "ipv4", "ipv6", "none"
FAMILIES = (IPV4, IPV6, NONE)

_WIDE = {4: ipaddress.ip_network("10.0.0.0/8"), 6: ipaddress.ip_network("fd00::/64")}
"""The subnet of a network with one broadcast domain and no router."""

_POOLS = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))
_IPV6_POOL = int(ipaddress.IPv6Address("fd00::"))
_IPV6_STEP = 1 << 96  # so that the second group of digits counts subnets
_MAX_IPV6_NUMBER = 0xFFFF

_PREFIX_LENGTH = 24
_LARGE_PREFIX_LENGTH = 16
"""The prefix length of an IPv4 subnet for a domain that /24 has no room for."""
_LAST_NUMBER = 254
"""The number of the first router in a subnet with room for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressing:
    """What a network says of the addresses and routes that are not written.

    Attributes:
        addresses: the family of addresses, or `none`; by the written ones, if None.
    """

    addresses: str | None = declare(
        OneOf(what="a family of addresses", options=FAMILIES),
        default=None,
        label="Addresses",
        help="the family of the addresses that are assigned automatically, with routes, where none"
        " are written; `none`: neither addresses nor routes are",
        absent="`ipv6` if all written addresses are of IPv6, else `ipv4`",
    )


BY_WRITTEN = Addressing()
"""Addresses of the family of the written ones."""


@lru_cache(maxsize=64)
def complete(
    network: Network,
    addressing: Addressing = BY_WRITTEN,
    *,
    excluded: frozenset[str] = frozenset(),
) -> Network:
    """Return a network with addresses and routes where none are written.

    Args:
        network: the network.
        addressing: which family of addresses.
        excluded: hosts that get neither addresses nor routes, such as those whose set-up lines
            configure them.
    """
    if addressing.addresses == NONE:
        return network
    domains = broadcast_domains(network)
    network = _with_addresses(network, domains, addressing, excluded)
    return _with_routes(network, domains, excluded)


# Addresses.


def _with_addresses(
    network: Network, domains: Sequence[Domain], addressing: Addressing, excluded: frozenset[str]
) -> Network:
    written = written_at(network)
    known = {one: ipaddress.ip_interface(a) for one, a in written.items() if a != SLAAC}
    lacking = [
        [one for one in ends if one not in written and one.host not in excluded] for ends in domains
    ]
    if not any(lacking):
        return network
    routers = {host.name for host in network.hosts if host.forwards}
    is_alone = len(domains) == 1 and routers.isdisjoint(one.host for one in domains[0])
    fresh = _FreshSubnets(_written_subnets(network, known.values()), len(domains))
    used = {interface.ip for interface in known.values()}
    given: dict[Attachment, str] = {}
    for number, (ends, without) in enumerate(zip(domains, lacking, strict=True), start=1):
        if not without:
            continue
        here = [known[one] for one in ends if one in known]
        subnet: Subnet | None
        if here:
            subnet = Counter(interface.network for interface in here).most_common(1)[0][0]
        else:
            has_slaac = any(one in written for one in ends)
            version = 6 if has_slaac else _version(addressing, known.values())
            subnet = (
                _WIDE[version] if is_alone else fresh.give(number, version, interfaces=len(ends))
            )
        if subnet is not None:
            for one, ip in _numbered(network, ends, set(without), subnet, used):
                given[one] = f"{ip}/{subnet.prefixlen}"
    return _with_given(network, given)


def written_at(network: Network) -> dict[Attachment, str]:
    """Return the written address of each interface that has one, SLAAC among them."""
    hosts = {host.name for host in network.hosts}
    written = {}
    every = zip(network.links, network.written_addresses(), strict=True)
    for index, (link, pair) in enumerate(every):
        for node, is_first, address, in_vlans in (
            (link.a, True, pair[0], link.a_vlan_addresses),
            (link.b, False, pair[1], link.b_vlan_addresses),
        ):
            if node not in hosts:
                continue
            if address is not None:
                written[Attachment(node, index, is_first)] = address
            for one in in_vlans:
                written[Attachment(node, index, is_first, one.vlan)] = one.address
    return written


def _version(addressing: Addressing, known: Iterable[Interface]) -> int:
    if addressing.addresses is not None:
        return 6 if addressing.addresses == IPV6 else 4
    versions = {interface.version for interface in known}
    return 6 if versions == {6} else 4


class _FreshSubnets:
    """Subnets of broadcast domains without written addresses.

    A domain has the subnet of its number, so that it keeps it whatever is written elsewhere; only
    if that overlaps with a written one, it has a further one.

    Args:
        written: the networks of written addresses.
        domains: the number of domains.
    """

    def __init__(self, written: Iterable[Subnet], domains: int) -> None:
        self._written = list(written)
        self._pool = next(
            (pool for pool in _POOLS if not any(_covers(one, pool) for one in self._written)),
            _POOLS[0],
        )
        self._further = {version: count(domains + 1) for version in (4, 6)}
        self._given: list[Subnet] = []

    def give(self, number: int, version: int, *, interfaces: int) -> Subnet | None:
        """Return the subnet of a domain; None if there is none.

        Args:
            number: the domain's number, from 1 on.
            version: 4 or 6.
            interfaces: how many interfaces the domain has.
        """
        subnets: Iterable[Subnet | None]
        if version == 4 and interfaces > _LAST_NUMBER:
            subnets = islice(self._pool.subnets(new_prefix=_LARGE_PREFIX_LENGTH), 1, None)
        else:
            numbers = chain([number], self._further[version])
            subnets = (self._numbered(n, version) for n in numbers)
        for subnet in subnets:
            if subnet is None:
                break
            if not any(map(subnet.overlaps, chain(self._written, self._given))):
                if subnet.prefixlen == _LARGE_PREFIX_LENGTH:
                    self._given.append(subnet)
                return subnet
        return None

    def _numbered(self, number: int, version: int) -> Subnet | None:
        if version == 6:
            start = _IPV6_POOL + number * _IPV6_STEP
            return ipaddress.IPv6Network((start, 64)) if number <= _MAX_IPV6_NUMBER else None
        start = int(self._pool.network_address) + (number << (32 - _PREFIX_LENGTH))
        subnet = ipaddress.IPv4Network((start, _PREFIX_LENGTH))
        return subnet if _covers(self._pool, subnet) else None


def _written_subnets(network: Network, known: Iterable[Interface]) -> Iterator[Subnet]:
    """Yield the networks of written addresses."""
    yield from (interface.network for interface in known)
    for tunnel in network.tunnels:
        yield ipaddress.ip_interface(tunnel.a_address).network


def _numbered(
    network: Network,
    ends: Domain,
    without: set[Attachment],
    subnet: Subnet,
    used: set[Address],
) -> Iterator[tuple[Attachment, Address]]:
    """Yield an address for each interface of a domain that has none, as long as there are some."""
    order = {host.name: number for number, host in enumerate(network.hosts)}
    routers = {host.name for host in network.hosts if host.forwards}
    ordered = sorted(ends, key=lambda one: order[one.host])
    first, last = _usable(subnet)
    top = min(last, max(_LAST_NUMBER, len(ends)))
    hosts = [one for one in ordered if one.host not in routers]
    own = {one: min(first + number, last) for number, one in enumerate(hosts)}
    own |= {
        one: max(top - number, first)
        for number, one in enumerate(one for one in ordered if one.host in routers)
    }
    for one, number in own.items():
        if one not in without:
            continue
        upwards, downwards = range(number, last + 1), range(number, first - 1, -1)
        numbers = chain(downwards, upwards) if one.host in routers else chain(upwards, downwards)
        ip = next((ip for n in numbers if (ip := subnet[n]) not in used), None)
        if ip is not None:
            used.add(ip)
            yield one, ip


def _usable(subnet: Subnet) -> tuple[int, int]:
    """Return the numbers of the first and the last address that a host can have."""
    size = subnet.num_addresses
    if size <= 2:
        return 0, size - 1
    return 1, size - (1 if subnet.version == 6 else 2)


def _with_given(network: Network, given: Mapping[Attachment, str]) -> Network:
    """Return a network whose interfaces have addresses in addition to the written ones."""
    first_link: dict[str, int] = {}
    for index, link in enumerate(network.links):
        first_link.setdefault(link.a, index)
        first_link.setdefault(link.b, index)
    of_hosts: dict[str, str] = {}
    links = list(network.links)
    change: dict[str, Any]
    for one, address in given.items():
        link = links[one.link]
        if one.vlan is not None:
            name = "a_vlan_addresses" if one.is_first else "b_vlan_addresses"
            own = (*getattr(link, name), VlanAddress(vlan=one.vlan, address=address))
            change = {name: own}
        elif first_link[one.host] == one.link:
            of_hosts[one.host] = address
            continue
        else:
            change = {"a_address" if one.is_first else "b_address": address}
        links[one.link] = replace(link, **change)
    hosts = tuple(
        replace(host, address=of_hosts[host.name]) if host.name in of_hosts else host
        for host in network.hosts
    )
    return replace(network, hosts=hosts, links=tuple(links))


# Routes.

_At = Mapping[str, Mapping[int, Address]]
"""The address of each host on each of its subnets, which are numbered."""


def _with_routes(network: Network, domains: Sequence[Domain], excluded: frozenset[str]) -> Network:
    subnets, at = _located(network, domains)
    if len(subnets) < 2:
        return network
    routing = _Routing(network, subnets, at)
    hosts = tuple(
        host if host.name in excluded else _with_own_routes(host, network, routing)
        for host in network.hosts
    )
    return network if hosts == network.hosts else replace(network, hosts=hosts)


def _located(
    network: Network, domains: Sequence[Domain]
) -> tuple[list[Subnet], dict[str, dict[int, Address]]]:
    """Return the subnets of a network, and where its hosts are on them."""
    addresses = written_at(network)
    formed = network.addresses() if SLAAC in addresses.values() else []
    subnets: list[Subnet] = []
    at: dict[str, dict[int, Address]] = {}
    for ends in domains:
        numbers: dict[Subnet, int] = {}
        for one in ends:
            text: str | None = addresses.get(one)
            if text == SLAAC:
                text = formed[one.link][0 if one.is_first else 1]
            if text is None:
                continue
            interface = ipaddress.ip_interface(text)
            if interface.network not in numbers:
                numbers[interface.network] = len(subnets)
                subnets.append(interface.network)
            at.setdefault(one.host, {}).setdefault(numbers[interface.network], interface.ip)
    return subnets, at


class _Routing:
    """Shortest paths between the subnets of a network.

    Args:
        network: the network.
        subnets: its subnets.
        at: where its hosts are.

    Attributes:
        advertised: the hosts that learn a default route of IPv6 from a router's advertisements.
    """

    def __init__(self, network: Network, subnets: Sequence[Subnet], at: _At) -> None:
        self.advertised = {one.node for subnet in network.slaac_subnets() for one in subnet.hosts}
        self.subnets = subnets
        self.at = at
        self._routers: list[list[str]] = [[] for _ in subnets]
        self._outside: dict[str, set[int]] = {}
        for host in network.hosts:
            if host.forwards:
                for number in at.get(host.name, ()):
                    self._routers[number].append(host.name)
                if host.nat is not None:
                    self._outside[host.name] = _outside(host, subnets, at.get(host.name, {}))

    def next_hops(self, host: str) -> dict[int, Address]:
        """Return the next router towards each subnet that a host can reach and is not on."""
        own = self.at.get(host, {})
        hops: dict[int, Address] = {}
        waiting: list[int] = list(own)
        seen = set(own)
        passed: set[tuple[str, int]] = set()
        for here in waiting:
            version = self.subnets[here].version
            for router in self._routers[here]:
                is_passed = router == host or (router, version) in passed
                if is_passed or here in self._outside.get(router, ()):
                    continue
                passed.add((router, version))
                for onward in self.at[router]:
                    if onward not in seen and self.subnets[onward].version == version:
                        seen.add(onward)
                        hops[onward] = hops[here] if here in hops else self.at[router][here]
                        waiting.append(onward)
        return hops


def _outside(host: Host, subnets: Sequence[Subnet], own: Mapping[int, Address]) -> set[int]:
    """Return the subnets that the default route of a router leads through."""
    gateways = [
        ipaddress.ip_address(hop)
        for route in host.routes
        if route.to == "default"
        for hop in route.next_hops
    ]
    return {number for number in own if any(hop in subnets[number] for hop in gateways)}


def _with_own_routes(host: Host, network: Network, routing: _Routing) -> Host:
    hops = routing.next_hops(host.name)
    if not hops:
        return host
    has_default = {
        ipaddress.ip_address(route.via).version for route in host.routes if route.to == "default"
    }
    if host.name in routing.advertised:
        has_default.add(6)
    written = [ipaddress.ip_network(route.to) for route in host.routes if route.to != "default"]
    written += [
        ipaddress.ip_interface(address).network
        for tunnel in network.tunnels
        for node, address in ((tunnel.a, tunnel.a_address), (tunnel.b, tunnel.b_address))
        if node == host.name
    ]
    missing: dict[str, Address] = {}
    for number, hop in sorted(hops.items()):
        subnet = routing.subnets[number]
        if subnet.version in has_default or any(_covers(one, subnet) for one in written):
            continue
        missing.setdefault(str(subnet), hop)
    if not host.forwards and len(set(missing.values())) == 1:
        missing = {"default": next(iter(missing.values()))}
    routes = tuple(Route(to=to, via=str(via)) for to, via in missing.items())
    return replace(host, routes=(*host.routes, *routes)) if routes else host


def _covers(network: Subnet, other: Subnet) -> bool:
    return (
        network.version == other.version
        and network.prefixlen <= other.prefixlen
        and other.network_address in network
    )
