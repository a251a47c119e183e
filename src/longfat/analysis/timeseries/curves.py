"""The quantities of one run that has ended, over time: flow by flow and queue by queue.

The tcp probe's samples are used where the case has one, because they are finer;
otherwise the rows of the tool's own report. What each quantity is: `longfat.analysis.timeseries`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from longfat.analysis.timeseries.quantities import (
    Floats,
    Trace,
    arrived_bytes,
    combine_traces,
    running_total,
    window_s,
    window_samples,
)
from longfat.analysis.timeseries.sources import flow_rows, tcp_samples, unreadable
from longfat.common.extras import lazy
from longfat.errors import InputError, LongfatError
from longfat.model.metric import Unit
from longfat.model.probes import Queue, Tcp
from longfat.model.probes.probe import Sampled
from longfat.model.probes.queue import the_queue
from longfat.model.probes.samples import weights
from longfat.model.traffic import Bulk, Cbr, Ping, Video
from longfat.model.traffic.cbr import jitter_s

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

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "tcp": (
        *("time_s", "flow", "end", "stream", "state", "ca_state", "cwnd_bytes", "mss_bytes"),
        *("rtt_s", "bytes_acked", "delivered_packets", "retransmits"),
    ),
    "queue": ("time_s", "interface", "qdisc", "handle", "parent", "backlog_bytes"),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """A quantity of a flow, or of the queue of an interface.

    Attributes:
        kind: `tcp` for the tool or the tcp probe, `ping`, `cbr`, `video`, or `queue`.
        name: the flow's or interface's name.
        unit: the base unit of its values.
        times_s: the times, in seconds, in their order.
        values: as many values; NaN where there is a gap.
        parts: what it combines: the streams of a flow that has several.
        dots: its points are single measurements that no line joins.
        steps: a value stays until the next one, as a counter's does.
        missing_s: when a value was due and did not come, in seconds; None if none was due.
        window_s: the interval its values are means over, in seconds; 0 for none.
        full_name: the interface's full name, where Linux has a short one.
    """

    kind: str
    name: str
    unit: Unit
    times_s: Floats
    values: Floats
    parts: tuple[Trace, ...] = ()
    dots: bool = False
    steps: bool = False
    missing_s: Floats | None = None
    window_s: float = 0.0
    full_name: str = ""

    @property
    def title(self) -> str:
        """Its title in figures."""
        return self.full_name or self.name

    @property
    def empty(self) -> bool:
        """Whether it has neither a value nor a missing one."""
        missing = 0 if self.missing_s is None else len(self.missing_s)
        return not missing and not bool(np.isfinite(self.values).any())


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
        return list(self.run.measured_case.bulk_flows)

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

    def samples(self, flow: Bulk, *, ended: bool = False) -> pa.Table | None:
        """Return what a tcp probe sampled of a flow's sender; None where none did.

        Args:
            flow: the flow.
            ended: include the final counts of sockets that ended.
        """
        return tcp_samples(self.run, flow, ended=ended, series=self.series)

    def even_values(self, curve: Curve) -> Floats:
        """Return the values of a curve that all have the same weight in time.

        A probe's first sample has no weight, and its last one less than the others.
        """
        kind: type[Sampled] | None = {"queue": Queue, "tcp": Tcp}.get(curve.kind)
        if kind is None or curve.window_s or (kind is Tcp and not self.sampled(curve.name)):
            return curve.values  # they are rows of the tool's report
        for probe in self.run.case.probes_of(kind, target=curve.name)[:1]:
            weights_s = weights(curve.times_s, every_s=probe.every_s)
            return curve.values[weights_s > 0.999 * probe.every_s]
        return curve.values

    def sampled(self, name: str) -> bool:
        """Return whether a tcp probe sampled the sender of a flow."""
        flows = [flow for flow in self.bulk() if flow.name == name]
        return bool(flows) and self.samples(flows[0]) is not None


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


def middle_bps(row: Interval) -> tuple[float, float | None]:
    """Return the throughput of a row, at the middle of its time."""
    return (row.start_s + row.end_s) / 2, row.bps


def _throughput(of: RunCurves) -> list[Curve]:
    curves = []
    for flow in of.bulk():
        sent = of.samples(flow)
        if sent is not None:
            curve = _rates(flow.name, *_arrived_by_stream(sent), rtt_s=_least_rtt_s(sent))
        else:
            curve = _of_streams(flow.name, _traces(of, flow, middle_bps), Unit.BPS)
        curves.append(curve)
    return curves


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
    curves = []
    for flow in of.bulk():
        sent = of.samples(flow)
        if sent is not None:
            curve = _levels(flow.name, *_by_stream(sent, column), unit, mean=mean)
        else:
            traces = _traces(of, flow, lambda row: (row.end_s, read(row)))
            curve = _of_streams(flow.name, traces, unit, mean=mean)
        curves.append(curve)
    return curves


def _retransmits(of: RunCurves) -> list[Curve]:
    curves = []
    for flow in of.bulk():
        sent = of.samples(flow, ended=True)
        if sent is not None:
            times_s, table = _by_stream(sent, "retransmits")
            # A stream that has ended keeps its count.
            totals = np.nan_to_num(np.fmax.accumulate(table, axis=0))
            curve = _levels(flow.name, times_s, totals, Unit.COUNT, mean=False)
        else:
            traces = _traces(of, flow, lambda row: (row.end_s, row.retransmits))
            totals_of_streams = [running_total(trace) for trace in traces]
            curve = _of_streams(flow.name, totals_of_streams, Unit.COUNT)
        curves.append(replace(curve, steps=True))
    return curves


def _of_streams(name: str, traces: list[Trace], unit: Unit, *, mean: bool = False) -> Curve:
    """Return the curve of a flow from the rows of its streams."""
    trace, parts = combine_traces(traces, mean=mean)
    return Curve(
        kind="tcp",
        name=name,
        unit=unit,
        times_s=trace.times_s,
        values=trace.values,
        parts=parts,
    )


def _traces(
    of: RunCurves, flow: Bulk, read: Callable[[Interval], tuple[float, float | None]]
) -> list[Trace]:
    # The clock of a report starts again after the omitted time.
    return row_traces(of.rows(flow), read, offset_s=of.start_s(flow) + flow.omit_s)


def _pings(of: RunCurves) -> list[Curve]:
    curves = []
    for flow in of.run.measured_case.pings:
        replies = of.replies(flow)
        sent = int(of.run.metrics.get(f"{flow.name}.sent", flow.count))
        answered = np.array(sorted(replies), dtype=int)
        lost = np.setdiff1d(np.arange(1, sent + 1), answered)
        start_s = of.start_s(flow)
        curve = Curve(
            kind="ping",
            name=flow.name,
            times_s=start_s + (answered - 1) * flow.interval_s,
            values=np.array([replies[number] for number in answered.tolist()], dtype=float),
            unit=Unit.SECONDS,
            dots=True,
            missing_s=start_s + (lost - 1) * flow.interval_s,
        )
        curves.append(curve)
    return curves


def _queue(of: RunCurves) -> list[Curve]:
    curves: dict[str, Curve] = {}
    full = of.run.case.network.full_interface_names()
    for probe in of.run.case.probes_of(Queue):
        rows = the_queue(of.series(probe))
        for name in probe.of:
            here = rows.filter(pc.equal(rows["interface"].cast("string"), name))
            curve = Curve(
                kind="queue",
                name=name,
                times_s=_floats(here, "time_s"),
                values=_floats(here, "backlog_bytes"),
                unit=Unit.BYTES,
                full_name=full.get(name, ""),
            )
            curves.setdefault(name, curve)
    return list(curves.values())


def _delay(of: RunCurves) -> list[Curve]:
    """Return the one-way delay of each datagram at the time at which it was sent."""
    curves = []
    for flow in of.run.measured_case.flows:
        if not isinstance(flow, Cbr):
            continue
        arrivals = {arrival.number: arrival for arrival in reversed(of.report(flow, flow.arrivals))}
        start_s = of.start_s(flow)
        numbers = np.array(sorted(arrivals), dtype=int)
        lost = np.setdiff1d(np.arange(flow.count), numbers)
        curve = Curve(
            kind="cbr",
            name=flow.name,
            times_s=start_s + numbers * flow.gap_s,
            values=np.array([arrivals[number].delay_s for number in numbers.tolist()], dtype=float),
            unit=Unit.SECONDS,
            dots=True,
            missing_s=start_s + lost * flow.gap_s,
        )
        curves.append(curve)
    return curves


def _jitter(of: RunCurves) -> list[Curve]:
    """Return RFC 3550's estimate of jitter after each datagram that came."""
    curves = []
    for flow in of.run.measured_case.flows:
        if not isinstance(flow, Cbr):
            continue
        # Duplicates are ignored; the order is that of arrival.
        first = {arrival.number: arrival for arrival in reversed(of.report(flow, flow.arrivals))}
        arrivals = sorted(first.values(), key=lambda arrival: (arrival.arrived_ns, arrival.number))
        times_s = [
            of.start_s(flow) + arrival.number * flow.gap_s + arrival.delay_s for arrival in arrivals
        ]
        curve = Curve(
            kind="cbr",
            name=flow.name,
            times_s=np.array(times_s, dtype=float),
            values=np.array(jitter_s(arrivals), dtype=float),
            unit=Unit.SECONDS,
        )
        curves.append(curve)
    return curves


def _buffer(of: RunCurves) -> list[Curve]:
    """Return the seconds of video in the player's buffer."""
    return [
        _video_curve(of, flow, points, Unit.SECONDS) for flow, points in _videos(of, Video.buffered)
    ]


def _bitrate(of: RunCurves) -> list[Curve]:
    """Return the bitrate of each segment, from when its last byte was there."""
    return [
        _video_curve(of, flow, points, Unit.BPS, steps=True)
        for flow, points in _videos(of, Video.bitrates)
    ]


def _videos(
    of: RunCurves, read: Callable[[Video, Path], list[tuple[float, float]]]
) -> list[tuple[Video, list[tuple[float, float]]]]:
    flows = [flow for flow in of.run.measured_case.flows if isinstance(flow, Video)]
    return [(flow, of.report(flow, partial(read, flow))) for flow in flows]


def _video_curve(
    of: RunCurves,
    flow: Video,
    points: list[tuple[float, float]],
    unit: Unit,
    *,
    steps: bool = False,
) -> Curve:
    times_s, values = zip(*points, strict=True) if points else ((), ())
    return Curve(
        kind="video",
        name=flow.name,
        unit=unit,
        times_s=of.start_s(flow) + np.array(times_s, dtype=float),
        values=np.array(values, dtype=float),
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
    values: Floats = table[column].cast("float64").to_numpy()
    return values


def _by_stream(table: pa.Table, column: str) -> tuple[Floats, Floats]:
    """Return the times of samples, and a row of values for each, a column for each stream.

    Where a stream has no sample at a time (it has not started yet, or has ended)
    its value is NaN.
    """
    return _spread(table, _floats(table, column))


def _spread(table: pa.Table, samples: Floats) -> tuple[Floats, Floats]:
    times_s, at = np.unique(_floats(table, "time_s"), return_inverse=True)
    streams, of = np.unique(_floats(table, "stream"), return_inverse=True)
    values = np.full((len(times_s), len(streams)), np.nan)
    values[at, of] = samples
    return times_s, values


def _arrived_by_stream(table: pa.Table) -> tuple[Floats, Floats]:
    """Return the bytes of each stream that had arrived at each sample, as `_by_stream`."""
    acked, delivered, mss_bytes, times_s = (
        _floats(table, column)
        for column in ("bytes_acked", "delivered_packets", "mss_bytes", "time_s")
    )
    states = np.array(table["ca_state"].to_pylist())
    streams = _floats(table, "stream")
    arrived = np.empty(len(acked))
    for stream in np.unique(streams):
        (of,) = np.nonzero(streams == stream)
        of = of[np.argsort(times_s[of], kind="stable")]
        arrived[of] = arrived_bytes(acked[of], delivered[of], mss_bytes[of], states[of].tolist())
    return _spread(table, arrived)


def _least_rtt_s(table: pa.Table) -> float:
    """Return the least smoothed RTT of samples, in seconds; 0 if none has been measured."""
    rtts_s = _floats(table, "rtt_s")
    return float(min(rtts_s[rtts_s > 0], default=0.0))


def _levels(name: str, times_s: Floats, table: Floats, unit: Unit, *, mean: bool) -> Curve:
    """Return the curve of a flow from the values of its streams: their sum or their mean."""
    present = np.isfinite(table).sum(axis=1)
    total = np.where(present, np.nansum(table, axis=1), np.nan)
    many = table.shape[1] > 1
    return Curve(
        kind="tcp",
        name=name,
        unit=unit,
        times_s=times_s,
        values=total / np.maximum(present, 1) if mean else total,
        parts=tuple(Trace(times_s, column) for column in table.T) if many else (),
    )


def _rates(name: str, times_s: Floats, totals: Floats, *, rtt_s: float) -> Curve:
    """Return the curve of the rate at which the totals of streams grow, in bytes."""
    if len(times_s) < 2:
        return _levels(name, times_s, np.full(totals.shape, np.nan), Unit.BPS, mean=False)
    every_s = float(np.median(np.diff(times_s)))
    over_s = window_s(rtt_s=rtt_s, span_s=float(times_s[-1] - times_s[0]))
    stride = window_samples(over_s, every_s=every_s)
    times_s, totals = times_s[::stride], totals[::stride]
    # The last sample is off the grid: over too short a time a rate shows single packets.
    if len(times_s) > 2 and times_s[-1] - times_s[-2] < over_s / 2:
        times_s, totals = times_s[:-1], totals[:-1]
    table = 8 * np.diff(totals, axis=0) / np.diff(times_s)[:, None]
    curve = _levels(name, (times_s[:-1] + times_s[1:]) / 2, table, Unit.BPS, mean=False)
    return replace(curve, window_s=stride * every_s)
