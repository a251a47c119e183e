"""A network with free node positions, spread out to fit its labels, with straight links."""

from __future__ import annotations

import math
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

from longfat.output.drawing.layouts import neighbours_of
from longfat.output.drawing.shapes import (
    CLEAR_PX,
    HEIGHT_PX,
    WIDTH_PX,
    End,
    Shape,
    Stroke,
    link_words,
    side_by_side,
    text_width,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point

_PARALLEL_PX = 34
_COLUMN = 3
"""This many nodes in a column beside their only neighbour have level links."""

_FAN_PX = 70
_ROW_PX = 17
"""From a line to the far side of the text along it."""
_MAX_STRETCH = 4.0
"""The maximum factor by which the positions of a study are spread out in the picture."""


def draw_straight(
    network: Network,
    centres: Mapping[str, Point],
    widths: Mapping[str, float],
    *,
    shaped: Collection[str],
) -> list[Shape]:
    """Draw links as straight lines, parallel ones side by side, and those of a column level."""
    columns = _columns(network, centres)
    between: dict[frozenset[str], list[int]] = {}
    for number, link in enumerate(network.links):
        between.setdefault(frozenset((link.a, link.b)), []).append(number)
    shapes: list[Shape] = []
    for number, (link, names) in enumerate(zip(network.links, network.interfaces(), strict=True)):
        if number in columns:
            leaf = columns[number]
            hub = link.b if leaf == link.a else link.a
            (x, y), (hub_x, hub_y) = centres[leaf], centres[hub]
            away = math.copysign(1.0, hub_x - x)
            begin = (x + away * widths[leaf] / 2, y)
            stop = (begin[0] + away * text_width(link, names), y)
            shapes.append(Stroke(points=(begin, stop, (hub_x - away * widths[hub] / 2, hub_y))))
            at_a, at_b = (begin, stop) if leaf == link.a else (stop, begin)
            ends = End(at=at_a, interface=names[0]), End(at=at_b, interface=names[1])
            shapes += link_words(link, *ends, shaped=shaped)
            continue
        same = between[frozenset((link.a, link.b))]
        shift = side_by_side(len(same), _PARALLEL_PX)[same.index(number)]
        first, second = sorted((centres[link.a], centres[link.b]))
        across, down = second[0] - first[0], second[1] - first[1]
        length = math.hypot(across, down) or 1.0
        aside = (-down / length * shift, across / length * shift)
        a, b = ((x + aside[0], y + aside[1]) for x, y in (centres[link.a], centres[link.b]))
        shapes.append(Stroke(points=(a, b)))
        at_a, at_b = _border(a, b, widths[link.a]), _border(b, a, widths[link.b])
        ends = End(at=at_a, interface=names[0]), End(at=at_b, interface=names[1])
        shapes += link_words(link, *ends, shaped=shaped)
    return shapes


def _columns(network: Network, places: Mapping[str, Point]) -> dict[int, str]:
    """Find links to nodes with a single neighbour that form a column beside it.

    Returns:
        By the links' numbers, the neighbour. Straight lines from all of them
        to one point would cross the nodes between.
    """
    near = neighbours_of(network)
    found: dict[tuple[str, float], dict[str, list[int]]] = {}
    for number, link in enumerate(network.links):
        for leaf, hub in ((link.a, link.b), (link.b, link.a)):
            if len(near[leaf]) == 1 and places[leaf][0] != places[hub][0]:
                found.setdefault((hub, places[leaf][0]), {}).setdefault(leaf, []).append(number)
    return {
        numbers[0]: leaf
        for leaves in found.values()
        if len(leaves) >= _COLUMN and all(len(numbers) == 1 for numbers in leaves.values())
        for leaf, numbers in leaves.items()
    }


def _border(centre: Point, other: Point, width: float) -> Point:
    """Return where, on the line between two nodes, text beside it is clear of the first."""
    across, down = other[0] - centre[0], other[1] - centre[1]
    length = math.hypot(across, down)
    if not length:
        return centre
    # Text is rotated with the line, so its corners are nearer to the node than the line is.
    corner = _ROW_PX * min(abs(across), abs(down)) / max(abs(across), abs(down))
    part = min(
        width / 2 / abs(across) if across else math.inf,
        HEIGHT_PX / 2 / abs(down) if down else math.inf,
    )
    part = min(part + corner / length, 0.45)
    return (centre[0] + part * across, centre[1] + part * down)


def with_the_rest(network: Network, places: Mapping[str, Point]) -> dict[str, Point]:
    """Return the positions, with nodes that have none placed in rows below."""
    rest = [name for name in network.node_names() if name not in places]
    if not rest:
        return dict(places)
    left = min(x for x, _ in places.values())
    bottom = max(y for _, y in places.values())
    step_x, step_y = 1.5 * WIDTH_PX, 2.0 * HEIGHT_PX
    reach = max(x for x, _ in places.values()) - left
    across = max(math.ceil(math.sqrt(len(rest))), int(reach / step_x) + 1)
    return dict(places) | {
        name: (left + step_x * (n % across), bottom + step_y * (1 + n // across))
        for n, name in enumerate(rest)
    }


def spread_out(
    network: Network,
    places: Mapping[str, Point],
    widths: Mapping[str, float],
    *,
    given: bool = True,
) -> tuple[dict[str, Point], Point]:
    """Spread places out until nodes stand apart and words fit along links.

    Args:
        network: the network.
        places: the places.
        widths: how wide each node is.
        given: they are the study's, in pixels, and do not come nearer to each other.

    Returns:
        The new places, and by what factor they are farther apart, to the right and down.
    """
    needs: tuple[list[float], list[float]] = ([], [])
    columns = _columns(network, places)
    for number, (link, names) in enumerate(zip(network.links, network.interfaces(), strict=True)):
        (x, y), (far_x, far_y) = places[link.a], places[link.b]
        across, down = abs(far_x - x), abs(far_y - y)
        text = text_width(link, names)
        if number in columns:
            text, down = text + _FAN_PX, 0.0
        if across >= down and across > 0:
            needs[0].append((text + (widths[link.a] + widths[link.b]) / 2) / across)
        elif down > 0:
            needs[1].append((text + HEIGHT_PX) / down)
    limits = [_MAX_STRETCH if given else 1.5 * median(axis or [WIDTH_PX]) for axis in needs]
    factors = [
        min(max(axis, default=1.0), maximum) for axis, maximum in zip(needs, limits, strict=True)
    ]
    if given:
        factors = [max(1.0, factor) for factor in factors]
    # Nodes that would cover each other move apart in the direction in which it takes less.
    for one, other in combinations(places, 2):
        across, down = (abs(a - b) for a, b in zip(places[one], places[other], strict=True))
        wide = (widths[one] + widths[other]) / 2 + CLEAR_PX
        if across * factors[0] < wide and down * factors[1] < HEIGHT_PX + CLEAR_PX:
            ways = [
                (size / apart / factor, axis, size / apart)
                for axis, (size, apart, factor) in enumerate(
                    ((wide, across, factors[0]), (HEIGHT_PX + CLEAR_PX, down, factors[1]))
                )
                if apart > 0
            ]
            if ways:
                _, axis, factor = min(ways)
                factors[axis] = min(factor, 2 * limits[axis])
    stretch = (factors[0], factors[1])
    moved = {name: (x * stretch[0], y * stretch[1]) for name, (x, y) in places.items()}
    return moved, stretch
