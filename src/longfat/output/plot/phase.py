"""Phase plots: one quantity against another, with time as colour.

Several traces have a panel each with the same axes: traces over each
other cannot be distinguished. The colours of time increase evenly in lightness
(cividis, made for the colour-blind and for grey print: J. R. Nuñez, C. R.
Anderton, R. S. Renslow, PLOS ONE 13 (7), 2018), and start and end have marks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat.model.scales import scale_for
from longfat.output.plot.axis_scale import number_text
from longfat.output.plot.line import scale_groups
from longfat.output.plot.style import INK, MUTED, PAGE_WIDTH_IN, figure_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.metric import Unit
    from longfat.model.scales import Scale
    from longfat.output.plot.line import Floats, PhaseTrace

MAX_PHASE_PANELS = 9
"""The maximum number of panels that are readable on a page."""

_LIGHTEST = 0.84  # of the colours; lighter ones are invisible on white
_MAX_POINTS = 5000
_COLOURS = 24  # more cannot be distinguished
_FAR_MARK = 2.0  # times the data; a farther one would compress the data
_ACROSS = 3


def draw_phase(
    traces: Sequence[PhaseTrace],
    *,
    across: tuple[str, Unit],
    up: tuple[str, Unit],
    mark_names: tuple[str, str] = ("", ""),
    title: str = "",
    width_in: float = PAGE_WIDTH_IN,
) -> Figure:
    """Draw quantities against each other.

    Draw and save inside `longfat.output.plot.figure_style`.

    Args:
        traces: what is drawn, a panel each; at least one, at most `MAX_PHASE_PANELS`.
        across: label and base unit of the quantity from left to right.
        up: likewise of the other.
        mark_names: the labels of `across_mark` and `up_mark`.
        title: the text above.
        width_in: the width, in inches.
    """
    columns = 2 if len(traces) == 4 else min(_ACROSS, len(traces))
    rows = math.ceil(len(traces) / columns)
    each_in = min(3.6, (width_in - 1.6) / columns * 0.9)
    figure = Figure(figsize=(width_in, 1.1 + rows * (each_in + 0.3)), layout="constrained")
    figure_title(figure, title, width_in=width_in)
    own = not _have_one_scale(traces)
    grid = figure.subplots(rows, columns, sharex=not own, sharey=not own, squeeze=False)
    shared = _Axis.of_all(traces, across[1], up[1])
    span_s = min(float(o.times_s[0]) for o in traces), max(float(o.times_s[-1]) for o in traces)
    drawn: Any = None
    for place, (axes, one) in enumerate(zip(grid.flat, traces, strict=False)):
        x_axis, y_axis = _Axis.of_all([one], across[1], up[1]) if own else shared
        drawn = _draw_trace(axes, one, x_axis, y_axis, span_s)
        axes.set_title(one.label)
        axes.set_xlim(0, x_axis.limit)
        axes.set_ylim(0, y_axis.limit)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=5))
            axis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
        if own:
            axes.set_xlabel(x_axis.scale.unit)
            axes.set_ylabel(y_axis.scale.unit)
        else:
            # Above an incomplete last row, panels have axis labels at the bottom too.
            axes.xaxis.set_tick_params(labelbottom=place + columns >= len(traces))
    for axes in grid.flat[len(traces) :]:
        axes.set_visible(False)
    x_axis, y_axis = shared
    marks = [name for name, axis in zip(mark_names, (x_axis, y_axis), strict=True) if axis.marked]
    note = "○ start, ■ end" + (f"; dashed: {' and '.join(marks)}" if marks else "")
    units = ("", "") if own else (f" ({x_axis.scale.unit})", f" ({y_axis.scale.unit})")
    figure.supxlabel(f"{across[0]}{units[0]}\n{note}", fontsize=9)
    figure.supylabel(up[0] + units[1], fontsize=9)
    bar = figure.colorbar(drawn, ax=grid, shrink=0.9, aspect=30, pad=0.02)
    bar.set_label("virtual time (s)")
    bar.outline.set_visible(False)
    return figure


@dataclass(frozen=True, slots=True)
class _Axis:
    """Scale and end of an axis that all panels share, and how far away marks are drawn."""

    scale: Scale
    top: float
    limit: float
    marked: bool

    @classmethod
    def of(cls, values: Sequence[Floats], marks: Sequence[float | None], unit: Unit) -> _Axis:
        finite = [each[np.isfinite(each)] for each in values]
        top = max((float(each.max()) for each in finite if len(each)), default=0.0)
        near = [mark for mark in marks if mark is not None and mark <= _FAR_MARK * top]
        highest = max([top, *near])
        scale = scale_for(unit, highest)
        return cls(scale, top, highest * scale.factor * 1.08 or 1.0, bool(near))

    @classmethod
    def of_all(cls, traces: Sequence[PhaseTrace], across: Unit, up: Unit) -> tuple[_Axis, _Axis]:
        """Return the two axes of traces, of the quantities' base units."""
        return (
            cls.of([o.across for o in traces], [o.across_mark for o in traces], across),
            cls.of([o.up for o in traces], [o.up_mark for o in traces], up),
        )

    def near(self, mark: float | None) -> float | None:
        """Return the position of a mark; None for none, or one too far from the data."""
        if mark is None or mark > _FAR_MARK * self.top:
            return None
        return mark * self.scale.factor


def _have_one_scale(traces: Sequence[PhaseTrace]) -> bool:
    """Return whether traces can be read on the same axes."""
    for values in ([o.across for o in traces], [o.up for o in traces]):
        finite = [each[np.isfinite(each)] for each in values]
        tops = {str(place): float(each.max()) for place, each in enumerate(finite) if len(each)}
        if len(scale_groups(tops)) > 1:
            return False
    return True


def _draw_trace(
    axes: Any, one: PhaseTrace, x_axis: _Axis, y_axis: _Axis, span_s: tuple[float, float]
) -> Any:
    known = np.flatnonzero(np.isfinite(one.across) & np.isfinite(one.up))
    step = max(1, math.ceil(len(known) / _MAX_POINTS))
    kept = np.unique(np.concatenate((known[::step], known[-1:])))
    x, y = one.across[kept] * x_axis.scale.factor, one.up[kept] * y_axis.scale.factor
    points, times_s = np.column_stack((x, y)), one.times_s[kept]
    # A segment has one colour; the next begins where it ends.
    edges_s = np.linspace(*span_s, _COLOURS + 1)[1:-1]
    cuts = np.unique(np.searchsorted(times_s, edges_s).clip(0, max(len(times_s) - 1, 0)))
    ends = np.unique(np.concatenate(([0], cuts, [max(len(times_s) - 1, 0)])))
    pieces = LineCollection(
        [points[first : last + 1] for first, last in pairwise(ends)],
        cmap=ListedColormap(mpl.colormaps["cividis"](np.linspace(0, _LIGHTEST, 256))),
        linewidths=1.1,
        zorder=2.5,
    )
    pieces.set_array((times_s[ends[:-1]] + times_s[ends[1:]]) / 2)
    pieces.set_clim(*span_s)
    axes.add_collection(pieces)
    marks = {"color": INK, "zorder": 4, "clip_on": False, "linestyle": "none"}
    axes.plot(x[:1], y[:1], marker="o", markerfacecolor="white", markersize=6, **marks)
    axes.plot(x[-1:], y[-1:], marker="s", markersize=5, **marks)
    for mark, line in (
        (x_axis.near(one.across_mark), axes.axvline),
        (y_axis.near(one.up_mark), axes.axhline),
    ):
        if mark is not None:
            line(mark, color=MUTED, linewidth=1.0, linestyle=(0, (4, 3)), zorder=1.5)
    return pieces
