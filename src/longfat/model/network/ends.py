"""Links found by the nodes at their ends: the one between two nodes, those between groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.network.model import Network


def link_between(network: Network, a: str, b: str) -> int:
    """Return the place of the link between two nodes.

    Args:
        network: the network.
        a: a node, or its interface, where several links lead to the other.
        b: the other node, or its interface.

    Raises:
        InputError: there is none, or more than one.
    """
    interfaces = network.interfaces()
    indices = [
        index
        for index, (link, (at_a, at_b)) in enumerate(zip(network.links, interfaces, strict=True))
        for one, other in (((link.a, at_a), (link.b, at_b)), ((link.b, at_b), (link.a, at_a)))
        if a in one and b in other
    ]
    if len(indices) == 1:
        return indices[0]
    if indices:
        pair = interfaces[indices[0]]
        first = pair[0] if network.links[indices[0]].a == a else pair[1]
        raise InputError(
            f"{len(indices)} links lead from {a} to {b}, so it is not clear which is meant: write"
            f" an interface in place of its node, such as [{first}, {b}]"
        )
    known = {name for pair in interfaces for name in pair}
    names = network.node_names()
    for name in (a, b):
        if name not in names and name not in known:
            raise InputError(
                f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
            )
    links = [f"[{link.a}, {link.b}]" for link in network.links]
    raise InputError(f"no link leads from {a} to {b} (there are: {listed(links)})")


def cut_links(network: Network, groups: Sequence[Sequence[str]]) -> list[int]:
    """Return the places of the links between groups of nodes.

    A node in no group belongs to the one that it is linked with, itself or by other such nodes.

    Raises:
        InputError: a node is not there, in two groups or between two; or no link is cut.
    """
    names = network.node_names()
    group_of: dict[str, int] = {}
    for number, group in enumerate(groups):
        for name in group:
            if name not in names:
                raise InputError(
                    f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
                )
            if name in group_of:
                raise InputError(f"{name} is written twice: a node belongs to one group")
            group_of[name] = number
    _join_neighbours(network, group_of)
    cut = [i for i, (a, b) in enumerate(_pairs(network)) if group_of.get(a) != group_of.get(b)]
    if not cut:
        raise InputError("no link leads from one group to another, so nothing is cut off")
    return cut


def _join_neighbours(network: Network, group_of: dict[str, int]) -> None:
    """Put each node without a group into the one that it is linked with."""
    grown = True
    while grown:
        grown = False
        for name in network.node_names():
            if name in group_of:
                continue
            near = [b if a == name else a for a, b in _pairs(network) if name in (a, b)]
            numbers = {group_of[one] for one in near if one in group_of}
            if len(numbers) > 1:
                raise InputError(
                    f"{name} is linked with nodes of several groups: write it in one of them"
                )
            if numbers:
                group_of[name] = numbers.pop()
                grown = True


def _pairs(network: Network) -> list[tuple[str, str]]:
    return [(link.a, link.b) for link in network.links]
