"""The quantities of one run over time, flow by flow and queue by queue.

The tcp probe's series are used where the case has one, because they are finer;
otherwise the rows of the tool's own report. Time is the run's own: virtual time after the
traffic's start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from longfat.common.extras import lazy
from longfat.errors import InputError, LongfatError
from longfat.model.metric import Unit
from longfat.model.probes import Queue, Tcp
from longfat.model.probes.probe import Sampled
from longfat.model.probes.queue import the_queue
from longfat.model.probes.samples import weights
from longfat.model.probes.tcp import alive
from longfat.model.traffic import Bulk, Cbr, Ping, Video
from longfat.model.traffic.cbr import jitter_s
from longfat.output.plot import Floats, Line, Trace
from longfat.output.report.intervals import bulk_flows, flow_rows, unreadable

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow
    from longfat.model.traffic.bulk import Interval
else:
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")

R = TypeVar("R")

# A rate between two samples that are too close shows single packets,
# and the bursts that a receiver delivers when a gap is filled: a rate is a
# mean over this time at least, and a line has about this many of them at most.
_LEAST_WINDOW_S = 0.1
_MOST_RATES = 600


_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "tcp": (
        *("time_s", "flow", "end", "stream", "state"),
        *("cwnd_bytes", "rtt_s", "bytes_received", "retransmits"),
    ),
    "queue": ("time_s", "interface", "qdisc", "handle", "parent", "backlog_bytes"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A quantity of a flow, or of the queue of an interface.

    Attributes:
        kind: `tcp` for the tool or the tcp probe, `ping`, `cbr`, `video`, or `queue`.
        name: the flow's or interface's name.
        full_name: the interface's full name, where Linux has a short one.
        line: the line, without label.
        window_s: the interval its values are means over, in seconds; 0 for none.
    """

    kind: str
    name: str
    line: Line
    window_s: float = 0.0
    full_name: str = ""

    @property
    def title(self) -> str:
        """Its title in figures."""
        return self.full_name or self.name


class RunCurves:
    """The curves of one run. Each file is read at most once, on first use."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.series = cache(self._series)
        self.rows = cache(partial(flow_rows, run))

    def curves(self, metric: str) -> list[Curve]:
        """Return all curves of a metric, in the order of the case's flows and probes.

        Args:
            metric: one of `METRICS`.

        Raises:
            InputError: a file of the run is missing or broken.
        """
        try:
            return METRICS[metric](self)
        except KeyError as error:
            raise InputError(
                f"{self.run.folder}: a series is not in longfat's format: {error.args[0]}"
            ) from None

    def bulk(self) -> list[Bulk]:
        """Return the flows of bulk traffic."""
        return bulk_flows(self.run)

    def start_s(self, flow: Flow) -> float:
        """Return when a flow began."""
        return self.run.flow_times[flow.name].start_s

    def _series(self, probe: Probe) -> pa.Table:
        """Return the columns of a probe's series that curves are computed from.

        The others are dropped at once: a case with many seeds has many long series.
        """
        return self.run.series(probe.name).select(list(_COLUMNS[probe.kind]))

    def replies(self, flow: Ping) -> dict[int, float]:
        """Return the RTT of each answered request; the first answer counts."""
        try:
            return {
                reply.sequence: reply.rtt_s
                for reply in reversed(flow.replies(self.run.checked_raw))
            }
        except LongfatError as error:
            raise unreadable(self.run, flow, str(error)) from None

    def report(self, flow: Flow, read: Callable[[Path], R]) -> R:
        """Return the parsed report of a flow.

        Raises:
            InputError: it is missing or broken.
        """
        try:
            return read(self.run.checked_raw)
        except LongfatError as error:
            raise unreadable(self.run, flow, str(error)) from None

    def samples(self, flow: Bulk, end: str, *, ended: bool = False) -> pa.Table | None:
        """Return a tcp probe's samples of one end of a flow; None where none sampled it.

        Args:
            flow: the flow.
            end: `sender` or `receiver`.
            ended: include the final counters of sockets.
        """
        for probe in self.run.case.probes_of(Tcp, target=flow.name)[:1]:
            table = self.series(probe)
            chosen = pc.and_(
                pc.equal(table["flow"].cast("string"), flow.name),
                pc.equal(table["end"].cast("string"), end),
            )
            found = table.filter(chosen) if ended else alive(table.filter(chosen))
            return found if found.num_rows else None
        return None

    def even_values(self, curve: Curve) -> Floats:
        """Return the values of a curve that all have the same weight in time.

        A probe's first sample has no weight, and its last one less than the others.
        """
        kind: type[Sampled] | None = {"queue": Queue, "tcp": Tcp}.get(curve.kind)
        if kind is None or curve.window_s or (kind is Tcp and not self.sampled(curve.name)):
            return curve.line.values  # they are rows of the tool's report
        for probe in self.run.case.probes_of(kind, target=curve.name)[:1]:
            weights_s = weights(curve.line.times_s, every_s=probe.every_s)
            return curve.line.values[weights_s > 0.999 * probe.every_s]
        return curve.line.values

    def sampled(self, name: str) -> bool:
        """Return whether a tcp probe sampled the sender of a flow."""
        flows = [flow for flow in self.bulk() if flow.name == name]
        return bool(flows) and self.samples(flows[0], "sender") is not None


def row_traces(
    rows: list[list[Interval]],
    read: Callable[[Interval], tuple[float, float | None]],
    *,
    offset_s: float = 0.0,
) -> list[Trace]:
    """Return a trace for each stream, of the rows that have the value."""
    traces = []
    for stream in rows:
        pairs = [(t, value) for t, value in map(read, stream) if value is not None]
        times_s, values = zip(*pairs, strict=True) if pairs else ((), ())
        traces.append(
            Trace(np.array(times_s, dtype=float) + offset_s, np.array(values, dtype=float))
        )
    return traces


def together(traces: list[Trace], unit: Unit, *, mean: bool = False, steps: bool = False) -> Line:
    """Return one line of all streams' traces, row by row: their sum or their mean."""
    traces = [trace for trace in traces if len(trace.times_s)] or [Trace(np.empty(0), np.empty(0))]
    count = min(len(trace.times_s) for trace in traces)
    table = np.array([trace.values[:count] for trace in traces])
    return Line(
        label="",
        times_s=traces[0].times_s[:count],
        values=table.sum(axis=0) / (len(traces) if mean else 1),
        unit=unit,
        parts=tuple(traces) if len(traces) > 1 else (),
        steps=steps,
    )


def middle_bps(row: Interval) -> tuple[float, float | None]:
    """Return the throughput of a row, at the middle of its time."""
    return (row.start_s + row.end_s) / 2, row.bps


def _throughput(of: RunCurves) -> list[Curve]:
    found = []
    for flow in of.bulk():
        received = of.samples(flow, "receiver")
        if received is not None:
            line, window_s = _rates(*_by_stream(received, "bytes_received"))
        else:
            line, window_s = together(_traces(of, flow, middle_bps), Unit.BPS), 0.0
        found.append(Curve(kind="tcp", name=flow.name, line=line, window_s=window_s))
    return found


def _rtt(of: RunCurves) -> list[Curve]:
    return _state(of, "rtt_s", Unit.SECONDS, lambda row: row.rtt_s, mean=True) + _pings(of)


def _cwnd(of: RunCurves) -> list[Curve]:
    return _state(of, "cwnd_bytes", Unit.BYTES, lambda row: row.cwnd_bytes, mean=False)


def _state(
    of: RunCurves,
    column: str,
    unit: Unit,
    read: Callable[[Interval], float | None],
    *,
    mean: bool,
) -> list[Curve]:
    """Return the state of a sender's TCP: at each sample, or at the end of each row."""
    found = []
    for flow in of.bulk():
        sent = of.samples(flow, "sender")
        if sent is not None:
            line = _levels(*_by_stream(sent, column), unit, mean=mean)
        else:
            traces = _traces(of, flow, lambda row: (row.end_s, read(row)))
            line = together(traces, unit, mean=mean)
        found.append(Curve(kind="tcp", name=flow.name, line=line))
    return found


def _retransmits(of: RunCurves) -> list[Curve]:
    found = []
    for flow in of.bulk():
        sent = of.samples(flow, "sender", ended=True)
        if sent is not None:
            times_s, table = _by_stream(sent, "retransmits")
            # A stream that has ended keeps its count.
            totals = np.nan_to_num(np.fmax.accumulate(table, axis=0))
            line = _levels(times_s, totals, Unit.COUNT, mean=False, steps=True)
        else:
            traces = _traces(of, flow, lambda row: (row.end_s, row.retransmits))
            line = together([running_total(trace) for trace in traces], Unit.COUNT, steps=True)
        found.append(Curve(kind="tcp", name=flow.name, line=line))
    return found


def running_total(trace: Trace) -> Trace:
    """Return the cumulative sums."""
    return Trace(trace.times_s, np.cumsum(trace.values))


def _traces(
    of: RunCurves, flow: Bulk, read: Callable[[Interval], tuple[float, float | None]]
) -> list[Trace]:
    # The clock of a report starts again after the omitted time.
    return row_traces(of.rows(flow), read, offset_s=of.start_s(flow) + flow.omit_s)


def _pings(of: RunCurves) -> list[Curve]:
    found = []
    for flow in of.run.case.pings:
        replies = of.replies(flow)
        sent = int(of.run.metrics.get(f"{flow.name}.sent", flow.count))
        answered = np.array(sorted(replies), dtype=int)
        lost = np.setdiff1d(np.arange(1, sent + 1), answered)
        start_s = of.start_s(flow)
        line = Line(
            label="",
            times_s=start_s + (answered - 1) * flow.interval_s,
            values=np.array([replies[number] for number in answered.tolist()], dtype=float),
            unit=Unit.SECONDS,
            dots=True,
            missing_s=start_s + (lost - 1) * flow.interval_s,
        )
        found.append(Curve(kind="ping", name=flow.name, line=line))
    return found


def _queue(of: RunCurves) -> list[Curve]:
    found: dict[str, Curve] = {}
    full = of.run.case.network.full_interface_names()
    for probe in of.run.case.probes_of(Queue):
        rows = the_queue(of.series(probe))
        for name in probe.of:
            here = rows.filter(pc.equal(rows["interface"].cast("string"), name))
            line = Line(
                label="",
                times_s=_floats(here, "time_s"),
                values=_floats(here, "backlog_bytes"),
                unit=Unit.BYTES,
            )
            curve = Curve(kind="queue", name=name, line=line, full_name=full.get(name, ""))
            found.setdefault(name, curve)
    return list(found.values())


def _delay(of: RunCurves) -> list[Curve]:
    """Return the one-way delay of each datagram at the time at which it was sent."""
    found = []
    for flow in of.run.case.flows:
        if not isinstance(flow, Cbr):
            continue
        arrivals = {one.number: one for one in reversed(of.report(flow, flow.arrivals))}
        start_s = of.start_s(flow)
        numbers = np.array(sorted(arrivals), dtype=int)
        lost = np.setdiff1d(np.arange(flow.count), numbers)
        line = Line(
            label="",
            times_s=start_s + numbers * flow.gap_s,
            values=np.array([arrivals[one].delay_s for one in numbers.tolist()], dtype=float),
            unit=Unit.SECONDS,
            dots=True,
            missing_s=start_s + lost * flow.gap_s,
        )
        found.append(Curve(kind="cbr", name=flow.name, line=line))
    return found


def _jitter(of: RunCurves) -> list[Curve]:
    """Return RFC 3550's estimate of jitter after each datagram that came."""
    found = []
    for flow in of.run.case.flows:
        if not isinstance(flow, Cbr):
            continue
        # Duplicates are ignored; the order is that of arrival.
        first = {one.number: one for one in reversed(of.report(flow, flow.arrivals))}
        arrivals = sorted(first.values(), key=lambda one: (one.arrived_ns, one.number))
        times_s = [of.start_s(flow) + one.number * flow.gap_s + one.delay_s for one in arrivals]
        line = Line(
            label="",
            times_s=np.array(times_s, dtype=float),
            values=np.array(jitter_s(arrivals), dtype=float),
            unit=Unit.SECONDS,
        )
        found.append(Curve(kind="cbr", name=flow.name, line=line))
    return found


def _buffer(of: RunCurves) -> list[Curve]:
    """Return the seconds of video in the player's buffer."""
    return [
        Curve(kind="video", name=flow.name, line=_steps_line(of, flow, trace, Unit.SECONDS, False))
        for flow, trace in _videos(of, Video.buffered)
    ]


def _bitrate(of: RunCurves) -> list[Curve]:
    """Return the bitrate of each segment, from when its last byte was there."""
    return [
        Curve(kind="video", name=flow.name, line=_steps_line(of, flow, trace, Unit.BPS, True))
        for flow, trace in _videos(of, Video.bitrates)
    ]


def _videos(
    of: RunCurves, read: Callable[[Video, Path], list[tuple[float, float]]]
) -> list[tuple[Video, list[tuple[float, float]]]]:
    flows = [flow for flow in of.run.case.flows if isinstance(flow, Video)]
    return [(flow, of.report(flow, partial(read, flow))) for flow in flows]


def _steps_line(
    of: RunCurves, flow: Video, points: list[tuple[float, float]], unit: Unit, steps: bool
) -> Line:
    times_s, values = zip(*points, strict=True) if points else ((), ())
    return Line(
        label="",
        times_s=of.start_s(flow) + np.array(times_s, dtype=float),
        values=np.array(values, dtype=float),
        unit=unit,
        steps=steps,
    )


METRICS: Mapping[str, Callable[[RunCurves], list[Curve]]] = {
    "throughput": _throughput,
    "rtt": _rtt,
    "cwnd": _cwnd,
    "queue": _queue,
    "retransmits": _retransmits,
    "delay": _delay,
    "jitter": _jitter,
    "buffer": _buffer,
    "bitrate": _bitrate,
}
"""The quantities, by the names that `longfat plot --metric` takes."""


def _floats(table: pa.Table, column: str) -> Floats:
    found: Floats = table[column].cast("float64").to_numpy()
    return found


def _by_stream(table: pa.Table, column: str) -> tuple[Floats, Floats]:
    """Return the times of samples, and a row of values for each, a column for each stream.

    Where a stream has no sample at a time (it has not started yet, or has ended)
    its value is NaN.
    """
    times_s, at = np.unique(_floats(table, "time_s"), return_inverse=True)
    streams, of = np.unique(_floats(table, "stream"), return_inverse=True)
    values = np.full((len(times_s), len(streams)), np.nan)
    values[at, of] = _floats(table, column)
    return times_s, values


def _levels(times_s: Floats, table: Floats, unit: Unit, *, mean: bool, steps: bool = False) -> Line:
    there = np.isfinite(table).sum(axis=1)
    total = np.where(there, np.nansum(table, axis=1), np.nan)
    values = total / np.maximum(there, 1) if mean else total
    many = table.shape[1] > 1
    return Line(
        label="",
        times_s=times_s,
        values=values,
        unit=unit,
        parts=tuple(Trace(times_s, column) for column in table.T) if many else (),
        steps=steps,
    )


def _rates(times_s: Floats, totals: Floats) -> tuple[Line, float]:
    """Return the rate at which totals of bytes grow, and the interval its values are means over."""
    if len(times_s) < 2:
        return _levels(times_s, np.full(totals.shape, np.nan), Unit.BPS, mean=False), 0.0
    every_s = float(np.median(np.diff(times_s)))
    window_s = max(_LEAST_WINDOW_S, (times_s[-1] - times_s[0]) / _MOST_RATES)
    stride = max(1, round(window_s / every_s))
    times_s, totals = times_s[::stride], totals[::stride]
    # The last sample is off the grid: over too short a time a rate shows single packets.
    if len(times_s) > 2 and times_s[-1] - times_s[-2] < window_s / 2:
        times_s, totals = times_s[:-1], totals[:-1]
    table = 8 * np.diff(totals, axis=0) / np.diff(times_s)[:, None]
    line = _levels((times_s[:-1] + times_s[1:]) / 2, table, Unit.BPS, mean=False)
    return line, stride * every_s
