"""The annotations of a study's drawing: frames around nodes, and notes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.output.drawing.nodes import HEIGHT_PX
from longfat.output.drawing.shapes import Box, Stroke, TextLine, anchor_of, style_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.output.drawing.shapes import Point, Shape
    from longfat.study.drawing import Drawing, Note

_FRAME_PX = 16
_FRAME_NAME_PX = 18
_NOTE_ROW_PX = 16
_NOTE_LETTER_PX = 6.7
_LETTER = 0.61
"""The width of a letter relative to its size."""

Extent = tuple[float, float, float, float]


def drawn_groups(
    drawing: Drawing, centres: Mapping[str, Point], widths: Mapping[str, float]
) -> Iterator[Shape]:
    """Yield the frames around groups of nodes, and their names."""
    for group in drawing.groups:
        inside = [(*centres[name], widths[name]) for name in group.nodes if name in centres]
        if not inside:
            continue
        left = min(x - width / 2 for x, _, width in inside) - _FRAME_PX
        right = max(x + width / 2 for x, _, width in inside) + _FRAME_PX
        top = min(y for _, y, _ in inside) - HEIGHT_PX / 2 - _FRAME_PX - _FRAME_NAME_PX
        bottom = max(y for _, y, _ in inside) + HEIGHT_PX / 2 + _FRAME_PX
        yield Box(
            x=left,
            y=top,
            width=right - left,
            height=bottom - top,
            round_px=10,
            role="group",
            colour=group.colour,
        )
        at = (left + 10, top + _FRAME_NAME_PX)
        yield TextLine(at=at, text=group.name, role="group-name", colour=group.colour)


def drawn_notes(drawing: Drawing, stretch: Point | None, *, below: Extent) -> Iterator[Shape]:
    """Yield the notes: where the study has them, or in a column below all.

    Args:
        drawing: the drawing with the notes.
        stretch: the factor by which positions were spread out; None if they are not the study's.
        below: the extent of everything else that is drawn.
    """
    left, _, _, y = below
    for note in drawing.notes:
        if stretch is not None:
            yield from _note(note, (note.at[0] * stretch[0], note.at[1] * stretch[1]))
            continue
        y += _NOTE_ROW_PX
        shapes = list(_note(note, (left, y)))
        yield from shapes
        y = extent(shapes)[3]


def _note(note: Note, at: Point) -> Iterator[Shape]:
    lines = note.text.splitlines() or [""]
    yield Box(
        x=at[0],
        y=at[1],
        width=max(map(len, lines)) * _NOTE_LETTER_PX + 18,
        height=len(lines) * _NOTE_ROW_PX + 12,
        round_px=4,
        role="note",
        colour=note.colour,
    )
    for row, line in enumerate(lines):
        place = (at[0] + 9, at[1] + 18 + row * _NOTE_ROW_PX)
        yield TextLine(at=place, text=line, role="note-text")


def extent(shapes: Sequence[Shape]) -> Extent:
    """Return the least and greatest coordinates of shapes: left, top, right, bottom."""
    points = [point for shape in shapes for point in _corners(shape)] or [(0.0, 0.0)]
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _corners(shape: Shape) -> Iterator[Point]:
    match shape:
        case Stroke():
            yield from shape.points
        case Box():
            yield (shape.x, shape.y)
            yield (shape.x + shape.width, shape.y + shape.height)
        case TextLine():
            size = style_of(shape).size_px
            width = len(shape.text) * size * _LETTER
            begin = {"start": 0.0, "middle": -width / 2, "end": -width}[anchor_of(shape)]
            turn = math.radians(shape.slope)
            (px, py), (x, y) = shape.pivot, shape.at
            for dx in (begin, begin + width):
                for dy in (-size, 0.3 * size):
                    across, down = x + dx - px, y + dy - py
                    yield (
                        px + across * math.cos(turn) - down * math.sin(turn),
                        py + across * math.sin(turn) + down * math.cos(turn),
                    )
