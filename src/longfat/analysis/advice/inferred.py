"""What limited a stream, inferred from iperf3's rows alone: less certain than `limits`.

Without the kernel's clocks there are, for each second, the throughput, cwnd, smoothed RTT
and retransmissions. What was in flight follows from Little's law: throughput x RTT. If that
fills the congestion window, the window is what limits; if it does not, something else does:
a window or buffer whose size is in the set-up lines, or the application, if the flow's rate
is limited. What cannot be determined is `Limit.UNKNOWN`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import Limit, Link, Slice

if TYPE_CHECKING:
    from collections.abc import Sequence

# In flight is a mean of a second and cwnd is its end: with less than this the window is not full.
_OPEN = 0.75

# A window or buffer that is filled to this share is taken for what limits.
_FILLED = 0.8

_AT_RATE = 0.9
_STARTED = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a flow beside its rows; None is not known.

    Attributes:
        receive_window_bytes: the window that the receive buffer allows.
        send_window_bytes: what the send buffer holds.
        rate_bps: the rate that the application keeps to, for each stream.
        model_based: the congestion control is one of `limits.MODEL_BASED`.
    """

    receive_window_bytes: float | None = None
    send_window_bytes: float | None = None
    rate_bps: float | None = None
    model_based: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Second:
    """A row of one stream.

    Attributes:
        start_s: its start, in seconds.
        end_s: its end.
        bps: the throughput in it.
        cwnd_bytes: the congestion window at its end.
        rtt_s: the smoothed RTT at its end.
        retransmits: segments sent again in it.
    """

    start_s: float
    end_s: float
    bps: float
    cwnd_bytes: float
    rtt_s: float
    retransmits: int


def infer(rows: Sequence[Second], links: Sequence[Link], known: Known) -> tuple[Slice, ...]:
    """Determine what probably limited a stream in each row.

    Args:
        rows: the rows, in the order of their times.
        links: what the bottleneck link did in each.
        known: what is known beside.

    Returns:
        One slice a row, each with one limit.

    Raises:
        ValueError: the numbers of rows and links differ.

    3.3 Gbit/s at 20 ms are 8.3 MB in flight, where cwnd is twice that and the
    receive buffer allows 8.4 MB:

    >>> row = Second(
    ...     start_s=1, end_s=2, bps=3.33e9, cwnd_bytes=16.8e6, rtt_s=0.02, retransmits=0
    ... )
    >>> known = Known(receive_window_bytes=8_388_608, send_window_bytes=12_000_000)
    >>> list(infer([row], [Link.NOT_FULL], known)[0].seconds)
    [<Limit.RECEIVE_WINDOW: 'receive window'>]
    """
    best_bps = max((row.bps for row in rows), default=0.0)
    was_cut = was_started = False
    slices = []
    for row, link in zip(rows, links, strict=True):
        was_cut = was_cut or row.retransmits > 0
        limit = _limit(row, link, known, was_cut=was_cut, was_started=was_started)
        was_started = was_started or row.bps >= _STARTED * best_bps
        length_s = row.end_s - row.start_s
        if length_s > 0:
            slices.append(Slice(start_s=row.start_s, end_s=row.end_s, seconds={limit: length_s}))
    return tuple(slices)


def _limit(row: Second, link: Link, known: Known, *, was_cut: bool, was_started: bool) -> Limit:
    if link is Link.FULL_ALONE:
        return Limit.BOTTLENECK
    if known.rate_bps is not None and row.bps >= _AT_RATE * known.rate_bps:
        return Limit.APPLICATION
    in_flight_bytes = row.bps * row.rtt_s / 8
    sizes = {
        Limit.RECEIVE_WINDOW: known.receive_window_bytes,
        Limit.SEND_BUFFER: known.send_window_bytes,
    }
    known_sizes = {limit: size for limit, size in sizes.items() if size is not None}
    least = min(known_sizes, key=lambda limit: known_sizes[limit], default=None)
    if (
        least is not None
        and in_flight_bytes >= _FILLED * known_sizes[least]
        and row.cwnd_bytes > known_sizes[least]
    ):
        return least
    if link is Link.FULL_SHARED:
        return Limit.BOTTLENECK
    if known.model_based:
        return Limit.MODEL if was_started else Limit.START_UP
    if was_cut:
        return Limit.LOSS
    if not was_started or in_flight_bytes >= _OPEN * row.cwnd_bytes:
        return Limit.START_UP
    return least or Limit.UNKNOWN
