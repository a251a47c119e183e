"""The figures of a report, each for the screen and for paper.

A figure has few lines; where there are many, each case gets a figure of its own, as
about half a dozen lines can be distinguished.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.timeseries.groups import seeds_note, verdict_groups
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk, Cbr, Flow, Ping, Video
from longfat.output.plot import MAX_PHASE_PANELS, draw_chart, draw_panels, draw_phase
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
_MAX_LINES = 7  # as many as there are colours
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
        draw: draws it static, with a width in inches and with a title above.
        chart: adds it to the zoomable charts.
        shown: everything that it shows, as values, except for its width and title.
    """

    name: str
    case: str
    words: str
    note: str
    draw: Callable[[float, str], Figure]
    chart: Callable[[ChartData], None]
    shown: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """The figures under one heading."""

    heading: str
    anchor: str
    figures: tuple[ReportFigure, ...]


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
    lines = sum(kind == "tcp" for group in groups for kind, _ in group.things())
    apart = [("", groups)]
    if lines > _MAX_LINES and len(groups) > 1:
        apart = [(group.label, [dataclasses.replace(group, label="")]) for group in groups]
    series = [(case, Series(of_case, from_first=Bulk)) for case, of_case in apart]
    traffic = [
        _over_time("traffic", case, panels, _TRAFFIC_TIME, note=seeds_note(one.groups))
        for case, one in series
        if (panels := _panels(one))
    ]
    phases = [_phase(case, traces, one) for case, one in series if (traces := one.phase_traces())]
    pings = Series(groups, from_first=Ping).panel("rtt", kinds=("ping",))
    shown = (
        FigureGroup("Traffic over time", "traffic", tuple(traffic)),
        FigureGroup("Queue against congestion window", "phase", tuple(phases)),
        FigureGroup(
            "Round-trip time of each ping",
            "pings",
            ()
            if pings is None
            else (_over_time("ping", "", [pings], _PING_TIME, note=seeds_note(groups)),),
        ),
        *(_of_kind(kind, groups) for kind in _OWN_TIME),
        FigureGroup(
            "Completion times of requests",
            "completion",
            tuple(_completion(chart) for chart in completion_charts(groups)),
        ),
    )
    return tuple(group for group in shown if group.figures)


def _of_kind(kind: type[Flow], groups: Sequence[Group]) -> FigureGroup:
    """Return the figures over time of flows other than bulk traffic."""
    name, heading, metrics = _OWN_TIME[kind]
    series = Series(groups, from_first=kind)
    found = [series.panel(metric, kinds=(name,)) for metric in metrics]
    panels = [panel for panel in found if panel is not None]
    figures = (_over_time(name, "", panels, _FLOW_TIME, note=seeds_note(groups)),) if panels else ()
    return FigureGroup(heading, name, figures)


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
    kind: str, case: str, panels: Sequence[Panel], time_label: str, *, note: str
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
        data.add_panels(name, panels, time_label=time_label, span_s=span_s)

    return ReportFigure(
        name,
        case,
        f"{titles} over virtual time of {whose}.",
        note,
        draw,
        chart,
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
