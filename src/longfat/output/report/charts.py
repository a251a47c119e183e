"""The data of zoomable charts: plain values, which the page's script draws.

They are those of the static figures, with the same titles and styles; the script's types are
generated from these declarations. Times that several lines share are stored once, and numbers
have as many digits as are visible: a page with dozens of lines stays small. Charts of many cases
have the axes, ticks and notes of those on paper, too; names of cases, which many charts share, are
stored in the page once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NotRequired, TypeAlias, TypedDict, cast

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from longfat.model.metric import Unit
from longfat.model.scales import scale_for
from longfat.output.plot import PAGE_WIDTH_IN
from longfat.output.plot.chart import ChartKind
from longfat.output.plot.charts import Entry, axis_scales, readable
from longfat.output.plot.charts import entries as legend_entries
from longfat.output.plot.heat import COLOURS, colours_of, norm_of, value_text
from longfat.output.report.panel_data import Numbers, PanelData, numbers, panel_data, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.scales import Scale
    from longfat.output.plot import Chart, Facet, Floats, Panel, PhaseTrace, Series
    from longfat.output.plot.axis_scale import AxisScale

_HEIGHT_IN = 2.0
# of the colours
_MAX_ACROSS = 3  # multiples side by side, at the width of the page
_COLUMNS = 600  # of at most five points each; some are distinct only after zooming in
_MAX_PHASE_POINTS = 500
_STOPS = 9  # of the colours of time


Stop: TypeAlias = tuple[float, str]
"""A position from 0 to 1 of a colour scale, and the colour there."""


class TimeSpec(TypedDict):
    """Quantities over time.

    Attributes:
        time: the title of the time axis; charts with the same title are zoomed together.
        span: start and end of the time axis, in seconds.
        panels: the panels, from above; of each times there is the index in `ReportCharts.times`.
    """

    type: Literal["time"]
    time: str
    span: tuple[float, float]
    panels: list[PanelData]


class PhaseTraceData(TypedDict):
    """The course of two quantities.

    Attributes:
        label: its label.
        t: the times in seconds.
        x: the quantity from left to right.
        y: the other one.
        marks: reference values on the two axes; null for none.
    """

    label: str
    t: list[float]
    x: list[float]
    y: list[float]
    marks: tuple[float | None, float | None]


class PhaseSpec(TypedDict):
    """One quantity against another, with time as colour.

    Attributes:
        across: title and unit of the quantity from left to right.
        up: likewise of the other.
        traces: what is drawn, a panel each.
    """

    type: Literal["phase"]
    across: tuple[str, str]
    up: tuple[str, str]
    traces: list[PhaseTraceData]


class AxisSpec(TypedDict):
    """An axis.

    Attributes:
        title: its title.
        unit: its unit.
        log: whether it is logarithmic.
        texts: its ticks are texts and not a scale of numbers.
        zero: on a logarithmic axis, the position of 0 beside the scale.
        fence: likewise of the separator.
        range: its ends.
        ticks: their positions and their texts.
    """

    title: str
    unit: str
    log: bool
    texts: bool
    zero: float | None
    fence: float | None
    range: tuple[float, float]
    ticks: tuple[list[float], list[str]]


class SeriesSpec(TypedDict):
    """A series of points.

    Attributes:
        label: its label.
        style_index: its style; for theory, null means that it belongs to no series.
        rank: the index of the curve of theory; null for measurements.
        x: the positions from left to right.
        y: the positions from below.
        low: the lower ends of the points' spreads.
        high: the upper ends.
        names: the cases, as indices into the page's list of names.
    """

    label: str
    style_index: int | None
    rank: int | None
    x: Numbers
    y: Numbers
    low: NotRequired[Numbers]
    high: NotRequired[Numbers]
    names: NotRequired[list[int]]


class MarkSpec(TypedDict):
    """A constant of theory.

    Attributes:
        label: its label.
        rank: its index among the curves and constants of theory.
        style_index: the style of the series that it belongs to; null if it belongs to all.
        upright: whether it is of the axis from left to right.
        at: its position.
    """

    label: str
    rank: int
    style_index: int | None
    upright: bool
    at: float


class FacetSpec(TypedDict):
    """One of the small multiples.

    Attributes:
        title: its title.
        series: the series.
        marks: the constants of theory.
    """

    title: str
    series: list[SeriesSpec]
    marks: list[MarkSpec]


class GridSpec(TypedDict):
    """Metrics of many cases in small multiples with the same axes.

    Attributes:
        by: what distinguishes the series; empty if there is only one.
        x: the axis from left to right.
        y: the other one.
        facets: the multiples.
    """

    type: Literal["lines", "points", "cdf"]
    by: str
    x: AxisSpec
    y: AxisSpec
    facets: list[FacetSpec]


class HeatAxis(TypedDict):
    """An axis of a heat map.

    Attributes:
        title: its title.
        texts: the texts of its ticks.
    """

    title: str
    texts: list[str]


class HeatColour(TypedDict):
    """The colour scale of a heat map.

    Attributes:
        title: the title of the quantity.
        unit: its unit.
        ticks: their positions from 0 to 1, and their texts.
        stops: positions from 0 to 1, and the colours there.
    """

    title: str
    unit: str
    ticks: tuple[list[float], list[str]]
    stops: list[Stop]


class HeatFacetSpec(TypedDict):
    """One of the heat maps.

    Attributes:
        title: its title.
        z: by row and column, the position on the colour scale, or null for no value.
        text: likewise the value as text.
    """

    title: str
    z: list[Numbers]
    text: list[list[str]]


class HeatSpec(TypedDict):
    """A metric over two parameters, as colours.

    Attributes:
        by: empty.
        x: the axis from left to right.
        y: the other one.
        colour: the colour scale.
        facets: the maps.
    """

    type: Literal["heat"]
    by: str
    x: HeatAxis
    y: HeatAxis
    colour: HeatColour
    facets: list[HeatFacetSpec]


ChartSpec: TypeAlias = TimeSpec | PhaseSpec | GridSpec | HeatSpec
"""A chart of a page."""


class ReportCharts(TypedDict):
    """The charts of a page.

    Attributes:
        timeColours: the colour scales of time for the light and the dark theme.
        times: times that lines share, as differences in units of 10 µs.
        names: names of cases.
        charts: the charts, by their names.
    """

    timeColours: tuple[list[Stop], list[Stop]]
    times: list[list[int]]
    names: list[str]
    charts: dict[str, ChartSpec]


class CaseNames:
    """The names of cases in charts, each once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the number of a name."""
        return self._places.setdefault(name, len(self._places))

    def to_json(self) -> list[str]:
        """Return the names by their numbers."""
        return list(self._places)


class ChartData:
    """The charts of a page."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._times_s: list[Floats] = []
        self._names = CaseNames()
        self._charts: dict[str, ChartSpec] = {}

    def add_panels(
        self, name: str, panels: Sequence[Panel], *, time_label: str, span_s: tuple[float, float]
    ) -> None:
        """Add a chart of quantities over time.

        Args:
            name: its name, unique in the page.
            panels: the panels, from above.
            time_label: the label of the time axis; charts with the same are
                zoomed together.
            span_s: start and end of the time axis, in seconds.
        """
        self._charts[name] = {
            "type": "time",
            "time": time_label,
            "span": (float(span_s[0]), float(span_s[1])),
            "panels": [panel_data(panel, columns=_COLUMNS, times=self._place) for panel in panels],
        }

    def add_phase(self, name: str, traces: Sequence[PhaseTrace], *, across: str, up: str) -> None:
        """Add a chart of sizes against each other.

        Args:
            name: its name, unique in the page.
            traces: what is drawn, a panel each.
            across: the name of the quantity from left to right, in bytes.
            up: likewise of the other.
        """
        x_scale = scale_for(Unit.BYTES, max(_largest(one.across) for one in traces))
        y_scale = scale_for(Unit.BYTES, max(_largest(one.up) for one in traces))
        self._charts[name] = {
            "type": "phase",
            "across": (across, x_scale.unit),
            "up": (up, y_scale.unit),
            "traces": [_trace(one, x_scale, y_scale) for one in traces],
        }

    def add_chart(self, name: str, chart: Chart) -> None:
        """Add a chart of many cases.

        Args:
            name: its name, unique in the page.
            chart: the chart.
        """
        self._charts[name] = multiples(chart, self._names)

    def to_json(self) -> ReportCharts:
        """Return all data that the script needs."""
        return {
            "timeColours": (_time_colours(0.0, 0.84), _time_colours(0.25, 1.0)),
            "times": [_steps(times_s) for times_s in self._times_s],
            "names": self._names.to_json(),
            "charts": self._charts,
        }

    def _place(self, times_s: Floats) -> int:
        """Return the index of times among those of the page."""
        rounded = np.round(times_s, 5)
        key = rounded.tobytes()
        if key not in self._places:
            self._places[key] = len(self._times_s)
            self._times_s.append(rounded)
        return self._places[key]


def _steps(times_s: Floats) -> list[int]:
    """Return times as steps between them, in units of 10 us: most are equal and compress well."""
    steps: list[int] = np.diff(np.round(times_s * 1e5).astype(np.int64), prepend=0).tolist()
    return steps


def _time_colours(first: float, last: float) -> list[Stop]:
    """Return a part of the static figures' colours; the ends are invisible on their background."""
    stops = np.linspace(0, 1, _STOPS)
    colours = mpl.colormaps["cividis"](first + stops * (last - first))
    return [(float(at), to_hex(c)) for at, c in zip(stops, colours, strict=True)]


def _trace(one: PhaseTrace, x_scale: Scale, y_scale: Scale) -> PhaseTraceData:
    known = np.flatnonzero(np.isfinite(one.across) & np.isfinite(one.up))
    kept = known[:: max(1, math.ceil(len(known) / _MAX_PHASE_POINTS))]

    def mark(value: float | None, values: Floats, scale: Scale) -> float | None:
        return (
            None if value is None or value > 2 * _largest(values) else short(value * scale.factor)
        )

    return {
        "label": one.label,
        "t": np.round(one.times_s[kept], 4).tolist(),
        "x": [short(value * x_scale.factor) for value in one.across[kept].tolist()],
        "y": [short(value * y_scale.factor) for value in one.up[kept].tolist()],
        "marks": (
            mark(one.across_mark, one.across, x_scale),
            mark(one.up_mark, one.up, y_scale),
        ),
    }


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0


def multiples(chart: Chart, names: CaseNames) -> GridSpec | HeatSpec:
    """Return the data of a chart that the page's script needs.

    Args:
        chart: the chart.
        names: collects the names of its cases.
    """
    shown, _ = readable(chart)
    if chart.kind is ChartKind.HEAT:
        return _heat(shown)
    x, y = axis_scales(
        shown,
        width_in=PAGE_WIDTH_IN,
        height_in=_HEIGHT_IN,
        columns=min(len(shown.facets), _MAX_ACROSS),
    )
    theory = {one.label: one for one in legend_entries(shown) if one.series is None}
    return {
        "type": cast("Literal['lines', 'points', 'cdf']", chart.kind.value),
        "by": chart.by,
        "x": _axis(x),
        "y": _axis(y),
        "facets": [_facet(facet, (x, y), theory, names) for facet in shown.facets],
    }


def _axis(one: AxisScale) -> AxisSpec:
    return {
        "title": one.title,
        "unit": one.unit,
        "log": one.log,
        "texts": one.texts,
        "zero": None if one.zero is None else short(one.zero),
        "fence": one.fence,
        "range": (one.low, one.high),
        "ticks": ([at for at, _ in one.ticks], [text for _, text in one.ticks]),
    }


def _facet(
    facet: Facet, axes: tuple[AxisScale, AxisScale], theory: dict[str, Entry], names: CaseNames
) -> FacetSpec:
    x, y = axes
    return {
        "title": facet.title,
        "series": [_series(one, axes, theory, names) for one in facet.series if len(one.x)],
        "marks": [
            {
                "label": mark.label,
                "rank": theory[mark.label].rank,
                "style_index": mark.style_index,
                "upright": mark.upright,
                "at": mark.at * (x if mark.upright else y).factor,
            }
            for mark in facet.marks
        ],
    }


def _series(
    one: Series, axes: tuple[AxisScale, AxisScale], theory: dict[str, Entry], names: CaseNames
) -> SeriesSpec:
    x, y = axes
    series: SeriesSpec = {
        "label": one.label,
        "style_index": one.style_index,
        "rank": None,
        "x": numbers(x.places(one.x)),
        "y": numbers(y.places(one.y)),
    }
    if one.formula:
        entry = theory.get(one.label, Entry(one.label))
        series["rank"], series["style_index"] = entry.rank, entry.style_index
    if one.low is not None and one.high is not None:
        series["low"] = numbers(y.places(one.low))
        series["high"] = numbers(y.places(one.high))
    if one.names:
        series["names"] = [names.place(name) for name in one.names]
    return series


def _heat(chart: Chart) -> HeatSpec:
    colour = colours_of(chart)
    norm = norm_of(colour)
    stops = np.linspace(0, 1, _STOPS)
    colours = [to_hex(one) for one in mpl.colormaps[COLOURS](stops)]
    shapes = [facet.cells.shape for facet in chart.facets if facet.cells is not None]
    rows = max((shape[0] for shape in shapes), default=0)
    columns = max((shape[1] for shape in shapes), default=0)
    return {
        "type": "heat",
        "by": chart.by,
        "x": {"title": chart.x.label, "texts": list(chart.x.ticks or map(str, range(columns)))},
        "y": {"title": chart.y.label, "texts": list(chart.y.ticks or map(str, range(rows)))},
        "colour": {
            "title": colour.title,
            "unit": colour.unit,
            "ticks": (
                [float(norm(at)) for at, _ in colour.ticks],
                [text for _, text in colour.ticks],
            ),
            "stops": [(float(at), one) for at, one in zip(stops, colours, strict=True)],
        },
        "facets": [
            _cells(facet.title, facet.cells, colour)
            for facet in chart.facets
            if facet.cells is not None
        ],
    }


def _cells(title: str, cells: Floats, colour: AxisScale) -> HeatFacetSpec:
    drawn = cells * colour.factor
    known = np.isfinite(drawn) & ((drawn > 0) | (not colour.log))
    # A colour is a position on the scale, which may be logarithmic.
    shares = norm_of(colour)(np.where(known, drawn, colour.low))
    return {
        "title": title,
        "z": [numbers(row) for row in np.where(known, shares, np.nan)],
        "text": [
            [
                value_text(float(value), colour) if there else ""
                for value, there in zip(*row, strict=True)
            ]
            for row in zip(drawn, known, strict=True)
        ],
    }
