"""The data of zoomable charts of many cases: plain values, which the page's script draws.

Axes, ticks, looks and notes are those of the figures on paper. Names of cases, which many charts
share, are stored in the page once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from longfat.output.plot import PAGE_WIDTH_IN
from longfat.output.plot.chart import ChartKind
from longfat.output.plot.charts import Entry, axis_scales, readable
from longfat.output.plot.charts import entries as legend_entries
from longfat.output.plot.heat import COLOURS, colours_of, norm_of, value_text
from longfat.output.report.panel_data import numbers, short

if TYPE_CHECKING:
    from longfat.output.plot import Chart, Facet, Floats, Series
    from longfat.output.plot.axis_scale import AxisScale

_HEIGHT_IN = 2.0
_STOPS = 9  # of the colours
_MOST_ACROSS = 3  # multiples side by side, at the width of the page


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
        columns=min(len(shown.facets), _MOST_ACROSS),
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
