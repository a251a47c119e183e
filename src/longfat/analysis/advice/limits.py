"""What limits one TCP stream, moment by moment: a pure function over readings.

The sender's kernel keeps three clocks for each socket (Linux 4.10, tcp(7) and `struct
tcp_info`): `busy`, the time in which there was something to send or to be acknowledged; in
it `rwnd_limited`, the time in which the receiver's window limited data; and
`sndbuf_limited`, the time in which the socket had nothing left to send because its send
buffer had no room for more. The rest of the busy time belongs to the congestion control and
the network, which the kernel does not distinguish. `classify` does, by four questions in
this order:

1. Was the bottleneck link full, and with this flow alone? Then it is the
   **bottleneck**, whatever the three clocks show: a larger window would only
   make the queue longer.
2. Was there nothing to send? Then it is the **application**.
3. What do the clocks show: **receive window**, **send buffer**? The latter's
   misses much, so a full buffer below an open window counts, too.
4. The rest: a **retransmission timeout**, if nothing was acknowledged until one had fired;
   **bottleneck** if the link was full with others; the **model**, if the congestion control
   sends by a model of the path and not by losses; **loss**, if the window has been cut
   before; **start-up** if not. If the link is not known and the window does not grow, it
   is **unknown**.

`merge_streams` combines the slices of parallel streams, and `spans` merges slices to rows of a
table: in each second, what limited the flow most. Nothing here depends on runs, tables or iperf3.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Limit(StrEnum):
    """What can limit a flow; the value is what people read."""

    BOTTLENECK = "bottleneck"
    RECEIVE_WINDOW = "receive window"
    SEND_BUFFER = "send buffer"
    LOSS = "congestion window after loss"
    TIMEOUT = "retransmission timeout"
    START_UP = "start-up"
    MODEL = "congestion control's model"
    APPLICATION = "application"
    UNKNOWN = "not known"


MODEL_BASED = frozenset(("bbr", "bbr2", "bbr3", "cdg", "nv", "vegas"))
"""Congestion controls that send by a model or by delay, and so may leave a link empty unasked."""

CUTTING_STATES = frozenset(("cwr", "recovery", "loss"))
"""States of Linux's congestion control in which the window is cut (RFC 5681, RFC 3168)."""

# Clocks in jiffies (10 ms with HZ=100) are not exact; less than this is none.
_SENDBUF_SHARE = 0.1

# A program can write again once a third of its send buffer is free (sk_stream_is_writeable).
_PACKED = 0.6
_REMNANT = 0.1
_OPEN = 0.9

# A congestion window that is filled to this share is what limits.
_FILLED = 0.75

# A window that has grown by less than this does not grow.
_GROWTH = 1.02

# A model-based flow has left its start-up once it delivered this share of its best.
_STARTED = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The sender's kernel's statistics of one stream at one time.

    Attributes:
        time_s: when, in seconds.
        busy_s: how long there has been something to send or to be acknowledged.
        rwnd_limited_s: how long of it the receiver's window limited data.
        sndbuf_limited_s: how long of it the send buffer was too small.
        acked_bytes: the bytes that were acknowledged so far.
        retransmits: the segments that were sent again so far.
        cwnd_bytes: the congestion window.
        in_flight_bytes: what is sent and not acknowledged.
        unsent_bytes: what waits in the send buffer.
        queued_bytes: what the kernel counts as used of the send buffer.
        send_buffer_bytes: the size of the send buffer; 0 where it is not known.
        cutting: the congestion control is cutting the window just now.
        timed_out: a retransmission timeout has fired, and what it sent again is not acknowledged.
    """

    time_s: float
    busy_s: float = 0.0
    rwnd_limited_s: float = 0.0
    sndbuf_limited_s: float = 0.0
    acked_bytes: float = 0.0
    retransmits: int = 0
    cwnd_bytes: float = 0.0
    in_flight_bytes: float = 0.0
    unsent_bytes: float = 0.0
    queued_bytes: float = 0.0
    send_buffer_bytes: float = 0.0
    cutting: bool = False
    timed_out: bool = False

    @property
    def packed(self) -> bool:
        """Return whether the send buffer has no room, and the window has.

        The kernel's own clock misses much of that: it stops while less than a packet waits
        for more to come.
        """
        return (
            self.send_buffer_bytes > 0
            and self.queued_bytes >= _PACKED * self.send_buffer_bytes
            and self.unsent_bytes <= _REMNANT * self.in_flight_bytes
            and self.in_flight_bytes < _OPEN * self.cwnd_bytes
        )

    @property
    def idle(self) -> bool:
        """Return whether there is nothing to send although window and buffer would let it."""
        return self.unsent_bytes == 0 and self.in_flight_bytes < self.cwnd_bytes and not self.packed


class Link(StrEnum):
    """What the bottleneck link did between two readings."""

    FULL_ALONE = "full of this flow"
    FULL_SHARED = "full of several flows"
    NOT_FULL = "not full"
    UNKNOWN = "not known"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch of time and what limited the stream in it.

    Attributes:
        start_s: its start, in seconds.
        end_s: its end.
        seconds: seconds of it by limit; they sum to its length.
    """

    start_s: float
    end_s: float
    seconds: Mapping[Limit, float] = field(default_factory=dict)


def classify(
    readings: Sequence[Reading], links: Sequence[Link], *, model_based: bool = False
) -> tuple[Slice, ...]:
    """Determine what limited a stream between each two readings.

    Args:
        readings: the readings, in the order of their times; the first may be
            the stream's start, with all clocks at 0.
        links: what the link did between each two readings: one less.
        model_based: the congestion control is one of `MODEL_BASED`.

    Returns:
        One slice for each two readings of different time, in their order.

    Raises:
        ValueError: the numbers of readings and links do not fit merge_streams.

    A second in which the receiver's window limited the stream for 0.9 s, and
    the growing congestion window for the rest:

    >>> start = Reading(time_s=0)
    >>> then = Reading(
    ...     time_s=1, busy_s=1, rwnd_limited_s=0.9, cwnd_bytes=9e4, unsent_bytes=1, acked_bytes=1e6
    ... )
    >>> (found,) = classify([start, then], [Link.NOT_FULL])
    >>> {str(limit): round(seconds, 1) for limit, seconds in found.seconds.items()}
    {'receive window': 0.9, 'start-up': 0.1}
    """
    if len(links) != max(0, len(readings) - 1):
        raise ValueError(f"{len(readings)} readings have {len(links)} links between them")
    best_bps = max((_rate(a, b) for a, b in _pairs(readings)), default=0.0)
    slices = []
    was_cut = was_started = False
    waits = _waits_for_timeouts(readings)
    for (before, after), link, is_waiting in zip(_pairs(readings), links, waits, strict=True):
        if is_waiting:
            rest = Limit.TIMEOUT
        elif model_based and link is not Link.FULL_SHARED:
            rest = Limit.MODEL if was_started else Limit.START_UP
        else:
            rest = _rest(before, after, link, was_cut=was_cut)
        slices += _slice(before, after, link, rest)
        # A cut counts for what comes after it: the time until then was as before.
        was_cut = was_cut or after.retransmits > 0 or after.cutting
        was_started = was_started or _rate(before, after) >= _STARTED * best_bps
    return tuple(slices)


def _waits_for_timeouts(readings: Sequence[Reading]) -> list[bool]:
    """Return for each two readings whether a timeout ended, or will end, the silence of that time.

    A timeout fires long after the last acknowledgement, so all of a silence belongs to it.
    """
    waits: list[bool] = []
    silences = itertools.groupby(readings, key=lambda reading: reading.acked_bytes)
    for number, (_, group) in enumerate(silences):
        silence = list(group)
        if number:  # between two silences something was acknowledged
            waits.append(False)
        fired = any(reading.timed_out for reading in silence)
        waits += [fired] * (len(silence) - 1)
    return waits


def _pairs(readings: Sequence[Reading]) -> list[tuple[Reading, Reading]]:
    return list(itertools.pairwise(readings))


def _rate(before: Reading, after: Reading) -> float:
    length_s = after.time_s - before.time_s
    return (after.acked_bytes - before.acked_bytes) * 8 / length_s if length_s > 0 else 0.0


def _slice(before: Reading, after: Reading, link: Link, rest: Limit) -> list[Slice]:
    length_s = after.time_s - before.time_s
    if length_s <= 0:
        return []
    if link is Link.FULL_ALONE:
        seconds = {Limit.BOTTLENECK: length_s}
    else:
        # The clocks tick in jiffies and may pass what the times allow by one tick.
        busy_s = _within(after.busy_s - before.busy_s, length_s)
        receiver_s = _within(after.rwnd_limited_s - before.rwnd_limited_s, busy_s)
        buffer_s = _within(after.sndbuf_limited_s - before.sndbuf_limited_s, busy_s - receiver_s)
        rest_s = busy_s - receiver_s - buffer_s
        if before.packed and after.packed:
            buffer_s, rest_s = buffer_s + rest_s, 0.0
        starved = before.idle and after.idle and buffer_s < _SENDBUF_SHARE * length_s
        seconds = {
            Limit.RECEIVE_WINDOW: receiver_s,
            Limit.SEND_BUFFER: buffer_s,
            rest: 0.0 if starved else rest_s,
            Limit.APPLICATION: length_s - busy_s + (rest_s if starved else 0.0),
        }
    there = {limit: value for limit, value in seconds.items() if value > 0}
    return [Slice(start_s=before.time_s, end_s=after.time_s, seconds=there)]


def _within(value: float, largest: float) -> float:
    return min(max(value, 0.0), largest)


def _rest(before: Reading, after: Reading, link: Link, *, was_cut: bool) -> Limit:
    """Return what the time belongs to that no clock of the kernel claims."""
    if link is Link.FULL_SHARED:
        return Limit.BOTTLENECK
    if was_cut or before.cutting:
        return Limit.LOSS
    grows = after.cwnd_bytes > _GROWTH * before.cwnd_bytes
    filled = after.in_flight_bytes >= _FILLED * after.cwnd_bytes
    return Limit.START_UP if grows or (filled and link is Link.NOT_FULL) else Limit.UNKNOWN


def total(slices: Iterable[Slice]) -> dict[Limit, float]:
    """Return the seconds by limit, the largest first; they sum to the slices' length."""
    return _sums(one.seconds for one in slices)


def merge_streams(streams: Sequence[Sequence[Slice]]) -> tuple[Slice, ...]:
    """Return the slices of a flow of parallel streams: the mean of them all.

    Args:
        streams: each stream's slices. All between the same readings' times,
            but that streams may begin later or end earlier than others.

    Returns:
        One slice for each stretch of time that any stream has, whose seconds
        are the mean over the streams that were there.
    """
    if len(streams) == 1:
        return tuple(streams[0])
    every = [one for slices in streams for one in slices]
    edges = sorted({edge for one in every for edge in (one.start_s, one.end_s)})
    found = []
    for start_s, end_s, parts in _parts(every, edges):
        # Of a stream whose readings lie closer there are several parts; they sum to the length.
        present = sum(sum(part.values()) for part in parts) / (end_s - start_s)
        if present > 0:
            seconds = {limit: value / present for limit, value in _sums(parts).items()}
            found.append(Slice(start_s=start_s, end_s=end_s, seconds=seconds))
    return tuple(found)


def _sums(parts: Iterable[Mapping[Limit, float]]) -> dict[Limit, float]:
    sums: dict[Limit, float] = {}
    for part in parts:
        for limit, seconds in part.items():
            sums[limit] = sums.get(limit, 0.0) + seconds
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _parts(
    slices: Iterable[Slice], edges: Sequence[float]
) -> list[tuple[float, float, list[dict[Limit, float]]]]:
    """Return what of the slices lies between each two edges."""
    found: list[list[dict[Limit, float]]] = [[] for _ in edges[1:]]
    for one in slices:
        index = max(0, bisect_right(edges, one.start_s) - 1)
        while index < len(found) and edges[index] < one.end_s:
            inside_s = min(one.end_s, edges[index + 1]) - max(one.start_s, edges[index])
            share = inside_s / (one.end_s - one.start_s)
            found[index].append({limit: value * share for limit, value in one.seconds.items()})
            index += 1
    return [(edges[i], edges[i + 1], parts) for i, parts in enumerate(found)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Neighbouring seconds that the same limit ruled.

    Attributes:
        start_s: the start, in seconds.
        end_s: the end.
        limit: what took most of each of them.
        share: its share of the time, 0 to 1.
    """

    start_s: float
    end_s: float
    limit: Limit
    share: float


def spans(slices: Sequence[Slice], *, step_s: float = 1.0) -> tuple[Span, ...]:
    """Merge slices to a table that people read: what ruled from when to when.

    Args:
        slices: the slices, in the order of their times.
        step_s: the length of a row before rows are merged, in seconds; counted
            from the first slice's start.

    Returns:
        The rows. They follow each other without gaps where the slices do.
    """
    if not slices:
        return ()
    first_s, last_s = slices[0].start_s, slices[-1].end_s
    # A last step of less than half the length joins the one before: it would show little.
    count = max(1, round((last_s - first_s) / step_s))
    edges = [first_s + index * step_s for index in range(count)] + [last_s]
    found: list[Span] = []
    for start_s, end_s, parts in _parts(slices, edges):
        sums = _sums(parts)
        if not sums:
            continue
        limit, taken_s = next(iter(sums.items()))
        length_s = end_s - start_s
        begin_s = start_s
        last = found[-1] if found else None
        if last is not None and last.limit is limit and last.end_s == start_s:
            found.pop()
            taken_s += last.share * (last.end_s - last.start_s)
            length_s += last.end_s - last.start_s
            begin_s = last.start_s
        found.append(Span(start_s=begin_s, end_s=end_s, limit=limit, share=taken_s / length_s))
    return tuple(found)
