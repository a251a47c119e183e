"""Heat maps: a metric over two parameters, as colours, with its value where there is space.

The colours change evenly in lightness, so that they can be read in grey print and by the
colour-blind (viridis, by S. van der Walt and N. Smith, matplotlib's default since 2.0), and are
darker for more, as ink on paper is. Hatched cells have no value.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from longfat.output.plot.axis_scale import AxisScale, Room, axis_scale, number_text, text_scale
from longfat.output.plot.chart import Axis
from longfat.output.plot.layout import Captions, Sheet, columns_of
from longfat.output.plot.style import INK, RULE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from longfat.output.plot.chart import Chart
    from longfat.output.plot.line import Floats

COLOURS = "viridis_r"

_VALUE_PT = (7.5, 6.5, 5.5)  # sizes of the values in cells, the best first
_DIGIT_PT = 0.62  # widths of a digit, in its size
_MARGINS_IN = 1.0
_BAR_IN = 0.9
_MANY_CELLS = 2500  # from here on the cells are rasterized in a PDF
_EDGED_CELLS = 400  # up to this many, each has a white edge
_STEP_IN = 0.155  # the minimum distance of two texts
_CELL_IN = 0.24  # the minimum height of a row
_BAR_ROOM = Room(long_in=2.2, upright=True)


def draw_heat(chart: Chart, *, title: str, note: str, width_in: float) -> Figure:
    """Draw a heat map, or several with the same colours.

    Args:
        chart: the chart, of the kind HEAT.
        title: the text above; empty for none.
        note: the text below; empty for none.
        width_in: the width, in inches.
    """
    sheet = Sheet.of(len(chart.facets), width_in=width_in)
    columns = columns_of(len(chart.facets), width_in=width_in)
    up, across = _shape(chart)
    panel_width_in = (width_in - _MARGINS_IN - _BAR_IN) / columns - 0.1
    each_in = _panel_height_in(len(chart.facets), up, panel_width_in)
    x = _steps(chart.x, across, room_in=panel_width_in)
    y = _steps(chart.y, up, room_in=each_in)
    colour = colours_of(chart)
    norm = norm_of(colour)
    sheet.bar = sheet.figure.add_axes((0.9, 0.1, 0.02, 0.8), label="colours")
    drawn: Any = None
    for axes, facet in zip(sheet.axes, chart.facets, strict=True):
        cells = np.empty((0, 0)) if facet.cells is None else facet.cells * colour.factor
        drawn = _draw_cells(axes, cells, norm, shape=(up, across)) or drawn
        _write_values(
            axes,
            cells,
            norm,
            cell_in=(panel_width_in / across, each_in / up),
            colour=colour,
        )
        _lay(axes, x, y)
    bar = sheet.figure.colorbar(
        drawn or mpl.cm.ScalarMappable(norm, mpl.colormaps[COLOURS]), cax=sheet.bar
    )
    bar.outline.set_visible(False)
    bar.ax.yaxis.set_major_locator(FixedLocator([at for at, _ in colour.ticks]))
    bar.ax.yaxis.set_major_formatter(FixedFormatter([text for _, text in colour.ticks]))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(length=2.5, pad=3)
    bar.set_label(colour.title, color=INK, labelpad=4)
    titles = tuple(facet.title for facet in chart.facets)
    sheet.arrange(x, y, Captions(title=title, facets=titles, note=note), each_in=each_in)
    return sheet.figure


def colours_of(chart: Chart) -> AxisScale:
    """Return the colour scale of a heat map."""
    axis = chart.colour or Axis(label="", unit=chart.y.unit)
    cells = [facet.cells.ravel() for facet in chart.facets if facet.cells is not None]
    values = np.concatenate([*cells, np.empty(0)])
    known = values[np.isfinite(values) & (values > 0 if axis.log else True)]
    found = axis_scale(axis, values, _BAR_ROOM)
    if not len(known):
        return found
    # Colours need no margin, and no 0 that is not in the data.
    low = known.min() if axis.low is None else axis.low
    high = known.max() if axis.high is None else axis.high
    if low == high:
        low, high = (low / 2, high * 2) if axis.log else (low - abs(low) / 2, high + abs(high) / 2)
    exact = Axis(label=axis.label, unit=axis.unit, log=axis.log, low=low, high=high or 1.0)
    return axis_scale(exact, values, _BAR_ROOM)


def norm_of(colour: AxisScale) -> Any:
    """Return the normalization of values for the colour map."""
    return (LogNorm if colour.log else Normalize)(colour.low, colour.high, clip=True)


def value_text(value: float, colour: AxisScale) -> str:
    """Return a cell's value in as few digits as distinguish it from the others.

    Args:
        value: the value in the drawn unit.
        colour: the colour scale.
    """
    if colour.log and value > 0:
        return number_text(float(f"{value:.2g}" if value < 100 else f"{value:.0f}"))
    top = max(abs(colour.low), abs(colour.high))
    digits = 0 if top >= 100 else 1 if top >= 10 else 2
    text = f"{value:,.{digits}f}"
    # Small ones among large ones would all be 0.
    return (
        number_text(float(f"{value:.1g}")) if value and not float(text.replace(",", "")) else text
    )


def _shape(chart: Chart) -> tuple[int, int]:
    shapes = [facet.cells.shape for facet in chart.facets if facet.cells is not None]
    rows = max((shape[0] for shape in shapes), default=1)
    columns = max((shape[1] for shape in shapes), default=1)
    return max(rows, 1), max(columns, 1)


def _panel_height_in(facets: int, rows: int, panel_width_in: float) -> float:
    if facets == 1:
        return min(6.0, max(1.4, rows * 0.42, min(panel_width_in * 0.5, rows * 0.6)))
    return min(4.0, max(1.0, rows * _CELL_IN, min(panel_width_in * 0.8, rows * 0.34)))


def _steps(axis: Axis, count: int, *, room_in: float) -> AxisScale:
    """Return an axis of so many steps; if there are very many, some have no text."""
    texts = axis.ticks or tuple(str(place + 1) for place in range(count))
    step = max(1, math.ceil(count * _STEP_IN / room_in))
    return text_scale(axis.label, texts[:count], step=step)


def _draw_cells(axes: Any, cells: Floats, norm: Any, *, shape: tuple[int, int]) -> Any:
    rows, columns = shape
    # What the cells leave free.
    axes.add_patch(
        Rectangle(
            (-0.5, -0.5),
            columns,
            rows,
            facecolor="none",
            edgecolor=RULE,
            hatch="////",
            linewidth=0,
            zorder=1,
        )
    )
    if not cells.size or not np.isfinite(cells).any():
        return None
    shown = np.ma.masked_invalid(cells)
    if isinstance(norm, LogNorm):
        shown = np.ma.masked_less_equal(shown, 0)
    many = cells.size > _MANY_CELLS
    edged = cells.size <= _EDGED_CELLS
    return axes.pcolormesh(
        np.arange(cells.shape[1] + 1) - 0.5,
        np.arange(cells.shape[0] + 1) - 0.5,
        shown,
        cmap=COLOURS,
        norm=norm,
        edgecolors="white" if edged else "none",
        linewidth=0.5 if edged else 0,
        rasterized=many,
        zorder=2,
    )


def _write_values(
    axes: Any, cells: Floats, norm: Any, *, cell_in: tuple[float, float], colour: AxisScale
) -> None:
    known = cells[np.isfinite(cells)]
    if not len(known):
        return
    longest = max(len(value_text(float(value), colour)) for value in known)
    fitting = [
        size
        for size in _VALUE_PT
        if longest * size * _DIGIT_PT / 72 + 0.05 <= cell_in[0] and size / 58 <= cell_in[1]
    ]
    if not fitting:
        return
    colours = mpl.colormaps[COLOURS]
    for (row, column), value in np.ndenumerate(cells):
        if np.isfinite(value) and (value > 0 or not isinstance(norm, LogNorm)):
            ink = _ink_on(colours(norm(value)))
            text = value_text(float(value), colour)
            text_style = {"fontsize": fitting[0], "color": ink, "ha": "center", "va": "center"}
            axes.text(column, row, text, zorder=3, **text_style)


def _ink_on(colour: tuple[float, ...]) -> str:
    """Return black or white, whichever has more contrast (WCAG 2.1, relative luminance)."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return "#000000" if (luminance + 0.05) / 0.05 >= 1.05 / (luminance + 0.05) else "#ffffff"


def _lay(axes: Any, x: AxisScale, y: AxisScale) -> None:
    axes.set_xlim(x.low, x.high)
    axes.set_ylim(y.low, y.high)
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(False)
    for axis, one in ((axes.xaxis, x), (axes.yaxis, y)):
        axis.set_major_locator(FixedLocator([at for at, _ in one.ticks]))
        axis.set_major_formatter(FixedFormatter([text for _, text in one.ticks]))
        axis.set_tick_params(length=0, pad=3)
