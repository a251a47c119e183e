"""A network without cycles, drawn as a tree from left to right.

Each link is horizontal where its text is, in the lane of the node that is farther from the
tree's root, and from there goes to the other node: so nothing overlaps, however
many hosts a switch has.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from longfat.output.drawing.layouts import place_nodes
from longfat.output.drawing.shapes import (
    CLEAR_PX,
    ROW_PX,
    End,
    Shape,
    Stroke,
    link_words,
    side_by_side,
    text_rows,
    text_width,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point

_LANE_PX = 60
_FAN_PX = 30
_MAX_FAN_PX = 120


def draw_tree(
    network: Network, widths: Mapping[str, float], *, shaped: Collection[str]
) -> tuple[dict[str, Point], list[Shape]]:
    """Place the nodes of a network without cycles in columns, and draw its links.

    Each link is horizontal where its text is, in the lane of the node that is farther from
    the tree's root, and from there goes to the other node.
    """
    positions = place_nodes(network)
    lane_px = max(_LANE_PX, 28 + ROW_PX * max(map(text_rows, network.links), default=0))
    heights = {name: place.lane * lane_px for name, place in positions.items()}
    gaps = _gaps(network)
    columns: dict[int, float] = {}
    for name, place in positions.items():
        columns[place.column] = max(columns.get(place.column, 0.0), widths[name])
    # Where the space between two columns begins and ends, and how much of it text takes.
    fans: dict[tuple[int, bool], float] = {}
    texts: dict[int, float] = {}
    for (left, right), numbers in gaps.items():
        column, away = positions[left].column, _child(left, right, gaps) == left
        drop = max(abs(heights[left] - heights[right]), (len(numbers) - 1) * lane_px / 2)
        fan = min(_MAX_FAN_PX, _FAN_PX + drop / 6) if drop else 0.0
        fans[column, away] = max(fans.get((column, away), 0.0), fan)
        for number in numbers:
            wide = text_width(network.links[number], network.interfaces()[number])
            texts[column] = max(texts.get(column, 0.0), wide)
    middles, x = {}, 0.0
    for column, wide in sorted(columns.items()):
        middles[column] = x + wide / 2
        room = texts.get(column, 2 * CLEAR_PX)
        x += wide + room + fans.get((column, False), 0.0) + fans.get((column, True), 0.0)
    centres = {name: (middles[place.column], heights[name]) for name, place in positions.items()}
    shapes: list[Shape] = []
    for (left, right), numbers in gaps.items():
        (left_x, left_y), (right_x, right_y) = centres[left], centres[right]
        column = positions[left].column
        begin = left_x + columns[column] / 2
        border_left, border_right = left_x + widths[left] / 2, right_x - widths[right] / 2
        end = right_x - columns[column + 1] / 2
        is_left = _child(left, right, gaps) == left
        first, last = begin + fans.get((column, False), 0.0), end - fans.get((column, True), 0.0)
        if is_left:
            first = border_left
        else:
            last = border_right
        for number, shift in zip(numbers, side_by_side(len(numbers), lane_px), strict=True):
            link, names = network.links[number], network.interfaces()[number]
            y = (left_y if is_left else right_y) + shift
            inset = _FAN_PX / 2 if shift else 0.0  # several links enter the node from the side
            start, stop = first + inset * is_left, last - inset * (not is_left)
            points = ((border_left, left_y), (start, y), (stop, y), (border_right, right_y))
            shapes.append(Stroke(points=_without_repeats(points)))
            on_left, on_right = ((start, y), (stop, y))
            at_a, at_b = (on_left, on_right) if link.a == left else (on_right, on_left)
            ends = End(at=at_a, interface=names[0]), End(at=at_b, interface=names[1])
            shapes += link_words(link, *ends, shaped=shaped)
    return centres, shapes


def _gaps(network: Network) -> dict[tuple[str, str], list[int]]:
    """Return the numbers of the links between each two nodes, the left one first."""
    positions = place_nodes(network)
    found: dict[tuple[str, str], list[int]] = {}
    for number, link in enumerate(network.links):
        left, right = sorted((link.a, link.b), key=lambda name: positions[name].column)
        found.setdefault((left, right), []).append(number)
    return found


def _child(left: str, right: str, gaps: Collection[tuple[str, str]]) -> str:
    """Return which of two neighbours has no other neighbour in the other's column."""
    return right if sum(other == right for _, other in gaps) == 1 else left


def _without_repeats(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """Return the points of a line without collinear ones."""
    kept = [points[0], *(point for before, point in pairwise(points) if point != before)]
    if len({y for _, y in kept}) == 1:
        return (kept[0], kept[-1])
    return tuple(kept)
