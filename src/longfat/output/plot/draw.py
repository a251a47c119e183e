"""Panels over time: one below the other, with one time axis.

Each figure is a `matplotlib.figure.Figure` without pyplot's global state.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat.model.scales import Scale, scale_for
from longfat.model.units import format_quantity
from longfat.output.plot.labels import label_ends, reserve_room
from longfat.output.plot.line import thin_line
from longfat.output.plot.style import (
    MUTED,
    NARROW_WIDTH_IN,
    PAGE_WIDTH_IN,
    REFERENCE_DASHES,
    Entry,
    LineStyle,
    add_legend,
    figure_title,
    fits_beside,
    line_style,
    panel_title,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.output.plot.line import Line, Moment, Panel, Trace

__all__ = ["NARROW_WIDTH_IN", "PAGE_WIDTH_IN", "VIRTUAL_TIME", "draw_panels"]

VIRTUAL_TIME = "virtual time since the traffic's start (s)"
"""The label of a run's time axis."""

_PANEL_HEIGHT_IN = 2.0
_ALONE_HEIGHT_IN = 3.2
_MARGIN_IN = 1.0  # beside the axes: the numbers and the unit
_COLUMNS_AN_INCH = 144  # finer than a screen's pixels; more cannot be seen on paper
_FEW_POINTS = 40  # each gets a mark
_SOME_MARKS = 12  # a line of more points gets this many
_DENSE = 150  # dashes would be lost in the zigzag of so many points
_FAR_REFERENCE = 4.0  # times the data; a farther one would compress the data
_ROOM_ABOVE = 1.16
_MAX_MOMENTS = 8  # get a number and a label; more would be a text beside the figure
_MOMENT_DASHES = (0, (1, 2))


def draw_panels(
    panels: Sequence[Panel],
    *,
    title: str = "",
    time_label: str = VIRTUAL_TIME,
    span_s: tuple[float, float] | None = None,
    note: str = "",
    width_in: float = PAGE_WIDTH_IN,
) -> Figure:
    """Draw quantities over time, a panel each.

    Draw and save inside `longfat.output.plot.figure_style`.

    Args:
        panels: the panels, from above; a panel without any value is left out.
        title: the text above; empty if the context already shows it.
        time_label: the label of the time axis.
        span_s: start and end of the time axis, in seconds; None for 0 to the
            last value.
        note: the text below the time axis, such as the meaning of a band.
        width_in: the width, in inches.
    """
    shown = [panel for panel in panels if not panel.empty]
    start_s, end_s = _span_s(shown) if span_s is None else span_s
    shown = [panel.cut(start_s, end_s) for panel in shown]
    each_in = _PANEL_HEIGHT_IN if len(shown) > 1 else _ALONE_HEIGHT_IN
    figure = Figure(figsize=(width_in, 0.9 + each_in * len(shown)), layout="constrained")
    figure_title(figure, title, width_in=width_in)
    if not shown:
        return figure
    stack = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    entries = _entries(shown)
    named = len(entries) > 1 or any(line.parts and line.label for p in shown for line in p.lines)
    labels = [entry.label for entry in entries]
    beside = named and fits_beside(labels, width_in=width_in)
    axes_in = width_in - _MARGIN_IN
    if beside:
        axes_in -= reserve_room(figure, labels, width_in=width_in)
    stack[-1].set_xlim(start_s, end_s)
    moments = shown[0].moments
    words = _moment_words(moments, width_in=width_in)
    stack[-1].set_xlabel("\n".join(filter(None, (time_label, note, words))))
    if len(moments) <= _MAX_MOMENTS:
        _number_moments(stack[0], moments)
    for axes, panel in zip(stack, shown, strict=True):
        scale = scale_for(panel.unit, panel.largest, counted=panel.counted)
        _draw_panel(axes, panel, scale, axes_width_in=axes_in)
        if beside:
            lines = [line for line in panel.lines if line.label]
            label_ends(
                axes,
                [line.label for line in lines],
                [_end(line, scale) for line in lines],
                [line_style(line.look) for line in lines],
                height_in=each_in - 0.5,
            )
    if named and not beside:
        add_legend(figure, entries, width_in=width_in)
    return figure


def _span_s(panels: Sequence[Panel]) -> tuple[float, float]:
    spans = [panel.span_s for panel in panels] or [(0.0, 1.0)]
    start_s, end_s = min(0.0, *(span[0] for span in spans)), max(span[1] for span in spans)
    return start_s, end_s if end_s > start_s else start_s + 1.0


def _entries(panels: Sequence[Panel]) -> list[Entry]:
    """Return every label once, in the order of the lines."""
    found: dict[str, Entry] = {}
    for panel in panels:
        for line in panel.lines:
            if line.label and not line.empty:
                style = line_style(line.look)
                if len(line.times_s) > _DENSE:
                    style = replace(style, dash="-")
                found.setdefault(line.label, Entry(line.label, style, line.dots))
    return list(found.values())


def _draw_panel(axes: Any, panel: Panel, scale: Scale, *, axes_width_in: float) -> None:
    columns = max(50, int(axes_width_in * _COLUMNS_AN_INCH))
    top = panel.largest * scale.factor
    rank_below = 0
    floor = 0.0
    for rank, whole in enumerate(panel.lines):
        if whole.empty:
            continue  # an empty line would take space at the figure's corner
        line = thin_line(whole, columns=columns)
        style = line_style(line.look)
        for part in line.parts:
            _draw_part(axes, part, scale, style, steps=line.steps)
        if line.low is not None and line.high is not None:
            axes.fill_between(
                line.times_s,
                line.low * scale.factor,
                line.high * scale.factor,
                step="post" if line.steps else None,
                color=style.colour,
                alpha=0.2,
                linewidth=0,
                zorder=1.8,
            )
        _draw_main(axes, line, scale, style, below=len(panel.lines) - 1 - rank)
        if line.missing_s is not None and len(line.missing_s):
            rank_below += 1  # a row for each line that misses any
            floor = -0.1 * (top or 1.0) * rank_below
            axes.plot(
                line.missing_s,
                [floor] * len(line.missing_s),
                "x",
                color=style.colour,
                markersize=5,
                clip_on=False,
            )
    top, texts = _draw_references(axes, panel, scale, top)
    for moment in panel.moments:
        axes.axvline(moment.at_s, color=MUTED, linewidth=0.9, linestyle=_MOMENT_DASHES, zorder=1.4)
    axes.set_ylim(floor * 1.3, top * _ROOM_ABOVE or 1)
    title = panel.title + ("  (x: no reply)" if floor else "")
    panel_title(axes, title, texts, axes_width_in=axes_width_in)
    axes.set_ylabel(scale.unit)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=scale.factor == 1.0))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if value >= 0 else "")
    )


def _number_moments(axes: Any, moments: Sequence[Moment]) -> None:
    for number, moment in enumerate(moments, start=1):
        axes.annotate(
            str(number),
            (moment.at_s, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            va="top",
            fontsize="x-small",
            color=MUTED,
            zorder=4,
        )


def _moment_words(moments: Sequence[Moment], *, width_in: float) -> str:
    """Return what happened at the dotted lines, wrapped to the figure's width."""
    if not moments:
        return ""
    if len(moments) > _MAX_MOMENTS:
        return f"dotted: {len(moments)} events"
    texts = [f"{n}: {one.label} ({one.at_s:.4g} s)" for n, one in enumerate(moments, start=1)]
    # Characters of this size are about a twelfth of an inch wide.
    return textwrap.fill("; ".join(texts), width=int(width_in * 12))


def _draw_references(axes: Any, panel: Panel, scale: Scale, top: float) -> tuple[float, list[str]]:
    """Draw references near the data; return the new top and a text for each."""
    texts = []
    # Without any value a reference is all that the axis can show.
    data_top = top if panel.has_values else math.inf
    for rank, reference in enumerate(panel.references):
        height = reference.value * scale.factor
        text = f"{reference.label} {format_quantity(reference.value, panel.unit)}"
        if height > _FAR_REFERENCE * data_top:
            texts.append(f"{text}, far above")
            continue
        texts.append(text)
        top = max(top, height)
        dash = REFERENCE_DASHES[rank % len(REFERENCE_DASHES)]
        axes.axhline(height, color=MUTED, linewidth=1.0, linestyle=dash, zorder=1.5)
    return top, texts


def _draw_part(axes: Any, part: Trace, scale: Scale, style: LineStyle, *, steps: bool) -> None:
    dense = len(part.times_s) > _DENSE
    axes.plot(
        part.times_s,
        part.values * scale.factor,
        color=style.colour,
        linewidth=0.45 if dense else 0.7,
        alpha=0.3 if dense else 0.45,
        drawstyle="steps-post" if steps else "default",
    )


def _draw_main(axes: Any, line: Line, scale: Scale, style: LineStyle, *, below: int) -> None:
    points = len(line.times_s)
    if not points:
        return
    dense = points > _DENSE
    # Equal dots overlap: where there are few, the lower ones are larger.
    size = 4.5 + 2.2 * min(below, 4) if line.dots and points <= _FEW_POINTS else 4.5
    many_dots = line.dots and dense
    axes.plot(
        line.times_s,
        line.values * scale.factor,
        color=style.colour,
        linestyle="none" if line.dots else "-" if dense else style.dash,
        linewidth=1.1 if dense else 1.7,
        drawstyle="steps-post" if line.steps else "default",
        marker=style.mark,
        markersize=2.0 if many_dots else size,
        markerfacecolor="none" if line.dots and not many_dots else style.colour,
        markeredgecolor=style.colour,
        markeredgewidth=0.8,
        markevery=None if line.dots else _marked(line, look=line.look),
        clip_on=dense and not line.dots,
        zorder=3,
    )


def _marked(line: Line, *, look: int) -> list[int]:
    """Return which points get a mark: all if they are few, otherwise evenly spread ones.

    Lines of different looks get them at different times, so that none is hidden.
    """
    points = len(line.times_s)
    if points <= _FEW_POINTS:
        return list(range(points))
    start_s, end_s = line.times_s[0], line.times_s[-1]
    shift = (look % 4) / 4 + 0.125
    wanted = start_s + (np.arange(_SOME_MARKS) + shift) * (end_s - start_s) / _SOME_MARKS
    places = np.searchsorted(line.times_s, wanted)
    return sorted({int(place) for place in places if place < points})


def _end(line: Line, scale: Scale) -> tuple[float, float] | None:
    known = np.flatnonzero(np.isfinite(line.values))
    if not len(known):
        return None
    # The very last value is no good estimate of where a long line is.
    last = known[-max(1, len(known) // 20) :] if len(known) > _DENSE else known[-1:]
    return float(line.times_s[known[-1]]), float(np.median(line.values[last])) * scale.factor
