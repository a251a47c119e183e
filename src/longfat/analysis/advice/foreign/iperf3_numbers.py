"""The numbers of one direction of an iperf3 report, from which rules draw their conclusions."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from longfat.analysis.advice.facts import Facts
from longfat.analysis.timeseries.sources import whole_rows
from longfat.model.metric import Unit
from longfat.model.traffic.bulk import Interval
from longfat.model.traffic.iperf3_any import AnyReport

MIN_ROWS = 4
"""Of fewer intervals the first is not left out as the start."""

_CUT = 0.95  # of the congestion window before
_FULL = 0.8  # of the congestion window in flight
_QUEUE_RATIO, _QUEUE_S = 1.25, 0.005
_SEGMENT_BYTES = 1448


@dataclass(frozen=True)
class StreamRows:
    """One direction of a stream in the time that counts."""

    rows: Sequence[Interval]

    @cached_property
    def seconds(self) -> float:
        """How long it sent."""
        return sum(row.end_s - row.start_s for row in self.rows)

    @cached_property
    def bps(self) -> float:
        """The throughput."""
        return sum(row.bytes for row in self.rows) * 8 / self.seconds if self.seconds else 0.0

    @cached_property
    def rates(self) -> list[float]:
        """The throughput of each interval."""
        return [row.bps for row in self.rows]

    @cached_property
    def rtts_s(self) -> list[float]:
        """The RTTs that are known."""
        return [row.rtt_s for row in self.rows if row.rtt_s]

    @cached_property
    def windows(self) -> list[int]:
        """The congestion windows that are known."""
        return [row.cwnd_bytes for row in self.rows if row.cwnd_bytes]

    @cached_property
    def offered(self) -> list[int]:
        """The windows of the other end that are known."""
        return [row.send_window_bytes for row in self.rows if row.send_window_bytes]

    @cached_property
    def retransmits(self) -> int:
        """Segments that were sent again."""
        return sum(row.retransmits or 0 for row in self.rows)


class Direction:
    """The streams of one direction of a report."""

    def __init__(self, report: AnyReport, *, sends: bool) -> None:
        self.report = report
        streams = (
            [row for row in whole_rows(stream) if row.sender == sends] for stream in report.streams
        )
        self.streams = [StreamRows(rows) for rows in streams if rows]
        self.sends = sends

    @cached_property
    def is_udp(self) -> bool:
        """Whether it is of UDP; a report of a receiver says it in its rows only."""
        rows = (row for stream in self.streams for row in stream.rows)
        return self.report.is_udp or any(row.lost_packets is not None for row in rows)

    @cached_property
    def bps(self) -> float:
        """The throughput."""
        return sum(stream.bps for stream in self.streams)

    @cached_property
    def rtt_s(self) -> float | None:
        """The mean RTT; None if it is not known."""
        values = [rtt_s for stream in self.streams for rtt_s in stream.rtts_s]
        return statistics.fmean(values) if values else None

    @cached_property
    def min_rtt_s(self) -> float | None:
        """The least RTT; None likewise."""
        return min((rtt_s for stream in self.streams for rtt_s in stream.rtts_s), default=None)

    @cached_property
    def rates(self) -> list[float]:
        """The throughput of all streams, interval by interval."""
        return [sum(row) for row in zip(*(stream.rates for stream in self.streams), strict=False)]

    @cached_property
    def variation(self) -> float:
        """The coefficient of variation of the throughput, without its start."""
        rates = self.rates[1:] if len(self.rates) >= MIN_ROWS else self.rates
        mean = statistics.fmean(rates) if rates else 0.0
        return statistics.pstdev(rates) / mean if mean else math.inf

    @cached_property
    def in_flight_bytes(self) -> float | None:
        """Of a stream, on average: throughput x RTT, in the steady part."""
        if self.rtt_s is None:
            return None
        products = [
            row.bps * row.rtt_s / 8
            for stream in self.streams
            for row in (stream.rows[1:] if len(stream.rows) >= MIN_ROWS else stream.rows)
            if row.rtt_s
        ]
        return statistics.median(products) if products else None

    @cached_property
    def cwnd_bytes(self) -> float | None:
        """The median congestion window of a stream; None likewise."""
        values = [value for stream in self.streams for value in stream.windows]
        return statistics.median(values) if values else None

    @cached_property
    def offered_bytes(self) -> float | None:
        """The largest window of the other end; None likewise."""
        values = [value for stream in self.streams for value in stream.offered]
        return float(max(values)) if values else None

    @cached_property
    def retransmits(self) -> int:
        """Segments that were sent again."""
        return sum(stream.retransmits for stream in self.streams)

    @cached_property
    def segments(self) -> float:
        """About how many segments were sent."""
        return max(1.0, sum(row.bytes for s in self.streams for row in s.rows) / _SEGMENT_BYTES)

    @cached_property
    def is_cut(self) -> bool:
        """Whether losses have lowered a congestion window."""
        pairs = (pair for stream in self.streams for pair in itertools.pairwise(stream.windows))
        return any(after < _CUT * before for before, after in pairs)

    @cached_property
    def has_queue(self) -> bool:
        """Whether the RTT is clearly above its minimum."""
        if self.rtt_s is None or self.min_rtt_s is None:
            return False
        peak_s = max(rtt_s for stream in self.streams for rtt_s in stream.rtts_s)
        extra_s = max(self.rtt_s, 0.8 * peak_s) - self.min_rtt_s
        return extra_s >= _QUEUE_S and extra_s >= (_QUEUE_RATIO - 1) * self.min_rtt_s

    @cached_property
    def is_window_full(self) -> bool:
        """Whether what is in flight fills the congestion window."""
        if self.in_flight_bytes is None or self.cwnd_bytes is None:
            return False
        return self.in_flight_bytes >= _FULL * self.cwnd_bytes

    @cached_property
    def facts(self) -> Facts:
        """The numbers as evidence."""
        facts = Facts()
        facts.put("sender_bps" if self.sends else "receiver_bps", "throughput", self.bps, Unit.BPS)
        if self.variation < math.inf:
            facts.put("variation_fraction", "its variation", self.variation, Unit.FRACTION)
        facts.put("mean_rtt_s", "RTT, mean", self.rtt_s, Unit.SECONDS)
        facts.put("min_rtt_s", "RTT, least", self.min_rtt_s, Unit.SECONDS)
        each = "of each stream, throughput x RTT"
        beside = each if len(self.streams) > 1 else "throughput x RTT"
        in_flight = self.in_flight_bytes
        facts.put("mean_in_flight_bytes", "in flight", in_flight, Unit.BYTES, beside=beside)
        facts.put("cwnd_bytes", "cwnd, median", self.cwnd_bytes, Unit.BYTES)
        facts.put("send_window_bytes", "largest window offered", self.offered_bytes, Unit.BYTES)
        if not self.report.is_udp and self.cwnd_bytes is not None:
            facts.put("retransmits", "retransmissions", self.retransmits, Unit.COUNT)
        facts.put("loss", "lost", self.report.loss if self.report.is_udp else None, Unit.FRACTION)
        facts.put("target_bps", "rate that was set (-b)", self.report.target_bps, Unit.BPS)
        facts.put(
            "window_bytes", "socket buffer that was set (-w)", self.report.window_bytes, Unit.BYTES
        )
        facts.put("cpu_fraction", "CPU of this end", self.report.cpu, Unit.FRACTION)
        return facts
