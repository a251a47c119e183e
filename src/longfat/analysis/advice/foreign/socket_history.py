"""The states of a TCP socket in the order of time, and what follows from them by arithmetic."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from longfat.analysis.advice.facts import Facts
from longfat.analysis.advice.foreign.socket_text import SocketState
from longfat.model.metric import Unit

# An RTT of this ratio to its minimum, and this much longer, is a queue.
_QUEUE_RATIO, _QUEUE_S = 1.25, 0.005


@dataclass(frozen=True, slots=True)
class SocketHistory:
    """The states of a socket, in the order of time."""

    states: Sequence[SocketState]

    @property
    def last(self) -> SocketState:
        """Its last state."""
        return self.states[-1]

    def growth(self, name: str) -> float:
        """Return how much a counter grew since the first state; all of it if there is only one."""
        last = self.last.count(name)
        first = self.states[0].count(name) if len(self.states) > 1 else 0.0
        return last - first if 0 <= first < last else last if first > last else 0.0

    def share(self, name: str) -> float | None:
        """Return the share of the busy time that a clock counted; None if it is not known."""
        busy_s = self.growth("busy")
        if busy_s <= 0:
            return None
        return min(1.0, self.growth(name) / busy_s)

    @property
    def sends(self) -> bool:
        """Whether more was sent than received, or waits to be sent."""
        last = self.last
        mss = last.get("mss") or 0.0
        sent = max(last.count("bytes_acked"), last.count("bytes_sent"))
        sent = max(sent, last.count("data_segs_out") * mss, last.count("unacked") * mss)
        received = max(last.count("bytes_received"), last.count("data_segs_in") * mss)
        waits = max(last.count("notsent"), last.send_queue_bytes or 0.0)
        return sent + waits >= received

    @property
    def losses(self) -> float:
        """Segments that were sent again because they were lost, as far as is known."""
        return max(0.0, self.growth("total_retrans") - self.growth("dsack_dups"))

    @property
    def segments(self) -> float:
        """Segments with data that were sent, at least 1."""
        last = self.last
        counted = self.growth("data_segs_out") or self.growth("segs_out")
        mss = last.get("mss") or 0.0
        if not counted and mss:
            counted = max(self.growth("bytes_sent"), self.growth("bytes_acked")) / mss
        return max(1.0, counted)

    @property
    def queue_s(self) -> float | None:
        """How much longer the RTT is than its minimum; None if it is hardly longer."""
        rtts_s = [rtt_s for state in self.states if (rtt_s := state.get("rtt"))]
        least_s = self.last.get("minrtt")
        if not rtts_s or not least_s:
            return None
        rtt_s = statistics.median(rtts_s)
        extra_s = rtt_s - least_s
        return extra_s if extra_s >= _QUEUE_S and rtt_s >= _QUEUE_RATIO * least_s else None

    @property
    def fills_window(self) -> bool:
        """Whether data wait because what is in flight fills the other end's window."""
        mss, window = self.last.get("mss"), self.last.get("snd_wnd")
        if not mss or not window or not self.last.count("notsent"):
            return False
        return mss * (self.last.count("unacked") + 1) > window

    @property
    def in_flight_bytes(self) -> float | None:
        """Bytes in flight; None if the size of a segment is not known."""
        mss = self.last.get("mss")
        return None if mss is None else mss * self.last.count("unacked")


_FACTS = (
    ("bytes_acked", "bytes_acked_bytes", "acknowledged", Unit.BYTES),
    ("bytes_received", "bytes_received_bytes", "received", Unit.BYTES),
    ("delivery_rate", "delivery_bps", "delivery rate", Unit.BPS),
    ("pacing_rate", "pacing_bps", "pacing rate", Unit.BPS),
    ("max_pacing_rate", "max_pacing_bps", "largest pacing rate", Unit.BPS),
    ("rtt", "rtt_s", "RTT, smoothed", Unit.SECONDS),
    ("minrtt", "min_rtt_s", "RTT, least", Unit.SECONDS),
    ("rcv_rtt", "receiver_rtt_s", "RTT, as the receiver measures it", Unit.SECONDS),
    ("mss", "mss_bytes", "segment (MSS)", Unit.BYTES),
    ("snd_wnd", "send_window_bytes", "window of the other end", Unit.BYTES),
    ("rcv_wnd", "receive_window_bytes", "own window", Unit.BYTES),
    ("notsent", "unsent_bytes", "not sent yet", Unit.BYTES),
    ("skmem_rb", "receive_buffer_bytes", "receive buffer", Unit.BYTES),
    ("skmem_r", "receive_used_bytes", "of it used", Unit.BYTES),
    ("skmem_tb", "send_buffer_bytes", "send buffer", Unit.BYTES),
    ("skmem_w", "send_used_bytes", "of it used", Unit.BYTES),
    ("reord_seen", "reordering_events", "reorderings seen", Unit.COUNT),
    ("rehash", "rehashes", "changes of the flow's hash after timeouts", Unit.COUNT),
    ("backoff", "backoff", "timeouts without an answer, just now", Unit.COUNT),
    ("skmem_d", "socket_drops", "packets dropped at the socket", Unit.COUNT),
)


def socket_facts(history: SocketHistory) -> Facts:
    """Return what is known of a socket."""
    last, facts = history.last, Facts()
    for name, key, label, unit in _FACTS:
        facts.put(key, label, last.get(name), unit)
    mss = last.get("mss")
    for name, key, label in (
        ("cwnd", "cwnd_bytes", "cwnd"),
        ("ssthresh", "ssthresh_bytes", "ssthresh"),
    ):
        packets = last.get(name)
        if packets is not None and mss is not None:
            facts.put(key, label, packets * mss, Unit.BYTES, beside=f"{packets:,.0f} segments")
    if last.count("unacked"):
        facts.put("in_flight_bytes", "in flight", history.in_flight_bytes, Unit.BYTES)
    facts.put(
        "receive_queue_bytes", "not read by the program", last.receive_queue_bytes, Unit.BYTES
    )
    for name, label in (("rwnd_limited", "receive window"), ("sndbuf_limited", "send buffer")):
        share = history.share(name)
        if share is not None:
            seconds, busy_s = history.growth(name), history.growth("busy")
            beside = f"{seconds:.2f} of {busy_s:.2f} s busy"
            facts.put(f"{name}_fraction", f"kernel: {label}", share, Unit.FRACTION, beside=beside)
    total = history.growth("total_retrans")
    if history.sends:
        beside = f"of {history.segments:,.0f} segments"
        facts.put("retransmits", "retransmissions", total, Unit.COUNT, beside=beside)
    if history.growth("dsack_dups"):
        spurious = history.growth("dsack_dups")
        facts.put("spurious_retransmits", "of them unnecessary (DSACK)", spurious, Unit.COUNT)
    return facts
