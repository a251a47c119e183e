"""Thinning: reduce more points than pixels to those that a picture needs.

Of each column of pixels the first, the last, the least and the largest value
are kept, and one gap if there is any. A line through these covers the same
pixels as a line through all, and no extreme is lost. Source: U. Jugel, Z.
Jerzak, G. Hackenbroich, V. Markl, "M4: A Visualization-Oriented Time Series
Data Aggregation", PVLDB 7 (10), 2014.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from longfat.output.plot.line import Trace

if TYPE_CHECKING:
    from longfat.output.plot.line import Floats, Line

_A_COLUMN = 5  # the maximum that a column keeps; fewer points than that need no thinning


def thin_out(trace: Trace, *, columns: int) -> Trace:
    """Return the points that a picture of so many columns needs.

    Args:
        trace: values over time.
        columns: how many columns of pixels the time of the trace covers.

    Returns:
        The trace itself if it is short; else at most five points a column.
    """
    if len(trace.times_s) <= _A_COLUMN * columns:
        return trace
    kept = []
    for first, last in _columns(trace.times_s, columns):
        values = trace.values[first:last]
        chosen = {0, len(values) - 1}
        finite = np.flatnonzero(np.isfinite(values))
        if len(finite):
            chosen |= {int(finite[values[finite].argmin()]), int(finite[values[finite].argmax()])}
        if len(finite) < len(values):
            chosen.add(int(np.flatnonzero(~np.isfinite(values))[0]))
        kept += [first + index for index in sorted(chosen)]
    return Trace(trace.times_s[kept], trace.values[kept])


def thin_line(line: Line, *, columns: int) -> Line:
    """Return a line, its band and its parts with the points that a picture needs."""
    main = thin_out(Trace(line.times_s, line.values), columns=columns)
    parts = tuple(thin_out(part, columns=columns) for part in line.parts)
    if line.low is None or line.high is None or len(main.times_s) == len(line.times_s):
        return replace(
            line,
            times_s=main.times_s,
            values=main.values,
            parts=parts,
            low=line.low if len(main.times_s) == len(line.times_s) else None,
            high=line.high if len(main.times_s) == len(line.times_s) else None,
        )
    # The band of every point of a column is the column's widest.
    low, high = np.empty(len(main.times_s)), np.empty(len(main.times_s))
    edges = list(_columns(line.times_s, columns))
    starts = line.times_s[[first for first, _ in edges]]
    places = np.searchsorted(starts, main.times_s, side="right") - 1
    for number, (first, last) in enumerate(edges):
        here = places == number
        low[here] = _least(line.low[first:last])
        high[here] = -_least(-line.high[first:last])
    return replace(line, times_s=main.times_s, values=main.values, parts=parts, low=low, high=high)


def _least(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else float("nan")


def _columns(times_s: Floats, columns: int) -> list[tuple[int, int]]:
    """Return the ranges of indices that fall into each column; empty ones are left out."""
    edges = np.linspace(times_s[0], times_s[-1], columns + 1)[1:-1]
    cuts: npt.NDArray[np.intp] = np.searchsorted(times_s, edges, side="right")
    bounds = np.unique(np.concatenate(([0], cuts, [len(times_s)])))
    return [(int(a), int(b)) for a, b in pairwise(bounds)]
