"""Addresses and routes for what is being drawn: a link to a router gets them at once.

It is the repair of `longfat.study.repair` for the part of a network that a new link is in,
but nothing that the user wrote is changed: only values that were assigned automatically may
change, such as a host's first address in a drawing without routers.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from longfat.model.network import Host, Network
from longfat.model.network.check import Groups, problems
from longfat.study.reachability import may_change_routing
from longfat.study.repair import Edit, is_plain, segments_of, with_addresses, with_routes

_NARROW = 24
"""A segment between routers gets a network of this prefix length; a wider one is of a drawing
without routers."""

MAX_HOSTS = 300
"""In a larger part of a network, a new link gets nothing: it would take too long."""


def propose(
    network: Network, link: int, *, automatic: Collection[str], lines: Iterable[str] = ()
) -> list[Edit]:
    """Return addresses and routes for the part of a network that a link is in.

    Args:
        network: the network, with the link.
        link: the link's index.
        automatic: what was given by itself before and may change: `HOST ADDRESS/PREFIX` and
            `HOST TO VIA`.
        lines: the set-up lines.

    Returns:
        The edits; none where there is no such link or no router, addresses are IPv6 or
        translated, a set-up line may change them, or what was typed leaves no room for them.
    """
    if link >= len(network.links) or any(map(may_change_routing, lines)):
        return []
    inside = _part_of(network, network.links[link].a)
    here = [host for host in network.hosts if host.name in inside]
    if not any(host.forwards for host in here) or len(here) > MAX_HOSTS or not is_plain(network):
        return []

    def is_fixed(host: str, value: str) -> bool:
        return f"{host} {value}" not in automatic

    bare = replace(
        network,
        hosts=tuple(
            _bare(host, automatic) if host.name in inside else host for host in network.hosts
        ),
    )
    segments = [ends for ends in segments_of(bare) if ends[0].host in inside]
    others = [
        subnet
        for one, pair in zip(network.links, network.addresses(), strict=True)
        for text in pair
        if text
        and one.a not in inside
        and (subnet := ipaddress.IPv4Interface(text).network).prefixlen >= _NARROW
    ]
    _, made = with_addresses(bare, segments, is_fixed=is_fixed, taken=others)
    _, made = with_routes(made, segments, is_fixed=is_fixed)
    if any(problems(made)):
        return []
    return list(_differences(network, made))


def _part_of(network: Network, node: str) -> set[str]:
    groups = Groups(network.node_names())
    for link in network.links:
        groups.join(link.a, link.b)
    return {name for name in network.node_names() if groups.find(name) == groups.find(node)}


def _bare(host: Host, automatic: Collection[str]) -> Host:
    """Return a host without automatic routes, and without a wide network's automatic address."""
    address = host.address
    if (
        address is not None
        and f"{host.name} {address}" in automatic
        and ipaddress.IPv4Interface(address).network.prefixlen < _NARROW
    ):
        address = None
    routes = (one for one in host.routes if f"{host.name} {one.to} {one.via}" not in automatic)
    return replace(host, address=address, routes=tuple(routes))


def _differences(before: Network, after: Network) -> Iterator[Edit]:
    for old, new in zip(before.hosts, after.hosts, strict=True):
        if new.address is not None and new.address != old.address:
            words = f"{new.name} has the address {new.address}"
            yield Edit(("hosts", new.name, "address"), new.address, words)
    for index, (was, now) in enumerate(zip(before.links, after.links, strict=True)):
        for node, address, former in (
            (now.a, now.a_address, was.a_address),
            (now.b, now.b_address, was.b_address),
        ):
            if address is not None and address != former:
                words = f"{node} has the address {address} at link {index}"
                yield Edit(("links", index, 2, "addresses", node), address, words)
    for old, new in zip(before.hosts, after.hosts, strict=True):
        had = {route.to: route.via for route in old.routes}
        has = {route.to: route.via for route in new.routes}
        for to, via in has.items():
            if had.get(to) != via:
                words = f"{new.name} has a route to {to} via {via}"
                yield Edit(("hosts", new.name, "routes", to), via, words)
        for to in had.keys() - has.keys():
            words = f"{new.name} has no route to {to} any more"
            yield Edit(("hosts", new.name, "routes", to), None, words)
