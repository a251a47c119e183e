"""The figures of a report, each for the screen and for paper.

A figure has few lines, as about half a dozen can be distinguished. Where there are many, paper
has a row of thumbnails for each case, and the page also has a figure with zoom for each.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.timeseries.groups import seeds_note, verdict_groups
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk, Cbr, Flow, Ping, Video
from longfat.output.plot import MAX_PHASE_PANELS, draw_chart, draw_panels, draw_phase
from longfat.output.plot.line import split_scales
from longfat.output.plot.small_multiples import are_crowded
from longfat.output.report.charts import ChartData
from longfat.output.report.completion import completion_charts
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure

    from longfat.analysis.timeseries.groups import Group
    from longfat.analysis.verdict import Verdict
    from longfat.output.plot import Chart, Panel, PhaseTrace

_OVER_TIME = ("throughput", "rtt", "cwnd", "queue", "retransmits")
_MAX_ROWS = 6  # of thumbnails in a figure; a higher one leaves much of a page empty
_TRAFFIC_TIME = "virtual time since the first flow's start (s)"
_PING_TIME = "virtual time since the first request (s)"
_FLOW_TIME = "virtual time since the flow's start (s)"
_CWND = "congestion window"
# Of flows other than bulk traffic: their kind, a heading, and what is drawn over time.
_OWN_TIME: Mapping[type[Flow], tuple[str, str, tuple[str, ...]]] = {
    Cbr: ("cbr", "Delay of each datagram", ("delay", "jitter")),
    Video: ("video", "Video", ("buffer", "bitrate")),
}


@dataclass(frozen=True, slots=True)
class ReportFigure:
    """A figure.

    Attributes:
        name: its name, unique in the report.
        case: the case that it is of; empty for all.
        words: what it shows, for screen readers.
        note: what a reader needs in order to interpret it.
        draw: draws it static, with a width in inches and with a title above; None for a figure
            that is on the screen alone.
        chart: adds it to the zoomable charts; None for a figure that is static everywhere.
        shown: everything that it shows, as values, except for its width and title.
    """

    name: str
    case: str
    words: str
    note: str
    draw: Callable[[float, str], Figure] | None
    chart: Callable[[ChartData], None] | None
    shown: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """The figures under one heading."""

    heading: str
    anchor: str
    figures: tuple[ReportFigure, ...]


def visible_groups(groups: Sequence[FigureGroup], *, zoomable: bool) -> tuple[FigureGroup, ...]:
    """Return the figures that a page can show, without groups that are empty then.

    Args:
        groups: the figures.
        zoomable: whether the page has the zoomable charts; otherwise the static figures alone.
    """
    shown = (
        dataclasses.replace(
            group,
            figures=tuple(one for one in group.figures if zoomable or one.draw is not None),
        )
        for group in groups
    )
    return tuple(group for group in shown if group.figures)


def figure_groups(verdict: Verdict) -> tuple[FigureGroup, ...]:
    """Return the figures of a report, by what they show.

    Args:
        verdict: the study with its runs.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    if not verdict.runs:
        return ()
    groups = verdict_groups(verdict)
    traffic = _figures_over_time("traffic", groups, _traffic, _TRAFFIC_TIME)
    shown = (
        FigureGroup("Traffic over time", "traffic", tuple(traffic)),
        FigureGroup("Queue against congestion window", "phase", tuple(_phases(groups))),
        FigureGroup(
            "Round-trip time of each ping",
            "pings",
            tuple(_figures_over_time("ping", groups, _pings, _PING_TIME)),
        ),
        *(_of_kind(kind, groups) for kind in _OWN_TIME),
        FigureGroup(
            "Completion times of requests",
            "completion",
            tuple(_completion(chart) for chart in completion_charts(groups)),
        ),
    )
    return tuple(group for group in shown if group.figures)


def _traffic(groups: Sequence[Group]) -> list[Panel]:
    return _panels(Series(groups, from_first=Bulk))


def _pings(groups: Sequence[Group]) -> list[Panel]:
    panel = Series(groups, from_first=Ping).panel("rtt", kinds=("ping",))
    return [] if panel is None else [panel]


def _figures_over_time(
    name: str,
    groups: Sequence[Group],
    panels_of: Callable[[Sequence[Group]], list[Panel]],
    time_label: str,
) -> list[ReportFigure]:
    """Return a figure of all cases; of many thumbnails, and a figure with zoom for each case.

    Args:
        name: the name of the figure.
        groups: the cases.
        panels_of: returns the panels of some cases.
        time_label: the label of the time axis.
    """
    panels = panels_of(groups)
    if not panels:
        return []
    if not are_crowded(panels):
        return [_over_time(name, "", panels, time_label, note=seeds_note(groups))]
    cases = {case for panel in panels for case in panel.cases}
    groups = [group for group in groups if group.label in cases]
    count = math.ceil(len(groups) / _MAX_ROWS)
    each = math.ceil(len(groups) / count)
    figures = []
    for number in range(count):
        some = groups[number * each : (number + 1) * each]
        # Retransmissions are in the tables.
        part = [o for o in (panels_of(some) if count > 1 else panels) if o.name != "retransmits"]
        if part:
            note = seeds_note(some)
            figure = _over_time(name, "", part, time_label, note=note, zoomable=False)
            own = f"{name}-{number + 1}" if count > 1 else name
            figures.append(dataclasses.replace(figure, name=own))
    for group in groups:
        alone = panels_of([dataclasses.replace(group, label="")])
        if alone:
            note = seeds_note([group])
            figure = _over_time(name, group.label, alone, time_label, note=note)
            figures.append(dataclasses.replace(figure, draw=None))
    return figures


def _phases(groups: Sequence[Group]) -> list[ReportFigure]:
    """Return the phase plots in one figure; of many, those of each case for the screen alone."""
    series = Series(groups, from_first=Bulk)
    traces = series.phase_traces()
    if not traces:
        return []
    if len(traces) <= MAX_PHASE_PANELS or len(groups) == 1:
        return [_phase("", traces, series)]
    figures = []
    for group in groups:
        series = Series([dataclasses.replace(group, label="")], from_first=Bulk)
        if traces := series.phase_traces():
            figures.append(dataclasses.replace(_phase(group.label, traces, series), draw=None))
    return figures


def _of_kind(kind: type[Flow], groups: Sequence[Group]) -> FigureGroup:
    """Return the figures over time of flows other than bulk traffic."""
    name, heading, metrics = _OWN_TIME[kind]

    def panels(some: Sequence[Group]) -> list[Panel]:
        series = Series(some, from_first=kind)
        drawn = (series.panel(metric, kinds=(name,)) for metric in metrics)
        return [panel for panel in drawn if panel is not None]

    return FigureGroup(heading, name, tuple(_figures_over_time(name, groups, panels, _FLOW_TIME)))


def _completion(chart: Chart) -> ReportFigure:
    def draw(width_in: float, title: str) -> Figure:
        return draw_chart(chart, title=title or chart.title, width_in=width_in)

    return ReportFigure(
        chart.name,
        "",
        f"The distribution of the {chart.title.lower()}, by the size of responses.",
        chart.note,
        draw,
        lambda data: data.add_chart(chart.name, chart),
        shown=(chart,),
    )


def _panels(series: Series) -> list[Panel]:
    found = [series.panel(metric, kinds=("tcp", "queue")) for metric in _OVER_TIME]
    # Retransmissions that never happened are in the tables.
    return [
        panel
        for panel in found
        if panel is not None and (panel.name != "retransmits" or panel.largest > 0)
    ]


def _over_time(
    kind: str,
    case: str,
    panels: Sequence[Panel],
    time_label: str,
    *,
    note: str,
    zoomable: bool = True,
) -> ReportFigure:
    names = list(dict.fromkeys(line.label for panel in panels for line in panel.lines))
    whose = ", ".join(filter(None, [case, *names]))
    # Samples before the first flow began are not traffic.
    span_s = 0.0, max(0.0, *(panel.span_s[1] for panel in panels)) or 1.0
    panels = [panel.cut(*span_s) for panel in panels]
    titles = ", ".join(panel.title for panel in panels)

    def draw(width_in: float, title: str) -> Figure:
        return draw_panels(
            panels,
            title=title,
            time_label=time_label,
            span_s=span_s,
            note=note,
            width_in=width_in,
        )

    name = f"{kind}-{case}" if case else kind

    def chart(data: ChartData) -> None:
        parts = [part for panel in panels for part in split_scales(panel)]
        data.add_panels(name, parts, time_label=time_label, span_s=span_s)

    return ReportFigure(
        name,
        case,
        f"{titles} over virtual time of {whose}.",
        note,
        draw,
        chart if zoomable else None,
        shown=(panels, time_label, span_s, note),
    )


def _phase(case: str, traces: Sequence[PhaseTrace], series: Series) -> ReportFigure:
    shown = list(traces[:MAX_PHASE_PANELS])
    interfaces = {n for group in series.groups for kind, n in group.things() if kind == "queue"}
    queue = f"queue of {interfaces.pop()}" if len(interfaces) == 1 else "queue"
    notes = ["colour: time; circle: start; square: end; dashed: BDP and the queue's limit"]
    if seeds_note(series.groups):
        notes.append("of the first seed")
    if len(traces) > len(shown):
        notes.append(f"the first {len(shown)} of {len(traces)}")

    def draw(width_in: float, title: str) -> Figure:
        return draw_phase(
            shown,
            across=(_CWND, Unit.BYTES),
            up=(queue, Unit.BYTES),
            mark_names=("BDP", "the queue's limit"),
            title=title,
            width_in=width_in,
        )

    name = f"phase-{case}" if case else "phase"
    return ReportFigure(
        name,
        case,
        f"The {queue} against the {_CWND} of {', '.join(one.label for one in shown)}.",
        "; ".join(notes),
        draw,
        lambda data: data.add_phase(name, shown, across=_CWND, up=queue),
        shown=(shown, queue),
    )
