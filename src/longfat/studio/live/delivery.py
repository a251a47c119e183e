"""The throughput of a TCP socket: what its peer has received, averaged over the RTT.

A sender that waits for its window sends once in a round trip, so that samples which are
closer together are 0 and a multiple of the rate by turns. And the cumulative
acknowledgement stops while a lost segment is missing and jumps when it is
repaired, though data arrived all the time: selectively acknowledged data counts, too.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEAST_SAMPLES = 2
"""The minimum number of samples of an average, for short round-trip times."""

_KEPT = 4
"""Samples are kept for this many windows: a round-trip time may grow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Throughput:
    """What a socket delivers.

    Attributes:
        raw_bps: since the sample before, in bit/s.
        mean_bps: averaged over a round-trip time, in bit/s.
    """

    raw_bps: float
    mean_bps: float


def delivered_bytes(row: Mapping[str, Any]) -> int:
    """Return how many bytes have arrived at a socket's peer, by a row of `tcp.decode_sockets`."""
    return int(row["bytes_acked"] + row["sacked_packets"] * row["mss_bytes"])


class Delivery:
    """What one socket delivers over time.

    Args:
        every_s: between two samples, in seconds.
    """

    def __init__(self, *, every_s: float) -> None:
        self._every_s = every_s
        self._window_s = _LEAST_SAMPLES * every_s
        self._delivered: deque[tuple[float, float]] = deque()
        self._rates: deque[tuple[float, float]] = deque()

    @property
    def last_s(self) -> float:
        """When the last sample was taken, in seconds; before the first one, never."""
        return self._delivered[-1][0] if self._delivered else -math.inf

    def add(self, time_s: float, delivered: float, rtt_s: float) -> Throughput | None:
        """Take a sample.

        Args:
            time_s: when it was taken, in seconds.
            delivered: bytes that have arrived so far.
            rtt_s: the smoothed round-trip time; 0 if the socket was closed, and the
                last one is used.

        Returns:
            The throughput; None for the first sample, and for one of the same time as the
            last.
        """
        if rtt_s > 0:
            self._window_s = max(rtt_s, _LEAST_SAMPLES * self._every_s)
        if not self._delivered:
            self._delivered.append((time_s, delivered))
            return None
        last_s, last = self._delivered[-1]
        if time_s <= last_s:
            return None
        # Selective acknowledgements may be discarded after a timeout.
        delivered = max(delivered, last)
        self._delivered.append((time_s, delivered))
        rate_bps = (delivered - self._at(time_s - self._window_s)) * 8 / self._window_s
        self._rates.append((time_s, rate_bps))
        self._forget(time_s)
        recent = [rate for at_s, rate in self._rates if at_s > time_s - self._window_s]
        return Throughput(
            raw_bps=(delivered - last) * 8 / (time_s - last_s),
            mean_bps=sum(recent) / len(recent),
        )

    def _at(self, time_s: float) -> float:
        """Return how much had arrived by a time; between two samples, interpolated linearly."""
        later_s, later = self._delivered[-1]
        for before_s, before in reversed(self._delivered):
            if before_s <= time_s:
                share = (time_s - before_s) / (later_s - before_s) if later_s > before_s else 0.0
                return before + (later - before) * share
            later_s, later = before_s, before
        return later

    def _forget(self, time_s: float) -> None:
        oldest_s = time_s - _KEPT * self._window_s
        for kept in (self._delivered, self._rates):
            while len(kept) > 2 and kept[1][0] < oldest_s:
                kept.popleft()
