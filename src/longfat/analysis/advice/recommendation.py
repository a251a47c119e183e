"""What would help a flow: the change as lines to paste, each with its arithmetic."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import MODEL_BASED, Limit
from longfat.analysis.losses import Cause, losses
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.theory import bdp, buffers

if TYPE_CHECKING:
    from longfat.analysis.advice.flow_evidence import FlowEvidence

STUDY = "study"
"""The node of a line that belongs into the study file, under the flow."""

_DEFAULTS = {"tcp_rmem": (4096, 131072), "tcp_wmem": (4096, 16384)}

# iperf3 has at most 128 streams; and more of them than this do not help.
_MAX_STREAMS = 128

_MOSTLY = 0.5

# A queue that adds this share of the idle RTT, and this time, is worth a word.
_STANDING = 0.5
_STANDING_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to paste.

    Attributes:
        node: the host to type it at, `longfat.model.network.ROOT_NAMESPACE`, or `STUDY`.
        text: the line.
        why: its arithmetic, in one line.
    """

    node: str
    text: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What would help.

    Attributes:
        words: in a sentence or two.
        lines: the lines to paste; of alternatives, all.
    """

    words: str
    lines: tuple[Line, ...] = ()


def recommendation(evidence: FlowEvidence, limit: Limit) -> Recommendation:
    """Return what would help a flow that a limit holds back.

    Args:
        evidence: the flow.
        limit: what limited it most of the time.
    """
    if limit in _OF_LOSSES and (remedy := _remedy(evidence)):
        return remedy
    match limit:
        case Limit.BOTTLENECK:
            return _bottleneck(evidence)
        case Limit.RECEIVE_WINDOW | Limit.SEND_BUFFER:
            return _buffers(evidence, limit)
        case Limit.LOSS:
            return _loss(evidence)
        case Limit.START_UP:
            return Recommendation(
                words="Nothing to set: its window was still growing when it ended. Measure for "
                "longer, or leave out the start (omit)."
            )
        case Limit.MODEL:
            return _model(evidence)
        case Limit.APPLICATION:
            return _application(evidence)
        case Limit.UNKNOWN:
            return Recommendation(words="That cannot be determined from what was recorded.")


# What the verdict can be while what holds a flow back are packets that are dropped.
_OF_LOSSES = (Limit.LOSS, Limit.START_UP, Limit.UNKNOWN)

_REMEDIES = {
    Cause.FILTER: "A policer drops what passes its rate, and has no queue: shape below its rate at "
    "the sender (`fq maxrate`), or raise its burst to what the window sends at once.",
    Cause.FIREWALL: "A rule of the firewall drops them: `nft list ruleset` at {node} shows which.",
    Cause.TOO_LARGE: "Full-size packets do not fit the next link, and the sender does not learn "
    "it, since no ICMP message comes back: let ICMP pass at {node}, lower the MSS there (`nft add "
    "rule ... tcp option maxseg size set rt mtu`), or let the sender look for the size that fits.",
    Cause.BURST_TOO_SMALL: "No packet fits into the bucket of {qdisc}: its `burst` must be at "
    "least a frame (1,514 bytes), and a hundredth of a second of its rate is usual.",
    Cause.NETEM_LIMIT: "The `limit` of {qdisc} counts the packets that it delays, too: it must be "
    "at least rate x delay / packet size.",
    Cause.HOP_LIMIT: "The TTL was used up: {node} may be in a loop of routes.",
    Cause.NO_ROUTE: "`ip route` at {node} lacks a route to the destination.",
    Cause.NO_NEIGHBOUR: "Nobody answered at {interface}: the next hop is down, has another "
    "address, or is not on this link.",
    Cause.NOT_FORWARDED: "{node} does not forward: `sysctl -w net.ipv4.ip_forward=1` there.",
}


def _remedy(evidence: FlowEvidence) -> Recommendation | None:
    """Return what would help where most lost packets were dropped for a reason with a remedy."""
    if evidence.run.drops is None:
        return None
    lost = [loss for loss in losses(evidence.run, evidence.flow.name) if loss.cause.is_loss]
    if not lost or 2 * lost[0].packets < sum(loss.packets for loss in lost):
        return None
    first = lost[0]
    if first.cause not in _REMEDIES:
        return None
    text = _REMEDIES[first.cause].format(
        node=first.node or "its node",
        interface=first.interface or "its interface",
        qdisc=first.qdisc or "the qdisc",
    )
    probing = Line(
        node=evidence.sender,
        text="sysctl -w net.ipv4.tcp_mtu_probing=1",
        why="after timeouts it sends smaller segments, without ICMP (RFC 4821)",
    )
    return Recommendation(words=text, lines=(probing,) if first.cause is Cause.TOO_LARGE else ())


def _bottleneck(evidence: FlowEvidence) -> Recommendation:
    words = "Nothing: the link is full."
    own, slowest, rate_bps = evidence.metric("receiver_bps"), evidence.slowest, evidence.rate_bps
    if own is None or slowest is None or rate_bps is None:
        return Recommendation(words=words)
    fair_bps = rate_bps * evidence.flow.parallel / (evidence.flow.parallel + evidence.rivals)
    if evidence.rivals and own < fair_bps / 2 and evidence.metric("retransmits"):
        lines = () if evidence.congestion == "bbr" else (_bbr(evidence),)
        return Recommendation(
            words="Nothing makes the link carry more. This flow has less than half of a fair "
            f"share of it ({format_quantity(fair_bps, Unit.BPS)}), since each loss cuts its "
            "window: another congestion control or more streams would take more from the others.",
            lines=lines,
        )
    clocks = [evidence.clock(name) for name in ("rwnd_limited", "sndbuf_limited")]
    if sum(clock[0] / clock[1] for clock in clocks if clock) > _MOSTLY:
        words += (
            " Window or buffer were filled as well, beyond what the path holds: larger ones would "
            "only make the queue longer."
        )
    delay_s = _queue_delay_s(evidence)
    managed = slowest.queue is not None and slowest.queue.kind not in {
        "wire",
        "tbf",
        "bfifo",
        "pfifo",
    }
    if (
        not managed
        and delay_s is not None
        and evidence.rtt_s
        and delay_s > _STANDING * evidence.rtt_s
    ):
        words += (
            f" Its queue adds {format_quantity(delay_s, Unit.SECONDS)} to the path's "
            f"{format_quantity(evidence.rtt_s, Unit.SECONDS)}: a shorter buffer, RED or fq_codel "
            "would cut the delay and leave the throughput."
        )
    return Recommendation(words=words)


def _queue_delay_s(evidence: FlowEvidence) -> float | None:
    if evidence.queue is not None and evidence.rate_bps is not None:
        return buffers.queueing_delay_s(
            queue_bytes=evidence.queue.mean_bytes, rate_bps=evidence.rate_bps
        )
    mean_s = evidence.metric("mean_rtt_s")
    return None if mean_s is None or evidence.rtt_s is None else max(0.0, mean_s - evidence.rtt_s)


def _buffers(evidence: FlowEvidence, limit: Limit) -> Recommendation:
    if evidence.flow.window_bytes is not None:
        return Recommendation(
            words="The flow sets a socket buffer of its own (window), and so switches off the "
            "kernel's tuning: leave it out, or make it as large as the path needs."
        )
    need = needed_buffer_bytes(evidence)
    receive = ("tcp_rmem", evidence.receiver, "receive window")
    send = ("tcp_wmem", evidence.sender, "send buffer")
    first, other = (receive, send) if limit is Limit.RECEIVE_WINDOW else (send, receive)
    if need is None:
        return Recommendation(
            words=f"A larger {first[0]} at {first[1]}. How large is not known: "
            f"{evidence.unknown_path or 'the round-trip time is not known'}."
        )
    size, why = need
    lines = []
    for name, host, _ in (first, other):
        numbers = evidence.buffer(host, name)
        if numbers is not None and numbers[2] >= size:
            continue
        low, middle = numbers[:2] if numbers is not None else _DEFAULTS[name]
        text = f"sysctl -w net.ipv4.{name}='{low} {middle} {size}'"
        lines.append(Line(node=host, text=text, why=why))
    if not lines:
        return Recommendation(
            words=f"The {first[0]} of {first[1]} may grow to what the path needs ({size:,} bytes), "
            "and the kernel's tuning was still on its way there: measure for longer."
        )
    if len(lines) == 2:
        words = "Larger buffers at both ends: with only one of them, the other would limit next."
    else:
        words = f"A larger {first[2] if lines[0].node == first[1] else other[2]}."
    return Recommendation(words=words, lines=tuple(lines))


def needed_buffer_bytes(evidence: FlowEvidence) -> tuple[int, str] | None:
    """Return the buffer with which one stream of a flow fills its share of the path, and why."""
    whole = evidence.bdp_bytes
    if whole is None or evidence.rtt_s is None:
        return None
    streams = evidence.flow.parallel
    size = math.ceil(bdp.buffer_needed_bytes(whole / streams))
    rate, rtt = evidence.rate_text, format_quantity(evidence.rtt_s, Unit.SECONDS)
    each = f" / {streams} streams" if streams > 1 else ""
    return size, f"2 x BDP{each} = 2 x {rate} x {rtt} / 8{each} = {size:,} bytes"


def _loss(evidence: FlowEvidence) -> Recommendation:
    lines: list[Line] = []
    words = []
    slowest = evidence.slowest
    if slowest is not None and slowest.loss > 0:
        words.append(
            f"The path loses {format_quantity(slowest.loss, Unit.FRACTION)} at random, and each "
            f"loss cuts the window of {evidence.congestion}: reduce the loss, or"
        )
    elif (larger := _larger_queue(evidence)) is not None:
        words.append("The router's queue overflows before the path is full: give it more, or")
        lines.append(larger)
    else:
        words.append(
            f"Each loss cuts the window of {evidence.congestion}, which grows back slowly:"
        )
    own = evidence.metric("receiver_bps")
    rate_bps = evidence.rate_bps
    if rate_bps is not None and own:
        per_stream_bps = own / evidence.flow.parallel
        streams = min(_MAX_STREAMS, math.ceil(rate_bps / per_stream_bps))
        got = format_quantity(per_stream_bps, Unit.BPS)
        lines.append(
            Line(
                node=STUDY,
                text=f"parallel: {streams}",
                why=f"{evidence.rate_text} / {got} a stream = {rate_bps / per_stream_bps:.1f}",
            )
        )
        words.append("take more streams, or a congestion control that does not go by losses.")
    else:
        words.append("a congestion control that does not go by losses helps.")
    if evidence.congestion not in MODEL_BASED:
        lines.append(_bbr(evidence))
    return Recommendation(words=" ".join(words), lines=tuple(lines))


def _bbr(evidence: FlowEvidence) -> Line:
    why = "it sends at the rate that arrives, and takes no loss for a sign of a full queue"
    if evidence.flow.congestion is not None:
        # The flow's own window takes precedence over the host's setting.
        return Line(node=STUDY, text="congestion: bbr", why=why)
    text = "sysctl -w net.ipv4.tcp_congestion_control=bbr"
    return Line(node=evidence.sender, text=text, why=why)


def _larger_queue(evidence: FlowEvidence) -> Line | None:
    """Return the line that gives the bottleneck's queue C x RTT / sqrt(N), if it has less."""
    slowest, rtt_s, rate_bps = evidence.slowest, evidence.rtt_s, evidence.rate_bps
    if (
        rate_bps is None
        or slowest is None
        or slowest.queue is None
        or slowest.queue.limit_bytes is None
    ):
        return None
    if not rtt_s or slowest.queue.kind not in {"wire", "tbf", "bfifo"}:
        return None
    streams = evidence.flow.parallel + evidence.rivals
    wanted = math.ceil(buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s, flows=streams))
    if slowest.queue.limit_bytes >= wanted:
        return None
    # A few flows back off together, as the theory's bound assumes: they need the whole of it.
    whole = math.ceil(buffers.router_buffer_bytes(rate_bps=rate_bps, rtt_s=rtt_s))
    line = re.sub(r"(?<=\blimit )\S+", str(whole), slowest.queue.line)
    rate, rtt = evidence.rate_text, format_quantity(rtt_s, Unit.SECONDS)
    return Line(
        node=slowest.node,
        text=re.sub(r"\bqdisc (add|replace)\b", "qdisc change", line),
        why=f"C x RTT = {rate} x {rtt} / 8 = {whole:,} bytes; it holds "
        f"{slowest.queue.limit_bytes:,}",
    )


def _model(evidence: FlowEvidence) -> Recommendation:
    larger = _larger_queue(evidence)
    words = (
        f"{evidence.congestion} sends at the rate that its model of the path allows, and that was "
        "less than the link has."
    )
    if larger is None:
        return Recommendation(words=f"{words} There is no setting for that.")
    return Recommendation(
        words=f"{words} More room in the router lets it measure more.", lines=(larger,)
    )


def _application(evidence: FlowEvidence) -> Recommendation:
    if evidence.flow.rate_bps is not None:
        rate = format_quantity(evidence.flow.rate_bps, Unit.BPS)
        return Recommendation(
            words=f"Nothing in the network: the flow keeps itself to {rate} a stream (rate). "
            "Leave that out to let it send as fast as it can."
        )
    return Recommendation(words="Nothing in the network: the program had nothing to send.")
