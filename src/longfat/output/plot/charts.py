"""Charts of many cases: lines, points, distributions and heat maps, in small multiples.

All multiples of a chart have the same axes and one legend. What was measured comes first in it,
then what was computed.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.output.plot.artists import (
    PointDensity,
    draw_formula,
    draw_line,
    draw_mark,
    draw_points,
    draw_steps,
    draw_trace,
    formula_sign,
    lay,
    series_sign,
)
from longfat.output.plot.axis_scale import AxisScale, Room, axis_scale
from longfat.output.plot.bars import draw_bars
from longfat.output.plot.chart import ChartKind
from longfat.output.plot.heat import draw_heat
from longfat.output.plot.labels import name_points
from longfat.output.plot.layout import MAX_FACETS, Captions, Sheet, columns_of
from longfat.output.plot.style import PAGE_WIDTH_IN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.figure import Figure

    from longfat.output.plot.chart import Chart, Facet, Series
    from longfat.output.plot.line import Floats

_MAX_NAMED = 14  # points that get their names
_MARGINS_IN = 0.75  # about what numbers and labels take from an axis
_LEGEND_IN = 1.5
_ALONE_IN = 2.6  # about how high an axis is
_AMONG_IN = 1.5
_LINES_FROM_ZERO = 0.75  # of the maximum: the minimum must be at most this for an axis from 0
_CLOUD_FROM_ZERO = 0.5
_MAX_STOPS = 30  # values of a parameter that may be ticks
_REACH = 1.6  # times the data; theoretical values beyond would compress the data


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a legend.

    Attributes:
        label: the label.
        series: what was measured; None for what was computed.
        rank: of what was computed, which of its kind it is, from 0.
        style_index: of a formula, that of the measured series that it belongs to; None
            if it belongs to all.
    """

    label: str
    series: Series | None = None
    rank: int = 0
    style_index: int | None = None


def draw_chart(
    chart: Chart, *, title: str | None = None, width_in: float = PAGE_WIDTH_IN
) -> Figure:
    """Draw a chart of many cases.

    Draw and save inside `longfat.output.plot.figure_style`.

    Args:
        chart: the chart.
        title: the text above it; None for the chart's own, empty for none.
        width_in: the width of the page or column, in inches.
    """
    title = chart.title if title is None else title
    shown, note = readable(chart)
    if chart.kind is ChartKind.HEAT:
        return draw_heat(shown, title=title, note=note, width_in=width_in)
    if chart.kind is ChartKind.BARS:
        return draw_bars(shown, title=title, note=note, width_in=width_in)
    return _draw(shown, title=title, note=note, width_in=width_in)


def readable(chart: Chart) -> tuple[Chart, str]:
    """Return the part of a chart that can be drawn, and a note on what was omitted."""
    notes = [chart.note] if chart.note else []
    facets = chart.facets[:MAX_FACETS]
    if len(facets) < len(chart.facets):
        notes.append(f"the first {len(facets)} of {len(chart.facets)} parts are shown")
    kept = [
        dataclasses.replace(facet, series=tuple(_drawable(chart, one) for one in facet.series))
        for facet in facets
    ]
    before = sum(_points(facet) for facet in facets)
    lost = before - sum(_points(facet) for facet in kept)
    if lost:
        points = "1 point" if lost == 1 else f"{lost:,} points"
        notes.append(f"{points} at or below 0 cannot be shown on a logarithmic axis")
    return dataclasses.replace(chart, facets=tuple(kept)), "; ".join(notes)


def axis_scales(
    chart: Chart, *, width_in: float, height_in: float, columns: int
) -> tuple[AxisScale, AxisScale]:
    """Return the two axis scales of a chart with multiples of about that size.

    Args:
        chart: the chart; no heat map.
        width_in: the width of all multiples side by side, in inches.
        height_in: the height of one.
        columns: how many are side by side.
    """
    series = [one for facet in chart.facets for one in facet.series]
    measured = [one for one in series if not one.formula] or series
    across = [one.x[np.isfinite(one.x)] for one in measured]
    stops: list[float] = []
    if chart.kind is ChartKind.LINES:
        found = np.unique(_joined(across))
        stops = found.tolist() if len(found) <= _MAX_STOPS else [0.0] * bool((found == 0).any())
    heights = list(_heights(measured))
    heights.append(_near([one.y for one in series if one.formula], heights))
    marks = [mark for facet in chart.facets for mark in facet.marks]
    for upright, values in ((True, across), (False, heights)):
        at = np.array([mark.at for mark in marks if mark.upright is upright])
        values.append(_near([at], values))
    share = chart.kind is ChartKind.CDF
    # Lines are compared by their heights, so their axis starts at 0; a scatter plot's need not.
    zero = _CLOUD_FROM_ZERO if chart.kind is ChartKind.POINTS or share else _LINES_FROM_ZERO
    room = Room(long_in=width_in / columns, from_zero=zero)
    x = axis_scale(chart.x, _joined(across), room, stops=stops)
    room = Room(long_in=height_in, upright=True, from_zero=zero)
    y = axis_scale(chart.y, _joined(heights), room, share=share)
    return x, y


def entries(chart: Chart) -> list[Entry]:
    """Return the entries of a chart's legend: every label once, what was measured first."""
    measured: dict[str, Entry] = {}
    computed: dict[str, Entry] = {}
    style_indices = measured_styles(chart)
    for facet in chart.facets:
        for one in facet.series:
            if not one.label or not len(one.x):
                continue
            if one.formula:
                style_index = one.style_index if one.style_index in style_indices else None
                computed.setdefault(
                    one.label, Entry(one.label, rank=len(computed), style_index=style_index)
                )
            else:
                measured.setdefault(one.label, Entry(one.label, one))
        for mark in facet.marks:
            computed.setdefault(mark.label, Entry(mark.label, rank=len(computed)))
    return [*measured.values(), *computed.values()]


def measured_styles(chart: Chart) -> set[int]:
    """Return the styles of measured series: a curve that has one of them belongs to it."""
    # With a single series, a curve in the same colour would be invisible.
    style_indices = {
        one.style_index for facet in chart.facets for one in facet.series if not one.formula
    }
    return style_indices if len(style_indices) > 1 else set()


def _draw(chart: Chart, *, title: str, note: str, width_in: float) -> Figure:
    sheet = Sheet.of(len(chart.facets), width_in=width_in)
    names = entries(chart)
    density = PointDensity(max(map(_points, chart.facets)))
    if len(names) > 1 or any(entry.series is None for entry in names):
        signs = [
            formula_sign(entry.rank, entry.style_index)
            if entry.series is None
            else series_sign(chart.kind, entry.series, density, texts=chart.x.ticks is not None)
            for entry in names
        ]
        sheet.add_legend(signs, [entry.label for entry in names], title=chart.by)
    x, y = scales_of(chart, chart.facets, sheet)
    theory = {entry.label: entry for entry in names if entry.series is None}
    titles = []
    for axes, facet in zip(sheet.axes, chart.facets, strict=True):
        own = y if facet.y is None else scales_of(chart, (facet,), sheet)[1]
        lay(axes, x, own, half=chart.kind is ChartKind.CDF)
        _draw_facet(axes, facet, (x, own), kind=chart.kind, theory=theory, density=density)
        unit = f" ({own.unit})" if facet.y is not None and own.unit else ""
        titles.append(facet.title + unit)
    own_y = any(facet.y is not None for facet in chart.facets)
    if own_y:
        y = dataclasses.replace(y, title=chart.y.label)
    sheet.arrange(x, y, Captions(title=title, facets=tuple(titles), note=note), own_y=own_y)
    if chart.kind is ChartKind.POINTS and len(chart.facets) == 1:
        _name(sheet.axes[0], chart.facets[0], x, y)
    return sheet.figure


def scales_of(chart: Chart, facets: tuple[Facet, ...], sheet: Sheet) -> tuple[AxisScale, AxisScale]:
    """Return the axis scales of some facets of a chart, which may have their own vertical axis."""
    own = facets[0].y if len(facets) == 1 else None
    return axis_scales(
        dataclasses.replace(chart, facets=facets, y=own or chart.y),
        width_in=sheet.width_in - _MARGINS_IN - (_LEGEND_IN if sheet.beside else 0.0),
        height_in=_ALONE_IN if len(chart.facets) == 1 else _AMONG_IN,
        columns=columns_of(len(chart.facets), width_in=sheet.width_in),
    )


def _draw_facet(
    axes: Any,
    facet: Facet,
    axis: tuple[AxisScale, AxisScale],
    *,
    kind: ChartKind,
    theory: dict[str, Entry],
    density: PointDensity,
) -> None:
    x, y = axis
    measured = [one for one in facet.series if not one.formula]
    for place, one in enumerate(measured):
        if kind is ChartKind.CDF:
            draw_steps(axes, one, x, y)
        elif kind is ChartKind.TIME:
            draw_trace(axes, one, x, y, alone=len(measured) == 1)
        elif kind is ChartKind.POINTS:
            draw_points(axes, one, x, y, density)
        else:
            draw_line(axes, one, x, y, beside=(place, len(measured)))
    for one in facet.series:
        if one.formula:
            entry = theory.get(one.label, Entry(one.label))
            draw_formula(axes, one, (x, y), rank=entry.rank, style_index=entry.style_index)
    for mark in facet.marks:
        draw_mark(axes, mark, x if mark.upright else y, theory[mark.label].rank)


def _drawable(chart: Chart, series: Series) -> Series:
    """Return the points of a series that have a position on the axes; a curve as it is."""
    keep = np.isfinite(series.x) & np.isfinite(series.y)
    if chart.x.log and chart.x.ticks is None:
        # A parameter's 0 has a position of its own beside the scale.
        keep &= series.x >= 0 if chart.kind is ChartKind.LINES else series.x > 0
    if chart.y.log and chart.y.ticks is None:
        keep &= series.y > 0
    if series.formula or keep.all():
        # A gap in a theoretical curve stays a gap.
        return series
    return dataclasses.replace(
        series,
        x=series.x[keep],
        y=series.y[keep],
        low=None if series.low is None else series.low[keep],
        high=None if series.high is None else series.high[keep],
        names=tuple(np.array(series.names, dtype=object)[keep]) if series.names else (),
    )


def _points(facet: Facet) -> int:
    """Return the number of measured points of a facet."""
    return sum(
        int((np.isfinite(one.x) & np.isfinite(one.y)).sum())
        for one in facet.series
        if not one.formula
    )


def _heights(series: Sequence[Series]) -> Iterator[Floats]:
    for one in series:
        for values in (one.y, one.low, one.high):
            if values is not None:
                yield values[np.isfinite(values)]


def _near(computed: Sequence[Floats], measured: Sequence[Floats]) -> Floats:
    """Return those values that are not far from all measured ones."""
    values, known = _joined(computed), _joined(measured)
    values = values[np.isfinite(values)]
    if not len(known):
        return values
    over = known[known > 0]
    floor = over.min() / _REACH if len(over) else 0.0
    near: Floats = values[(values <= _REACH * known.max()) & (values >= floor)]
    return near


def _joined(values: Sequence[Floats]) -> Floats:
    return np.concatenate([*values, np.empty(0)])


def _name(axes: Any, facet: Facet, x: AxisScale, y: AxisScale) -> None:
    points = [
        (float(across) * x.factor, float(up) * y.factor, name)
        for one in facet.series
        if not one.formula and one.names
        for across, up, name in zip(one.x, one.y, one.names, strict=True)
        if name != one.label
    ]
    if len(points) <= _MAX_NAMED:
        name_points(axes, points)
