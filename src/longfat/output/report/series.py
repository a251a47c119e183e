"""From runs to panels with labelled lines.

Runs that differ in their seeds only are one `Group`, and give one line each
flow: the median, with the band that 5 to 95 % of them fall in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.timeseries.curves import Curve, RunCurves
from longfat.output.plot import Line, Moment, Panel, PhaseTrace, band_line
from longfat.output.report.references import (
    known_path,
    path_bdp_bytes,
    path_references,
    queue_marks,
    queue_references,
)

if TYPE_CHECKING:
    from longfat.analysis.timeseries.groups import Group
    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

KINDS = ("tcp", "ping", "cbr", "video", "queue")

_TITLES = {
    "throughput": "Throughput",
    "cwnd": "Congestion window",
    "retransmits": "Retransmitted segments since the start",
    "delay": "One-way delay of each datagram",
    "jitter": "Jitter (RFC 3550)",
    "buffer": "Video in the player's buffer",
    "bitrate": "Bitrate of the segments",
}
# Kinds that share no panel with others.
_APART = ("queue", "cbr", "video")
# What the line of a flow with many streams is of their lines.
_TOGETHER = {"throughput": "sum", "cwnd": "sum", "retransmits": "sum", "rtt": "mean"}


class Series:
    """What some groups of runs have to draw.

    Args:
        groups: the groups; at least one.
        flows: the names of the flows to draw; empty for all.
        from_first: the kind of flows with whose first time begins, so that cases
            can be laid over each other; None for the traffic's start.
        style_indices: the styles of the groups, by their labels, where a group has the same one
            regardless of the others beside it; otherwise they are numbered in their order.
    """

    def __init__(
        self,
        groups: Sequence[Group],
        *,
        flows: Collection[str] = (),
        from_first: type[Flow] | None = None,
        style_indices: Mapping[str, int] | None = None,
    ) -> None:
        self.groups = groups
        self._style_indices = style_indices
        self.flows = flows
        self.from_first = from_first
        self._readers = [[RunCurves(run) for run in group.runs] for group in groups]

    def panel(self, metric: str, *, kinds: Collection[str] = KINDS) -> Panel | None:
        """Return the panel of a metric; None where no run has data for it.

        Args:
            metric: one of `longfat.analysis.timeseries.curves.METRICS`.
            kinds: the kinds of curves to draw.

        Raises:
            InputError: a file of a run is missing or broken.
        """
        drawn = [self._lines(readers, metric, kinds) for readers in self._readers]
        found = [[curve for curve, _ in pairs] for pairs in drawn]
        lines = [
            dataclasses.replace(
                line,
                label=self._label(self.groups[place], curve, found[place], metric),
                style_index=self._style_index(place, curve, kinds),
                case=self.groups[place].label,
            )
            for place, pairs in enumerate(drawn)
            for curve, line in pairs
        ]
        if all(line.empty for line in lines):
            return None
        if metric == "queue":
            names = [[curve.name for curve in curves] for curves in found]
            references = queue_references(self.groups, names)
        else:
            references = path_references(metric, self.groups, self.flows)
        return Panel(
            name=metric,
            title=self._title(metric, [pair for pairs in drawn for pair in pairs]),
            lines=tuple(lines),
            references=references if kinds != ("ping",) else (),
            counted="segments" if metric == "retransmits" else "",
            moments=self._moments(),
        )

    def phase_traces(self) -> list[PhaseTrace]:
        """Return queue against cwnd, for each flow and interface of each group's first run.

        Only flows with a tcp probe are included: what happens within a second is
        the purpose of such a figure. A queue that never changes, such as one that is empty
        throughout, has none.

        Raises:
            InputError: a file of a run is missing or broken.
        """
        found = []
        for group, (reader, *_) in zip(self.groups, self._readers, strict=True):
            wanted = self._wanted(reader.curves("cwnd"))
            cwnds = [cwnd for cwnd in wanted if reader.sampled(cwnd.name)]
            queues = [queue for queue in reader.curves("queue") if not queue.empty]
            for cwnd in cwnds:
                for queue in queues:
                    words = [group.label] if group.label else []
                    words += [cwnd.name] if len(cwnds) > 1 or not words else []
                    words += [queue.title] if len(queues) > 1 else []
                    found.append(_phase_trace(reader.run, cwnd, queue, label=" ".join(words)))
        return [trace for trace in found if _has_shape(trace)]

    def _moments(self) -> tuple[Moment, ...]:
        """Return the events of the first run of each group, on the time axis of the lines."""
        owners: dict[Moment, list[str]] = {}
        for group in self.groups:
            for one in group.first.event_times:
                at_s = round(one.at_s - self._shift_s(group.first), 6)
                owners.setdefault(Moment(at_s=at_s, label=one.words), []).append(group.label)
        return tuple(
            moment
            if len(whose) == len(self.groups)
            else dataclasses.replace(
                moment, label=f"{', '.join(whose)}: {moment.label}", cases=tuple(whose)
            )
            for moment, whose in sorted(owners.items(), key=lambda item: item[0].at_s)
        )

    def _lines(
        self, readers: Sequence[RunCurves], metric: str, kinds: Collection[str]
    ) -> list[tuple[Curve, Line]]:
        """Return the lines of a group: one for each flow, over all seeds.

        With each is its curve in the first run.
        """
        curves_of_runs = [
            {(c.kind, c.name): (of.run, c) for c in self._wanted(of.curves(metric))}
            for of in readers
        ]
        return [
            (
                first,
                band_line([self._line(*curves[key]) for curves in curves_of_runs if key in curves]),
            )
            for key, (_, first) in curves_of_runs[0].items()
            if first.kind in kinds
        ]

    def _wanted(self, curves: Sequence[Curve]) -> list[Curve]:
        return [c for c in curves if not self.flows or c.kind == "queue" or c.name in self.flows]

    def _shift_s(self, run: Run) -> float:
        """Return when the time axis of a run begins."""
        kind = self.from_first
        names = [f.name for f in run.case.flows if kind is not None and isinstance(f, kind)]
        return min((run.flow_times[name].start_s for name in names), default=0.0)

    def _line(self, run: Run, curve: Curve) -> Line:
        """Return the line of a curve, on the time axis of the panel."""
        line = Line(
            label="",
            times_s=curve.times_s,
            values=curve.values,
            unit=curve.unit,
            parts=curve.parts,
            dots=curve.dots,
            steps=curve.steps,
            missing_s=curve.missing_s,
        )
        shift_s = self._shift_s(run)
        return line.later(-shift_s) if shift_s else line

    def _label(self, group: Group, curve: Curve, curves: Sequence[Curve], metric: str) -> str:
        alike = sum(other.kind == curve.kind for other in curves)
        mixed = curve.kind == "ping" and any(other.kind != "ping" for other in curves)
        if not group.label:
            # A queue alone is labelled by the title.
            return "" if metric == "queue" and alike == 1 else _with_streams(group, curve)
        if alike > 1 or mixed:
            return f"{group.label}.{_with_streams(group, curve)}"
        return group.label + _with_streams(group, curve).removeprefix(curve.title)

    def _style_index(self, place: int, curve: Curve, kinds: Collection[str]) -> int:
        """Return the style of a curve: that of its case, if it is the first one there.

        So a case keeps its style from one panel to the next. TCP comes before pings, and a queue
        never shares a panel with flows.
        """
        wanted = (curve.kind, curve.name)
        if len(self.groups) == 1:
            return self.groups[0].things(self.flows).index(wanted)
        together = (curve.kind,) if curve.kind in _APART else ("tcp", "ping")
        alike = [
            [
                thing
                for kind in together
                if kind in kinds
                for thing in group.things(self.flows)
                if thing[0] == kind
            ]
            for group in self.groups
        ]
        rank = alike[place].index(wanted)
        if self._style_indices is not None:
            others = max(len(one) for one in alike) - 1
            style_index = self._style_indices[self.groups[place].label]
            return (
                style_index
                if rank == 0
                else len(self._style_indices) + style_index * others + rank - 1
            )
        if rank == 0:
            return place
        return len(self.groups) + sum(len(one) - 1 for one in alike[:place]) + rank - 1

    def _title(self, metric: str, drawn: Sequence[tuple[Curve, Line]]) -> str:
        curves = [curve for curve, _ in drawn]
        if metric == "queue":
            names = list(dict.fromkeys(curve.title for curve in curves))
            return f"Queue of {names[0]}" if len(names) == 1 else "Queues"
        title = _rtt_title(drawn) if metric == "rtt" else _TITLES[metric]
        notes = []
        many = {flow.name for g in self.groups for flow in g.bulk(self.flows) if flow.parallel > 1}
        if any(curve.kind == "tcp" and curve.name in many for curve in curves):
            notes.append(_TOGETHER[metric])
            notes += ["thin: each stream"] if any(line.parts for _, line in drawn) else []
        windows_s = sorted({curve.window_s for curve in curves})
        if windows_s and windows_s[0] > 0:
            ends = (f"{window_s * 1e3:.3g}" for window_s in (windows_s[0], windows_s[-1]))
            notes.append(f"means of {' to '.join(dict.fromkeys(ends))} ms")
        return f"{title} ({'; '.join(notes)})" if notes else title


def _has_shape(trace: PhaseTrace) -> bool:
    """Return whether a trace is more than a line along an axis: both quantities change."""
    known = np.isfinite(trace.across) & np.isfinite(trace.up)
    return all(len(np.unique(values[known])) > 1 for values in (trace.across, trace.up))


def _with_streams(group: Group, curve: Curve) -> str:
    """Return a curve's name, with the number of streams where there are many."""
    for flow in group.bulk():
        if (curve.kind, curve.name) == ("tcp", flow.name) and flow.parallel > 1:
            return f"{flow.name} ({flow.parallel} streams)"
    return curve.title


def _rtt_title(drawn: Sequence[tuple[Curve, Line]]) -> str:
    kinds = {curve.kind for curve, line in drawn if not line.empty}
    if kinds == {"ping"}:
        return "ping: RTT of each request"
    return "RTT: TCP's smoothed, and ping's replies" if "ping" in kinds else "Smoothed RTT"


def _phase_trace(run: Run, cwnd: Curve, queue: Curve, *, label: str) -> PhaseTrace:
    """Return a queue's and a window's values at the times of the queue's samples."""
    times_s = queue.times_s
    known = np.isfinite(cwnd.values)
    at, values = cwnd.times_s[known], cwnd.values[known]
    across = (
        np.interp(times_s, at, values, left=np.nan, right=np.nan)
        if len(at)
        else np.full(len(times_s), np.nan)
    )
    limits = [mark.value for mark in queue_marks(run, queue.name) if mark.label == "limit"]
    flows = [flow for flow in RunCurves(run).bulk() if flow.name == cwnd.name]
    path = known_path(run, flows[0])
    return PhaseTrace(
        label=label,
        times_s=times_s,
        across=across,
        up=queue.values,
        across_mark=None if path is None else path_bdp_bytes(path),
        up_mark=limits[0] if limits else None,
    )
