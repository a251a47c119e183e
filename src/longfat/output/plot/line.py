"""The values that are drawn: lines, panels, and references for comparison."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.timeseries.quantities import Floats, Trace

if TYPE_CHECKING:
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
        look: the number of its colour, dash and mark, from 0.
        low: the lower edge of a band around it; None where it has none.
        high: the upper edge.
        parts: what it sums up, drawn thin: the streams of a flow.
        dots: its points are single measurements that no line joins.
        steps: a value stays until the next one, as a counter's does.
        missing_s: when a value was due and did not come, in seconds.
    """

    label: str
    times_s: Floats
    values: Floats
    unit: Unit
    look: int = 0
    low: Floats | None = None
    high: Floats | None = None
    parts: tuple[Trace, ...] = ()
    dots: bool = False
    steps: bool = False
    missing_s: Floats | None = None

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
    """

    value: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """A time at which something happened, such as a change of a link.

    Attributes:
        at_s: when, in seconds.
        label: what happened.
    """

    at_s: float
    label: str


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
