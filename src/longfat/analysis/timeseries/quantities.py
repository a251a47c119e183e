"""The definitions of what is computed from samples: rates, counts, and what has arrived.

They take plain numbers. Those who read samples one by one, while they come, and those who have
all of a run at once get the same values from here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from longfat.model.probes.tcp_sockets import ENDED

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats: TypeAlias = npt.NDArray[np.float64]

MIN_WINDOW_S = 0.1
"""A throughput is a mean over this time at least: less shows single packets."""

MAX_MEANS = 600
"""A curve of throughput has about so many values at most."""

_OPEN = "open"  # TCP's state without a hole: all that was sacked was acknowledged, too


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Values over time.

    Attributes:
        times_s: the times, in seconds, in their order.
        values: as many values, in base units; NaN where there is a gap.
    """

    times_s: Floats
    values: Floats

    def __post_init__(self) -> None:
        if self.times_s.shape != self.values.shape or self.times_s.ndim != 1:
            raise ValueError(f"{self.times_s.shape} times for {self.values.shape} values")

    def cut(self, start_s: float, end_s: float) -> Trace:
        """Return what is between two times, both of them included."""
        keep = (self.times_s >= start_s) & (self.times_s <= end_s)
        return Trace(self.times_s[keep], self.values[keep])


def running_total(trace: Trace) -> Trace:
    """Return the cumulative sums."""
    return Trace(trace.times_s, np.cumsum(trace.values))


def combine_traces(
    traces: Sequence[Trace], *, mean: bool = False
) -> tuple[Trace, tuple[Trace, ...]]:
    """Combine the traces of a flow's streams row by row.

    Args:
        traces: a trace for each stream; they end with the shortest that has any values.
        mean: take the mean instead of the sum.

    Returns:
        The flow's trace, and those of its streams if there are several.
    """
    known = [trace for trace in traces if len(trace.times_s)]
    if not known:
        return Trace(np.empty(0), np.empty(0)), ()
    count = min(len(trace.times_s) for trace in known)
    total = np.array([trace.values[:count] for trace in known]).sum(axis=0)
    combined = Trace(known[0].times_s[:count], total / (len(known) if mean else 1))
    return combined, tuple(known) if len(known) > 1 else ()


def window_s(*, rtt_s: float = 0.0, span_s: float = 0.0) -> float:
    """Return over which time a throughput is averaged, in seconds.

    Args:
        rtt_s: the least smoothed round-trip time of the flow, in seconds; 0 if it is not known.
        span_s: the length of the whole curve, in seconds; 0 while it still grows.
    """
    return max(MIN_WINDOW_S, rtt_s, span_s / MAX_MEANS)


def window_samples(length_s: float, *, every_s: float) -> int:
    """Return how many sampling intervals a window has, both in seconds; at least 1."""
    return max(1, round(length_s / every_s))


def is_alive(row: Mapping[str, Any]) -> bool:
    """Return whether a socket existed when its sample was taken; see `model.probes.tcp.alive`."""
    return bool(row["state"] != ENDED)


class ArrivedBytes:
    """How many bytes of one stream have arrived at its receiver, as its sender knows it.

    The kernel counts packets that were acknowledged, selectively or not (`delivered_packets`).
    What it counted since the last sample without a hole, less what was acknowledged cumulatively
    since then, lies beyond the hole. A kernel that does not count packets gives the bytes that
    were acknowledged cumulatively.
    """

    def __init__(self) -> None:
        self._open: tuple[int, int] | None = None
        self.total = 0
        """The bytes so far."""

    def add(self, row: Mapping[str, Any]) -> int:
        """Add a sample of the sending socket, and return the bytes that have arrived so far.

        Args:
            row: the sample, with the columns of `longfat.model.probes.tcp_sockets`.
        """
        acked, delivered = int(row["bytes_acked"]), row["delivered_packets"]
        beyond = 0
        if delivered is not None and is_alive(row):
            if row["ca_state"] == _OPEN or self._open is None:
                self._open = (delivered, acked)
            packets = delivered - self._open[0]
            beyond = max(0, packets * row["mss_bytes"] - (acked - self._open[1]))
        # What was acknowledged selectively may be discarded after a timeout.
        self.total = max(self.total, acked + beyond)
        return self.total


def arrived_bytes(
    acked: Floats, delivered: Floats, mss_bytes: Floats, ca_states: Sequence[str]
) -> Floats:
    """Return how many bytes of one stream had arrived at each sample, as `ArrivedBytes` does.

    Args:
        acked: the bytes that were acknowledged cumulatively, in the order of the samples.
        delivered: the packets that were acknowledged, selectively or not; NaN if not counted.
        mss_bytes: the payload of a segment.
        ca_states: the state of congestion avoidance.
    """
    if not len(acked):
        return acked
    is_open = np.array([state == _OPEN for state in ca_states])
    counted = np.isfinite(delivered)
    bases = np.where(is_open & counted, np.arange(len(acked)), -1)
    base = np.maximum.accumulate(bases)
    base = np.where(base < 0, int(np.argmax(counted)), base)
    beyond = (delivered - delivered[base]) * mss_bytes - (acked - acked[base])
    beyond = np.where(counted, np.maximum(0.0, beyond), 0.0)
    total: Floats = np.maximum.accumulate(acked + beyond)
    return total


@dataclass(slots=True)
class CounterGrowth:
    """By how much counters grew together; each is one of the kernel's, known by a key.

    A counter that decreases began again at 0, as that of a qdisc that was replaced.

    Attributes:
        total: the growth of all.
    """

    total: int = 0
    _last: dict[Hashable, int] = field(default_factory=dict)

    def add(self, key: Hashable, count: int, *, from_start: bool = False) -> int:
        """Add a sample of a counter, and return the total.

        Args:
            key: which counter.
            count: its count.
            from_start: if this is its first sample, it had counted before; else it began at 0.
        """
        before = self._last.get(key, count if from_start else 0)
        self._last[key] = count
        self.total += count - before if count >= before else count
        return self.total

    def restart(self) -> None:
        """Count the growth from the last samples on."""
        self.total = 0


def rate_bps(before: tuple[float, float], after: tuple[float, float]) -> float | None:
    """Return the rate at which a count of bytes grew, in bit/s; None if no time has passed.

    Args:
        before: a time in seconds, and the count at that time.
        after: likewise, later. A count that decreased gives 0.
    """
    length_s = after[0] - before[0]
    return max(0.0, after[1] - before[1]) * 8 / length_s if length_s > 0 else None
