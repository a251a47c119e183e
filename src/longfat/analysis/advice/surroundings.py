"""What is around a TCP flow: other traffic on its link, the way back, outages."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.link import HEADERS_BYTES, crosses, meet, received_curve
from longfat.analysis.loss_causes import Cause
from longfat.model.flow_path import (
    NotUnderstoodError,
    flow_interfaces,
    interface_lines,
    sender_and_receiver,
    shaping,
)
from longfat.model.flow_path.flow_path import path_interfaces
from longfat.model.flow_path.installed_path import total_rate
from longfat.model.traffic import Bulk, Cbr

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.advice.limits import Slice
    from longfat.analysis.losses import Loss
    from longfat.execution.runs import Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.traffic import Flow

# Ethernet, IPv4 and UDP around a datagram.
_UDP_HEADERS_BYTES = 42

# A receiver acknowledges every second segment, or more at once.
_SEGMENTS_PER_ACK = 2

_DOWN = (Cause.INTERFACE_DOWN, Cause.NO_ROUTE, Cause.NETEM_LOSS)

# A silence is an outage if it takes this long, and this many round trips.
_OUTAGE_S = 0.5
_OUTAGE_RTTS = 4
# What came through in a stretch of silence: less than this share of the flow's mean rate.
_SILENT = 0.02
# An event that begins an outage happens at most so long before data stops to arrive.
_NEAR_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class WayBack:
    """The interface on the way back that is used the most.

    Attributes:
        node: its node.
        interface: the interface.
        rate_bps: its rate.
        use: which share of the rate the acknowledgements and other flows take.
        others: the other flows whose data crosses it.
    """

    node: str
    interface: str
    rate_bps: float
    use: float
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A stretch of time in which nothing of a flow came through, since a link was down.

    Attributes:
        start_s: its start, in seconds after the traffic's start.
        end_s: its end.
        share: its share of the flow's time.
        reason: what shows that, in words.
    """

    start_s: float
    end_s: float
    share: float
    reason: str


def flows_across(run: Run, flow: Flow, interface: str) -> tuple[Flow, ...]:
    """Return the other flows whose data leaves by an interface while a flow runs."""
    return tuple(
        other
        for other in run.case.flows
        if other.name != flow.name and meet(run, flow, other) and crosses(run, other, interface)
    )


def offered_bps(run: Run, flow: Flow) -> float | None:
    """Return what a flow puts on a link, with headers; None if that is not known."""
    if isinstance(flow, Cbr):
        return (flow.size_bytes + _UDP_HEADERS_BYTES) * 8 / flow.gap_s
    if isinstance(flow, Bulk):
        name = "sender_bps" if flow.udp else "receiver_bps"
        payload = run.metrics.get(f"{flow.name}.{name}")
        return None if payload is None else payload * (1 + HEADERS_BYTES / 1448)
    return None


def way_back(run: Run, flow: Flow, *, goodput_bps: float, mss_bytes: float) -> WayBack | None:
    """Return the interface on the way back that is used the most; None if none has a rate.

    Args:
        run: the run.
        flow: the flow.
        goodput_bps: what it delivers.
        mss_bytes: the payload of its segments.
    """
    acks_bps = goodput_bps / mss_bytes / _SEGMENTS_PER_ACK * HEADERS_BYTES
    ways = []
    for node, interface, rate_bps in _rates_back(run, flow):
        others = flows_across(run, flow, interface)
        load_bps = acks_bps + sum(offered_bps(run, other) or 0.0 for other in others)
        ways.append(
            WayBack(
                node=node,
                interface=interface,
                rate_bps=rate_bps,
                use=load_bps / rate_bps,
                others=tuple(other.name for other in others),
            )
        )
    return max(ways, key=lambda way: way.use, default=None)


def _rates_back(run: Run, flow: Flow) -> list[tuple[str, str, float]]:
    """Return the interfaces on a flow's way back that have a rate: node, name, rate."""
    if run.installed is not None:
        back = path_interfaces(run.case, flow, run.installed, is_back=True)
        rates = [(node, interface.name, total_rate(interface)) for node, interface in back]
    else:
        rates = []
        for node, name in flow_interfaces(run.case.network, flow, is_back=True) or ():
            with contextlib.suppress(NotUnderstoodError):
                rates.append((node, name, shaping(interface_lines(run.case, name)).rate_bps))
    return [(node, name, rate_bps) for node, name, rate_bps in rates if rate_bps]


def outages(
    run: Run, flow: Flow, slices: Sequence[Slice], losses: Sequence[Loss], *, rtt_s: float | None
) -> tuple[Outage, ...]:
    """Return when nothing of a flow came through and a link, a route or an event shows why.

    Args:
        run: the run.
        flow: the flow.
        slices: what limited it, moment by moment.
        losses: what it lost.
        rtt_s: the RTT of its idle path, if that is known.
    """
    duration_s = sum(part.end_s - part.start_s for part in slices)
    outages_seen = []
    for start_s, end_s in _silences(run, flow, slices):
        if end_s - start_s < max(_OUTAGE_S, _OUTAGE_RTTS * (rtt_s or 0.0)):
            continue
        if reason := _reason(run, losses, start_s=start_s, end_s=end_s):
            share = (end_s - start_s) / duration_s
            outages_seen.append(Outage(start_s=start_s, end_s=end_s, share=share, reason=reason))
    return tuple(outages_seen)


def _silences(run: Run, flow: Flow, slices: Sequence[Slice]) -> list[tuple[float, float]]:
    """Return the stretches in which nearly nothing arrived, between arrivals."""
    curve = received_curve(run, flow)
    if not slices or not curve.counts or not curve.counts[-1]:
        return []
    mean = curve.counts[-1] / max(slices[-1].end_s - slices[0].start_s, 1e-9)
    silences: list[tuple[float, float]] = []
    for part in slices:
        length_s = part.end_s - part.start_s
        if curve.between(part.start_s, part.end_s) >= _SILENT * mean * length_s:
            continue
        if silences and abs(silences[-1][1] - part.start_s) < 1e-6:
            silences[-1] = (silences[-1][0], part.end_s)
        else:
            silences.append((part.start_s, part.end_s))
    return silences


def _reason(run: Run, losses: Sequence[Loss], *, start_s: float, end_s: float) -> str:
    """Return why nothing came through in a stretch of time; empty if nothing shows it."""
    for event in run.event_times:
        if start_s - _NEAR_S - 1.0 <= event.at_s <= end_s and event.at_s <= start_s + _NEAR_S:
            return f"at {event.at_s:.3g} s: {event.words}"
    for loss in losses:
        inside = loss.first_s >= start_s - 1.0 - _NEAR_S and loss.last_s <= end_s + _NEAR_S
        if loss.cause in _DOWN and inside:
            return f"{loss.packets:,} packets were lost at {loss.interface or loss.node}, " + (
                loss.cause.help
            )
    return ""


def is_senders_own(bottleneck: Bottleneck, flow: Flow) -> bool:
    """Return whether a set-up line at the sender, and not a link, gives a bottleneck its rate."""
    sender, _ = sender_and_receiver(flow)
    return bottleneck.node == sender and bottleneck.rate_origin == "a set-up line"
