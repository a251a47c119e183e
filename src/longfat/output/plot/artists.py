"""How the series of a chart are drawn, one function for each kind.

What was measured has marks at the measured points, so that a line between few of them
does not suggest more data than there is; what was computed has a thin dashed line and no marks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, NullFormatter, NullLocator

from longfat.output.plot.chart import ChartKind
from longfat.output.plot.style import INK, MUTED, REFERENCE_DASHES, line_style
from longfat.output.plot.traces import DENSE

if TYPE_CHECKING:
    from longfat.output.plot.axis_scale import AxisScale
    from longfat.output.plot.chart import Mark, Series
    from longfat.output.plot.line import Floats

HALF = 0.5
"""The part of a distribution at its median."""

_FEW_BARS = 14  # points of a line whose spread is drawn as bars; otherwise as a band
_FEW_POINTS = 40  # of a line: each gets a mark
_SOME_MARKS = 10
_DOTTED = (0, (1, 2))
_WIDTH_PT = 1.4


@dataclass(frozen=True, slots=True)
class PointDensity:
    """The number of points in the multiple that has the most."""

    points: int

    @property
    def many(self) -> bool:
        """Return whether there are so many that they must be small and light."""
        return self.points > 400

    @property
    def raster(self) -> bool:
        """Return whether to rasterize them in a PDF, as viewers would be too slow otherwise."""
        return self.points > 3000


def lay(axes: Any, x: AxisScale, y: AxisScale, *, half: bool = False) -> None:
    """Set the limits and ticks of axes, and draw a line at one half, if requested."""
    for axis, one, limit in ((axes.xaxis, x, axes.set_xlim), (axes.yaxis, y, axes.set_ylim)):
        if one.log:
            getattr(axes, f"set_{axis.axis_name}scale")("log")
        limit(one.low, one.high)
        axis.set_major_locator(FixedLocator([at for at, _ in one.ticks]))
        axis.set_major_formatter(FixedFormatter([text for _, text in one.ticks]))
        axis.set_minor_locator(NullLocator())
        axis.set_minor_formatter(NullFormatter())
        axis.set_tick_params(length=2.5, pad=3)
    light: dict[str, Any] = {"color": MUTED, "linewidth": 0.8, "linestyle": _DOTTED, "zorder": 1.5}
    if x.fence is not None:
        axes.axvline(x.fence, **light)
    if half:
        axes.axhline(HALF, **light)


def series_sign(kind: ChartKind, series: Series, density: PointDensity, *, texts: bool) -> Line2D:
    """Return the legend symbol of a measured series.

    Args:
        kind: how the chart is drawn.
        series: the series.
        density: how many points there are.
        texts: whether its x axis is categorical, so that no line joins its points.
    """
    style = line_style(series.style_index)
    joined = kind is not ChartKind.POINTS and not texts
    hollow = kind is ChartKind.POINTS and not density.many
    return Line2D(
        [],
        [],
        color=style.colour,
        linestyle=style.dash if joined else "none",
        linewidth=_WIDTH_PT,
        marker=style.mark,
        markerfacecolor=_pale(style.colour) if hollow else style.colour,
        markeredgecolor=style.colour,
        markeredgewidth=0.9,
    )


def formula_sign(rank: int, style_index: int | None) -> Line2D:
    """Return the legend symbol of a computed series."""
    return Line2D([], [], **_formula_style(rank, style_index))


def draw_formula(
    axes: Any,
    series: Series,
    axis: tuple[AxisScale, AxisScale],
    *,
    rank: int,
    style_index: int | None,
) -> None:
    """Draw a theoretical curve, above what was measured.

    Args:
        axes: the axes.
        series: the curve.
        axis: the horizontal and the vertical axis.
        rank: the number of the curve among the theoretical ones, from 0.
        style_index: that of the series that it belongs to; None if it belongs to all.
    """
    x, y = axis
    where = x.places(series.x), y.places(series.y)
    axes.plot(*where, zorder=3.2, **_formula_style(rank, style_index))


def draw_mark(axes: Any, mark: Mark, axis: AxisScale, rank: int) -> None:
    """Draw a line across, in the colour of the series that it belongs to."""
    style = _formula_style(rank, mark.style_index)
    at = mark.at * axis.factor
    if axis.low <= at <= axis.high:
        (axes.axvline if mark.upright else axes.axhline)(at, zorder=2.4, **style)


def draw_line(
    axes: Any, series: Series, x: AxisScale, y: AxisScale, *, beside: tuple[int, int] = (0, 1)
) -> None:
    """Draw a metric over a parameter.

    Args:
        axes: the axes.
        series: the series.
        x: the horizontal axis.
        y: the vertical one.
        beside: its number and the count of series: on a categorical axis they are side by side.
    """
    style = line_style(series.style_index)
    across, up = x.places(series.x), y.places(series.y)
    place, count = beside
    if x.texts:
        across = across + (place - (count - 1) / 2) * min(0.14, 0.7 / count)
    if series.low is not None and series.high is not None and len(across):
        ends = y.places(series.low), y.places(series.high)
        if len(across) <= _FEW_BARS or x.texts:
            _draw_bars(axes, across, up, ends, style.colour)
        else:
            band = {"color": style.colour, "alpha": min(0.18, 0.9 / count), "linewidth": 0}
            axes.fill_between(across, *ends, zorder=1.8, **band)
    marks = {
        "color": style.colour,
        "linewidth": _WIDTH_PT,
        "marker": style.mark,
        "markersize": 4.2 if len(across) <= _FEW_BARS else 3.6,
        "markeredgewidth": 0.6,
        "clip_on": not _inside(across, up, x, y),
        "zorder": 3,
    }
    # On a logarithmic scale there is no line from 0.
    apart = series.x == 0 if x.zero is not None else np.zeros(len(across), dtype=bool)
    if apart.any():
        axes.plot(across[apart], up[apart], linestyle="none", **marks)
    axes.plot(
        across[~apart],
        up[~apart],
        linestyle="none" if x.texts else style.dash,
        markevery=None if len(across) <= _FEW_POINTS else _some(len(across), series.style_index),
        **marks,
    )


def draw_points(
    axes: Any, series: Series, x: AxisScale, y: AxisScale, density: PointDensity
) -> None:
    """Draw a metric over another."""
    style = line_style(series.style_index)
    across, up = x.places(series.x), y.places(series.y)
    if series.low is not None and series.high is not None and not density.many:
        ends = y.places(series.low), y.places(series.high)
        _draw_bars(axes, across, up, ends, style.colour)
    axes.plot(
        across,
        up,
        linestyle="none",
        marker=style.mark,
        markersize=2.4 if density.many else 4.6,
        markerfacecolor=style.colour if density.many else _pale(style.colour),
        markeredgecolor=style.colour,
        markeredgewidth=0.0 if density.many else 0.9,
        alpha=0.5 if density.many else None,
        rasterized=density.raster,
        clip_on=not _inside(across, up, x, y),
        zorder=3,
    )


def draw_trace(axes: Any, series: Series, x: AxisScale, y: AxisScale, *, alone: bool) -> None:
    """Draw samples over time; a series beside others has some marks.

    Args:
        axes: the axes.
        series: the series.
        x: the horizontal axis.
        y: the vertical one.
        alone: whether it is the only one in the figure.
    """
    style = line_style(series.style_index)
    dense = len(series.x) > DENSE
    axes.plot(
        x.places(series.x),
        y.places(series.y),
        color=style.colour,
        linestyle="-" if dense else style.dash,
        linewidth=1.0,
        marker="" if alone else style.mark,
        markersize=3.4,
        markevery=_some(len(series.x), series.style_index),
        zorder=3,
    )


def draw_steps(axes: Any, series: Series, x: AxisScale, y: AxisScale) -> None:
    """Draw a distribution: from 0 at the minimum, and on to the right at the last height."""
    if not len(series.x):
        return
    style = line_style(series.style_index)
    order = np.argsort(series.x, kind="stable")
    across, up = x.places(series.x[order]), y.places(series.y[order])
    across = np.concatenate((across[:1], across, [max(x.high, float(across[-1]))]))
    up = np.concatenate(([0.0], up, up[-1:]))
    axes.plot(
        across,
        up,
        color=style.colour,
        linestyle=style.dash,
        linewidth=_WIDTH_PT,
        drawstyle="steps-post",
        zorder=2.5,
    )
    # A little less, for parts such as 6/12 are no exact numbers.
    middle = min(int(np.searchsorted(up, HALF - 1e-9)), len(across) - 1)
    axes.plot(
        across[middle : middle + 1],
        [HALF],
        marker=style.mark,
        markersize=4.5,
        color=style.colour,
        markeredgecolor="white",
        markeredgewidth=0.5,
        zorder=3.5,
    )


def _formula_style(rank: int, style_index: int | None) -> dict[str, Any]:
    dash = REFERENCE_DASHES[rank % len(REFERENCE_DASHES)]
    colour = (INK, MUTED)[rank // len(REFERENCE_DASHES) % 2]
    if style_index is not None:
        colour = line_style(style_index).colour
    return {"color": colour, "linewidth": 1.1, "linestyle": dash}


def _draw_bars(axes: Any, x: Floats, y: Floats, ends: tuple[Floats, Floats], colour: str) -> None:
    low, high = ends
    axes.errorbar(
        x,
        y,
        yerr=np.vstack((np.maximum(y - low, 0), np.maximum(high - y, 0))),
        fmt="none",
        ecolor=colour,
        elinewidth=0.9,
        capsize=1.8,
        capthick=0.9,
        alpha=0.75,
        zorder=2.6,
    )


def _inside(across: Floats, up: Floats, x: AxisScale, y: AxisScale) -> bool:
    """Return whether all points are inside the axes: then marks at the edge need no clipping."""
    return all(
        bool(((values >= axis.low) & (values <= axis.high)).all())
        for values, axis in ((across, x), (up, y))
    )


def _some(count: int, style_index: int) -> list[int]:
    """Return evenly spread indices, different ones for each style."""
    if not count:
        return []
    shift = (style_index % 4) / 4 + 0.125
    return sorted({int((step + shift) * count / _SOME_MARKS) for step in range(_SOME_MARKS)})


def _pale(colour: str) -> tuple[str, float]:
    return colour, 0.25
