"""From runs to the lines of a figure: throughput, cwnd and RTT over time, and ping's replies.

Time is virtual and begins with the first iperf3 flow of a case, so that cases
can be laid over each other. A flow that the study starts later begins later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.traffic import Iperf3, Ping

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.traffic import Flow
    from longfat.traffic.iperf3 import Interval
    from longfat.verdict import Verdict

# iperf3's last row may cover some microseconds only, whose rate says nothing.
_LEAST_PART = 0.1

Points = tuple[tuple[float, float], ...]
"""Pairs of time in seconds and value in base units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A quantity of one flow over time.

    Attributes:
        main: the flow's own: its only stream's, or the sum or mean of its streams.
        streams: each stream's, where there are many.
    """

    main: Points
    streams: tuple[Points, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficSeries:
    """An iperf3 flow of a case over time.

    Attributes:
        label: what a figure calls it.
        look: the number of its line style; a case keeps its look across figures
            as long as no case has two flows of the kind.
        streams: the number of streams.
        end_s: when its last interval ended, in seconds.
        throughput: bit/s, at the middle of each interval.
        cwnd: bytes, at the end of each; empty where the tool did not tell.
        rtt: seconds, likewise.
    """

    label: str
    look: int
    streams: int
    end_s: float
    throughput: Lines
    cwnd: Lines
    rtt: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class PingSeries:
    """A ping flow of a case.

    Attributes:
        label: what a figure calls it.
        look: the number of its line style; a case keeps its look across figures
            as long as no case has two flows of the kind.
        replies: pairs of request number and RTT in seconds.
        lost: the numbers of the requests without a reply.
    """

    label: str
    look: int
    replies: Points
    lost: tuple[int, ...]


def traffic_series(verdict: Verdict) -> tuple[TrafficSeries, ...]:
    """Return the iperf3 flows of all runs, in the study's order.

    Raises:
        MachineError: a report of iperf3 cannot be read.
    """
    found: list[TrafficSeries] = []
    alone = _one_a_case(verdict, Iperf3)
    for place, (name, run) in enumerate(verdict.runs.items()):
        flows = verdict.study.cases[name].case.flows
        bulk = [flow for flow in flows if isinstance(flow, Iperf3)]
        rows = {flow.name: flow.report(run.raw).streams for flow in bulk}
        starts = _starts_s(flows, rows)
        first_s = min((starts[flow.name] for flow in bulk), default=0.0)
        for flow in bulk:
            streams = [
                _whole(stream, offset_s=starts[flow.name] - first_s) for stream in rows[flow.name]
            ]
            found.append(
                TrafficSeries(
                    label=name if len(bulk) == 1 else f"{name}.{flow.name}",
                    look=place if alone else len(found),
                    streams=len(streams),
                    end_s=max((row.end_s for stream in streams for row in stream), default=0.0),
                    throughput=_lines(streams, _throughput, mean=False),
                    cwnd=_lines(streams, _cwnd, mean=False),
                    rtt=_lines(streams, _rtt, mean=True),
                )
            )
    return tuple(found)


def ping_series(verdict: Verdict) -> tuple[PingSeries, ...]:
    """Return the ping flows of all runs, in the study's order."""
    found: list[PingSeries] = []
    alone = _one_a_case(verdict, Ping)
    for place, (name, run) in enumerate(verdict.runs.items()):
        pings = [f for f in verdict.study.cases[name].case.flows if isinstance(f, Ping)]
        for flow in pings:
            # The first reply counts where one request was answered twice.
            replies = {r.sequence: r.rtt_s for r in reversed(flow.replies(run.raw))}
            sent = int(run.metrics.get(f"{flow.name}.sent", flow.count))
            found.append(
                PingSeries(
                    label=name if len(pings) == 1 else f"{name}.{flow.name}",
                    look=place if alone else len(found),
                    replies=tuple(sorted(replies.items())),
                    lost=tuple(n for n in range(1, sent + 1) if n not in replies),
                )
            )
    return tuple(found)


def _one_a_case(verdict: Verdict, kind: type[Flow]) -> bool:
    return all(
        sum(isinstance(flow, kind) for flow in verdict.study.cases[name].case.flows) <= 1
        for name in verdict.runs
    )


@dataclass(frozen=True, slots=True)
class _Timed:
    """A row of a report, and when it began and ended in the figure's time."""

    row: Interval
    start_s: float
    end_s: float


def _whole(stream: Sequence[Interval], *, offset_s: float) -> list[_Timed]:
    counted = [row for row in stream if not row.omitted]
    longest_s = max((row.end_s - row.start_s for row in counted), default=0.0)
    return [
        _Timed(row, offset_s + row.start_s, offset_s + row.end_s)
        for row in counted
        if row.end_s - row.start_s >= _LEAST_PART * longest_s
    ]


def _starts_s(
    flows: Sequence[Flow], rows: dict[str, tuple[tuple[Interval, ...], ...]]
) -> dict[str, float]:
    """Return when each flow began, in seconds after the traffic's start."""
    by_name = {flow.name: flow for flow in flows}
    starts: dict[str, float] = {}

    def start_s(flow: Flow) -> float:
        if flow.name not in starts:
            before_s = 0.0
            if flow.after is not None:
                before = by_name[flow.after]
                before_s = start_s(before) + _duration_s(before)
            starts[flow.name] = before_s + flow.start_s
        return starts[flow.name]

    def _duration_s(flow: Flow) -> float:
        # How long a transfer of a given size takes is known afterwards only.
        ends = [row.end_s for stream in rows.get(flow.name, ()) for row in stream]
        return max(ends, default=flow.duration_s())

    for flow in flows:
        start_s(flow)
    return starts


def _throughput(timed: _Timed) -> tuple[float, float | None]:
    return (timed.start_s + timed.end_s) / 2, timed.row.bps


def _cwnd(timed: _Timed) -> tuple[float, float | None]:
    return timed.end_s, timed.row.cwnd_bytes


def _rtt(timed: _Timed) -> tuple[float, float | None]:
    return timed.end_s, timed.row.rtt_s


def _lines(
    streams: Sequence[Sequence[_Timed]],
    read: Callable[[_Timed], tuple[float, float | None]],
    *,
    mean: bool,
) -> Lines:
    each = [
        tuple((time_s, value) for time_s, value in map(read, stream) if value is not None)
        for stream in streams
    ]
    if len(each) == 1:
        return Lines(main=each[0])
    together = []
    for same_time in zip(*each, strict=False):
        total = sum(value for _, value in same_time)
        together.append((same_time[0][0], total / len(same_time) if mean else total))
    return Lines(main=tuple(together), streams=tuple(each))
