"""Line charts of braille dots: each cell of the terminal holds two by four of them.

Written here because the packages on PyPI keep their figures in module globals
or has no types, and a scrolling chart needs little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.text import Text

from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.watch.track import Track

_DOTS_WIDE, _DOTS_HIGH = 2, 4
# The bits of a cell's dots by column and row. Source: Unicode, block Braille Patterns.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_ROOM = 1.05  # a curve does not touch the top
_LEAST_CELLS = 8


@dataclass(frozen=True, slots=True)
class DotLine:
    """A curve of a chart.

    Attributes:
        track: its values.
        style: its colour.
        gap: every which column of dots is drawn; 1 for a solid line.
    """

    track: Track
    style: str
    gap: int = 1


def draw_chart(
    lines: Sequence[DotLine],
    *,
    unit: Unit,
    start_s: float,
    end_s: float,
    width: int,
    height: int,
) -> Text:
    """Draw curves over a span of virtual time, from 0 to their largest value.

    Args:
        lines: the curves; those that come later cover those before.
        unit: the unit of their values.
        start_s: the left end, in seconds after the traffic's start.
        end_s: the right end.
        width: in cells.
        height: in cells, with the axis.
    """
    rows = max(1, height - 1)
    shown = [(line, *line.track.between(start_s, end_s)) for line in lines]
    largest = max((max(values) for _, _, values in shown if values), default=0.0)
    top = nice_top(largest, unit)
    labels = _labels(top, unit, rows)
    margin = max(len(label) for label in labels.values())
    if width - margin - 1 < _LEAST_CELLS:
        labels, margin = {}, 0
    columns = max(1, width - margin - 1)
    canvas = _Canvas(columns, rows)
    for line, _, _ in shown:
        limit = line.track.limit
        if limit is not None and limit <= top:
            canvas.level(limit / top, style="dim", gap=4)
    for line, times_s, values in shown:
        canvas.curve(
            [
                ((time_s - start_s) / (end_s - start_s), value / top)
                for time_s, value in zip(times_s, values, strict=True)
            ],
            style=line.style,
            gap=line.gap,
        )
    text = Text(no_wrap=True, overflow="crop")
    for row in range(rows):
        label = labels.get(row, "")
        text.append(f"{label:>{margin}}{'┤' if label else '│'}", style="dim")
        text.append_text(canvas.row(row))
        text.append("\n")
    left, right = (format_time(time_s) for time_s in (start_s, end_s))
    middle = max(0, columns - len(left) - len(right))
    text.append(" " * margin + "└" + left + "─" * middle + right, style="dim")
    return text


_NOTHING = 1e-12  # less than any quantity that is drawn can be


def nice_top(largest: float, unit: Unit) -> float:
    """Return a round number at or above a value, in a suitable unit."""
    base = 1024.0 if unit is Unit.BYTES else 1000.0
    if largest < _NOTHING:
        return {Unit.BYTES: 1024.0, Unit.BPS: 1e6, Unit.SECONDS: 1e-3}.get(unit, 1.0)
    aim = largest * _ROOM
    prefix = base ** math.floor(math.log(aim, base) + 1e-9)
    inside = aim / prefix
    power = 10.0 ** math.floor(math.log10(inside) + 1e-9)
    step = next((step for step in _STEPS if step * power >= inside), 10)
    # Binary prefixes are 1024 apart, so that 1000 of one is not a round number.
    return min(step * power, base) * prefix


def format_time(time_s: float) -> str:
    """Return a time of an axis: `12 s`, `0.25 s`."""
    return f"{time_s:.2f}".rstrip("0").rstrip(".") + " s"


def _labels(top: float, unit: Unit, rows: int) -> dict[int, str]:
    """Return the labels by row: top, bottom, and the middle where there is space."""
    number, _, name = format_quantity(top, unit).partition(" ")
    labels = {0: f"{float(number):g} {name}".rstrip()}
    if rows > 1:
        labels[rows - 1] = "0"
    if rows >= 7:
        labels[rows // 2] = f"{float(number) / 2:g} {name}".rstrip()
    return labels


class _Canvas:
    """Dots, and the style of each cell."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._rows = columns, rows
        self._bits = [[0] * columns for _ in range(rows)]
        self._styles = [[""] * columns for _ in range(rows)]

    def level(self, height: float, *, style: str, gap: int) -> None:
        """Draw a level line of dots; heights are shares of the whole."""
        y = self._y(height)
        for x in range(0, self._columns * _DOTS_WIDE, gap):
            self._dot(x, y, style)

    def curve(self, points: Sequence[tuple[float, float]], *, style: str, gap: int) -> None:
        """Draw a curve through points whose coordinates are shares of the whole."""
        before: tuple[int, int] | None = None
        for across, height in points:
            x, y = round(across * (self._columns * _DOTS_WIDE - 1)), self._y(height)
            for one_x, low, high in _columns_between(before or (x, y), (x, y)):
                if one_x % gap == 0:
                    for one_y in range(low, high + 1):
                        self._dot(one_x, one_y, style)
            before = x, y

    def row(self, row: int) -> Text:
        """Return a row of cells."""
        text = Text()
        for bits, style in zip(self._bits[row], self._styles[row], strict=True):
            text.append(chr(_BRAILLE + bits) if bits else " ", style=style)
        return text

    def _y(self, height: float) -> int:
        highest = self._rows * _DOTS_HIGH - 1
        return highest - min(highest, max(0, round(height * highest)))

    def _dot(self, x: int, y: int, style: str) -> None:
        column, row = x // _DOTS_WIDE, y // _DOTS_HIGH
        self._bits[row][column] |= _BITS[x % _DOTS_WIDE][y % _DOTS_HIGH]
        self._styles[row][column] = style


def _columns_between(start: tuple[int, int], end: tuple[int, int]) -> list[tuple[int, int, int]]:
    """Return, for each column of a straight line, the lowest and highest dot in it."""
    (x0, y0), (x1, y1) = start, end
    if x1 <= x0:
        return [(x1, min(y0, y1), max(y0, y1))]
    found = []
    for x in range(x0, x1 + 1):
        here = y0 + (y1 - y0) * max(0.0, x - 0.5 - x0) / (x1 - x0)
        there = y0 + (y1 - y0) * min(float(x1 - x0), x + 0.5 - x0) / (x1 - x0)
        low, high = sorted((round(here), round(there)))
        found.append((x, low, high))
    return found
