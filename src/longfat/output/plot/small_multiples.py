"""Small multiples over time: a row of thumbnails for each case, or a grid of them for one quantity.

Many cases in one panel are a tangle, and a page for each is a book. A thumbnail has the lines of
one case. In a column they have the same vertical axis, unless the scales of the cases differ too
much; then each has its own, with its unit beside the name.
"""

from __future__ import annotations

import math
import re
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat.model.metric import Unit
from longfat.model.scales import Scale, scale_for
from longfat.output.plot.axis_scale import number_text
from longfat.output.plot.line import MAX_SHARED_SCALE, split_scales
from longfat.output.plot.style import (
    INK,
    MAX_ENTRIES,
    MOMENT_DASHES,
    MUTED,
    NARROW_WIDTH_IN,
    OTHERS,
    Entry,
    LineStyle,
    add_legend,
    line_style,
)
from longfat.output.plot.traces import draw_lines, draw_references, top_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.output.plot.line import Line, Panel

_MAX_OVERLAID = 4  # cases that readers can distinguish in one panel
_MAX_DOTS = 100  # of all cases in one panel; more are a cloud
_ACROSS = 3  # thumbnails of one quantity side by side
_EDGE_IN = 0.1
_TICKS_IN = 0.42  # the numbers of a vertical axis
_TITLE_IN = 0.19  # above each thumbnail
_HEAD_IN = 0.2  # the names of the columns
_FOOT_IN = 0.42  # the numbers and the name of the time axis
_LINE_IN = 0.17
_ROW_IN = 0.55  # the height of a thumbnail among others of its case
_FEW_ROWS = 4  # they are higher
_ALONE_IN = 1.15  # and of one among those of other cases
_SMALL_PT = 6.5
_NAME_PT = 7.5
_ROOM_ABOVE = 1.12
_STREAMS = re.compile(r" ?\(\d+ streams\)$")
_UNNAMED = LineStyle(colour=INK, dash="-", mark="")  # beside lines that have names


def are_crowded(panels: Sequence[Panel]) -> bool:
    """Return whether the lines of several cases are too many to be read in one panel each.

    So are those of few cases whose scales differ in most of the quantities.
    """
    lines = [line for panel in panels for line in panel.lines if not line.empty]
    cases = {line.case for line in lines}
    if len(cases) < 2:
        return False
    dots = max((sum(len(o.times_s) for o in panel.lines if o.dots) for panel in panels), default=0)
    return (
        len(cases) > _MAX_OVERLAID
        or len({line.label for line in lines}) > MAX_ENTRIES
        or any(line.parts for line in lines)
        or (len(cases) > 2 and dots > _MAX_DOTS)
        or sum(len(split_scales(panel)) for panel in panels) > len(panels) + 1
    )


def draw_small_multiples(
    panels: Sequence[Panel],
    *,
    title: str,
    time_label: str,
    span_s: tuple[float, float],
    note: str,
    width_in: float,
) -> Figure:
    """Draw a thumbnail for each case and quantity.

    Args:
        panels: the quantities, each with the lines of all cases.
        title: the text above; empty for none.
        time_label: the label of the time axis.
        span_s: its start and end, in seconds.
        note: the text below.
        width_in: the width, in inches.
    """
    cases = list(dict.fromkeys(case for panel in panels for case in panel.cases))
    if len(panels) == 1:
        columns = min(len(cases), 2 if width_in <= NARROW_WIDTH_IN else _ACROSS)
    else:
        columns = len(panels)
    cells = [(panel, case) for case in cases for panel in panels]
    rows = math.ceil(len(cells) / columns)
    each_in = _ALONE_IN if len(panels) == 1 or rows <= _FEW_ROWS else _ROW_IN
    titles = textwrap.wrap(title, width=int(width_in * 11))
    top_in = _EDGE_IN + _LINE_IN * 1.2 * len(titles) + (_HEAD_IN if len(panels) > 1 else 0.0)
    foot_lines = _foot(panels, time_label, note, width_in=width_in)
    height_in = top_in + rows * (_TITLE_IN + each_in) + _FOOT_IN + _LINE_IN * (len(foot_lines) - 1)
    figure = Figure(figsize=(width_in, height_in))
    slot_in = (width_in - 2 * _EDGE_IN) / columns
    axes_in = slot_in - _TICKS_IN
    line_styles = _line_styles(panels)
    for place, (panel, case) in enumerate(cells):
        row, column = divmod(place, columns)
        left_in = _EDGE_IN + column * slot_in + _TICKS_IN
        bottom_in = height_in - top_in - (row + 1) * (_TITLE_IN + each_in)
        axes = figure.add_axes(
            (left_in / width_in, bottom_in / height_in, axes_in / width_in, each_in / height_in),
            label=f"{panel.name} {case}",
        )
        named = column == 0 or len(panels) == 1
        _draw_cell(axes, panel, case, line_styles, axes_in=axes_in, name=case if named else "")
        axes.set_xlim(*span_s)
        axes.xaxis.set_tick_params(labelbottom=place + columns >= len(cells))
        if len(panels) > 1 and row == 0:
            figure.text(
                (left_in - _TICKS_IN * 0.8) / width_in,
                1 - (top_in - _HEAD_IN) / height_in,
                "\n".join(textwrap.wrap(_head(panel), width=int(slot_in / 0.075))[:1]),
                fontsize=_NAME_PT + 1,
                fontweight="bold",
                color=INK,
                va="top",
            )
    if titles:
        figure.text(
            _EDGE_IN / width_in,
            1 - _EDGE_IN / height_in,
            "\n".join(titles),
            fontsize=10.5,
            fontweight="bold",
            color=INK,
            va="top",
        )
    figure.text(
        0.5,
        0.04 / height_in,
        "\n".join(foot_lines),
        ha="center",
        va="bottom",
        fontsize=_NAME_PT,
        color=INK,
        linespacing=1.35,
    )
    if len([name for name in line_styles if name]) > 1:
        _add_legend(figure, line_styles, width_in=width_in)
    return figure


def _head(panel: Panel) -> str:
    """Return the name of a column: the panel's title without its notes."""
    return panel.title.partition(" (")[0].partition(":")[0]


def _foot(panels: Sequence[Panel], time_label: str, note: str, *, width_in: float) -> list[str]:
    references = dict.fromkeys(
        reference.label.partition(" of ")[0] for panel in panels for reference in panel.references
    )
    notes = [note, f"dashed: {', '.join(references)}" if references else ""]
    notes.append("dotted: events" if any(panel.moments for panel in panels) else "")
    text = "; ".join(filter(None, notes))
    return [time_label, *textwrap.wrap(text, width=int(width_in * 15))]


def short_label(line: Line) -> str:
    """Return what a line is called in the thumbnail of its case, without its count of streams."""
    return _STREAMS.sub("", line.label.removeprefix(line.case).lstrip(".")).strip()


def _line_styles(panels: Sequence[Panel]) -> dict[str, Entry]:
    """Return the legend: what a line of any case is called, and its style."""
    entries: dict[str, Entry] = {}
    for panel in panels:
        for case in panel.cases:
            for line in panel.lines:
                if line.case == case and not line.empty:
                    entry = Entry(short_label(line), line_style(0), line.dots)
                    entries.setdefault(entry.label, entry)
    named = [name for name in entries if name]
    for style_index, name in enumerate(named):
        crowded = len(named) > MAX_ENTRIES and style_index >= MAX_ENTRIES - 1
        style = OTHERS if crowded else line_style(style_index)
        if len(entries) == 1 and not entries[name].dots:
            style = replace(style, mark="")  # a single line needs no mark
        entries[name] = replace(entries[name], style=style)
    if "" in entries and not entries[""].dots:
        alone = replace(line_style(0), mark="")
        entries[""] = replace(entries[""], style=_UNNAMED if named else alone)
    return entries


def _draw_cell(
    axes: Any,
    panel: Panel,
    case: str,
    line_styles: dict[str, Entry],
    *,
    axes_in: float,
    name: str,
) -> None:
    lines = [line for line in panel.lines if line.case == case]
    scale, top = _scale(panel, lines)
    styles: dict[str, LineStyle] = {
        line.label: line_styles[short_label(line)].style
        for line in lines
        if short_label(line) in line_styles
    }
    floor = draw_lines(axes, lines, scale, axes_width_in=axes_in, styles=styles, small=True)
    own = [one for one in panel.references if not one.cases or case in one.cases]
    near = draw_references(
        axes, own, scale, data_top=min(top_of(lines, scale), top * scale.factor or math.inf)
    )
    drawn = [one.value for one, is_near in zip(own, near, strict=True) if is_near]
    for moment in panel.moments:
        if not moment.cases or case in moment.cases:
            axes.axvline(moment.at_s, color=MUTED, linewidth=0.7, linestyle=MOMENT_DASHES)
    axes.set_ylim(floor * 1.3, max([top, *drawn]) * scale.factor * _ROOM_ABOVE or 1)
    whole = panel.unit is Unit.COUNT and scale.factor == 1.0
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=whole))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: number_text(value) if value >= 0 else "")
    )
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
    axes.tick_params(labelsize=_SMALL_PT, length=2, pad=2)
    axes.set_title(scale.unit, loc="right", fontsize=_SMALL_PT, fontweight="normal", pad=2)
    axes.set_title(name, loc="left", fontsize=_NAME_PT, pad=2, x=-_TICKS_IN * 0.8 / axes_in)
    if not lines or all(line.empty for line in lines):
        axes.text(0.5, 0.5, "no data", ha="center", va="center", transform=axes.transAxes)


def _scale(panel: Panel, lines: Sequence[Line]) -> tuple[Scale, float]:
    """Return the scale of a thumbnail and the top of its axis, in the base unit."""
    tops = [max(line.largest for line in panel.lines if line.case == case) for case in panel.cases]
    known = [top for top in tops if top > 0] or [0.0]
    shared = max(known) <= MAX_SHARED_SCALE * min(known)
    top = max(known) if shared else max((line.largest for line in lines), default=0.0)
    return scale_for(panel.unit, top, counted=panel.counted), top


def _add_legend(figure: Figure, line_styles: dict[str, Entry], *, width_in: float) -> None:
    """Add the legend at the bottom, for which the figure grows."""
    entries = [o for o in line_styles.values() if o.label and o.style is not OTHERS]
    others = [entry for entry in line_styles.values() if entry.style is OTHERS]
    if others:
        label = others[0].label if len(others) == 1 else f"{len(others)} others"
        entries.append(Entry(label, OTHERS, others[0].dots))
    before_in = figure.get_figheight()
    add_legend(figure, entries, width_in=width_in, outside=False)
    after_in = figure.get_figheight()
    grown_in = after_in - before_in
    for axes in figure.axes:
        box = axes.get_position()
        axes.set_position(
            (
                box.x0,
                (box.y0 * before_in + grown_in) / after_in,
                box.width,
                box.height * before_in / after_in,
            )
        )
    for text in figure.texts:
        x, y = text.get_position()
        text.set_position((x, (y * before_in + grown_in) / after_in))
