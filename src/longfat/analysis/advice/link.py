"""Whether the bottleneck link was full, and of whose bytes.

What the link carried comes from a queue probe at its interface or, without
one, from what all flows of bulk traffic across it received.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import Link
from longfat.analysis.timeseries.sources import in_run_time, tcp_samples
from longfat.common.extras import lazy
from longfat.model.flow_path import NotUnderstoodError, flow_interfaces
from longfat.model.flow_path.rates import interface_rates
from longfat.model.probes import Queue
from longfat.model.traffic import Bulk, Cbr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from longfat.analysis.advice.limits import Slice
    from longfat.execution.runs import Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.traffic import Flow

pc = lazy("pyarrow.compute")

FULL = 0.95
"""A link that carries this share of its rate is full: bursts and dips are within a sample."""

ALONE = 0.9
"""A flow that has this share of what the link carries is alone on it."""

HEADERS_BYTES = 66
"""Ethernet, IPv4, and TCP with timestamps, around each segment."""


# What an interface sent beyond known flows is other traffic from this share on: headers, ACKs and
# packets that were lost behind it are in its counter.
_UNREPORTED = 0.05
_MSS_BYTES = 1448


@dataclass(frozen=True, slots=True)
class Curve:
    """A count that only grows, known at some times and between them drawn straight.

    Attributes:
        times_s: the times, ascending.
        counts: the count at each.
    """

    times_s: tuple[float, ...]
    counts: tuple[float, ...]

    def at(self, time_s: float) -> float:
        """Return the count at a time; before the first and after the last it is constant."""
        index = bisect_left(self.times_s, time_s)
        if index == 0:
            return self.counts[0] if self.counts else 0.0
        if index == len(self.times_s):
            return self.counts[-1]
        before_s, after_s = self.times_s[index - 1], self.times_s[index]
        share = (time_s - before_s) / (after_s - before_s)
        return self.counts[index - 1] + share * (self.counts[index] - self.counts[index - 1])

    def between(self, start_s: float, end_s: float) -> float:
        """Return by how much it grew."""
        return self.at(end_s) - self.at(start_s)


def queue_table(run: Run, interface: str) -> pa.Table | None:
    """Return what a queue probe saw of an interface's queue; None where none looked.

    The queue is the discipline that sent the most, of several the first from the root down; but
    netem is none, whose backlog is what is on the line.

    Raises:
        InputError: the probe's file is missing or broken.
    """
    for probe in run.case.probes_of(Queue, target=interface):
        table = run.series(probe.name)
        kinds = table["qdisc"].cast("string")
        here = pc.equal(table["interface"].cast("string"), interface)
        shapers = table.filter(pc.and_(here, pc.not_equal(kinds, "netem")))
        if shapers.num_rows:
            sent: dict[str, int] = {}
            handles = shapers["handle"].cast("string").to_pylist()
            for handle, count in zip(handles, shapers["sent_bytes"].to_pylist(), strict=True):
                sent[handle] = max(sent.get(handle, 0), count)
            busiest = max(sent, key=sent.__getitem__)
            return shapers.filter(pc.equal(shapers["handle"].cast("string"), busiest))
    return None


def received_curve(run: Run, flow: Flow) -> Curve:
    """Return the payload bytes of a flow over time, from the rows of its receiving end.

    The sending end's rows count what went into the socket's buffer. Of a flow without rows it is
    what its tcp probe saw to be acknowledged.

    Raises:
        MachineError: its report cannot be read.
        InputError: it reports an error.
    """
    if not isinstance(flow, Bulk) or flow.name in run.flow_failures:
        return _acknowledged_curve(run, flow)
    began_s = run.flow_times[flow.name].start_s
    # Streams have rows of their own: each changes the slope at its two edges.
    slopes: dict[float, float] = {}
    rows = in_run_time(flow.received_rows(run.checked_raw), flow, began_s)
    for row in (row for stream in rows for row in stream):
        slopes[row.start_s] = slopes.get(row.start_s, 0.0) + row.bps / 8
        slopes[row.end_s] = slopes.get(row.end_s, 0.0) - row.bps / 8
    times: list[float] = []
    counts: list[float] = []
    count = slope = 0.0
    for time_s in sorted(slopes):
        count += slope * (time_s - times[-1]) if times else 0.0
        slope += slopes[time_s]
        times.append(time_s)
        counts.append(count)
    return Curve(tuple(times), tuple(counts))


def _datagrams_curve(run: Run, flow: Cbr) -> Curve:
    """Return the payload bytes of datagrams at a constant rate over time, of those that arrived."""
    times = run.flow_times[flow.name]
    arrived = flow.size_bytes * run.metrics.get(f"{flow.name}.received", 0.0)
    return Curve((times.start_s, times.end_s), (0.0, arrived))


def _acknowledged_curve(run: Run, flow: Flow) -> Curve:
    table = tcp_samples(run, flow)
    if table is None:
        return Curve((), ())
    times_s: list[float] = []
    counts: list[float] = []
    acked: dict[int, float] = {}
    for row in table.sort_by([("time_s", "ascending")]).to_pylist():
        acked[row["stream"]] = row["bytes_acked"]
        if times_s and times_s[-1] == row["time_s"]:
            counts[-1] = sum(acked.values())
        else:
            times_s.append(row["time_s"])
            counts.append(sum(acked.values()))
    return Curve(tuple(times_s), tuple(counts))


class LinkUse:
    """What the bottleneck link of a flow carried, and how much of it was the flow's own.

    Args:
        run: the run.
        flow: the flow.
        slowest: the bottleneck of its path; None if it is not known.

    Raises:
        InputError, MachineError: a file of the run is missing or broken.
    """

    def __init__(self, run: Run, flow: Flow, slowest: Bottleneck | None) -> None:
        self._rates = [] if slowest is None else link_rates(run, slowest)
        self.rivals = 0
        self._own = received_curve(run, flow)
        self._others: list[Curve] = []
        self._carried: Curve | None = None
        self._unknown: Curve | None = None
        if slowest is None:
            return
        others = [
            other
            for other in run.measured_case.bulk_flows
            if other.name != flow.name
            and meet(run, flow, other)
            and crosses(run, other, slowest.interface)
        ]
        self.rivals = sum(other.parallel for other in others)
        self._others = [received_curve(run, other) for other in others]
        self._others += [
            _datagrams_curve(run, other)
            for other in run.measured_case.flows
            if isinstance(other, Cbr)
            and meet(run, flow, other)
            and crosses(run, other, slowest.interface)
        ]
        self._unknown = self._unreported(run, flow, slowest.interface)
        if self._unknown is not None:
            self._others.append(self._unknown)
        table = queue_table(run, slowest.interface)
        if table is not None and table.num_rows > 1:
            self._carried = Curve(
                tuple(table["time_s"].to_pylist()), tuple(table["sent_bytes"].to_pylist())
            )

    def _unreported(self, run: Run, flow: Flow, interface: str) -> Curve | None:
        """Return the load of flows that report no rate, by what the interface sent in all."""
        flows = [
            other
            for other in run.case.flows
            if other.name != flow.name
            and not isinstance(other, (Bulk, Cbr))
            and crosses(run, other, interface)
        ]
        counts = [each.count for each in run.counts if each.interface == interface]
        if not flows or not counts:
            return None
        curves = (self._own, *self._others)
        known = sum(curve.between(-math.inf, math.inf) for curve in curves)
        unknown = counts[0] / (1 + HEADERS_BYTES / _MSS_BYTES) - known
        if unknown < _UNREPORTED * counts[0]:
            return None
        times = [run.flow_times[other.name] for other in flows]
        begin_s, end_s = min(each.start_s for each in times), max(each.end_s for each in times)
        return Curve((begin_s, end_s), (0.0, unknown))

    def between(self, start_s: float, end_s: float, *, mss_bytes: float) -> Link:
        """Return the link's activity in an interval.

        Args:
            start_s: its start, in seconds after the traffic's start.
            end_s: its end.
            mss_bytes: the payload of a segment, from which the headers' share follows.
        """
        if not self._rates or end_s <= start_s:
            return Link.UNKNOWN
        use = self.share(start_s, end_s, mss_bytes=mss_bytes)
        if use < FULL:
            return Link.NOT_FULL
        own = self._own.between(start_s, end_s)
        others = sum(curve.between(start_s, end_s) for curve in self._others)
        return Link.FULL_ALONE if own >= ALONE * (own + others) else Link.FULL_SHARED

    def full_share(self, slices: Sequence[Slice], *, mss_bytes: float) -> float:
        """Return the share of the slices' time in which the link was full."""
        full_s = length_s = 0.0
        for one in slices:
            length_s += one.end_s - one.start_s
            state = self.between(one.start_s, one.end_s, mss_bytes=mss_bytes)
            if state in {Link.FULL_ALONE, Link.FULL_SHARED}:
                full_s += one.end_s - one.start_s
        return full_s / length_s if length_s else 0.0

    def share(self, start_s: float, end_s: float, *, mss_bytes: float) -> float:
        """Return the share of its rate that the link carried, headers included."""
        if self._carried is not None:
            wire = self._carried.between(start_s, end_s)
        else:
            payload = sum(c.between(start_s, end_s) for c in (self._own, *self._others))
            wire = payload * (1 + HEADERS_BYTES / mss_bytes)
        room = self._room(start_s, end_s)
        return wire * 8 / room if room else 0.0

    def unknown_bps(self, start_s: float, end_s: float, *, mss_bytes: float) -> float:
        """Return the load of flows that report no rate, by a queue probe or the link's counter.

        Args:
            start_s: the start of the time, in seconds after the traffic's start.
            end_s: its end.
            mss_bytes: the payload of a segment.
        """
        if end_s <= start_s:
            return 0.0
        if self._carried is None:
            if self._unknown is None:
                return 0.0
            return self._unknown.between(start_s, end_s) * 8 / (end_s - start_s)
        curves = [curve for curve in (self._own, *self._others) if curve is not self._unknown]
        payload = sum(curve.between(start_s, end_s) for curve in curves)
        known = payload * (1 + HEADERS_BYTES / mss_bytes)
        unknown = self._carried.between(start_s, end_s) - known
        return max(0.0, unknown * 8 / (end_s - start_s))

    def _room(self, start_s: float, end_s: float) -> float:
        """Return how many bits the link could carry in a stretch of time."""
        ends_s = [since_s for since_s, _ in self._rates[1:]] + [math.inf]
        return sum(
            (min(end_s, until_s) - max(start_s, since_s)) * rate_bps
            for (since_s, rate_bps), until_s in zip(self._rates, ends_s, strict=True)
            if since_s < end_s and start_s < until_s
        )


def link_rates(run: Run, slowest: Bottleneck) -> list[tuple[float, float]]:
    """Return the bottleneck's rates, and since when each holds; infinite where nothing limits."""
    if slowest.rates:
        return list(slowest.rates)
    happened = [(one.event, one.at_s) for one in run.event_times]
    try:
        found = interface_rates(run.case, slowest.interface, happened)
    except NotUnderstoodError:
        return [(-math.inf, slowest.rate_bps)]
    return [(since_s, math.inf if rate is None else rate) for since_s, rate in found]


@dataclass(frozen=True, slots=True, kw_only=True)
class RateOver:
    """A link's rate over an interval, in which events may change it; in bit/s.

    Attributes:
        least_bps: the least; infinite where nothing limits the link.
        mean_bps: the mean over time; infinite where nothing limits the link for a while.
        most_bps: the largest; infinite likewise.
    """

    least_bps: float
    mean_bps: float
    most_bps: float

    @property
    def is_constant(self) -> bool:
        """Whether the link had one rate all the time."""
        return self.least_bps == self.most_bps


def rate_over(rates: Sequence[tuple[float, float]], start_s: float, end_s: float) -> RateOver:
    """Return a link's rate over an interval.

    Args:
        rates: the rates in bit/s, and since when each holds; see `link_rates`.
        start_s: the interval's start, in seconds after the traffic's start.
        end_s: its end, which is later.
    """
    ends_s = [since_s for since_s, _ in rates[1:]] + [math.inf]
    parts = [
        (min(end_s, until_s) - max(start_s, since_s), rate_bps)
        for (since_s, rate_bps), until_s in zip(rates, ends_s, strict=True)
        if since_s < end_s and start_s < until_s
    ]
    least_bps, most_bps = min(bps for _, bps in parts), max(bps for _, bps in parts)
    if least_bps == most_bps:  # the weighted sum below would round it
        mean_bps = least_bps
    else:
        mean_bps = sum(length_s * bps for length_s, bps in parts) / (end_s - start_s)
    return RateOver(least_bps=least_bps, mean_bps=mean_bps, most_bps=most_bps)


def meet(run: Run, flow: Flow, other: Flow) -> bool:
    """Return whether two flows ran at the same time."""
    one, two = run.flow_times.get(flow.name), run.flow_times.get(other.name)
    return (
        one is not None
        and two is not None
        and (one.start_s < two.end_s and two.start_s < one.end_s)
    )


def crosses(run: Run, flow: Flow, interface: str) -> bool:
    """Return whether a flow's data leaves by an interface."""
    way = flow_interfaces(run.case.network, flow) or []
    return interface in (device for _, device in way)
