"""Line charts for terminals, of braille dots: each cell holds two by four of them.

Written here because the packages on PyPI keep their figures in module globals or have no types.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

_DOTS_WIDE, _DOTS_HIGH = 2, 4
# The bits of a cell's dots by column and row. Source: Unicode, block Braille Patterns.
_BITS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BRAILLE = 0x2800
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_ROOM = 1.05  # a curve does not touch the top
_MIN_COLUMNS = 8
_MIN_ROWS_FOR_MIDDLE = 7
_NOTHING = 1e-12  # less than any quantity that is drawn can be
_EMPTY_TOP = {Unit.BYTES: 1024.0, Unit.BPS: 1e6, Unit.SECONDS: 1e-3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A curve of a chart.

    Attributes:
        times_s: when its values were sampled, in seconds; they grow.
        values: the values, in the chart's unit.
        style: its colour.
        gap: one of so many columns of dots is drawn; 1 for a solid line.
        limit: a level to mark by a dotted line where it is inside the chart; None for none.
    """

    times_s: Sequence[float]
    values: Sequence[float]
    style: str = ""
    gap: int = 1
    limit: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BrailleChart:
    """Curves over a span of time, from 0 to their largest value; it fills the room it is given.

    Attributes:
        curves: the curves; those that come later cover those before.
        unit: the unit of their values.
        start_s: the left end, in seconds.
        end_s: the right end; after the left one.
    """

    curves: Sequence[Curve]
    unit: Unit
    start_s: float
    end_s: float

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Draw it at the size of the options."""
        rows = max(1, (options.height or console.height) - 1)
        largest = max(
            (max(values) for _, values in map(self._inside, self.curves) if values), default=0.0
        )
        top = nice_top(largest, self.unit)
        labels = _labels(top, self.unit, rows)
        margin = max(map(len, labels.values()))
        if options.max_width - margin - 1 < _MIN_COLUMNS:
            labels, margin = {}, 0
        columns = max(1, options.max_width - margin - 1)
        cells = self._cells(columns, rows, top)
        text = Text(no_wrap=True, overflow="crop")
        for row in range(rows):
            label = labels.get(row, "")
            text.append(f"{label:>{margin}}{'┤' if label else '│'}", style="dim")
            for column in range(columns):
                bits, style = cells.get((row, column), (0, ""))
                text.append(chr(_BRAILLE + bits) if bits else " ", style=style)
            text.append("\n")
        left, right = (_format_time(time_s) for time_s in (self.start_s, self.end_s))
        line = "─" * (columns - len(left) - len(right))
        text.append(" " * margin + "└" + left + line + right, style="dim")
        yield text

    def _inside(self, curve: Curve) -> tuple[Sequence[float], Sequence[float]]:
        """Return the part of a curve that is in the chart's span."""
        first = bisect.bisect_left(curve.times_s, self.start_s)
        last = bisect.bisect_right(curve.times_s, self.end_s)
        return curve.times_s[first:last], curve.values[first:last]

    def _cells(self, columns: int, rows: int, top: float) -> dict[tuple[int, int], tuple[int, str]]:
        """Return the bits and the style of each cell with dots, by row and column."""
        wide, highest = columns * _DOTS_WIDE, rows * _DOTS_HIGH - 1
        cells: dict[tuple[int, int], tuple[int, str]] = {}

        def dot(x: int, y: int, style: str) -> None:
            place = (highest - y) // _DOTS_HIGH, x // _DOTS_WIDE
            bits, _ = cells.get(place, (0, ""))
            bit = _BITS[x % _DOTS_WIDE][(highest - y) % _DOTS_HIGH]
            cells[place] = bits | bit, style

        for curve in self.curves:
            if curve.limit is not None and curve.limit <= top:
                for x in range(0, wide, 4):
                    dot(x, round(curve.limit / top * highest), "dim")
        for curve in self.curves:
            times_s, values = self._inside(curve)
            before: tuple[int, int] | None = None
            for time_s, value in zip(times_s, values, strict=True):
                share = (time_s - self.start_s) / (self.end_s - self.start_s)
                point = round(share * (wide - 1)), round(value / top * highest)
                for x, low, high in _columns_between(before or point, point):
                    for y in range(low, high + 1) if x % curve.gap == 0 else ():
                        dot(x, y, curve.style)
                before = point
        return cells


def nice_top(largest: float, unit: Unit) -> float:
    """Return a round number at or above a value, in a suitable unit."""
    base = 1024.0 if unit is Unit.BYTES else 1000.0
    if largest < _NOTHING:
        return _EMPTY_TOP.get(unit, 1.0)
    aim = largest * _ROOM
    prefix = base ** math.floor(math.log(aim, base) + 1e-9)
    inside = aim / prefix
    power = 10.0 ** math.floor(math.log10(inside) + 1e-9)
    step = next((step for step in _STEPS if step * power >= inside), 10)
    # Binary prefixes are 1024 apart, so that 1000 of one is not a round number.
    return min(step * power, base) * prefix


def _format_time(time_s: float) -> str:
    return f"{time_s:.2f}".rstrip("0").rstrip(".") + " s"


def _labels(top: float, unit: Unit, rows: int) -> dict[int, str]:
    """Return the labels by row: top, bottom, and the middle where there is space."""
    number, _, name = format_quantity(top, unit).partition(" ")
    labels = {0: f"{float(number):g} {name}".rstrip()}
    if rows > 1:
        labels[rows - 1] = "0"
    if rows >= _MIN_ROWS_FOR_MIDDLE:
        labels[rows // 2] = f"{float(number) / 2:g} {name}".rstrip()
    return labels


def _columns_between(
    start: tuple[int, int], end: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Yield, for each column of a straight line, the lowest and the highest dot in it."""
    (x0, y0), (x1, y1) = start, end
    for x in range(x0, x1 + 1):
        # The line's heights half a column before and after; of a vertical one, its ends.
        ends = [
            y0 + (y1 - y0) * min(1.0, max(0.0, (at - x0) / (x1 - x0))) if x1 > x0 else height
            for at, height in ((x - 0.5, y0), (x + 0.5, y1))
        ]
        yield x, round(min(ends)), round(max(ends))
