"""What TCP did, derived from the headers of its packets: for captures without tshark.

The terms are those of Wireshark ("TCP Analysis" in its user's guide). One rule differs. A
segment that fills a gap is a retransmission or came late, which no header shows: Wireshark
takes what comes within 3 ms, or the first round-trip time, for late. Here the time stamps
of RFC 7323 decide, if there are any: what was sent after later data is a retransmission.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

_LATE_NS = 3_000_000
"""Without time stamps: a segment that fills a gap of less than this has come late."""

_FAST_WITHIN_NS = 20_000_000
_HALF = 1 << 31
_MAX_UNACKED = 100_000
_MAX_GAPS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """The header of a TCP segment.

    Attributes:
        time_ns: when it was captured.
        seq: its sequence number.
        ack: its acknowledgment number.
        flags: its flags.
        payload: how many bytes of data it has.
        window: its window field.
        shift: the window scale that a SYN offers; None without.
        sack: the ranges that it reports as received.
        stamp: its TSval; None without.
        mss: the largest segment that a SYN offers to take; None without.
    """

    time_ns: int
    seq: int
    ack: int
    flags: int
    payload: int
    window: int
    shift: int | None = None
    sack: tuple[tuple[int, int], ...] = ()
    stamp: int | None = None
    mss: int | None = None


@dataclass(slots=True)
class Verdict:
    """What a segment is in its stream.

    Attributes:
        seq: its sequence number, from the stream's start.
        ack: its acknowledgment number, likewise.
        window: its window in bytes.
        sack: the ranges that it reports as received, likewise.
        ack_rtt_ns: since the data that it acknowledges was captured; None where it repeats.
        in_flight: bytes of its sender that are not acknowledged.
        marks: the keys of what it is, as in `columns.MARKS`.
    """

    seq: int
    ack: int
    window: int
    sack: list[tuple[int, int]] = field(default_factory=list)
    ack_rtt_ns: int | None = None
    in_flight: int | None = None
    marks: list[str] = field(default_factory=list)


def after(one: int, other: int) -> int:
    """Return how far a number of 32 bits is after another one; negative if it is before."""
    return (one - other + _HALF) % (1 << 32) - _HALF


class _Side:
    """What one end has sent."""

    def __init__(self) -> None:
        self.base: int | None = None
        self.next = 0
        self.acked: int | None = None
        self.window = 0
        self.shift: int | None = None
        self.duplicates = 0
        self.duplicate_ns = 0
        self.newest_stamp: int | None = None
        self.unacked: deque[tuple[int, int, bool]] = deque(maxlen=_MAX_UNACKED)
        # Ranges below `next` that were never seen, relative to the base, and since when.
        self.gaps: list[tuple[int, int, int]] = []

    def relative(self, number: int) -> int:
        return 0 if self.base is None else after(number, self.base)

    def see(self, start: int, end: int) -> int | None:
        """Take a range as seen; return since when it was missed, None where it was not."""
        left: list[tuple[int, int, int]] = []
        since_ns: int | None = None
        for first, last, missed_ns in self.gaps:
            if last <= start or first >= end:
                left.append((first, last, missed_ns))
                continue
            since_ns = missed_ns if since_ns is None else min(since_ns, missed_ns)
            left += [(first, start, missed_ns)] if first < start else []
            left += [(end, last, missed_ns)] if last > end else []
        self.gaps = left[-_MAX_GAPS:]
        return since_ns


class Stream:
    """A TCP connection, by its packets in the order of the capture."""

    def __init__(self) -> None:
        self._sides = (_Side(), _Side())
        self._syn_ns: int | None = None
        self._first_rtt_ns: int | None = None

    def restarts(self, direction: int, segment: Segment) -> bool:
        """Return whether a SYN begins another connection with the same ports."""
        side = self._sides[direction]
        is_first = segment.flags & (SYN | ACK) == SYN
        return is_first and side.base is not None and segment.seq != side.base

    def take(self, direction: int, segment: Segment) -> Verdict:
        """Return what a segment is.

        Args:
            direction: 0 or 1: which end sent it.
            segment: the segment.
        """
        own, other = self._sides[direction], self._sides[1 - direction]
        flags = segment.flags
        if own.base is None:
            own.base = segment.seq if flags & SYN else (segment.seq - 1) % (1 << 32)
            own.next = own.relative(segment.seq)
        if other.base is None and flags & ACK:
            other.base = (segment.ack - 1) % (1 << 32)
            other.next = 1
        if flags & SYN:
            own.shift = segment.shift
            self._syn_ns = self._syn_ns or segment.time_ns
        elif self._syn_ns is not None and self._first_rtt_ns is None:
            self._first_rtt_ns = segment.time_ns - self._syn_ns
        seq = own.relative(segment.seq)
        ack = other.relative(segment.ack) if flags & ACK else 0
        found = Verdict(seq=seq, ack=ack, window=self._window(own, other, segment))
        found.sack = [(other.relative(a), other.relative(b)) for a, b in segment.sack]
        is_next = found.seq == own.next
        self._see_data(own, other, segment, found)
        if flags & ACK:
            self._see_ack(own, other, segment, found, is_next=is_next)
        return found

    def _window(self, own: _Side, other: _Side, segment: Segment) -> int:
        # The window of a SYN is never scaled (RFC 7323, section 2.2), and both must offer it.
        if segment.flags & SYN or own.shift is None or other.shift is None:
            return segment.window
        return segment.window << min(own.shift, 14)

    def _see_data(self, own: _Side, other: _Side, segment: Segment, found: Verdict) -> None:
        length = segment.payload + bool(segment.flags & SYN) + bool(segment.flags & FIN)
        start, end = found.seq, found.seq + length
        quiet = not segment.flags & (SYN | FIN | RST)
        if quiet and segment.payload <= 1 and start == own.next - 1 and own.next > 1:
            found.marks.append("keep_alive")
            return
        if start > own.next and not segment.flags & RST:
            found.marks.append("lost_segment")
            own.gaps.append((own.next, start, segment.time_ns))
        repeats = length > 0 and start < own.next
        if repeats:
            found.marks += self._of_repeated(own, other, segment, (start, end))
        if length > 0:
            own.unacked.append((end, segment.time_ns, repeats))
            if end > own.next and segment.stamp is not None:
                own.newest_stamp = segment.stamp
        own.next = max(own.next, end)
        if segment.payload and other.acked is not None:
            found.in_flight = max(0, own.next - other.acked)
            if quiet and own.next == other.acked + other.window:
                found.marks.append("window_full")

    def _of_repeated(
        self, own: _Side, other: _Side, segment: Segment, span: tuple[int, int]
    ) -> list[str]:
        """Return what a segment is that is not the next one."""
        start, end = span
        since_ns = own.see(start, end)
        if other.acked is not None and end <= other.acked:
            return ["retransmission", "spurious"]
        if since_ns is not None and self._is_older(own, segment):
            return ["out_of_order"]
        recently = segment.time_ns - other.duplicate_ns < _FAST_WITHIN_NS
        if other.duplicates >= 2 and other.acked == start and recently:
            return ["retransmission", "fast"]
        if since_ns is not None and self._came_late(own, segment, since_ns):
            return ["out_of_order"]
        return ["retransmission"]

    def _is_older(self, own: _Side, segment: Segment) -> bool:
        """Return whether time stamps show that a segment was sent before data that came first."""
        if segment.stamp is None or own.newest_stamp is None:
            return False
        return after(segment.stamp, own.newest_stamp) < 0

    def _came_late(self, own: _Side, segment: Segment, since_ns: int) -> bool:
        """Return whether a segment that fills a gap was sent before what came after the gap."""
        waited_ns = segment.time_ns - since_ns
        if self._first_rtt_ns is not None and waited_ns >= self._first_rtt_ns > 0:
            return False
        if segment.stamp is not None and own.newest_stamp is not None:
            return after(segment.stamp, own.newest_stamp) <= 0
        return waited_ns < _LATE_NS

    def _see_ack(
        self, own: _Side, other: _Side, segment: Segment, found: Verdict, *, is_next: bool
    ) -> None:
        flags, ack = segment.flags, found.ack
        quiet = not flags & (SYN | FIN | RST)
        bare = quiet and segment.payload == 0 and "keep_alive" not in found.marks
        if segment.window == 0 and quiet:
            found.marks.append("zero_window")
        if ack > other.next and not flags & RST:
            found.marks.append("ack_lost")
            other.next = ack
            other.gaps.clear()
        same = own.acked is not None and ack == own.acked and bare and is_next
        if same and found.window == own.window and segment.window:
            own.duplicates += 1
            own.duplicate_ns = segment.time_ns
            found.marks.append("duplicate")
        elif same and found.window != own.window and segment.window:
            found.marks.append("window_update")
        if own.acked is None or ack > own.acked:
            own.duplicates = 0
            self._measure(other, segment, found)
            own.acked = ack
        own.window = found.window

    def _measure(self, other: _Side, segment: Segment, found: Verdict) -> None:
        """Take the time since what is acknowledged was sent; not of what was sent twice (Karn)."""
        newest: tuple[int, int, bool] | None = None
        repeated = False
        while other.unacked and other.unacked[0][0] <= found.ack:
            newest = other.unacked.popleft()
            repeated = repeated or newest[2]
        if newest is not None and not repeated:
            found.ack_rtt_ns = segment.time_ns - newest[1]
