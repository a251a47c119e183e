"""Bars: metrics of some cases, a row for each case, with the values at the ends of the bars.

Rows are level, so that the names of cases can be read. Metrics of one unit and scale are side by
side in a row; others have an axis of their own beside, with the same rows.
"""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from longfat.model.units import format_quantity
from longfat.output.plot.artists import draw_mark, formula_sign
from longfat.output.plot.axis_scale import AxisScale, Room, axis_scale
from longfat.output.plot.layout import Captions, Sheet, columns_of
from longfat.output.plot.style import INK, MUTED, line_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from longfat.output.plot.chart import Axis, Chart, Facet, Mark, Series

_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "+++")
_BAR_IN = 0.16  # the thickness of a bar
_ROW_GAP_IN = 0.13
_NAME_LENGTH = 30  # of a row; a longer one has two lines
_LETTER_IN = 0.062  # of a value at the end of a bar
_VALUE_PT = 7.5
_MARGINS_IN = 1.8  # about what the names of the rows take
_FROM_ZERO = 1.0  # bars are compared by their lengths


def draw_bars(chart: Chart, *, title: str, note: str, width_in: float) -> Figure:
    """Draw bars.

    Args:
        chart: the chart, of the kind BARS: the series' x is the row, y the length of the bar.
        title: the text above; empty for none.
        note: the text below; empty for none.
        width_in: the width, in inches.
    """
    names = chart.x.ticks or ()
    thick = max(len(facet.series) for facet in chart.facets) * _BAR_IN
    two_lines = any(len(name) > _NAME_LENGTH for name in names)
    row_in = max(thick, 0.3 if two_lines else 0.0) + _ROW_GAP_IN
    sheet = Sheet.of(len(chart.facets), width_in=width_in)
    columns = columns_of(len(chart.facets), width_in=width_in)
    axes_in = (width_in - _MARGINS_IN) / columns
    marks = {mark.label: mark for facet in chart.facets for mark in facet.marks}
    ranks = {label: rank for rank, label in enumerate(marks)}
    for axes, facet in zip(sheet.axes, chart.facets, strict=True):
        scale = value_scale(chart, facet, room_in=axes_in)
        longest = max((len(text) for text in _texts(facet)), default=0)
        room = longest * _LETTER_IN / max(axes_in - longest * _LETTER_IN, 0.5)
        scale = dataclasses.replace(scale, high=scale.high * (1.0 + room))
        _draw_rows(axes, facet, scale, rows=len(names), row_in=row_in, axes_in=axes_in)
        _lay(axes, scale, names)
        for mark in facet.marks:
            draw_mark(axes, mark, scale, ranks[mark.label])
    _add_legend(sheet, chart, marks)
    rows = AxisScale(title="", low=-0.5, high=len(names) - 0.5, texts=True, ticks=())
    values = AxisScale(title="", low=0.0, high=1.0, ticks=())
    heads = tuple(_head(facet, scaled) for facet, scaled in _heads(chart, axes_in))
    sheet.arrange(
        values,
        rows,
        Captions(title=title, facets=heads, note=note),
        each_in=len(names) * row_in + 0.05,
        own_x=True,
    )
    return sheet.figure


def value_scale(chart: Chart, facet: Facet, *, room_in: float) -> AxisScale:
    """Return the scale of the values of a facet.

    Args:
        chart: the chart.
        facet: the facet, which may have an axis of its own.
        room_in: about how long the axis is, in inches.
    """
    axis: Axis = facet.y or chart.y
    values = [values for one in facet.series for values in (one.y, one.high) if values is not None]
    marks = np.array([mark.at for mark in facet.marks])
    room = Room(long_in=room_in, upright=True, from_zero=_FROM_ZERO)
    known = np.concatenate([*values, marks, np.zeros(1)])
    scale = axis_scale(axis, known, room)
    return dataclasses.replace(scale, low=min(scale.low, 0.0))


def _heads(chart: Chart, axes_in: float) -> list[tuple[Facet, AxisScale]]:
    return [(facet, value_scale(chart, facet, room_in=axes_in)) for facet in chart.facets]


def _head(facet: Facet, scale: AxisScale) -> str:
    return ": ".join(filter(None, (facet.title, scale.title)))


def _texts(facet: Facet) -> list[str]:
    return [text for series in facet.series for text in _values(facet, series)]


def _values(facet: Facet, series: Series) -> list[str]:
    unit = facet.y.unit if facet.y is not None else None
    assert unit is not None
    return [format_quantity(float(value), unit) if np.isfinite(value) else "" for value in series.y]


def _draw_rows(
    axes: Any, facet: Facet, scale: AxisScale, *, rows: int, row_in: float, axes_in: float
) -> None:
    thick = _BAR_IN / row_in
    span = scale.high - scale.low
    marks = [mark.at * scale.factor for mark in facet.marks]
    for rank, series in enumerate(facet.series):
        colour = line_style(series.style_index).colour
        # The first row is on top.
        heights = rows - 1 - series.x - (rank - (len(facet.series) - 1) / 2) * thick
        lengths = np.nan_to_num(series.y * scale.factor)
        axes.barh(
            heights,
            lengths,
            height=thick * 0.86,
            color=colour if rank == 0 else (colour, 0.35),
            edgecolor=colour,
            hatch=_HATCHES[rank % len(_HATCHES)],
            linewidth=0.6,
            zorder=2.5,
        )
        ends = lengths
        if series.low is not None and series.high is not None:
            low, high = series.low * scale.factor, series.high * scale.factor
            errors = np.vstack((np.maximum(lengths - low, 0), np.maximum(high - lengths, 0)))
            axes.errorbar(
                lengths,
                heights,
                xerr=np.nan_to_num(errors),
                fmt="none",
                ecolor=INK,
                elinewidth=0.8,
                capsize=1.8,
                zorder=3,
            )
            ends = np.fmax(lengths, np.nan_to_num(high))
        for height, end, text in zip(heights, ends, _values(facet, series), strict=True):
            if not text:
                continue
            long = len(text) * _LETTER_IN / axes_in * span
            across = [at for at in marks if end <= at < end + long]
            axes.annotate(
                text,
                (max([end, *across]), height),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                fontsize=_VALUE_PT,
                color=INK,
                zorder=4,
            )


def _lay(axes: Any, scale: AxisScale, names: Sequence[str]) -> None:
    axes.set_xlim(scale.low, scale.high)
    axes.set_ylim(-0.5, len(names) - 0.5)
    axes.grid(visible=False, axis="y")
    axes.xaxis.set_major_locator(FixedLocator([at for at, _ in scale.ticks]))
    axes.xaxis.set_major_formatter(FixedFormatter([text for _, text in scale.ticks]))
    axes.xaxis.set_minor_locator(NullLocator())
    wrapped = ["\n".join(textwrap.wrap(name, width=_NAME_LENGTH, max_lines=2)) for name in names]
    axes.yaxis.set_major_locator(FixedLocator(range(len(names))))
    axes.yaxis.set_major_formatter(FixedFormatter(wrapped[::-1]))
    axes.xaxis.set_tick_params(length=2.5, pad=3, labelcolor=MUTED)
    axes.yaxis.set_tick_params(length=0, pad=4)


def _add_legend(sheet: Sheet, chart: Chart, marks: dict[str, Mark]) -> None:
    entries: dict[str, Any] = {}
    for facet in chart.facets:
        for rank, series in enumerate(facet.series):
            if len(facet.series) > 1 and series.label not in entries:
                colour = line_style(series.style_index).colour
                entries[series.label] = Patch(
                    facecolor=colour if rank == 0 else (colour, 0.35),
                    edgecolor=colour,
                    hatch=_HATCHES[rank % len(_HATCHES)],
                    linewidth=0.6,
                )
    signs: dict[str, Line2D] = {
        label: formula_sign(rank, mark.style_index)
        for rank, (label, mark) in enumerate(marks.items())
    }
    entries |= signs
    if entries:
        sheet.add_legend(list(entries.values()), list(entries), title="", beside=False)
