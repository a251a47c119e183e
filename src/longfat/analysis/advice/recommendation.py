"""What would help a flow: the change as lines to paste, each with its arithmetic."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.limits import MODEL_BASED, Limit
from longfat.common.suggest import listed
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity
from longfat.theory import bdp, buffers

if TYPE_CHECKING:
    from longfat.analysis.advice.flow_evidence import FlowEvidence

STUDY = "study"
"""The node of a line that belongs into the study file, under the flow."""

_DEFAULTS = {"tcp_rmem": (4096, 131072), "tcp_wmem": (4096, 16384)}

# A flow that has this much of its fair share of a link has what is its own.
_FAIR = 0.75
# iperf3 has at most 128 streams; and more of them than this do not help.
_MAX_STREAMS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to paste.

    Attributes:
        node: the host to type it at, `longfat.model.network.ROOT_NAMESPACE`, or `STUDY`.
        text: the line.
        why: its arithmetic, in one line.
        takes_from: other flows of the bottleneck, whose share of it the line makes smaller.
    """

    node: str
    text: str
    why: str
    takes_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """What would help.

    Attributes:
        words: in a sentence or two.
        lines: the lines to paste, all of them.
        alternatives: lines that help, too, each by itself.
    """

    words: str
    lines: tuple[Line, ...] = ()
    alternatives: tuple[Line, ...] = ()


def larger_buffers(evidence: FlowEvidence, limit: Limit) -> Recommendation:
    """Return what helps where the receive window or the send buffer limits.

    Args:
        evidence: the flow.
        limit: which of both.
    """
    if evidence.socket_buffer_bytes is not None:
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
    streams = evidence.streams
    size = math.ceil(bdp.buffer_needed_bytes(whole / streams))
    rate, rtt = evidence.rate_text, format_quantity(evidence.rtt_s, Unit.SECONDS)
    each = f" / {streams} streams" if streams > 1 else ""
    return size, f"2 x BDP{each} = 2 x {rate} x {rtt} / 8{each} = {size:,} bytes"


def more_streams(evidence: FlowEvidence) -> Line | None:
    """Return the line with as many streams as fill the path, or the flow's fair share of it.

    None if that is not known, or if the flow has its fair share beside others.
    """
    own, rate_bps = evidence.metric("receiver_bps"), evidence.rate_bps
    if rate_bps is None or not own or not isinstance(evidence.flow, Bulk):
        return None
    share_bps = rate_bps * evidence.streams / (evidence.streams + evidence.rivals)
    if evidence.rivals and own >= _FAIR * share_bps:
        return None
    per_stream_bps = own / evidence.streams
    got = format_quantity(per_stream_bps, Unit.BPS)
    rate = format_quantity(share_bps, Unit.BPS) if evidence.rivals else evidence.rate_text
    return Line(
        node=STUDY,
        text=f"parallel: {min(_MAX_STREAMS, math.ceil(share_bps / per_stream_bps))}",
        why=f"{rate} / {got} a stream = {share_bps / per_stream_bps:.1f}{_at_cost(evidence)}",
        takes_from=_others(evidence),
    )


def _others(evidence: FlowEvidence) -> tuple[str, ...]:
    return tuple(other.name for other in evidence.others)


def _at_cost(evidence: FlowEvidence) -> str:
    """Return at whose cost a flow gets more of a link that it shares; empty if it is alone."""
    names = _others(evidence)
    return f"; it takes from {listed(names)}" if names else ""


def bbr_line(evidence: FlowEvidence) -> Line | None:
    """Return the line that selects BBR; None if the flow has a control that is like it."""
    if evidence.congestion in MODEL_BASED:
        return None
    why = "it sends at the rate that arrives, and takes no loss for a sign of a full queue"
    why += _at_cost(evidence)
    others = _others(evidence)
    if isinstance(evidence.flow, Bulk) and evidence.flow.congestion is not None:
        # The flow's own window takes precedence over the host's setting.
        return Line(node=STUDY, text="congestion: bbr", why=why, takes_from=others)
    text = "sysctl -w net.ipv4.tcp_congestion_control=bbr"
    return Line(node=evidence.sender, text=text, why=why, takes_from=others)


def larger_queue(evidence: FlowEvidence) -> Line | None:
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
    streams = evidence.streams + evidence.rivals
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
