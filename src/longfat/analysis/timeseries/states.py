"""Flows and queues sample by sample: the values of curves while they grow.

`FlowState` and `QueueState` take what samplers saw at one moment and return the values of that
moment, by the definitions of `quantities`. Which sockets are a flow's is for the caller to know.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.quantities import (
    ArrivedBytes,
    CounterGrowth,
    is_alive,
    rate_bps,
    window_s,
    window_samples,
)
from longfat.model.probes import queue

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

_MAX_WINDOW_SAMPLES = 2_000  # a round trip of 40 s at the shortest interval of the studio


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowSample:
    """The state of a flow at a sample.

    Attributes:
        streams: the number of streams whose sockets exist.
        throughput_bps: the mean over the last window; None at first, and where the window has
            grown so much that its middle is no later than that of the last one.
        middle_s: the middle of this window, in seconds.
        raw_bps: the mean since the sample before; None for the first.
        rtt_s: the smoothed RTT, the mean of the streams; None if none exists.
        cwnd_bytes: the congestion window, the sum of the streams; None likewise.
        arrived_bytes: what has arrived so far, of all streams, those that ended included.
        retransmits: segments that were sent again, likewise.
    """

    streams: int
    throughput_bps: float | None
    middle_s: float
    raw_bps: float | None
    rtt_s: float | None
    cwnd_bytes: float | None
    arrived_bytes: int
    retransmits: int


class FlowState:
    """The state of one flow, which may have several streams."""

    def __init__(self) -> None:
        self._arrived: dict[Hashable, ArrivedBytes] = {}
        self._arrived_bytes = CounterGrowth()
        self._retransmits = CounterGrowth()
        self._least_rtt_s = 0.0
        self._middle_s = -math.inf
        # As many samples as a window has, with what had arrived of each stream.
        self._samples: deque[tuple[float, dict[Hashable, int]]] = deque()

    def add(
        self, time_s: float, rows: Mapping[Hashable, Mapping[str, Any]], *, every_s: float
    ) -> FlowSample:
        """Add a sample of the flow's sending sockets, which is later than those before.

        Args:
            time_s: when it was taken, in seconds.
            rows: the samples of the sockets, by stream.
            every_s: the sampling interval, in seconds.
        """
        totals: dict[Hashable, int] = {}
        for key, row in rows.items():
            arrived = self._arrived.setdefault(key, ArrivedBytes())
            total = arrived.add(row)
            self._arrived_bytes.add(key, total)
            self._retransmits.add(key, int(row["retransmits"]))
            if is_alive(row):
                totals[key] = total
            else:
                del self._arrived[key]
        living = [row for row in rows.values() if is_alive(row)]
        rtts_s = [self._least_rtt_s, *(row["rtt_s"] for row in living)]
        self._least_rtt_s = min((rtt_s for rtt_s in rtts_s if rtt_s > 0), default=0.0)
        throughput = raw = None
        if totals:
            count = window_samples(window_s(rtt_s=self._least_rtt_s), every_s=every_s)
            count = min(count, _MAX_WINDOW_SAMPLES)
            self._samples.append((time_s, totals))
            while len(self._samples) > count + 1:
                self._samples.popleft()
            throughput, raw = self._rate(count), self._rate(1)
        if throughput is not None:
            if throughput[0] > self._middle_s:
                self._middle_s = throughput[0]
            else:
                throughput = None
        return FlowSample(
            streams=len(living),
            throughput_bps=None if throughput is None else throughput[1],
            middle_s=time_s if throughput is None else throughput[0],
            raw_bps=None if raw is None else raw[1],
            rtt_s=sum(row["rtt_s"] for row in living) / len(living) if living else None,
            cwnd_bytes=sum(row["cwnd_bytes"] for row in living) if living else None,
            arrived_bytes=self._arrived_bytes.total,
            retransmits=self._retransmits.total,
        )

    def restart(self) -> None:
        """Count retransmissions from the last sample on, and forget the least RTT."""
        self._retransmits.restart()
        self._least_rtt_s = 0.0

    def _rate(self, count: int) -> tuple[float, float] | None:
        """Return the mean over the last sampling intervals, with the middle of their time.

        Streams count that existed at both ends.
        """
        if len(self._samples) <= count:
            return None
        before_s, before = self._samples[-1 - count]
        now_s, now = self._samples[-1]
        keys = before.keys() & now.keys()
        bps = rate_bps(
            (before_s, sum(before[key] for key in keys)), (now_s, sum(now[key] for key in keys))
        )
        return ((before_s + now_s) / 2, bps) if keys and bps is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSample:
    """The state of an interface's queue at a sample.

    Attributes:
        qdisc: the kind of the qdisc in which packets wait for the line.
        backlog_bytes: its backlog.
        drops: packets that it dropped so far.
        marks: packets that it marked so far, or that a qdisc below it marked.
    """

    qdisc: str
    backlog_bytes: int
    drops: int
    marks: int


class QueueState:
    """The state of the queue of one interface."""

    def __init__(self) -> None:
        self._drops = CounterGrowth()
        self._marks = CounterGrowth()
        self._is_first = True

    def add(self, qdiscs: Sequence[dict[str, Any]]) -> QueueSample:
        """Add a sample.

        Args:
            qdiscs: the rows of all qdiscs of the interface, as `queue.decode` yields them.
        """
        handle, *_ = handles = queue.waiting_handles(list(qdiscs))
        row = next(row for row in qdiscs if row["handle"] == handle)
        # A shaper counts the drops of the qdisc below it as its own, but not its marks.
        marks = sum(row["marks"] or 0 for row in qdiscs if row["handle"] in handles)
        start, self._is_first = self._is_first, False
        return QueueSample(
            qdisc=row["qdisc"],
            backlog_bytes=row["backlog_bytes"],
            drops=self._drops.add(handle, row["drops"] or 0, from_start=start),
            marks=self._marks.add(handle, marks, from_start=start),
        )

    def restart(self) -> None:
        """Count drops and marks from the last sample on."""
        self._drops.restart()
        self._marks.restart()
