"""The values of a chart of many cases: facets, axes, series and cells.

A `Panel` is one quantity over time; a `Chart` is metrics of many cases over a
parameter or over each other, in small multiples. Values are in base units, like
everywhere in this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from longfat.model.metric import Unit
    from longfat.output.plot.line import Floats


class ChartKind(Enum):
    """How a chart is drawn."""

    LINES = "lines"  # a metric over a parameter
    POINTS = "points"  # a metric over another metric
    HEAT = "heat"  # a metric over two parameters, as colours
    CDF = "cdf"  # how often a metric is at most so much
    BARS = "bars"  # metrics of some cases
    TIME = "time"  # samples over time


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis of a chart.

    Attributes:
        label: the axis label without the unit: `RTT`.
        unit: the base unit of its values.
        log: whether it is logarithmic.
        ticks: the texts of its values where it is not a scale of numbers, or where each value
            is a step of its own, as in a heat map; values are then indices into them, from 0.
        low: its start; computed from the values, if None.
        high: its end, likewise.
        typed: the values of a parameter as the study has them, such as 128000 and `125KB`.
    """

    label: str
    unit: Unit
    log: bool = False
    ticks: tuple[str, ...] | None = None
    typed: tuple[tuple[float, str], ...] = ()
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """Points that belong together.

    Attributes:
        label: its label in the legend.
        x: the positions of the points.
        y: their heights; NaN where there is none. Of a CDF, the heights are parts from 0 to 1.
        low: the lower ends of the points' spread over seeds; None where they have none.
        high: the upper ends.
        style_index: the number of its colour, dash and mark, from 0; the same in all facets.
        names: the cases' names, point by point; empty where they have none.
        formula: it was computed, not measured: a curve of theory.
    """

    label: str
    x: Floats
    y: Floats
    low: Floats | None = None
    high: Floats | None = None
    style_index: int = 0
    names: tuple[str, ...] = ()
    formula: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A straight line across a facet, at a value computed by a formula.

    Attributes:
        label: its label in the legend; marks with the same label belong together.
        at: the value, in the base unit of its axis.
        upright: it is at a value of the x axis; otherwise at one of the y axis.
        style_index: that of the series that it belongs to; None if it belongs to all.
    """

    label: str
    at: float
    upright: bool
    style_index: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Facet:
    """One of a chart's small multiples.

    Attributes:
        title: the text above it; empty where there is only one.
        series: what is drawn in it; none in a heat map.
        cells: of a heat map, the values by row (the y axis's tick) and column (the x axis's
            tick); NaN where there is no case.
        marks: lines across it, of theory; none in a heat map.
        y: its own vertical axis, in place of the chart's; of bars, the axis of its values.
    """

    title: str
    series: tuple[Series, ...] = ()
    cells: Floats | None = None
    marks: tuple[Mark, ...] = ()
    y: Axis | None = None

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw in it but theory."""
        if self.cells is not None:
            return not bool(np.isfinite(self.cells).any())
        measured = (one for one in self.series if not one.formula)
        return not any((np.isfinite(one.x) & np.isfinite(one.y)).any() for one in measured)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """A figure of many cases.

    Attributes:
        name: the base name of its files.
        title: the text above it.
        kind: how it is drawn.
        x: the horizontal axis, the same in all facets.
        y: the vertical axis, likewise.
        facets: the small multiples, in reading order; at least one.
        colour: of a heat map, what the colours mean; else None.
        by: what distinguishes the series, as the legend's title; empty without a legend.
        note: the text below it: how many seeds, what is missing.
    """

    name: str
    title: str
    kind: ChartKind
    x: Axis
    y: Axis
    facets: tuple[Facet, ...]
    colour: Axis | None = None
    by: str = ""
    note: str = ""

    @property
    def empty(self) -> bool:
        """Return whether there is nothing to draw."""
        return all(facet.empty for facet in self.facets)

    @property
    def zoomable(self) -> bool:
        """Return whether the page has a zoomable form of it."""
        return self.kind not in (ChartKind.BARS, ChartKind.TIME)
