"""What a network lacks so that its hosts reach each other: addresses, routes, forwarding.

Hosts between broadcast domains that no router joins forward. Written addresses that are not of
their domain's subnet are replaced, as are routes to routers that do not exist, by automatic
ones (`longfat.model.network.addressing`). All else that the user wrote is kept.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from longfat.model.network import Host, Network
from longfat.model.network.addressing import (
    BY_WRITTEN,
    NONE,
    Addressing,
    Interface,
    Subnet,
    complete,
    written_at,
)
from longfat.model.network.check import Groups, problems
from longfat.model.network.subnets import Attachment, Domain, broadcast_domains
from longfat.model.network.vlans import vlans_of
from longfat.study.reachability import check_reach, may_change_path

if TYPE_CHECKING:
    from longfat.model.case import Command

PathStep = str | int

_MAX_PAIRS = 3000
_MAX_SEGMENTS = 200
_NARROW = {4: 24, 6: 64}
"""The prefix length from which on a network was hardly written for several domains."""


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


def unreached(
    network: Network, setup: Sequence[Command] = (), *, is_thorough: bool = False
) -> list[tuple[str, str, str]]:
    """Return which hosts cannot reach which, and why: one reason for each host that sends.

    Args:
        network: the network.
        setup: its set-up lines. Of hosts between which one of them may change addresses or
            routes nothing is known; nor is it where addresses are translated.
        is_thorough: look at all pairs, and not at each host with the first and the next one only:
            a text is checked at every pause of typing.
    """
    if any(host.nat for host in network.hosts):
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
    pairs = [
        pair
        for pair in every
        if len({*map(groups.find, pair)}) == 1 and not may_change_path(network, setup, *pair)
    ]
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


def repair(
    network: Network,
    needed: Iterable[tuple[str, str]] = (),
    *,
    addressing: Addressing = BY_WRITTEN,
) -> list[Edit] | None:
    """Return what makes all hosts of a network reach each other.

    Args:
        network: the network, as it is written.
        needed: hosts that have to reach each other in any case, as a flow's do; others may be
            cut off, such as one without a link.
        addressing: what addresses and routes are assigned automatically, which need no edit.

    Returns:
        The edits; None where none would help: addresses are translated, or no links lead there.
    """
    if not is_plain(network):
        return None
    domains = broadcast_domains(network)
    if len(domains) > _MAX_SEGMENTS:
        return None
    edits = list(_forwarding(network, domains))
    forwarding = _with_forwarding(network, {str(edit.path[1]) for edit in edits})
    known = complete(_without_conflicts(forwarding, domains))
    repaired = complete(_without_lost_routes(known))
    if addressing.addresses != NONE:
        repaired = _where_written(forwarding, repaired)
    edits += differences(forwarding, repaired)
    reached = complete(repaired, addressing)
    if any(problems(reached)) or unreached(reached, is_thorough=True):
        return None
    return None if any(check_reach(reached, *pair) for pair in needed) else edits


def _where_written(written: Network, other: Network) -> Network:
    """Return a network with the addresses and routes of another one where it has any."""
    hosts = []
    for old, new in zip(written.hosts, other.hosts, strict=True):
        targets = {route.to for route in old.routes}
        routes = tuple(route for route in new.routes if route.to in targets)
        address = None if old.address is None else new.address
        hosts.append(replace(old, address=address, routes=routes))
    links = [
        replace(
            old,
            a_address=None if old.a_address is None else new.a_address,
            b_address=None if old.b_address is None else new.b_address,
        )
        for old, new in zip(written.links, other.links, strict=True)
    ]
    return replace(written, hosts=tuple(hosts), links=tuple(links))


def is_plain(network: Network) -> bool:
    """Return whether no address is translated, tunnelled, bonded, in a VLAN or by SLAAC."""
    if vlans_of(network) or network.tunnels or network.bonds or network.slaac_subnets():
        return False
    return not any(host.nat for host in network.hosts)


def _forwarding(network: Network, domains: Sequence[Domain]) -> Iterator[Edit]:
    """Find hosts between broadcast domains that no router joins."""
    hosts = {host.name: host for host in network.hosts}
    groups = Groups()
    numbers: dict[str, list[str]] = {}
    for index, ends in enumerate(domains):
        for end in ends:
            numbers.setdefault(end.host, []).append(str(index))
    for name, own in numbers.items():
        if hosts[name].forwards:
            for number in own[1:]:
                groups.join(own[0], number)
    for name, own in numbers.items():
        if not hosts[name].forwards and len(set(map(groups.find, own))) > 1:
            for number in own[1:]:
                groups.join(own[0], number)
            yield Edit(("hosts", name, "forwards"), "yes", f"{name} forwards, as a router does")


def _with_forwarding(network: Network, names: set[str]) -> Network:
    hosts = tuple(
        replace(host, forwards=True) if host.name in names else host for host in network.hosts
    )
    return replace(network, hosts=hosts)


def _without_conflicts(network: Network, domains: Sequence[Domain]) -> Network:
    """Return a network without addresses that are not of the subnets of their domains."""
    written = {end: ipaddress.ip_interface(text) for end, text in written_at(network).items()}
    subnets = _subnets(domains, written)
    wrong = {
        end
        for ends, subnet in zip(domains, subnets, strict=True)
        for end in ends
        if (own := written.get(end)) is not None and own.network != subnet
    }
    links = tuple(
        replace(
            link,
            a_address=None if Attachment(link.a, index, True) in wrong else link.a_address,
            b_address=None if Attachment(link.b, index, False) in wrong else link.b_address,
        )
        for index, link in enumerate(network.links)
    )
    # Whose first interface has the host's own address.
    of_hosts = {end.host for end in wrong if network.links[end.link] == links[end.link]}
    hosts = tuple(
        replace(host, address=None) if host.name in of_hosts else host for host in network.hosts
    )
    return replace(network, hosts=hosts, links=links)


def _subnets(
    domains: Sequence[Domain], written: Mapping[Attachment, Interface]
) -> list[Subnet | None]:
    """Return the subnet of each domain: the one that most of it has, if it is no other's."""
    own: list[Subnet | None] = []
    for ends in domains:
        networks = [written[end].network for end in ends if end in written]
        own.append(Counter(networks).most_common(1)[0][0] if networks else None)
    clashing: set[int] = set()
    for (first, a), (second, b) in combinations(enumerate(own), 2):
        if a and b and a.overlaps(b):
            # A wide network was hardly meant; of two narrow ones the later goes.
            both = a.prefixlen < _NARROW[a.version]
            clashing |= {first, second} if both else {second}
    return [None if index in clashing else subnet for index, subnet in enumerate(own)]


def _without_lost_routes(network: Network) -> Network:
    """Return a network, which has addresses, without routes to routers that do not exist."""
    known = {text.partition("/")[0] for pair in network.addresses() for text in pair if text}
    hosts = tuple(
        replace(host, routes=tuple(route for route in host.routes if route.via in known))
        for host in network.hosts
    )
    return replace(network, hosts=hosts)


def differences(before: Network, after: Network) -> Iterator[Edit]:
    """Yield what to set in a study so that one network's addresses and routes become another's."""
    for old, new in zip(before.hosts, after.hosts, strict=True):
        if new.address is not None and new.address != old.address:
            text = f"{new.name} has the address {new.address}"
            yield Edit(("hosts", new.name, "address"), new.address, text)
    for index, (was, now) in enumerate(zip(before.links, after.links, strict=True)):
        yield from _end_difference(index, now.a, now.b, was.a_address, now.a_address)
        yield from _end_difference(index, now.b, now.a, was.b_address, now.b_address)
    for old, new in zip(before.hosts, after.hosts, strict=True):
        yield from _route_differences(old, new)


def _end_difference(
    index: int, node: str, peer: str, before: str | None, after: str | None
) -> Iterator[Edit]:
    if before != after:
        has = "no address of its own" if after is None else f"the address {after}"
        text = f"{node} has {has} towards {peer}"
        yield Edit(("links", index, 2, "addresses", node), after, text)


def _route_differences(before: Host, after: Host) -> Iterator[Edit]:
    had = {route.to: route.via for route in before.routes}
    has = {route.to: route.via for route in after.routes}
    for to, via in has.items():
        if had.get(to) != via:
            text = f"{after.name} has a route to {to} via {via}"
            yield Edit(("hosts", after.name, "routes", to), via, text)
    for to in [to for to in had if to not in has]:
        text = f"{after.name} has no route to {to} any more"
        yield Edit(("hosts", after.name, "routes", to), None, text)
