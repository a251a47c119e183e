"""Panels in the format of the TypeScript charts of the studio and of a report's page.

Values are in base units, with as many digits and points as are visible. The types of the page
are generated from these declarations.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from longfat.model.metric import Unit
from longfat.output.plot.line import thin_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.output.plot import Floats, Line, Panel

_DENSE = 300  # dashes would be lost in the zigzag of so many points
_DIGITS = 4
_DIGITS_OVER_TIME = 3  # as many as are read at the cursor

_UNITS = {
    Unit.BPS: "bit/s",
    Unit.BYTES: "bytes",
    Unit.SECONDS: "s",
    Unit.FRACTION: "%",
    Unit.COUNT: "1",
}


Numbers: TypeAlias = list[float | None]
"""Values, of which null is a gap."""


class PanelTrace(TypedDict):
    """Values over time.

    Attributes:
        times_s: the times.
        values: the values, in base units; null is a gap.
    """

    times_s: list[float]
    values: Numbers


class PanelLine(PanelTrace):
    """A line of a panel.

    Attributes:
        label: its label.
        style_index: the number of a colour, dash and mark, the same in all panels for the same
            flow or interface.
        low: the lower edge of a band around it; null if it has none.
        high: the upper edge.
        parts: its components, drawn thin: the streams of a flow.
        dots: its points are single measurements that no line joins.
        steps: a value stays until the next one.
        dense: it has so many points that dashes would not be recognisable.
        missing_s: times of missing values, such as of lost replies.
    """

    label: str
    style_index: int
    low: Numbers | None
    high: Numbers | None
    parts: list[PanelTrace]
    dots: bool
    steps: bool
    dense: bool
    missing_s: list[float]


class PanelLevel(TypedDict):
    """A constant to compare with.

    Attributes:
        label: its label.
        value: the value, in base units.
    """

    label: str
    value: float


class PanelMoment(TypedDict):
    """An event.

    Attributes:
        label: its label.
        at_s: its time.
    """

    label: str
    at_s: float


class PanelData(TypedDict):
    """One quantity of finished runs over time.

    Attributes:
        title: the title.
        metric: the name of the quantity.
        unit: its base unit.
        counted: what is counted, if the unit is a count.
        lines: the lines.
        references: constants to compare with.
        moments: events, in order of time.
    """

    title: str
    metric: str
    unit: str
    counted: str
    lines: list[PanelLine]
    references: list[PanelLevel]
    moments: list[PanelMoment]


def panel_data(
    panel: Panel, *, columns: int, times: Callable[[Floats], Any] | None = None
) -> PanelData:
    """Return a panel as JSON.

    Args:
        panel: the panel.
        columns: for how many columns of pixels its lines are thinned, to at most five points each.
        times: what replaces the times of a line, in seconds; None for a list of them.
    """
    times = times or (lambda times_s: times_s.tolist())
    return {
        "title": panel.title,
        "metric": panel.name,
        "unit": _UNITS[panel.unit],
        "counted": panel.counted,
        "lines": [
            _line(thin_line(line, columns=columns), times, dense=len(line.times_s) > _DENSE)
            for line in panel.lines
            if not line.empty
        ],
        "references": [{"label": one.label, "value": one.value} for one in panel.references],
        "moments": [{"label": one.label, "at_s": one.at_s} for one in panel.moments],
    }


def numbers(values: Floats, *, digits: int = _DIGITS) -> Numbers:
    """Return values in few digits; what is not finite is None."""
    return [short(value, digits) if math.isfinite(value) else None for value in values.tolist()]


def short(value: float, digits: int = _DIGITS) -> float:
    """Return a number in few digits, and a whole one without a point."""
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded


def _line(line: Line, times: Callable[[Floats], Any], *, dense: bool) -> PanelLine:
    # What is counted is read to the last one.
    digits = 15 if line.unit is Unit.COUNT else _DIGITS_OVER_TIME
    missing = line.times_s[:0] if line.missing_s is None else line.missing_s
    return {
        "label": line.label,
        "style_index": line.style_index,
        "times_s": times(line.times_s),
        "values": numbers(line.values, digits=digits),
        "low": None if line.low is None else numbers(line.low, digits=digits),
        "high": None if line.high is None else numbers(line.high, digits=digits),
        "parts": [
            {"times_s": times(part.times_s), "values": numbers(part.values, digits=digits)}
            for part in line.parts
        ],
        "dots": line.dots,
        "steps": line.steps,
        "dense": dense,
        "missing_s": times(missing),
    }
