"""The figures of a study: traffic over time, and ping's replies.

Each is a `matplotlib.figure.Figure` without pyplot's global state. Lines are
named beside their ends where there is room, else in a legend above the panels;
either way nothing covers the data.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from longfat.report.labels import label_ends, reserve_room
from longfat.report.scales import Scale, rate_scale, size_scale, time_scale
from longfat.report.style import INK, MUTED, LineStyle, line_style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.report.series import Lines, PingSeries, Points, TrafficSeries

PAGE_WIDTH_IN = 7.5
NARROW_WIDTH_IN = 3.9

_PANEL_HEIGHT_IN = 2.0
_AXES_HEIGHT_IN = 1.5  # of a panel, without title and numbers
_LEGEND_ROW_IN = 0.19
_MOST_MARKS = 40  # more of them hide the line
_MOST_END_LABELS = 9
_LONGEST_END_LABEL = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """What is known of the path that all flows share; None where they differ.

    Attributes:
        rate_bps: the rate of the bottleneck, in bit/s.
        bdp_bytes: the bandwidth-delay product, in bytes.
        rtt_s: the RTT while it is idle, in seconds.
    """

    rate_bps: float | None = None
    bdp_bytes: float | None = None
    rtt_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Panel:
    title: str
    scale: Scale
    lines: Sequence[Lines]
    reference: float | None
    reference_name: str


def draw_traffic(
    series: Sequence[TrafficSeries],
    *,
    title: str,
    references: References | None = None,
    width_in: float = PAGE_WIDTH_IN,
) -> Figure:
    """Draw throughput, congestion window and RTT over time, one panel each.

    A panel without any value (cwnd of UDP) is left out. Draw and save inside
    `longfat.report.style.figure_style`.

    Args:
        series: the flows; at least one.
        title: what stands above; empty where the surroundings say it.
        references: what to draw for comparison.
        width_in: the width, in inches.
    """
    known = references or References()
    panels = [
        panel
        for panel in _traffic_panels(series, known, width_in)
        if any(x.main for x in panel.lines)
    ]
    figure = Figure(figsize=(width_in, 0.9 + _PANEL_HEIGHT_IN * len(panels)), layout="constrained")
    _title(figure, title, width_in)
    styles = [line_style(one.look) for one in series]
    labels = [_series_label(one) for one in series]
    stack = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    beside = _fits_beside(labels, width_in)
    ends = []
    for axes, panel in zip(stack, panels, strict=True):
        _draw_panel(axes, panel, styles)
        ends.append([lines.main[-1] if lines.main else None for lines in panel.lines])
    stack[-1].set_xlim(0, max(one.end_s for one in series) or 1.0)
    stack[-1].set_xlabel("virtual time since the first flow's start (s)")
    if beside:
        reserve_room(figure, labels, width_in=width_in)
        for axes, panel, points in zip(stack, panels, ends, strict=True):
            factor = panel.scale.factor
            scaled = [None if end is None else (end[0], end[1] * factor) for end in points]
            label_ends(axes, labels, scaled, styles, height_in=_AXES_HEIGHT_IN)
    elif len(series) > 1 or series[0].streams > 1:
        _legend(figure, stack[0], labels, styles, width_in)
    return figure


def draw_pings(
    series: Sequence[PingSeries], *, title: str, width_in: float = PAGE_WIDTH_IN
) -> Figure:
    """Draw the RTT of each request; requests without a reply are crosses at the bottom.

    Args:
        series: the flows; at least one.
        title: what stands above; empty where the surroundings say it.
        width_in: the width, in inches.
    """
    figure = Figure(figsize=(width_in, 0.6 + 1.25 * _PANEL_HEIGHT_IN), layout="constrained")
    _title(figure, title, width_in)
    axes = figure.subplots()
    styles = [line_style(one.look) for one in series]
    labels = [one.label for one in series]
    largest_s = max((rtt_s for one in series for _, rtt_s in one.replies), default=0.0)
    scale = time_scale(largest_s)
    top = largest_s * scale.factor or 1.0
    ends: list[tuple[float, float] | None] = []
    floor = 0.0
    last = 1.0
    for rank, (one, style) in enumerate(zip(series, styles, strict=True)):
        # Equal lines lie over each other: the lower ones have the larger marks.
        size = 4.5 + 2.2 * min(len(series) - 1 - rank, 4)
        _draw_line(axes, one.replies, scale, style, mark_size=size)
        end = (one.replies[-1][0], one.replies[-1][1] * scale.factor) if one.replies else None
        if one.lost:
            floor -= top * 0.1  # a row for each flow that lost any
            axes.plot(one.lost, [floor] * len(one.lost), "x", color=style.colour, markersize=5)
            end = end or (one.lost[-1], floor)
        last = max([last, *one.lost, *(number for number, _ in one.replies)])
        ends.append(end)
    axes.set_xlim(0.5, last + 0.5)
    axes.set_ylim(floor * 1.3, top * 1.12)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:g}" if value >= 0 else "")
    )
    axes.set_title("ping: RTT of each request")
    axes.set_xlabel("request" + (" (x: no reply)" if floor else ""))
    axes.set_ylabel(scale.unit)
    if _fits_beside(labels, width_in):
        reserve_room(figure, labels, width_in=width_in)
        label_ends(axes, labels, ends, styles, height_in=_AXES_HEIGHT_IN)
    else:
        _legend(figure, axes, labels, styles, width_in)
    return figure


def _traffic_panels(
    series: Sequence[TrafficSeries], known: References, width_in: float
) -> list[_Panel]:
    many = any(one.streams > 1 for one in series)
    thin = "; thin: each stream" if width_in > NARROW_WIDTH_IN else ""
    total, mean = (f" (sum{thin})", f" (mean{thin})") if many else ("", "")
    throughput = [one.throughput for one in series]
    cwnd = [one.cwnd for one in series]
    rtt = [one.rtt for one in series]
    return [
        _Panel(
            title=f"Throughput{total}",
            scale=rate_scale(_largest(throughput)),
            lines=throughput,
            reference=known.rate_bps,
            reference_name="bottleneck",
        ),
        _Panel(
            title=f"Congestion window{total}",
            scale=size_scale(_largest(cwnd)),
            lines=cwnd,
            reference=known.bdp_bytes,
            reference_name="BDP",
        ),
        _Panel(
            title=f"Smoothed RTT{mean}",
            scale=time_scale(_largest(rtt)),
            lines=rtt,
            reference=known.rtt_s,
            reference_name="idle path",
        ),
    ]


def _draw_panel(axes: Any, panel: _Panel, styles: Sequence[LineStyle]) -> None:
    factor = panel.scale.factor
    for lines, style in zip(panel.lines, styles, strict=True):
        for stream in lines.streams:
            times, values = _columns(stream, panel.scale)
            axes.plot(times, values, color=style.colour, linewidth=0.7, alpha=0.45)
        _draw_line(axes, lines.main, panel.scale, style)
    top = _largest(panel.lines) * factor
    if panel.reference is not None:
        height = panel.reference * factor
        # One that is far off would press the data flat.
        if height <= 4 * top:
            top = max(top, height)
            axes.axhline(height, color=MUTED, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1.5)
            # Beside the title it cannot cover data.
            axes.set_title(
                f"- - -  {panel.reference_name} {height:.3g} {panel.scale.unit}",
                loc="right",
                fontsize=8,
                fontweight="normal",
                color=MUTED,
            )
    axes.set_ylim(0, top * 1.16 or 1)
    axes.set_title(panel.title)
    axes.set_ylabel(panel.scale.unit)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _draw_line(
    axes: Any, points: Points, scale: Scale, style: LineStyle, *, mark_size: float = 4.5
) -> None:
    if not points:
        return  # an empty line would claim room at the figure's corner
    times, values = _columns(points, scale)
    axes.plot(
        times,
        values,
        color=style.colour,
        linestyle=style.dash,
        marker=style.mark,
        markersize=mark_size,
        markerfacecolor="none" if mark_size > 5 else style.colour,
        markeredgecolor=style.colour,
        markevery=max(1, len(points) // _MOST_MARKS),
        clip_on=False,
        zorder=3,
    )


def _columns(points: Points, scale: Scale) -> tuple[list[float], list[float]]:
    return [time_s for time_s, _ in points], [value * scale.factor for _, value in points]


def _largest(lines: Sequence[Lines]) -> float:
    return max((value for one in lines for _, value in one.main), default=0.0)


def _series_label(one: TrafficSeries) -> str:
    return one.label if one.streams == 1 else f"{one.label} ({one.streams} streams)"


def _fits_beside(labels: Sequence[str], width_in: float) -> bool:
    return (
        width_in > NARROW_WIDTH_IN
        and len(labels) <= _MOST_END_LABELS
        and max(map(len, labels)) <= _LONGEST_END_LABEL
    )


def _title(figure: Figure, title: str, width_in: float) -> None:
    if title:
        lines = textwrap.wrap(title, width=int(width_in * 11))
        figure.suptitle("\n".join(lines), fontsize=10.5, fontweight="bold", color=INK)


def _legend(
    figure: Figure, axes: Any, labels: Sequence[str], styles: Sequence[LineStyle], width_in: float
) -> None:
    handles = [
        axes.plot([], [], color=s.colour, linestyle=s.dash, marker=s.mark)[0] for s in styles
    ]
    across = max(1, int(width_in / (0.7 + 0.08 * max(map(len, labels)))))
    rows = math.ceil(len(labels) / across)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * rows)
    figure.legend(
        handles, labels, loc="outside lower left", ncols=min(across, len(labels)), handlelength=3.2
    )
    for handle in handles:
        handle.set_in_layout(False)
