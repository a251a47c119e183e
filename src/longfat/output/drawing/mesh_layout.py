"""The layout of a network with cycles: distances proportional to distances in links.

It is the layout of least stress, found by majorization (Gansner, Koren and North, "Graph
Drawing by Stress Majorization", Graph Drawing 2004). It begins with a circle and draws no random
numbers, so equal networks give equal pictures.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from longfat.output.drawing.tree_layout import neighbours_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point

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
