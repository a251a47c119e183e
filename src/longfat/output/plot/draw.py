"""Panels over time: one below the other, with one time axis.

Each figure is a `matplotlib.figure.Figure` without pyplot's global state.
"""

from __future__ import annotations

import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat.model.scales import Scale, scale_for
from longfat.model.units import format_quantity
from longfat.output.plot.axis_scale import number_text
from longfat.output.plot.labels import label_ends, reserve_room
from longfat.output.plot.line import split_scales
from longfat.output.plot.small_multiples import are_crowded, draw_small_multiples
from longfat.output.plot.style import (
    MAX_ENTRIES,
    MOMENT_DASHES,
    MUTED,
    NARROW_WIDTH_IN,
    OTHERS,
    PAGE_WIDTH_IN,
    Entry,
    LineStyle,
    add_legend,
    figure_title,
    fits_beside,
    line_style,
    panel_title,
)
from longfat.output.plot.traces import DENSE, draw_lines, draw_references, top_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.output.plot.line import Line, Moment, Panel

__all__ = ["NARROW_WIDTH_IN", "PAGE_WIDTH_IN", "VIRTUAL_TIME", "draw_panels"]

VIRTUAL_TIME = "virtual time since the traffic's start (s)"
"""The label of a run's time axis."""

_PANEL_HEIGHT_IN = 2.0
_ALONE_HEIGHT_IN = 2.8
_MARGIN_IN = 1.0  # beside the axes: the numbers and the unit
_ROOM_ABOVE = 1.16
_MAX_MOMENTS = 8  # get a number and a label; more would be a text beside the figure


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
        panels: the panels, from above; a panel without any value is left out. Those of more
            cases than can be read in one panel are drawn as small multiples.
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
    if are_crowded(shown):
        return draw_small_multiples(
            shown,
            title=title,
            time_label=time_label,
            span_s=(start_s, end_s),
            note=note,
            width_in=width_in,
        )
    shown = [part for panel in shown for part in split_scales(panel)]
    each_in = _PANEL_HEIGHT_IN if len(shown) > 1 else _ALONE_HEIGHT_IN
    figure = Figure(figsize=(width_in, 0.9 + each_in * len(shown)), layout="constrained")
    figure_title(figure, title, width_in=width_in)
    if not shown:
        return figure
    stack = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    crowd = _Crowd(shown)
    entries = crowd.entries
    named = len(entries) > 1 or any(line.parts and line.label for p in shown for line in p.lines)
    labels = [entry.label for entry in entries]
    beside = named and not crowd.styles and fits_beside(labels, width_in=width_in)
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
        _draw_panel(axes, panel, scale, crowd=crowd, axes_in=axes_in)
        if beside:
            lines = [line for line in panel.lines if line.label and line.label not in crowd.styles]
            label_ends(
                axes,
                [line.label for line in lines],
                [_end(line, scale) for line in lines],
                [line_style(line.style_index) for line in lines],
                height_in=each_in - 0.5,
            )
    if named and not beside:
        add_legend(figure, entries, width_in=width_in)
    return figure


def _span_s(panels: Sequence[Panel]) -> tuple[float, float]:
    spans = [panel.span_s for panel in panels] or [(0.0, 1.0)]
    start_s, end_s = min(0.0, *(span[0] for span in spans)), max(span[1] for span in spans)
    return start_s, end_s if end_s > start_s else start_s + 1.0


class _Crowd:
    """The entries of a figure's legend, and the lines that share one because there are too many."""

    def __init__(self, panels: Sequence[Panel]) -> None:
        named: dict[str, Entry] = {}
        for line in (line for panel in panels for line in panel.lines):
            if line.label and not line.empty:
                style = line_style(line.style_index)
                if len(line.times_s) > DENSE:
                    style = replace(style, dash="-")
                named.setdefault(line.label, Entry(line.label, style, line.dots))
        self.entries = list(named.values())
        self.styles: dict[str, LineStyle] = {}
        if len(named) > MAX_ENTRIES:
            others = self.entries[MAX_ENTRIES - 1 :]
            self.styles = {entry.label: OTHERS for entry in others}
            more = Entry(f"{len(others)} others", OTHERS, all(entry.dots for entry in others))
            self.entries = [*self.entries[: MAX_ENTRIES - 1], more]


def _draw_panel(axes: Any, panel: Panel, scale: Scale, *, crowd: _Crowd, axes_in: float) -> None:
    floor = draw_lines(axes, panel.lines, scale, axes_width_in=axes_in, styles=crowd.styles)
    near = draw_references(axes, panel.references, scale, data_top=top_of(panel.lines, scale))
    texts = [
        f"{one.label} {format_quantity(one.value, panel.unit)}" + ("" if is_near else ", far above")
        for one, is_near in zip(panel.references, near, strict=True)
    ]
    drawn = [one.value for one, is_near in zip(panel.references, near, strict=True) if is_near]
    top = max([panel.largest, *drawn]) * scale.factor
    for moment in panel.moments:
        axes.axvline(moment.at_s, color=MUTED, linewidth=0.9, linestyle=MOMENT_DASHES, zorder=1.4)
    axes.set_ylim(floor * 1.3, top * _ROOM_ABOVE or 1)
    title = panel.title + ("  (x: no reply)" if floor else "")
    panel_title(axes, title, texts, axes_width_in=axes_in)
    axes.set_ylabel(scale.unit)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=scale.factor == 1.0))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: number_text(value) if value >= 0 else "")
    )
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))


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


def _end(line: Line, scale: Scale) -> tuple[float, float] | None:
    known = np.flatnonzero(np.isfinite(line.values))
    if not len(known):
        return None
    # The very last value is no good estimate of where a long line is.
    last = known[-max(1, len(known) // 20) :] if len(known) > DENSE else known[-1:]
    return float(line.times_s[known[-1]]), float(np.median(line.values[last])) * scale.factor
