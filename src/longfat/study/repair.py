"""What a network lacks so that its hosts reach each other: addresses, routes, forwarding.

A network is cut into segments: the interfaces that receive each other's frames, across switches.
Each segment gets a network of addresses of its own; routers get the last addresses of it; hosts
get a default route, and routers a route to each segment that they are not on, by a shortest path.
What the user wrote is kept where it does not conflict.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from longfat.model.network import Host, Network, Route
from longfat.model.network.check import Groups, problems
from longfat.model.network.vlans import vlans_of
from longfat.study.reachability import check_reach, may_change_routing

Ipv4 = ipaddress.IPv4Network
PathStep = str | int
IsFixed = Callable[[str, str], bool]
"""Of a host and an address with prefix length, or a route as `TO VIA`: whether it has to stay."""

_MAX_PAIRS = 3000
_MAX_SEGMENTS = 200


@dataclass(frozen=True, slots=True)
class Edit:
    """A value to set in the network of a study.

    Attributes:
        path: keys and indexes below `network`.
        value: the new value; None removes it.
        words: what this does, for display.
    """

    path: tuple[PathStep, ...]
    value: str | None
    words: str


@dataclass(frozen=True, slots=True)
class End:
    """An interface of a host: the link's index, and whether it is its first end."""

    host: str
    link: int
    is_first: bool


def unreached(
    network: Network, lines: Sequence[str] = (), *, is_thorough: bool = False
) -> list[tuple[str, str, str]]:
    """Return which hosts cannot reach which, and why: one reason for each host that sends.

    Args:
        network: the network.
        lines: its set-up lines. Where one of them may change addresses or routes, nothing is
            known; nor is it where addresses are translated.
        is_thorough: look at all pairs, and not at each host with the first and the next one only:
            a text is checked at every pause of typing.
    """
    if any(map(may_change_routing, lines)) or any(host.nat for host in network.hosts):
        return []
    if vlans_of(network):
        return []  # hosts are kept apart on purpose
    linked = {name for link in network.links for name in (link.a, link.b)}
    hosts = [host.name for host in network.hosts if host.name in linked and not host.forwards]
    if not hosts:
        return []
    groups = Groups(linked)
    for link in network.links:
        groups.join(link.a, link.b)
    found: dict[str, tuple[str, str, str]] = {}
    some = dict.fromkeys([*((hosts[0], one) for one in hosts[1:]), *pairwise(hosts)])
    every = combinations(hosts, 2) if is_thorough else some
    pairs = [pair for pair in every if len({*map(groups.find, pair)}) == 1]
    for source, target in pairs[:_MAX_PAIRS]:
        if source not in found and (reason := check_reach(network, source, target)):
            found[source] = (source, target, reason)
    return list(found.values())


def separate_parts(network: Network) -> list[tuple[str, ...]]:
    """Return the linked hosts of each part of a network that no links join to another part."""
    linked = {name for link in network.links for name in (link.a, link.b)}
    groups = Groups(linked)
    for link in network.links:
        groups.join(link.a, link.b)
    parts: dict[str, list[str]] = {}
    for host in network.hosts:
        if host.name in linked:
            parts.setdefault(groups.find(host.name), []).append(host.name)
    return [tuple(names) for names in parts.values()]


def repair(network: Network, needed: Iterable[tuple[str, str]] = ()) -> list[Edit] | None:
    """Return what makes all hosts of a network reach each other.

    Args:
        network: the network.
        needed: hosts that have to reach each other in any case, as a flow's do; others may be
            cut off, such as one without a link.

    Returns:
        The edits; None where none would help: addresses are IPv6 or translated, or no links
        lead there.
    """
    if not is_plain(network):
        return None
    segments = segments_of(network)
    if len(segments) > _MAX_SEGMENTS:
        return None
    edits = list(_forwarding(network, segments))
    network = _with_forwarding(network, {str(edit.path[1]) for edit in edits})
    more, network = with_addresses(network, segments)
    edits += more
    more, network = with_routes(network, segments)
    edits += more
    if any(problems(network)) or unreached(network, is_thorough=True):
        return None
    return None if any(check_reach(network, *pair) for pair in needed) else edits


def is_plain(network: Network) -> bool:
    """Return whether all addresses are IPv4, and none translated, tunnelled, bonded or in VLANs."""
    given = [address for pair in network.addresses() for address in pair if address]
    given += [host.address for host in network.hosts if host.address]
    if vlans_of(network) or network.tunnels or network.bonds or network.slaac_subnets():
        return False
    return not any(":" in one for one in given) and not any(host.nat for host in network.hosts)


def segments_of(network: Network) -> list[list[End]]:
    """Return the interfaces of hosts that hear each other's frames, together."""
    hosts = {host.name for host in network.hosts}
    switches = {switch.name for switch in network.switches}
    groups = Groups([*switches, *(str(index) for index in range(len(network.links)))])
    for index, link in enumerate(network.links):
        for node in {link.a, link.b} & switches:
            groups.join(node, str(index))
    found: dict[str, list[End]] = {}
    for index, link in enumerate(network.links):
        ends = found.setdefault(groups.find(str(index)), [])
        ends += [
            End(node, index, is_first)
            for node, is_first in ((link.a, True), (link.b, False))
            if node in hosts
        ]
    return [ends for ends in found.values() if ends]


def _forwarding(network: Network, segments: Sequence[Sequence[End]]) -> Iterator[Edit]:
    """Find hosts between segments that no router joins."""
    hosts = {host.name: host for host in network.hosts}
    groups = Groups([str(index) for index in range(len(segments))])
    places: dict[str, list[str]] = {}
    for index, ends in enumerate(segments):
        for end in ends:
            places.setdefault(end.host, []).append(str(index))
    for name, where in places.items():
        if hosts[name].forwards:
            for one in where[1:]:
                groups.join(where[0], one)
    for name, where in places.items():
        if not hosts[name].forwards and len({groups.find(one) for one in where}) > 1:
            for one in where[1:]:
                groups.join(where[0], one)
            yield Edit(("hosts", name, "forwards"), "yes", f"{name} forwards, as a router does")


def _with_forwarding(network: Network, names: set[str]) -> Network:
    hosts = tuple(
        replace(host, forwards=True) if host.name in names else host for host in network.hosts
    )
    return replace(network, hosts=hosts)


def _nothing_is_fixed(host: str, value: str) -> bool:
    del host, value
    return False


def with_addresses(
    network: Network,
    segments: Sequence[Sequence[End]],
    *,
    is_fixed: IsFixed = _nothing_is_fixed,
    taken: Iterable[Ipv4] = (),
) -> tuple[list[Edit], Network]:
    """Give each segment a network of its own, and each of its interfaces an address in it.

    Args:
        network: the network.
        segments: its segments, or some of them.
        is_fixed: which addresses stay as they are.
        taken: networks that no segment gets.
    """
    edits: list[Edit] = []
    subnets = _subnets(network, segments, is_fixed=is_fixed, taken=taken)
    for ends, subnet in zip(segments, subnets, strict=True):
        used = {one.ip for end in ends if (one := _given(network, end)) and one.network == subnet}
        for end in ends:
            old = _given(network, end)
            if old is not None and (old.network == subnet or is_fixed(end.host, str(old))):
                continue
            host = next(one for one in network.hosts if one.name == end.host)
            ip = _free(subnet, used, old=old, is_router=host.forwards)
            if ip is not None:
                used.add(ip)
                edit, network = _with_address(network, host, end, f"{ip}/{subnet.prefixlen}")
                edits.append(edit)
    return edits, network


def _given(network: Network, end: End) -> ipaddress.IPv4Interface | None:
    text = network.addresses()[end.link][0 if end.is_first else 1]
    return None if text is None else ipaddress.IPv4Interface(text)


def _subnets(
    network: Network,
    segments: Sequence[Sequence[End]],
    *,
    is_fixed: IsFixed,
    taken: Iterable[Ipv4],
) -> list[Ipv4]:
    """Return the network of each segment: the one that most of it has, if it is no other's."""
    own: list[Ipv4 | None] = []
    fixed: set[int] = set()
    for index, ends in enumerate(segments):
        given = [(end.host, one) for end in ends if (one := _given(network, end)) is not None]
        if stays := [one for one in given if is_fixed(one[0], str(one[1]))]:
            fixed.add(index)
        nets = [one.network for _, one in stays or given]
        own.append(Counter(nets).most_common(1)[0][0] if nets else None)
    clashing: set[int] = set()
    for (first, a), (second, b) in combinations(enumerate(own), 2):
        if a and b and a.overlaps(b):
            # A wide network was hardly meant; of two narrow ones the later goes.
            both = a.prefixlen < 24 or second in fixed
            clashing |= {first, second} if both else {second}
    clashing -= fixed
    kept = [None if index in clashing else subnet for index, subnet in enumerate(own)]
    taken = [*taken, *(subnet for subnet in kept if subnet is not None)]
    found = []
    for subnet in kept:
        fresh = subnet or next(
            one for one in _pool() if not any(one.overlaps(two) for two in taken)
        )
        taken.append(fresh)
        found.append(fresh)
    return found


def _with_address(network: Network, host: Host, end: End, text: str) -> tuple[Edit, Network]:
    """Return a network in which an interface has an address, and how a study declares it."""
    link = network.links[end.link]
    words = f"{end.host} has the address {text} towards {link.b if end.is_first else link.a}"
    is_first = not any(end.host in (one.a, one.b) for one in network.links[: end.link])
    written = link.a_address if end.is_first else link.b_address
    if is_first and written is None:
        hosts = (replace(host, address=text) if one is host else one for one in network.hosts)
        edit = Edit(("hosts", end.host, "address"), text, words)
        return edit, replace(network, hosts=tuple(hosts))
    change = {"a_address" if end.is_first else "b_address": text}
    links = list(network.links)
    links[end.link] = replace(link, **change)  # type: ignore[arg-type]
    edit = Edit(("links", end.link, 2, "addresses", end.host), text, words)
    return edit, replace(network, links=tuple(links))


def _pool() -> Iterator[Ipv4]:
    """Yield networks of 254 hosts among the private addresses of RFC 1918."""
    for second in range(256):
        for third in range(1 if second == 0 else 0, 256):
            yield ipaddress.IPv4Network(f"10.{second}.{third}.0/24")
    for wide in ("172.16.0.0/12", "192.168.0.0/16"):
        yield from ipaddress.IPv4Network(wide).subnets(new_prefix=24)


def _free(
    subnet: Ipv4,
    used: set[ipaddress.IPv4Address],
    *,
    old: ipaddress.IPv4Interface | None,
    is_router: bool,
) -> ipaddress.IPv4Address | None:
    """Return a free address: of a router from the end, of a host with its old last byte."""
    if subnet.prefixlen >= 24:
        every = list(subnet.hosts())
    else:
        every = [subnet.network_address + number for number in range(1, 1000)]
    if is_router:
        every.reverse()
    elif old is not None:
        kept = subnet.network_address + (int(old.ip) & 0xFF)
        if kept in every:
            every.insert(0, kept)
    return next((one for one in every if one not in used), None)


def with_routes(
    network: Network,
    segments: Sequence[Sequence[End]],
    *,
    is_fixed: IsFixed = _nothing_is_fixed,
) -> tuple[list[Edit], Network]:
    """Give hosts a default route, and routers a route to each segment that they are not on.

    Args:
        network: the network, with addresses.
        segments: its segments, or some of them.
        is_fixed: which routes stay as they are.
    """
    addresses = network.addresses()
    hosts = {host.name: host for host in network.hosts}
    at: dict[str, dict[int, ipaddress.IPv4Interface]] = {}
    for index, ends in enumerate(segments):
        for end in ends:
            text = addresses[end.link][0 if end.is_first else 1]
            if text is not None:
                at.setdefault(end.host, {}).setdefault(index, ipaddress.IPv4Interface(text))
    # A network with only routers has no traffic.
    wanted = {
        index
        for index, ends in enumerate(segments)
        if any(not hosts[end.host].forwards for end in ends)
    }
    edits: list[Edit] = []
    now = dict(hosts)
    for name, own in at.items():
        host = hosts[name]
        hops = _next_hops(name, own, at, hosts)
        next_hops = {segment: via for segment, via in hops.items() if segment in wanted}
        missing: dict[str, str] = {}
        for segment, via in next_hops.items():
            target = next(iter(one.network for one in _on(segment, at)), None)
            if target is None or segment in own or not _lacks(network, name, target):
                continue
            missing[str(target)] = via
        if not missing:
            continue
        only = set(next_hops.values())
        has_default = any(route.to == "default" for route in host.routes)
        if len(only) == 1 and not has_default:
            missing = {"default": next(iter(only))}
        fixed = {route.to for route in host.routes if is_fixed(name, f"{route.to} {route.via}")}
        missing = {to: via for to, via in missing.items() if to not in fixed}
        kept = [route for route in host.routes if route.to not in missing]
        now[name] = replace(
            host, routes=(*kept, *(Route(to=to, via=via) for to, via in missing.items()))
        )
        edits += [
            Edit(("hosts", name, "routes", to), via, f"{name} has a route to {to} via {via}")
            for to, via in missing.items()
        ]
    return edits, replace(network, hosts=tuple(now[one.name] for one in network.hosts))


def _on(
    segment: int, at: Mapping[str, Mapping[int, ipaddress.IPv4Interface]]
) -> Iterator[ipaddress.IPv4Interface]:
    return (own[segment] for own in at.values() if segment in own)


def _next_hops(
    name: str,
    own: Mapping[int, ipaddress.IPv4Interface],
    at: Mapping[str, Mapping[int, ipaddress.IPv4Interface]],
    hosts: Mapping[str, Host],
) -> dict[int, str]:
    """Return by which neighbour's address a shortest path leads to each other segment."""
    routers = [other for other in at if hosts[other].forwards and other != name]
    found: dict[int, str] = {}
    waiting: list[tuple[int, str | None]] = [(segment, None) for segment in own]
    seen = set(own)
    passed: set[str] = set()
    for segment, via in waiting:
        for router in routers:
            if router in passed or segment not in at[router]:
                continue
            passed.add(router)
            hop = via or str(at[router][segment].ip)
            for onward in at[router]:
                if onward not in seen:
                    seen.add(onward)
                    found[onward] = hop
                    waiting.append((onward, hop))
    return found


def _lacks(network: Network, name: str, target: Ipv4) -> bool:
    """Return whether a host has no way, or one that ends nowhere, to a segment."""
    host = next(one for one in network.hosts if one.name == name)
    covering = [
        route
        for route in host.routes
        if route.to == "default" or target.subnet_of(ipaddress.IPv4Network(route.to))
    ]
    if not covering:
        return True
    known = {text.partition("/")[0] for pair in network.addresses() for text in pair if text}
    return not any(route.via in known for route in covering)
