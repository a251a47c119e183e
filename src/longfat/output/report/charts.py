"""The data of zoomable charts: plain values, which the page's script draws.

They are those of the static figures, with the same titles and looks; `web/src/report/data.ts`
defines how the script reads them. Times that several lines share are stored once, and numbers
have as many digits as are visible: a page with dozens of lines stays small. Charts of many cases
have the axes, ticks and notes of those on paper, too; names of cases, which many charts share, are
stored in the page once.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

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
from longfat.output.report.panel_data import numbers, panel_data, short

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
        self._charts: dict[str, dict[str, Any]] = {}

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
            "span": [float(end) for end in span_s],
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
            "across": [across, x_scale.unit],
            "up": [up, y_scale.unit],
            "traces": [_trace(one, x_scale, y_scale) for one in traces],
        }

    def add_chart(self, name: str, chart: Chart) -> None:
        """Add a chart of many cases.

        Args:
            name: its name, unique in the page.
            chart: the chart.
        """
        self._charts[name] = multiples(chart, self._names)

    def to_json(self) -> dict[str, Any]:
        """Return all data that the script needs."""
        return {
            "timeColours": [_time_colours(0.0, 0.84), _time_colours(0.25, 1.0)],
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


def _time_colours(first: float, last: float) -> list[list[Any]]:
    """Return a part of the static figures' colours; the ends are invisible on their background."""
    stops = np.linspace(0, 1, _STOPS)
    colours = mpl.colormaps["cividis"](first + stops * (last - first))
    return [[float(at), to_hex(c)] for at, c in zip(stops, colours, strict=True)]


def _trace(one: PhaseTrace, x_scale: Scale, y_scale: Scale) -> dict[str, Any]:
    known = np.flatnonzero(np.isfinite(one.across) & np.isfinite(one.up))
    kept = known[:: max(1, math.ceil(len(known) / _MAX_PHASE_POINTS))]
    marks = ((one.across_mark, one.across, x_scale), (one.up_mark, one.up, y_scale))
    return {
        "label": one.label,
        "t": np.round(one.times_s[kept], 4).tolist(),
        "x": numbers(one.across[kept] * x_scale.factor),
        "y": numbers(one.up[kept] * y_scale.factor),
        "marks": [
            None if mark is None or mark > 2 * _largest(values) else short(mark * scale.factor)
            for mark, values, scale in marks
        ],
    }


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0


def multiples(chart: Chart, names: CaseNames) -> dict[str, Any]:
    """Return the data of a chart that the page's script needs.

    Args:
        chart: the chart.
        names: collects the names of its cases.
    """
    shown, _ = readable(chart)
    found: dict[str, Any] = {"type": chart.kind.value, "by": chart.by}
    if chart.kind is ChartKind.HEAT:
        return found | _heat(shown)
    x, y = axis_scales(
        shown,
        width_in=PAGE_WIDTH_IN,
        height_in=_HEIGHT_IN,
        columns=min(len(shown.facets), _MAX_ACROSS),
    )
    theory = {one.label: one for one in legend_entries(shown) if one.series is None}
    return found | {
        "x": _axis(x),
        "y": _axis(y),
        "facets": [_facet(facet, (x, y), theory, names) for facet in shown.facets],
    }


def _axis(one: AxisScale) -> dict[str, Any]:
    return {
        "title": one.title,
        "unit": one.unit,
        "log": one.log,
        "texts": one.texts,
        "zero": None if one.zero is None else short(one.zero),
        "fence": one.fence,
        "range": [one.low, one.high],
        "ticks": [[at for at, _ in one.ticks], [text for _, text in one.ticks]],
    }


def _facet(
    facet: Facet, axes: tuple[AxisScale, AxisScale], theory: dict[str, Entry], names: CaseNames
) -> dict[str, Any]:
    x, y = axes
    return {
        "title": facet.title,
        "series": [_series(one, axes, theory, names) for one in facet.series if len(one.x)],
        "marks": [
            {
                "label": mark.label,
                "rank": theory[mark.label].rank,
                "look": mark.look,
                "upright": mark.upright,
                "at": mark.at * (x if mark.upright else y).factor,
            }
            for mark in facet.marks
        ],
    }


def _series(
    one: Series, axes: tuple[AxisScale, AxisScale], theory: dict[str, Entry], names: CaseNames
) -> dict[str, Any]:
    x, y = axes
    found: dict[str, Any] = {
        "label": one.label,
        "look": one.look,
        "rank": None,
        "x": numbers(x.places(one.x)),
        "y": numbers(y.places(one.y)),
    }
    if one.formula:
        entry = theory.get(one.label, Entry(one.label))
        found |= {"rank": entry.rank, "look": entry.look}
    if one.low is not None and one.high is not None:
        found["low"] = numbers(y.places(one.low))
        found["high"] = numbers(y.places(one.high))
    if one.names:
        found["names"] = [names.place(name) for name in one.names]
    return found


def _heat(chart: Chart) -> dict[str, Any]:
    colour = colours_of(chart)
    norm = norm_of(colour)
    stops = np.linspace(0, 1, _STOPS)
    colours = [to_hex(one) for one in mpl.colormaps[COLOURS](stops)]
    shapes = [facet.cells.shape for facet in chart.facets if facet.cells is not None]
    rows = max((shape[0] for shape in shapes), default=0)
    columns = max((shape[1] for shape in shapes), default=0)
    return {
        "x": {"title": chart.x.label, "texts": list(chart.x.ticks or map(str, range(columns)))},
        "y": {"title": chart.y.label, "texts": list(chart.y.ticks or map(str, range(rows)))},
        "colour": {
            "title": colour.title,
            "unit": colour.unit,
            "ticks": [
                [float(norm(at)) for at, _ in colour.ticks],
                [text for _, text in colour.ticks],
            ],
            "stops": [[float(at), one] for at, one in zip(stops, colours, strict=True)],
        },
        "facets": [
            {"title": facet.title, **_cells(facet.cells, colour)}
            for facet in chart.facets
            if facet.cells is not None
        ],
    }


def _cells(cells: Floats, colour: AxisScale) -> dict[str, Any]:
    drawn = cells * colour.factor
    known = np.isfinite(drawn) & ((drawn > 0) | (not colour.log))
    # A colour is a position on the scale, which may be logarithmic.
    shares = norm_of(colour)(np.where(known, drawn, colour.low))
    return {
        "z": [numbers(row) for row in np.where(known, shares, np.nan)],
        "text": [
            [
                value_text(float(value), colour) if there else ""
                for value, there in zip(*row, strict=True)
            ]
            for row in zip(drawn, known, strict=True)
        ],
    }
