"""The median line of several runs, and the band that contains 90 % of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from longfat.model.spread import HIGH, LOW
from longfat.output.plot.line import Floats, Line, Trace, no_floats

if TYPE_CHECKING:
    from collections.abc import Sequence


def band_line(lines: Sequence[Line]) -> Line:
    """Return the median of lines over time, with the 5th and 95th percentile as its band.

    The runs' points need not fall on the same times. They are brought to common
    times, as far apart as those of the coarsest line: by interpolation between
    neighbours, or, where values stay until the next, as step functions. A time
    counts if more than half of the lines reach over it.

    Args:
        lines: one line for each run, all of the same quantity; at least one.

    Returns:
        A line with the label and look of the first, without parts; what
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
