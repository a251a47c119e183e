"""A flow's rows and totals as iperf3 itself prints them, in its own units.

iperf3 counts bytes in powers of 1024 and bits in powers of 1000, with about
three digits (units.c, `unit_snprintf`), and calls them MBytes and Gbits/sec.
Its printed table has the columns Interval, Transfer, Bitrate, Retr and Cwnd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.output.report.values import MISSING, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.traffic.bulk import Interval
    from longfat.model.traffic.iperf3 import Iperf3Report

COLUMNS = ("Interval", "Transfer", "Bitrate", "Retr", "Cwnd")
"""The headers of the columns, after that of the streams."""

SUM = "SUM"


@dataclass(frozen=True, slots=True)
class Iperf3Tables:
    """The tables of a test.

    Attributes:
        rows: each interval; the sum of the streams where there are many.
        streams: the rows of each single stream, where there are many.
        totals: what was sent and what was received.
    """

    rows: tuple[Row, ...]
    streams: tuple[tuple[Row, ...], ...]
    totals: tuple[Row, ...]


def iperf3_tables(report: Iperf3Report) -> Iperf3Tables:
    """Return the tables of a report."""
    streams = tuple(
        tuple(_interval_row(str(number), [interval]) for interval in stream)
        for number, stream in enumerate(report.streams, start=1)
    )
    if len(streams) == 1:
        return Iperf3Tables(rows=streams[0], streams=(), totals=_totals(report))
    sums = tuple(
        _interval_row(SUM, [i for i in same_time if i is not None])
        for same_time in _by_interval(report.streams)
    )
    return Iperf3Tables(rows=sums, streams=streams, totals=_totals(report))


def bytes_text(value: float) -> str:
    """Write a size as iperf3 does, such as `16.2 MBytes`."""
    return _scaled(value, 1024, ("Bytes", "KBytes", "MBytes", "GBytes", "TBytes"))


def rate_text(value_bps: float) -> str:
    """Write a rate as iperf3 does, such as `3.33 Gbits/sec`."""
    names = ("bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec", "Tbits/sec")
    return _scaled(value_bps, 1000, names)


def _by_interval(
    streams: Sequence[Sequence[Interval]],
) -> list[list[Interval | None]]:
    longest = max((len(stream) for stream in streams), default=0)
    return [
        [stream[index] if index < len(stream) else None for stream in streams]
        for index in range(longest)
    ]


def _interval_row(label: str, intervals: Sequence[Interval]) -> Row:
    retransmits = [i.retransmits for i in intervals if i.retransmits is not None]
    windows = [i.cwnd_bytes for i in intervals if i.cwnd_bytes is not None]
    start_s, end_s = intervals[0].start_s, intervals[0].end_s
    omitted = " (omitted)" if intervals[0].omitted else ""
    transfer_bytes = sum(i.bps * (i.end_s - i.start_s) for i in intervals) / 8
    # iperf3 leaves the window out of its sums.
    cwnd = bytes_text(windows[0]) if len(intervals) == 1 and windows else MISSING
    cells = (
        f"{start_s:.2f}-{end_s:.2f} sec{omitted}",
        bytes_text(transfer_bytes),
        rate_text(sum(i.bps for i in intervals)),
        str(sum(retransmits)) if retransmits else MISSING,
        cwnd,
    )
    return Row(label, cells)


def _totals(report: Iperf3Report) -> tuple[Row, ...]:
    rows = []
    for label, size, rate in (
        ("sender", "sent_bytes", "sender_bps"),
        ("receiver", "received_bytes", "receiver_bps"),
    ):
        if size not in report.totals or rate not in report.totals:
            continue
        size_bytes, rate_bps = report.totals[size], report.totals[rate]
        duration = f"0.00-{size_bytes * 8 / rate_bps:.2f} sec" if rate_bps else MISSING
        retransmits = report.totals.get("retransmits") if label == "sender" else None
        cells = (
            duration,
            bytes_text(size_bytes),
            rate_text(rate_bps),
            MISSING if retransmits is None else f"{retransmits:.0f}",
            MISSING,
        )
        rows.append(Row(label, cells))
    return tuple(rows)


def _scaled(value: float, base: int, names: Sequence[str]) -> str:
    index = 0
    while value >= base and index + 1 < len(names):
        value /= base
        index += 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {names[index]}"
