"""The layout of a network without cycles: a tree, from left to right.

Switches and routers go from left to right; hosts of the first are to its left, all others
to the right of theirs. Each end of a branch has a lane, or as many as it has parallel links.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.model.network import Network


@dataclass(frozen=True, slots=True)
class Position:
    """The position of a node: its column, and its lane, which may be between two."""

    column: int
    lane: float


def neighbours_of(network: Network) -> dict[str, dict[str, None]]:
    """Return the neighbours of each node, in the order of the links."""
    near: dict[str, dict[str, None]] = {name: {} for name in network.node_names()}
    for link in network.links:
        near[link.a][link.b] = None
        near[link.b][link.a] = None
    return near


def has_circle(network: Network) -> bool:
    """Return whether the network has a cycle; parallel links count as one link."""
    near = neighbours_of(network)
    seen: set[str] = set()
    trees = 0
    for start in near:
        trees += start not in seen
        waiting = [start]
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += near[name]
    return sum(map(len, near.values())) // 2 > len(near) - trees


def place_nodes(network: Network) -> dict[str, Position]:
    """Return the position of each node; no two are equal."""
    near = neighbours_of(network)
    parallel = Counter(frozenset((link.a, link.b)) for link in network.links)
    switches = [switch.name for switch in network.switches]
    switches += [host.name for host in network.hosts if host.forwards]
    # The root of a tree is one of its ends.
    switches.sort(key=lambda name: sum(n in switches for n in near[name]) > 1)
    placed: dict[str, Position] = {}
    top = 0.0
    for root in [*switches, *(host.name for host in network.hosts)]:
        if root not in placed:
            top += _place_tree(root, near, frozenset(switches), parallel, placed=placed, top=top)
    leftmost = min((place.column for place in placed.values()), default=0)
    return {name: Position(p.column - leftmost, p.lane) for name, p in placed.items()}


def _place_tree(
    root: str,
    near: Mapping[str, Mapping[str, None]],
    switches: frozenset[str],
    parallel: Mapping[frozenset[str], int],
    *,
    placed: dict[str, Position],
    top: float,
) -> int:
    """Place what is connected with a node, starting at a lane; return the number of lanes."""
    leaves = [name for name in near[root] if name not in switches and len(near[name]) == 1]
    continues = len(leaves) < len(near[root])
    left: list[str] = []
    if root in switches:
        # The hosts of a single switch are on both sides of it.
        left = leaves if continues else leaves[: (len(leaves) + 1) // 2]
    seen = {*placed, *left}
    right: dict[str, Position] = {}
    lanes = 0
    # A node is placed after all nodes below it; a long chain is deeper than Python's stack.
    waiting = [(root, "", 0, -1)]
    below: dict[str, list[float]] = {}
    while waiting:
        name, above, column, first = waiting.pop()
        if first < 0:
            seen.add(name)
            waiting.append((name, above, column, lanes))
            below[name] = []
            ends = [other for other in near[name] if other not in seen]
            waiting += [(other, name, column + 1, -1) for other in reversed(ends)]
            continue
        # Parallel links have a lane each, also where the subtree behind them has fewer.
        links = parallel.get(frozenset((name, above)), 1)
        short = max(0, links - (lanes - first))
        lanes += short
        its = below.pop(name)
        lane = (min(its) + max(its) + short) / 2 if its else first + (links - 1) / 2
        right[name] = Position(column, lane)
        if above:
            below[above].append(lane)

    on_left = [parallel[frozenset((root, name))] for name in left]
    tall = max(lanes, sum(on_left))
    for name, place in right.items():
        placed[name] = Position(place.column, top + place.lane + (tall - lanes) / 2)
    lane = top + (tall - sum(on_left)) / 2
    for name, links in zip(left, on_left, strict=True):
        placed[name] = Position(-1, lane + (links - 1) / 2)
        lane += links
    return tall
