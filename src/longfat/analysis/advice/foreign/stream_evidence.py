"""What the packets of a TCP connection show: the capture's side, and what the sender waits for.

A capture has two sides. Near the sender, what is in flight is visible at each moment, and so is
what the sender waits for: the receiver's window, an acknowledgement, or its program. Near the
receiver only the window and the gaps are; the RTT is then that of the handshake.
"""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from longfat.analysis.packets.streams import End
from longfat.analysis.packets.table import ABSENT, PacketTable

FIN, SYN, RST, ACK, ECE, CWR = 1, 2, 4, 16, 64, 128
_CE = 3
_NS = 1_000_000_000

_NAGLE_MIN_NS, _NAGLE_MAX_NS = 30_000_000, 230_000_000
_AT_ONCE_NS = 3_000_000
_MIN_TIMEOUT_NS = 150_000_000
_SIDE_RATIO = 4
_MIN_REPEATS = 3
_TIMESTAMP_BYTES, _USUAL_BYTES = 12, 1448
_MAX_EVENT_GAP_NS = 200_000_000
_MIN_CLOCK_SAMPLES = 10
_NEAR_SEGMENTS = 3
_RECENT = 20


class Side(StrEnum):
    """Where a connection was captured, seen from its data."""

    SENDER = "near the sender"
    RECEIVER = "near the receiver"
    MIDDLE = "between both ends"
    UNKNOWN = "not known where"


@dataclass(slots=True, kw_only=True)
class StreamEvidence:
    """What the packets of a connection show; times in seconds, sizes in bytes.

    Attributes:
        number: its number in the capture.
        sender: the end that sent more data.
        receiver: the other end.
        side: where it was captured.
        has_syn: the SYN of the sender, or of the receiver, is in the capture: of both if 2.
        is_scaled: window scaling was agreed; None if the SYN packets are not in the capture.
        is_refused: the SYN was answered by a reset.
        is_answered: the other end sent packets.
        mss: the smaller MSS option of both ends; None without a SYN.
        largest_payload: the largest segment that was sent; with offload, more than a frame has.
        duration_s: from the first data to the last, or to the last acknowledgement.
        data_bytes: new data, without what was sent again.
        segments: packets with data.
        rates_bps: the throughput in tenths of that time.
        rtt_s: the least RTT; None if none can be seen.
        typical_rtt_s: the median RTT.
        return_queue_s: how much later than at best acknowledgements came back, in the median; None
            if the receiver's timestamps do not show it.
        window_bytes: the largest window that was offered.
        least_window_bytes: the least after the first data.
        in_flight_bytes: the largest amount in flight.
        waits: seconds by what the sender waited for: `window`, `zero window`, `idle`, `timeout`,
            `delayed ack`, `network`.
        zero_windows: how often the window closed.
        window_fulls: segments that filled the window.
        retransmits: segments that were sent again.
        fast: of them after duplicate acknowledgements.
        timeouts: of them after a silence of a timeout.
        outage_s: the longest time without an acknowledgement in which segments were sent again, if
            acknowledgements came again after it; in seconds.
        outage_start_s: when it began, from the first data on.
        spurious: segments that the receiver had already, by DSACK or by the acknowledgement.
        late: segments that came out of order.
        lost_together: of the lost segments those next to another one that was lost.
        lost: segments that were lost, each counted once.
        rises: the RTT before losses against the least RTT, for groups where it can be seen.
        delayed_acks: small segments that waited for a delayed acknowledgement.
        repeats: how often the first segment that was never acknowledged was sent.
        repeat_bytes: its size.
        largest_acked: the largest segment that was acknowledged.
        ecn_requested: the SYN requested ECN.
        ecn_agreed: the answer agreed.
        marked: packets with a congestion mark (CE).
        echoed: acknowledgements that echo one (ECE).
        resets: who reset the connection, and when.
        unseen: segments that the capture missed.
    """

    number: int
    sender: End
    receiver: End
    side: Side = Side.UNKNOWN
    has_syn: int = 0
    is_scaled: bool | None = None
    is_refused: bool = False
    is_answered: bool = False
    mss: int | None = None
    largest_payload: int = 0
    duration_s: float = 0.0
    data_bytes: int = 0
    segments: int = 0
    rates_bps: tuple[float, ...] = ()
    rtt_s: float | None = None
    typical_rtt_s: float | None = None
    return_queue_s: float | None = None
    window_bytes: int = 0
    least_window_bytes: int = 0
    in_flight_bytes: int = 0
    waits: Counter[str] = field(default_factory=Counter)
    zero_windows: int = 0
    window_fulls: int = 0
    retransmits: int = 0
    fast: int = 0
    timeouts: int = 0
    outage_s: float = 0.0
    outage_start_s: float = 0.0
    spurious: int = 0
    late: int = 0
    lost_together: int = 0
    lost: int = 0
    rises: list[float] = field(default_factory=list)
    delayed_acks: int = 0
    repeats: int = 0
    repeat_bytes: int = 0
    largest_acked: int = 0
    ecn_requested: bool = False
    ecn_agreed: bool = False
    marked: int = 0
    echoed: int = 0
    resets: list[tuple[str, float]] = field(default_factory=list)
    unseen: int = 0

    @property
    def bps(self) -> float:
        """The throughput of new data."""
        return self.data_bytes * 8 / self.duration_s if self.duration_s > 0 else 0.0

    @property
    def segment_bytes(self) -> int:
        """The payload of a full frame: the MSS without timestamps, or Ethernet's."""
        return max(1, self.mss - _TIMESTAMP_BYTES) if self.mss is not None else _USUAL_BYTES

    def share(self, wait: str) -> float:
        """Return the share of the time in which the sender waited for something."""
        return self.waits[wait] / self.duration_s if self.duration_s > 0 else 0.0


def stream_evidence(table: PacketTable, number: int) -> StreamEvidence:
    """Return what the packets of a connection show.

    Args:
        table: the packets of a capture.
        number: the number of the TCP stream in it.
    """
    rows = np.flatnonzero(table.wholes["tcp_stream"] == number)
    return _Reader(table, number, [int(row) for row in rows]).read()


class _Reader:
    """Reads the packets of one connection in the order of the capture."""

    def __init__(self, table: PacketTable, number: int, rows: Sequence[int]) -> None:
        self._table = table
        self._rows = rows
        wholes = table.wholes
        names = (
            *("time", "flags", "seq", "ack", "payload", "window", "ack_rtt", "mss", "shift"),
            *("retransmission", "fast", "spurious", "out_of_order", "lost_segment", "stamp"),
            *("tcp_source_port", "tcp_target_port", "window_full", "keep_alive"),
        )
        self._columns = {name: wholes[name][list(rows)].tolist() for name in names}
        first = rows[0]
        ends = (
            End(
                address=table.texts["source"][first], port=int(self._columns["tcp_source_port"][0])
            ),
            End(
                address=table.texts["target"][first], port=int(self._columns["tcp_target_port"][0])
            ),
        )
        sources = [
            (table.texts["source"][row], port)
            for row, port in zip(rows, self._columns["tcp_source_port"], strict=True)
        ]
        start = (ends[0].address, ends[0].port)
        forward = [source == start for source in sources]
        payload = self._columns["payload"]
        ahead = sum(size for size, own in zip(payload, forward, strict=True) if own)
        back = sum(size for size, own in zip(payload, forward, strict=True) if not own)
        reverse = back > ahead
        self._own = [own != reverse for own in forward]
        self._is_client = not reverse
        sender, receiver = ends[::-1] if reverse else ends
        self.evidence = StreamEvidence(number=number, sender=sender, receiver=receiver)

    def read(self) -> StreamEvidence:
        evidence = self.evidence
        self._handshake()
        self._round_trips()
        self._data()
        self._losses()
        self._clocks()
        evidence.is_answered = not all(self._own)
        return evidence

    def _handshake(self) -> None:
        evidence, columns = self.evidence, self._columns
        flags, times = columns["flags"], columns["time"]
        syn_ns: dict[bool, int] = {}
        shifts: dict[bool, int] = {}
        sizes: list[int] = []
        for index, flag in enumerate(flags):
            own = self._own[index]
            if flag & SYN:
                syn_ns[own] = times[index]
                shifts[own] = columns["shift"][index]
                if columns["mss"][index] != ABSENT:
                    sizes.append(columns["mss"][index])
                if flag & ACK:
                    evidence.ecn_agreed = bool(flag & ECE)
                elif flag & ECE and flag & CWR:
                    evidence.ecn_requested = True
            elif flag & RST:
                evidence.is_refused = evidence.is_refused or (
                    len(syn_ns) == 1 and own not in syn_ns
                )
                end = evidence.sender if own else evidence.receiver
                at_s = (times[index] - times[0]) / _NS
                evidence.resets.append((f"{end.address}:{end.port}", at_s))
        evidence.has_syn = len(syn_ns)
        evidence.mss = min(sizes, default=None)
        if len(syn_ns) == 2:
            evidence.is_scaled = ABSENT not in shifts.values()
        elif ABSENT in shifts.values():
            evidence.is_scaled = False
        self._shake(times, flags, syn_ns)

    def _shake(self, times: list[int], flags: list[int], syn_ns: dict[bool, int]) -> None:
        """Find out by the handshake where it was captured, and its RTT."""
        if len(syn_ns) < 2:
            return
        client = self._is_client
        if client not in syn_ns:
            return
        answer_ns = syn_ns[not client]
        last = next(
            (
                times[index]
                for index, flag in enumerate(flags)
                if self._own[index] == client and not flag & SYN and times[index] >= answer_ns
            ),
            None,
        )
        if last is None or answer_ns < syn_ns[client]:
            return
        beyond_ns, before_ns = answer_ns - syn_ns[client], last - answer_ns
        self.evidence.rtt_s = (beyond_ns + before_ns) / _NS
        near_client = beyond_ns > _SIDE_RATIO * before_ns
        near_server = before_ns > _SIDE_RATIO * beyond_ns
        if near_client or near_server:
            self.evidence.side = Side.SENDER if near_client == client else Side.RECEIVER
        else:
            self.evidence.side = Side.MIDDLE

    def _round_trips(self) -> None:
        evidence, columns = self.evidence, self._columns
        # The time from data to its acknowledgement is in the row of the acknowledgement.
        ours = [
            value / _NS
            for value, own, flag in zip(
                columns["ack_rtt"], self._own, columns["flags"], strict=True
            )
            if value != ABSENT and not own and not flag & SYN
        ]
        if not ours:
            return
        least, middle = min(ours), statistics.median(ours)
        if evidence.side is Side.UNKNOWN:
            # Data captured near the receiver are acknowledged at once.
            evidence.side = Side.RECEIVER if least < 0.0005 and middle < 0.002 else Side.SENDER
            if evidence.side is Side.RECEIVER:
                return
        if evidence.side is Side.SENDER:
            evidence.rtt_s = min(least, evidence.rtt_s or least)
            evidence.typical_rtt_s = middle

    def _data(self) -> None:
        """Go through the packets, and book each moment to what the sender waits for."""
        evidence, columns = self.evidence, self._columns
        times, flags, payload = columns["time"], columns["flags"], columns["payload"]
        data = [i for i, size in enumerate(payload) if size > 0 and self._own[i]]
        if not data:
            return
        self._count(data)
        first = data[0]
        sent = acked = columns["seq"][first]
        window, fired, segment = None, 0, evidence.segment_bytes
        last_data_ns = progress_ns = times[first]
        ends: dict[int, int] = {}
        windows: list[int] = []
        marks: list[tuple[int, int]] = []
        previous = first
        for index in range(first, len(times)):
            now_ns, flag = times[index], flags[index]
            dt_ns = now_ns - times[previous]
            if index > first:
                is_late = self._ends_timeout(index, acked, now_ns - last_data_ns)
                evidence.timeouts += is_late
                state = self._state(sent - acked, window, segment, dt_ns)
                evidence.waits["timeout" if is_late else state] += dt_ns / _NS
            previous = index
            if self._own[index]:
                size = payload[index]
                if size and not columns["keep_alive"][index]:
                    start = columns["seq"][index]
                    if start + size > sent:
                        evidence.data_bytes += start + size - max(sent, start)
                        marks.append((now_ns, evidence.data_bytes))
                    self._waited_for_ack(index, size, segment)
                    sent = max(sent, start + size)
                    ends[start + size] = size
                    last_data_ns = now_ns
                    evidence.in_flight_bytes = max(evidence.in_flight_bytes, sent - acked)
                continue
            if flag & ACK and not flag & (SYN | RST):
                window = columns["window"][index]
                windows.append(window)
                evidence.zero_windows += window == 0 and len(windows) > 1 and windows[-2] > 0
                if columns["ack"][index] > acked:
                    if evidence.timeouts > fired:
                        self._see_outage(progress_ns, now_ns, times[first])
                    acked, progress_ns, fired = columns["ack"][index], now_ns, evidence.timeouts
        evidence.window_bytes = max(windows, default=0)
        evidence.least_window_bytes = min(windows, default=0)
        evidence.duration_s = max((times[-1] - times[first]) / _NS, 0.0)
        evidence.largest_acked = max(
            (size for end, size in ends.items() if end <= acked), default=0
        )
        evidence.rates_bps = _rates(marks, times[first], times[-1])
        self._repeated(data, acked)

    def _count(self, data: Sequence[int]) -> None:
        """Count what needs no order: segments, full windows, marks and their echoes."""
        evidence, columns = self.evidence, self._columns
        evidence.segments = len(data)
        evidence.largest_payload = max(columns["payload"][i] for i in data)
        evidence.window_fulls = sum(columns["window_full"][i] > 0 for i in data)
        evidence.marked = sum(self._table.ecn(self._rows[i]) == _CE for i in data)
        evidence.echoed = sum(
            bool(flag & ECE) and not flag & SYN
            for flag, own in zip(columns["flags"], self._own, strict=True)
            if not own
        )

    def _see_outage(self, start_ns: int, end_ns: int, first_ns: int) -> None:
        """Take a time without acknowledgements, if it is the longest."""
        length_s = (end_ns - start_ns) / _NS
        if length_s > self.evidence.outage_s:
            self.evidence.outage_s = length_s
            self.evidence.outage_start_s = (start_ns - first_ns) / _NS

    def _ends_timeout(self, index: int, acked: int, silence_ns: int) -> bool:
        """Return whether a packet was sent again after a silence as long as a timeout."""
        columns = self._columns
        is_again = self._own[index] and columns["payload"][index] > 0
        is_again = is_again and columns["retransmission"][index] > 0
        least_ns = max(_MIN_TIMEOUT_NS, 1.5 * _NS * (self.evidence.rtt_s or 0.0))
        return is_again and columns["seq"][index] <= acked and silence_ns >= least_ns

    def _state(self, in_flight: int, window: int | None, segment: int, dt_ns: int) -> str:
        """Return what the sender waits for, by what has passed here."""
        side, rtt_ns = self.evidence.side, (self.evidence.rtt_s or 0.0) * _NS
        if window == 0:
            return "zero window"
        if in_flight <= 0:
            # Elsewhere than at the sender, data may be on their way to here.
            is_idle = side is Side.SENDER or (side is Side.MIDDLE and dt_ns > 1.2 * rtt_ns > 0)
            return "idle" if is_idle else "between data"
        if side is Side.SENDER and window is not None and in_flight + segment > window:
            return "window"
        return "network"

    def _waited_for_ack(self, index: int, size: int, segment: int) -> None:
        """Book the wait of a small segment that an acknowledgement set free."""
        evidence, columns = self.evidence, self._columns
        before = index - 1
        if size >= segment or before < 1 or self._own[before] or columns["payload"][before]:
            return
        previous_data = next((i for i in range(before - 1, -1, -1) if self._own[i]), None)
        if previous_data is None or not columns["payload"][previous_data]:
            return
        times, rtt_ns = columns["time"], (evidence.rtt_s or 0.0) * _NS
        delay_ns, free_ns = times[before] - times[previous_data], times[index] - times[before]
        way_ns = 0.0 if evidence.side is Side.SENDER else 1.05 * rtt_ns
        held_ns = delay_ns + free_ns - rtt_ns
        if free_ns > way_ns + _AT_ONCE_NS or not _NAGLE_MIN_NS <= held_ns <= _NAGLE_MAX_NS:
            return
        evidence.delayed_acks += 1
        evidence.waits["delayed ack"] += (delay_ns + free_ns) / _NS
        # It was booked to others before.
        for state, part_ns in (("network", delay_ns), ("idle", free_ns), ("between data", free_ns)):
            evidence.waits[state] = max(0.0, evidence.waits[state] - part_ns / _NS)

    def _repeated(self, data: Sequence[int], acked: int) -> None:
        """Count how often the segment was sent that was not acknowledged to the end."""
        columns = self._columns
        starts = Counter(columns["seq"][i] for i in data if columns["seq"][i] >= acked)
        if not starts:
            return
        start, count = max(starts.items(), key=lambda item: (item[1], -item[0]))
        if count >= _MIN_REPEATS:
            sizes = [columns["payload"][i] for i in data if columns["seq"][i] == start]
            self.evidence.repeats = count
            self.evidence.repeat_bytes = max(sizes)

    def _losses(self) -> None:
        evidence, columns = self.evidence, self._columns
        times = columns["time"]
        rtts: list[float] = []
        event_ns = -_MAX_EVENT_GAP_NS
        starts: set[int] = set()
        for index, own in enumerate(self._own):
            if not own:
                if columns["ack_rtt"][index] != ABSENT:
                    rtts.append(columns["ack_rtt"][index] / _NS)
                sack = self._table.sacks.get(self._rows[index], ())
                if sack and sack[0][1] <= columns["ack"][index]:
                    evidence.spurious += 1
                continue
            evidence.late += columns["out_of_order"][index] > 0
            evidence.unseen += columns["lost_segment"][index] > 0
            if not columns["retransmission"][index]:
                continue
            evidence.retransmits += 1
            evidence.fast += columns["fast"][index] > 0
            starts.add(columns["seq"][index])
            is_new = times[index] - event_ns >= _MAX_EVENT_GAP_NS
            if is_new and evidence.side is Side.SENDER and rtts and evidence.rtt_s:
                recent = sorted(rtts[-_RECENT:])
                evidence.rises.append(recent[int(0.8 * len(recent))] / evidence.rtt_s)
            event_ns = times[index]
        evidence.spurious = max(
            evidence.spurious, sum(1 for value in columns["spurious"] if value > 0)
        )

        order = sorted(starts)
        near = _NEAR_SEGMENTS * evidence.segment_bytes
        close = [b - a <= near for a, b in itertools.pairwise(order)]
        evidence.lost = len(order)
        evidence.lost_together = (
            sum(a or b for a, b in zip([False, *close], [*close, False], strict=True))
            if order
            else 0
        )

    def _clocks(self) -> None:
        """Compare the receiver's timestamps with the times of the capture, for the way back."""
        columns = self._columns
        pairs = [
            (time_ns / 1e6, stamp)
            for time_ns, stamp, own, flag in zip(
                columns["time"], columns["stamp"], self._own, columns["flags"], strict=True
            )
            if stamp != ABSENT and not own and not flag & SYN
        ]
        if self.evidence.side is not Side.SENDER or len(pairs) < _MIN_CLOCK_SAMPLES:
            return
        (t0, s0), (t1, s1) = pairs[0], pairs[-1]
        # Linux counts milliseconds; other clocks are not used.
        if t1 - t0 < 200 or abs((s1 - s0) / (t1 - t0) - 1) > 0.2:
            return
        offsets = [(time - t0) - (stamp - s0) for time, stamp in pairs]
        self.evidence.return_queue_s = max(0.0, statistics.median(offsets) - min(offsets)) / 1e3


def _rates(marks: Sequence[tuple[int, int]], start_ns: int, end_ns: int) -> tuple[float, ...]:
    """Return the throughput in tenths of a time; empty if it is too short."""
    parts = 10
    length_ns = (end_ns - start_ns) / parts
    if length_ns < 1e6 or len(marks) < 2 * parts:
        return ()
    totals = [0.0] * (parts + 1)
    for time_ns, total in marks:
        part = min(parts, int((time_ns - start_ns) / length_ns) + 1)
        totals[part] = max(totals[part], float(total))
    for part in range(1, parts + 1):
        totals[part] = max(totals[part], totals[part - 1])
    return tuple((totals[part + 1] - totals[part]) * 8 / (length_ns / 1e9) for part in range(parts))
