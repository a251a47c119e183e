"""The values that are drawn: lines, panels, and references for comparison.

`band_line` makes of the lines of several runs their median line, with the band that contains
90 % of them.

`thin_out` reduces more points than pixels to those that a picture needs. Of each column of pixels
the first, the last, the least and the largest value are kept, and one gap if there is any. A line
through these covers the same pixels as a line through all, and no extreme is lost. Source: U.
Jugel, Z. Jerzak, G. Hackenbroich, V. Markl, "M4: A Visualization-Oriented Time Series Data
Aggregation", PVLDB 7 (10), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from longfat.analysis.timeseries.quantities import Floats, Trace
from longfat.model.spread import HIGH, LOW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.model.metric import Unit


__all__ = ["Floats", "Line", "Moment", "Panel", "PhaseTrace", "Reference", "Trace", "no_floats"]


def no_floats() -> Floats:
    """Return an empty array of numbers."""
    return np.empty(0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Line:
    """One flow or queue over time.

    Attributes:
        label: its label in a figure; empty where the title is enough.
        times_s: the times, in seconds, in their order.
        values: as many values, in base units; NaN where there is a gap.
        unit: the base unit.
        style_index: the number of its colour, dash and mark, from 0.
        low: the lower edge of a band around it; None where it has none.
        high: the upper edge.
        parts: what it sums up, drawn thin: the streams of a flow.
        dots: its points are single measurements that no line joins.
        steps: a value stays until the next one, as a counter's does.
        missing_s: when a value was due and did not come, in seconds.
        case: the case that it is of, in a figure of several cases; empty in one of a single case.
    """

    label: str
    times_s: Floats
    values: Floats
    unit: Unit
    style_index: int = 0
    low: Floats | None = None
    high: Floats | None = None
    parts: tuple[Trace, ...] = ()
    dots: bool = False
    steps: bool = False
    missing_s: Floats | None = None
    case: str = ""

    def __post_init__(self) -> None:
        Trace(self.times_s, self.values)
        for edge in (self.low, self.high):
            if edge is not None:
                Trace(self.times_s, edge)
        if (self.low is None) != (self.high is None):
            raise ValueError("a band has two edges")

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        missing = 0 if self.missing_s is None else len(self.missing_s)
        return not missing and not bool(np.isfinite(self.values).any())

    @property
    def largest(self) -> float:
        """Return the largest value, its band included; 0 where there is none."""
        top = self.values if self.high is None else self.high
        top = top[np.isfinite(top)]
        return float(top.max()) if len(top) else 0.0

    def cut(self, start_s: float, end_s: float) -> Line:
        """Return what is between two times, both of them included."""
        keep = (self.times_s >= start_s) & (self.times_s <= end_s)
        missing = self.missing_s
        if missing is not None:
            missing = missing[(missing >= start_s) & (missing <= end_s)]
        return replace(
            self,
            times_s=self.times_s[keep],
            values=self.values[keep],
            low=None if self.low is None else self.low[keep],
            high=None if self.high is None else self.high[keep],
            parts=tuple(part.cut(start_s, end_s) for part in self.parts),
            missing_s=missing,
        )

    def later(self, shift_s: float) -> Line:
        """Return the same line, shifted by a number of seconds."""
        return replace(
            self,
            times_s=self.times_s + shift_s,
            parts=tuple(Trace(part.times_s + shift_s, part.values) for part in self.parts),
            missing_s=None if self.missing_s is None else self.missing_s + shift_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A constant to compare with, such as a queue's limit.

    Attributes:
        value: its height, in the panel's base unit.
        label: its label in a figure.
        cases: the cases that it holds for, in a figure of several; empty for all of them.
    """

    value: float
    label: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time at which something happened, such as a change of a link.

    Attributes:
        at_s: when, in seconds.
        label: what happened.
        cases: the cases in which it did, in a figure of several; empty for all of them.
    """

    at_s: float
    label: str
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Panel:
    """One quantity over time, with all its lines.

    Attributes:
        name: the base name of its file, such as `throughput`.
        title: the text above it.
        lines: its lines, all in one unit; at least one.
        references: constants for comparison.
        counted: what is counted, where the unit is a count: `segments`.
        moments: what happened meanwhile, in the order of the times.
    """

    name: str
    title: str
    lines: tuple[Line, ...]
    references: tuple[Reference, ...] = ()
    counted: str = ""
    moments: tuple[Moment, ...] = ()

    def __post_init__(self) -> None:
        if len({line.unit for line in self.lines}) != 1:
            raise ValueError(f"panel {self.name!r} needs lines of one unit")

    @property
    def unit(self) -> Unit:
        """Return the base unit of its lines."""
        return self.lines[0].unit

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return all(line.empty for line in self.lines)

    @property
    def largest(self) -> float:
        """Return the largest value of its lines; 0 where there is none."""
        return max(line.largest for line in self.lines)

    @property
    def cases(self) -> tuple[str, ...]:
        """Return the cases that its lines are of, in the order of the lines."""
        return tuple(dict.fromkeys(line.case for line in self.lines))

    @property
    def span_s(self) -> tuple[float, float]:
        """Return the first and the last time of its lines; 0 and 1 where there is none."""
        times = [line.times_s for line in self.lines]
        times += [line.missing_s for line in self.lines if line.missing_s is not None]
        first_s = min((float(each.min()) for each in times if len(each)), default=0.0)
        return first_s, max((float(each.max()) for each in times if len(each)), default=1.0)

    def cut(self, start_s: float, end_s: float) -> Panel:
        """Return what is between two times, both of them included."""
        return replace(
            self,
            lines=tuple(line.cut(start_s, end_s) for line in self.lines),
            moments=tuple(one for one in self.moments if start_s <= one.at_s <= end_s),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PhaseTrace:
    """Two quantities of one run at the same times.

    Attributes:
        label: the label of its panel.
        times_s: the times, in seconds, in their order.
        across: the values of the quantity from left to right.
        up: the values of the other.
        across_mark: a value of `across` to compare with, such as the
            bandwidth-delay product; None for none.
        up_mark: likewise of `up`, such as the queue's limit.
    """

    label: str
    times_s: Floats
    across: Floats
    up: Floats
    across_mark: float | None = None
    up_mark: float | None = None

    def cut(self, start_s: float, end_s: float) -> PhaseTrace:
        """Return what is between two times, both of them included."""
        keep = (self.times_s >= start_s) & (self.times_s <= end_s)
        return replace(self, times_s=self.times_s[keep], across=self.across[keep], up=self.up[keep])


MAX_SHARED_SCALE = 8.0
"""Cases whose largest values differ by more than this factor do not share an axis."""


def scale_groups(largest: Mapping[str, float]) -> list[list[str]]:
    """Put names together whose largest values can share an axis, the largest first.

    Args:
        largest: the largest value of each name; 0 goes with the smallest.
    """
    groups: list[list[str]] = []
    top = 0.0
    for name in sorted(largest, key=lambda name: -largest[name]):
        if groups and (not largest[name] or largest[name] * MAX_SHARED_SCALE >= top):
            groups[-1].append(name)
        else:
            top = largest[name]
            groups.append([name])
    return groups


def split_scales(panel: Panel) -> tuple[Panel, ...]:
    """Return a panel as several where the scales of its cases differ too much to be read in one.

    The lines of a case stay together: that they differ is what the case shows.

    Args:
        panel: the panel.

    Returns:
        The panels, the one with the largest values first; each has the names of its cases in
        its title if there are several.
    """
    parts = scale_groups(
        {
            case: max(line.largest for line in panel.lines if line.case == case)
            for case in panel.cases
        }
    )
    if len(parts) < 2:
        return (panel,)
    return tuple(
        replace(
            panel,
            title=f"{panel.title}: {', '.join(case for case in panel.cases if case in cases)}",
            lines=tuple(line for line in panel.lines if line.case in cases),
            references=tuple(
                one for one in panel.references if not one.cases or {*one.cases} & {*cases}
            ),
        )
        for cases in parts
    )


def band_line(lines: Sequence[Line]) -> Line:
    """Return the median of lines over time, with the 5th and 95th percentile as its band.

    The runs' points need not fall on the same times. They are brought to common
    times, as far apart as those of the coarsest line: by interpolation between
    neighbours, or, where values stay until the next, as step functions. A time
    counts if more than half of the lines reach over it.

    Args:
        lines: one line for each run, all of the same quantity; at least one.

    Returns:
        A line with the label and style of the first, without parts; what
        was missing in any run is missing in it. A single line is returned
        as it is.

    Source of the percentiles: `longfat.model.spread.Spread`.
    """
    first = lines[0]
    if len(lines) == 1:
        return first
    missing = [line.missing_s for line in lines if line.missing_s is not None]
    traces = [_finite(line) for line in lines]
    traces = [trace for trace in traces if len(trace.times_s)]
    times_s = _common_times(traces)
    if not traces or not len(times_s):
        nothing = no_floats()
        times_s, median, low, high = nothing, nothing, nothing, nothing
    else:
        table = np.array([_at(trace, times_s, steps=first.steps) for trace in traces])
        known = np.isfinite(table).sum(axis=0) * 2 > len(lines)
        times_s, table = times_s[known], table[:, known]
        if len(times_s):
            low, median, high = np.nanpercentile(table, [100 * LOW, 50, 100 * HIGH], axis=0)
        else:
            low = median = high = no_floats()
    return replace(
        first,
        times_s=times_s,
        values=median,
        low=low,
        high=high,
        parts=(),
        missing_s=np.sort(np.concatenate(missing)) if missing else None,
    )


def _finite(line: Line) -> Trace:
    keep = np.isfinite(line.values)
    return Trace(line.times_s[keep], line.values[keep])


def _common_times(traces: Sequence[Trace]) -> Floats:
    if not traces:
        return no_floats()
    steps = [float(np.median(np.diff(t.times_s))) for t in traces if len(t.times_s) > 1]
    start_s = min(float(t.times_s[0]) for t in traces)
    end_s = max(float(t.times_s[-1]) for t in traces)
    step_s = max(steps, default=0.0)
    if step_s <= 0:
        return np.unique([start_s, end_s])
    # Half a step more, so that a last point some microseconds early is not lost.
    return np.arange(start_s, end_s + step_s / 2, step_s)


def _at(trace: Trace, times_s: Floats, *, steps: bool) -> Floats:
    """Return a trace's values at other times; NaN before its start and after its end."""
    start_s, end_s = trace.times_s[0], trace.times_s[-1]
    # The tools' rows are some microseconds off the round second.
    slack_s = (end_s - start_s) / max(len(trace.times_s) - 1, 1) / 2
    if steps:
        places = np.searchsorted(trace.times_s, times_s, side="right") - 1
        found: Floats = trace.values[np.maximum(places, 0)]
    else:
        found = np.interp(times_s, trace.times_s, trace.values)
    outside = (times_s < start_s - slack_s) | (times_s > end_s + slack_s)
    return np.where(outside, np.nan, found)


_A_COLUMN = 5  # the maximum that a column keeps; fewer points than that need no thinning
_CROSS_COLUMNS = 4  # a cross is some columns wide


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
    line = replace(line, missing_s=_thin_times(line.missing_s, columns=columns // _CROSS_COLUMNS))
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


def _thin_times(times_s: Floats | None, *, columns: int) -> Floats | None:
    """Return the first of the times that fall into each column, if there are more than columns."""
    if times_s is None or len(times_s) <= columns:
        return times_s
    return times_s[[first for first, _ in _columns(times_s, columns)]]


def _least(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.min()) if len(finite) else float("nan")


def _columns(times_s: Floats, columns: int) -> list[tuple[int, int]]:
    """Return the ranges of indices that fall into each column; empty ones are left out."""
    edges = np.linspace(times_s[0], times_s[-1], columns + 1)[1:-1]
    cuts: npt.NDArray[np.intp] = np.searchsorted(times_s, edges, side="right")
    bounds = np.unique(np.concatenate(([0], cuts, [len(times_s)])))
    return [(int(a), int(b)) for a, b in pairwise(bounds)]
