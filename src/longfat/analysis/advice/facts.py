"""The numbers behind a diagnosis, for people and for programs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.evidence import find_bottleneck
from longfat.analysis.advice.link import link_rates, rate_over
from longfat.common.extras import lazy
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.execution.runs import Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.traffic import Bulk

pc = lazy("pyarrow.compute")

# Ethernet, IPv4 and UDP headers around a datagram of iperf3's usual size.
_UDP_HEADERS_BYTES = 42
_UDP_PAYLOAD_BYTES = 1448
_UDP_METRICS = (
    ("sender_bps", "sent", Unit.BPS),
    ("receiver_bps", "received", Unit.BPS),
    ("loss", "lost", Unit.FRACTION),
    ("jitter_s", "jitter", Unit.SECONDS),
)
# At most this many changes of a rate are shown beside it.
_MAX_RATES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A number that bears on the verdict.

    Attributes:
        key: its name for programs, which ends in its unit.
        label: its name for people.
        value: the number, in the base unit.
        text: the number for people.
    """

    key: str
    label: str
    value: float
    text: str


class Facts(list[Fact]):
    """A list that takes numbers which may not be there."""

    def put(
        self, key: str, label: str, value: float | None, unit: Unit, *, beside: str = ""
    ) -> None:
        """Take a number, with words beside it, unless it is None."""
        if value is not None:
            # Whole bytes, as sysctl and tc take them: powers of 1000 and 1024 would differ.
            number = f"{value:,.0f} B" if unit is Unit.BYTES else format_quantity(value, unit)
            text = number + (f"  ({beside})" if beside else "")
            self.append(Fact(key=key, label=label, value=float(value), text=text))

    def put_metrics(
        self, metrics: Mapping[str, float], rows: Sequence[tuple[str, str, Unit]]
    ) -> None:
        """Take the metrics that are there, by rows of key, label and unit."""
        for key, label, unit in rows:
            self.put(key, label, metrics.get(key), unit)

    def put_rate(self, slowest: Bottleneck, run: Run) -> None:
        """Take the rate of a link at first, and beside it what events made of it."""
        # The slowest link is not determined again when events change one.
        later = [
            f"{format_quantity(rate_bps, Unit.BPS) if rate_bps < math.inf else 'no limit'}"
            f" from {since_s:g} s"
            for since_s, rate_bps in link_rates(run, slowest)[1:]
        ]
        if len(later) > _MAX_RATES:
            later = [*later[: _MAX_RATES - 1], f"and {len(later) - _MAX_RATES + 1} more"]
        beside = "; ".join(["at first", *later]) if run.case.events else ""
        label = f"rate of {slowest.interface}"
        self.put("rate_bps", label, slowest.rate_bps, Unit.BPS, beside=beside)


def facts(evidence: FlowEvidence) -> tuple[Fact, ...]:
    """Return the evidence about a TCP flow."""
    found = Facts()
    _path_facts(found, evidence)
    table, slowest = evidence.table, evidence.slowest
    if table is not None:
        window = pc.max(table["send_window_bytes"]).as_py()
        in_flight = evidence.mean_over_time("in_flight_bytes")
        at = f" of {evidence.receiver}"
        found.put("peak_send_window_bytes", f"largest window{at}", window, Unit.BYTES)
        found.put("mean_in_flight_bytes", "in flight, mean", in_flight, Unit.BYTES)
        cwnd = evidence.mean_over_time("cwnd_bytes")
        found.put("mean_cwnd_bytes", "cwnd, mean", cwnd, Unit.BYTES)
        for key, label in (
            ("rwnd_limited", "kernel: receive window"),
            ("sndbuf_limited", "kernel: send buffer"),
        ):
            if (clock := evidence.clock(key)) is not None:
                seconds, busy_s = clock
                beside = f"{seconds:.2f} of {busy_s:.2f} s busy"
                found.put(f"{key}_fraction", label, seconds / busy_s, Unit.FRACTION, beside=beside)
    else:
        found.put("max_cwnd_bytes", "largest cwnd", evidence.metric("max_cwnd_bytes"), Unit.BYTES)
        own, rtt_s = (
            evidence.metric("receiver_bps"),
            evidence.metric("mean_rtt_s") or evidence.rtt_s,
        )
        if own is not None and rtt_s:
            beside = "throughput x RTT"
            in_flight = own * rtt_s / 8 / evidence.streams
            found.put("mean_in_flight_bytes", "in flight", in_flight, Unit.BYTES, beside=beside)
    found.put("retransmits", "retransmissions", evidence.metric("retransmits"), Unit.COUNT)
    if (ecn := evidence.ecn) is not None:
        beside = f"ECN, of {ecn.delivered:,} delivered packets"
        found.put(
            "delivered_ce_packets", "marked, by ACKs", ecn.delivered_ce, Unit.COUNT, beside=beside
        )
        found.put("received_ce_packets", "marked, at the receiver", ecn.received_ce, Unit.COUNT)
    if slowest is not None and slowest.loss:
        found.put("path_loss", "random loss on the path", slowest.loss, Unit.FRACTION)
    if evidence.queue is not None and slowest is not None:
        limit = slowest.queue.limit_bytes if slowest.queue else None
        holds = f"it holds {limit:,}" if limit is not None else ""
        mean, peak = evidence.queue.mean_bytes, evidence.queue.peak_bytes
        found.put("queue_mean_bytes", "router's queue, mean", mean, Unit.BYTES)
        found.put("queue_peak_bytes", "router's queue, largest", peak, Unit.BYTES, beside=holds)
        found.put("queue_drops", "packets that it dropped", evidence.queue.drops, Unit.COUNT)
    return tuple(found)


def _path_facts(found: Facts, evidence: FlowEvidence) -> None:
    slowest = evidence.slowest
    found.put("receiver_bps", "throughput", evidence.metric("receiver_bps"), Unit.BPS)
    if slowest is not None:
        found.put_rate(slowest, evidence.run)
        if evidence.link_use is not None and evidence.link_full is not None:
            beside = f"full {evidence.link_full * 100:.0f} % of the time"
            found.put("link_use", "of that in use", evidence.link_use, Unit.FRACTION, beside=beside)
    found.put("idle_rtt_s", "RTT, idle path", evidence.rtt_s, Unit.SECONDS)
    found.put("mean_rtt_s", "RTT of the flow, mean", evidence.metric("mean_rtt_s"), Unit.SECONDS)
    varies = evidence.rate is not None and not evidence.rate.is_constant
    beside = f"rate: {evidence.rate_text}" if varies else ""
    found.put("bdp_bytes", "BDP = rate x RTT", evidence.bdp_bytes, Unit.BYTES, beside=beside)


@dataclass(frozen=True, slots=True, kw_only=True)
class UdpFacts:
    """The evidence on a UDP flow.

    Attributes:
        facts: the numbers.
        sentence: their summary.
        help: what would help.
    """

    facts: tuple[Fact, ...]
    sentence: str
    help: str


def udp_facts(run: Run, flow: Bulk) -> UdpFacts:
    """Return a UDP flow's rate against its loss."""
    found = Facts()
    metrics = run.metrics_of(flow.name)
    found.put_metrics(metrics, _UDP_METRICS)
    sent, loss = metrics.get("sender_bps"), metrics.get("loss")
    slowest, _ = find_bottleneck(run, flow)
    if slowest is None or sent is None or loss is None:
        return UdpFacts(
            facts=tuple(found),
            sentence="it sends at the rate that it was given.",
            help="Set the rate of the flow (rate) to what the path carries.",
        )
    found.put_rate(slowest, run)
    times = run.flow_times[flow.name]
    over = rate_over(link_rates(run, slowest), times.start_s, times.end_s)
    share = _UDP_PAYLOAD_BYTES / (_UDP_PAYLOAD_BYTES + _UDP_HEADERS_BYTES)
    room_bps = over.mean_bps * share
    rate = format_quantity(over.mean_bps, Unit.BPS) if over.mean_bps < math.inf else "no limit"
    rate += "" if over.is_constant else " on average"
    if sent > room_bps:
        must = 1 - room_bps / sent
        return UdpFacts(
            facts=tuple(found),
            sentence=f"it sent more than {slowest.interface} carries ({rate} with headers), so at "
            f"least {format_quantity(must, Unit.FRACTION)} must be lost.",
            help="Send less: a rate of at most "
            f"{format_quantity(room_bps / flow.parallel, Unit.BPS)} a stream.",
        )
    if loss > 0:
        return UdpFacts(
            facts=tuple(found),
            sentence=f"it sent less than {slowest.interface} carries ({rate}), and lost "
            f"{format_quantity(loss, Unit.FRACTION)} all the same.",
            help="Look for random loss on the path, and for other flows that fill the queue.",
        )
    return UdpFacts(
        facts=tuple(found),
        sentence=f"it sent less than {slowest.interface} carries ({rate}), and all of it arrived.",
        help="Nothing: all that was sent arrived.",
    )
