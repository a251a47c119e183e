"""The layouts of a network: a tree from left to right, or distances in links if it has cycles.

In a tree, switches and routers go from left to right; hosts of the first are to its left, all
others to the right of theirs. Each end of a branch has a lane, or as many as it has parallel
links.

In a network with cycles, distances are proportional to distances in links. It is the layout of
least stress, found by majorization (Gansner, Koren and North, "Graph Drawing by Stress
Majorization", Graph Drawing 2004). It begins with a circle and draws no random numbers, so equal
networks give equal pictures.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point


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


_STEPS = 300
_CLOSE = 1e-4
"""Convergence: below this, another step makes no visible difference."""

_APART = 0.8
"""The minimum distance of nodes with the same neighbours, such as spines of a data centre."""

_BESIDE = 0.4
"""The minimum distance of a node from a link of others."""


def spread_nodes(network: Network) -> dict[str, Point]:
    """Return the position of each node, with neighbours about 1 apart; it is wider than high."""
    near = neighbours_of(network)
    names = list(near)
    if len(names) < 2:
        return dict.fromkeys(names, (0.0, 0.0))
    distances = _distances(near)
    weights = distances**-2.0
    np.fill_diagonal(weights, 0.0)
    angles = 2 * np.pi * np.arange(len(names)) / len(names)
    places = np.column_stack((np.cos(angles), np.sin(angles))) * len(names) / 4
    total = weights.sum(axis=1, keepdims=True)
    for _ in range(_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        lengths = np.sqrt((apart**2).sum(axis=2))
        pull = distances / np.maximum(lengths, 1e-9)
        np.fill_diagonal(pull, 0.0)
        # Each node moves part of the way to its optimal position, all nodes at once.
        wanted = (weights[:, :, None] * (places[None, :, :] + pull[:, :, None] * apart)).sum(axis=1)
        step = 0.7 * (wanted / total - places)
        places = places + step
        if np.abs(step).max() < _CLOSE:
            break
    numbers = {name: number for number, name in enumerate(names)}
    ends = np.array([(numbers[link.a], numbers[link.b]) for link in network.links])
    centred = _pushed_apart(places, ends)
    centred -= centred.mean(axis=0)
    # The longest extent is horizontal, as on a screen or a page.
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes * np.where(axes[:, [0]] < 0, -1.0, 1.0)
    turned = np.round(centred @ axes.T, 6)
    return {name: (float(x), float(y)) for name, (x, y) in zip(names, turned, strict=True)}


def _pushed_apart(
    places: npt.NDArray[np.float64], ends: npt.NDArray[np.int_]
) -> npt.NDArray[np.float64]:
    """Move nodes that are too near to each other, or to a link of others, apart.

    Args:
        places: the nodes' positions.
        ends: of each link, the numbers of its nodes.
    """
    for _ in range(_STEPS):
        apart = places[:, None, :] - places[None, :, :]
        lengths = np.sqrt((apart**2).sum(axis=2))
        np.fill_diagonal(lengths, np.inf)
        missing = np.maximum(_APART - lengths, 0.0)
        push = ((missing / 2 / np.maximum(lengths, 1e-9))[:, :, None] * apart).sum(axis=1)
        first, second = places[ends[:, 0]], places[ends[:, 1]]
        along = second - first
        squares = np.maximum((along**2).sum(axis=1), 1e-9)
        behind = places[:, None, :] - first[None, :, :]
        part = np.clip((behind * along).sum(axis=2) / squares, 0.0, 1.0)
        aside = behind - part[:, :, None] * along
        lengths = np.sqrt((aside**2).sum(axis=2))
        lengths[ends.T, np.arange(len(ends))] = np.inf
        near = np.maximum(_BESIDE - lengths, 0.0)
        push += ((near / 2 / np.maximum(lengths, 1e-9))[:, :, None] * aside).sum(axis=1)
        places = places + push
        if max(missing.max(), near.max()) < _CLOSE:
            break
    return places


def _distances(near: dict[str, dict[str, None]]) -> npt.NDArray[np.float64]:
    """Return the number of links between each two nodes; large where they are not connected."""
    numbers = {name: number for number, name in enumerate(near)}
    found = np.zeros((len(near), len(near)))
    for name, row in numbers.items():
        waiting, seen = deque([(name, 0)]), {name}
        while waiting:
            here, steps = waiting.popleft()
            found[row, numbers[here]] = steps
            fresh = [other for other in near[here] if other not in seen]
            seen.update(fresh)
            waiting += [(other, steps + 1) for other in fresh]
    far = found.max() + 1
    found[found == 0] = far
    np.fill_diagonal(found, 1.0)
    return found
