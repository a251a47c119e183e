"""Root causes that the ledger of losses shows: what dropped a flow's packets, and what helps.

Of losses that leave a connection nothing, one is enough: a firewall, a missing route. Others
matter by the time in which they kept the congestion window small.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.arithmetic import FRAME_BYTES
from longfat.analysis.advice.causes.lines import change_line
from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import (
    Line,
    Recommendation,
    bbr_line,
    larger_queue,
    more_streams,
)
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.analysis.loss_causes import Cause
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.analysis.losses import Loss
    from longfat.execution.runs import Run

# Of these a flow does not recover by itself: where they dominate, the window is no matter.
_FATAL = {
    Cause.FIREWALL: RootCause.FIREWALL,
    Cause.TOO_LARGE: RootCause.MTU_BLACK_HOLE,
    Cause.HOP_LIMIT: RootCause.ROUTING_LOOP,
    Cause.NO_ROUTE: RootCause.NO_ROUTE,
    Cause.NO_NEIGHBOUR: RootCause.NO_NEIGHBOUR,
    Cause.NOT_FORWARDED: RootCause.NOT_FORWARDED,
    Cause.WRONG_MAC: RootCause.NO_NEIGHBOUR,
    Cause.BURST_TOO_SMALL: RootCause.TINY_BURST,
    Cause.LIMIT_TOO_SMALL: RootCause.TINY_LIMIT,
    Cause.CONNECTION_TABLE: RootCause.CONNECTION_TABLE,
    Cause.LISTEN_QUEUE: RootCause.LISTEN_QUEUE,
}

# These cut the window, and a flow goes on.
_CONGESTING = {
    Cause.FILTER: RootCause.POLICER,
    Cause.NETEM_LIMIT: RootCause.NETEM_LIMIT,
    Cause.NETEM_LOSS: RootCause.RANDOM_LOSS,
    Cause.CORRUPTED: RootCause.CORRUPTION,
    Cause.QUEUE_MANAGEMENT: RootCause.EARLY_DROPS,
    Cause.QUEUE_FULL: RootCause.SHORT_QUEUE,
    Cause.INTERFACE_DOWN: RootCause.OUTAGE,
    Cause.SOCKET_BUFFER: RootCause.SOCKET_BUFFER,
}

ROOT_CAUSES: Mapping[Cause, RootCause] = _FATAL | _CONGESTING
"""The root cause of packets that are lost for a cause."""

_ADVICE = {
    RootCause.FIREWALL: "A rule of the firewall at {node} drops them: `nft list ruleset` there "
    "shows which.",
    RootCause.MTU_BLACK_HOLE: "Let ICMP pass at {node} (destination unreachable, fragmentation "
    "needed; packet too big of ICMPv6), lower the MSS in SYN packets there, or let the sender look "
    "for the size that fits.",
    RootCause.ROUTING_LOOP: "The TTL was used up: follow the routes from {node} on (`ip route "
    "get`, `traceroute`); two routers send the packets to each other.",
    RootCause.NO_ROUTE: "Give {node} a route to the destination: `ip route get ADDRESS` there "
    "shows what it has.",
    RootCause.NO_NEIGHBOUR: "Nobody answered at {interface}: the next hop is down, has another "
    "address, or is not on this link; `ip neigh` at {node} shows it.",
    RootCause.NOT_FORWARDED: "Let {node} forward.",
    RootCause.TINY_BURST: "The `burst` of {qdisc} must be at least a frame (1,514 bytes), and "
    "rate / HZ lets it reach its rate.",
    RootCause.TINY_LIMIT: "The `limit` of {qdisc} is in bytes and must be at least a frame "
    "(1,514 bytes); the bandwidth-delay product is usual.",
    RootCause.CONNECTION_TABLE: "The table of connections of {node} is full: raise "
    "`net.netfilter.nf_conntrack_max`, shorten its timeouts, or do not track this traffic.",
    RootCause.LISTEN_QUEUE: "More connections wait than the listening program's backlog allows: "
    "a larger backlog in listen(), and `net.core.somaxconn` above it.",
    RootCause.NETEM_LIMIT: "The `limit` of {qdisc} counts the packets that it delays, too: it "
    "must be at least rate x delay / packet size.",
    RootCause.RANDOM_LOSS: "Reduce the loss",
    RootCause.CORRUPTION: "Packets arrive with wrong checksums, as on a bad cable or radio link: "
    "reduce that",
    RootCause.OUTAGE: "Nothing in TCP helps while a link is down; a second path does.",
    RootCause.SOCKET_BUFFER: "The receiving program reads too slowly for bursts: a larger "
    "SO_RCVBUF (`net.core.rmem_max` limits it), or a faster reader.",
}

# Which share of the lost packets has to have a cause for it to be named.
_NAMED = 0.1
# Losses over more than this share of the time are not those of slow start alone.
_SPREAD = 0.3
# A flow of which this share is lost, or that waits this share of its time, gets nothing done.
_DEAD = 0.3
# Losses at one moment cut the window once, however many they are.
_AT_ONCE = 0.02
# A share of the flow's packets that TCP does not notice.
_NO_MATTER = 1e-5


@dataclass(frozen=True, slots=True)
class _Dropped:
    """The losses of a flow with one root cause."""

    cause: RootCause
    losses: tuple[Loss, ...]

    @property
    def packets(self) -> int:
        return sum(loss.packets for loss in self.losses)

    @property
    def first(self) -> Loss:
        return self.losses[0]


def group_losses(losses: Sequence[Loss]) -> list[_Dropped]:
    """Return a flow's losses by root cause, those with the most packets first."""
    groups: defaultdict[RootCause, list[Loss]] = defaultdict(list)
    for loss in losses:
        if loss.cause in ROOT_CAUSES:
            groups[ROOT_CAUSES[loss.cause]].append(loss)
    dropped = [_Dropped(cause, tuple(group)) for cause, group in groups.items()]
    return sorted(dropped, key=lambda group: -group.packets)


def dropped_packets(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield the root causes of a TCP flow's lost packets.

    Args:
        evidence: the flow.
        share: the share of its time in which losses may have held it back.
    """
    groups = group_losses(evidence.losses)
    weights = [_weight(group, duration_s=evidence.duration_s) for group in groups]
    is_dead = evidence.lost_share > _DEAD or evidence.share_of(Limit.TIMEOUT) > _DEAD
    for group, weight in zip(groups, weights, strict=True):
        part = weight / sum(weights)
        fatal = is_dead and group.cause in _FATAL.values()
        if not share or (not fatal and (part < _NAMED or evidence.lost_share < _NO_MATTER)):
            continue
        cause = group.cause
        if cause is RootCause.SHORT_QUEUE and not _is_short(evidence, group.first):
            cause = RootCause.START_UP
        yield Finding(
            cause=cause,
            share=share if fatal else share * part,
            sentence=_sentence(evidence, group, cause),
            remedy=_remedy(evidence, group, cause),
        )


def _weight(group: _Dropped, *, duration_s: float) -> float:
    """Return how much losses matter: many over the whole time more than many at once."""
    first_s = min(loss.first_s for loss in group.losses)
    last_s = max(loss.last_s for loss in group.losses)
    return group.packets * (_AT_ONCE + (last_s - first_s) / duration_s)


def presumed_losses(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield what cut a flow's window, where the kernel does not count what it drops.

    Args:
        evidence: the flow.
        share: the share of its time in which losses may have held it back.
    """
    if evidence.run.drops is not None or not share:
        return
    name, congestion = evidence.flow.name, evidence.congestion
    slowest = evidence.slowest
    if slowest is not None and slowest.loss > 0:
        lost = format_quantity(slowest.loss, Unit.FRACTION)
        yield Finding(
            cause=RootCause.RANDOM_LOSS,
            share=share,
            sentence=f"The path loses {lost} at random, and each loss cuts the window of "
            f"{congestion}, which limited {name}.",
            remedy=_less_sensitive(evidence, _ADVICE[RootCause.RANDOM_LOSS]),
            certain=False,
        )
    elif slowest is not None and larger_queue(evidence) is not None:
        yield Finding(
            cause=RootCause.SHORT_QUEUE,
            share=share,
            sentence=f"The queue of {slowest.interface} is shorter than the path needs: losses cut "
            f"the window of {congestion} before the path is full, which limited {name}.",
            remedy=_longer_queue(evidence),
            certain=False,
        )
    else:
        yield Finding(
            cause=RootCause.UNKNOWN,
            share=share,
            sentence=f"The congestion window after losses limited {name}: {congestion} cut it, and "
            "the path was not full again. What dropped packets was not counted.",
            remedy=_less_sensitive(evidence, "Find what loses packets"),
            certain=False,
        )


def describe(losses: Sequence[Loss]) -> str:
    """Return how many packets were lost, where and by what, such as `93 packets at r1-eth1`."""
    packets = sum(loss.packets for loss in losses)
    first = losses[0]
    where = first.interface or first.node
    by = f" ({first.qdisc})" if first.qdisc else ""
    back = " on the way back" if first.is_backward else ""
    text = f"{packets:,} packet{'' if packets == 1 else 's'}{back}"
    return f"{text} at {where}{by}" if where else text


def advice(loss: Loss, cause: RootCause) -> str:
    """Return what helps against losses of a root cause, in words; empty if that depends."""
    if loss.cause is Cause.WRONG_MAC:
        return (
            f"The host before {loss.interface} sends to another MAC address: `ip neigh` there has "
            "a wrong entry, or two hosts have the same IP address."
        )
    return _ADVICE.get(cause, "").format(
        node=loss.node or "its node",
        interface=loss.interface or "its interface",
        qdisc=loss.qdisc or "the qdisc",
    )


def _is_short(evidence: FlowEvidence, loss: Loss) -> bool:
    """Return whether the queue that overflowed is shorter than the path needs."""
    slowest, bdp_bytes = evidence.slowest, evidence.bdp_bytes
    if slowest is None or slowest.interface != loss.interface or bdp_bytes is None:
        return True
    lost_s = loss.last_s - loss.first_s
    if lost_s > _SPREAD * evidence.duration_s:
        return True
    limit = slowest.queue.limit_bytes if slowest.queue else None
    return limit is None or limit < bdp_bytes


_SENTENCES = {
    RootCause.POLICER: "A policer drops what passes its rate{rate}: {lost} were lost, in bursts "
    "and without a queue that would delay them first, so {congestion} does not settle.",
    RootCause.MTU_BLACK_HOLE: "Full-size packets of {name} do not get through: {lost} were larger "
    "than the next link's MTU, and no ICMP message came back.",
    RootCause.FIREWALL: "A rule of the firewall drops packets of {name}: {lost} were lost, "
    "{share} of all.",
    RootCause.ROUTING_LOOP: "{lost} were lost, since their TTL was used up, as in a loop of "
    "routes.",
    RootCause.NO_ROUTE: "{lost} were lost, since there is no route to their destination.",
    RootCause.NOT_FORWARDED: "{lost} were lost, since that host does not forward.",
    RootCause.TINY_BURST: "{lost} were lost, since they are larger than the bucket of tbf "
    "(`burst`) and never fit.",
    RootCause.TINY_LIMIT: "{lost} were lost, since they are larger than the queue's `limit` and "
    "never fit.",
    RootCause.CONNECTION_TABLE: "The table of connections is full: {lost} were lost for that.",
    RootCause.SHORT_QUEUE: "The queue is too short: {lost} were lost ({share} of all) as it was "
    "full, and {congestion} cuts its window before the path is full.",
    RootCause.START_UP: "Slow start overran the queue: {lost} were lost, and the window of "
    "{congestion} was still growing back.",
    RootCause.EARLY_DROPS: "Queue management drops too early for this path: {lost} were dropped "
    "before the queue was full, and {congestion} needs a queue that holds more.",
    RootCause.RANDOM_LOSS: "The path loses at random: {lost}, {share} of all, and each loss cuts "
    "the window of {congestion}.",
    RootCause.CORRUPTION: "Packets arrive corrupted: {lost}, {share} of all, were dropped for "
    "that, and {congestion} takes each for a sign of a full queue.",
    RootCause.NETEM_LIMIT: "netem's limit drops: {lost} were lost, since it holds as many packets "
    "as its limit allows, those that it delays included.",
    RootCause.OUTAGE: "A link was down, or its queue was replaced: {lost} were lost there, from "
    "{first_s:.3g} to {last_s:.3g} s.",
}


def _sentence(evidence: FlowEvidence, group: _Dropped, cause: RootCause) -> str:
    first = group.first
    explanation = f"{first.explanation[0].lower()}{first.explanation[1:]}"
    rate = f" of {evidence.rate_text}" if evidence.is_policed else ""
    return _SENTENCES.get(cause, "{lost} were lost: {explanation}").format(
        name=evidence.flow.name,
        congestion=evidence.congestion,
        lost=describe(group.losses),
        share=format_quantity(evidence.share_of_packets(group.packets), Unit.FRACTION),
        rate=rate,
        first_s=first.first_s,
        last_s=first.last_s,
        explanation=explanation,
    )


def _remedy(evidence: FlowEvidence, group: _Dropped, cause: RootCause) -> Recommendation:
    words = advice(group.first, cause)
    match cause:
        case RootCause.POLICER:
            return _shape_below(evidence)
        case RootCause.MTU_BLACK_HOLE:
            return _smaller_segments(evidence, group.first, words)
        case RootCause.NOT_FORWARDED:
            return Recommendation(words=words, lines=_forwarding(group.first))
        case RootCause.RANDOM_LOSS | RootCause.CORRUPTION:
            return _less_sensitive(evidence, words)
        case RootCause.SHORT_QUEUE:
            return _longer_queue(evidence)
        case RootCause.EARLY_DROPS:
            return _later_drops(evidence, group.first)
        case RootCause.START_UP:
            return Recommendation(
                words="Measure for longer, or leave out the start (omit). A longer queue, or a "
                "sender that paces (bbr), avoids such losses."
            )
        case _:
            change = _changed(evidence, group.first)
            return Recommendation(words=words, lines=(change,) if change is not None else ())


def _forwarding(loss: Loss) -> tuple[Line, ...]:
    if not loss.node:
        return ()
    line = Line(
        node=loss.node,
        text="sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1",
        why="a host forwards IPv4 only with the first, IPv6 only with the second",
    )
    return (line,)


_CLAMP = (
    "nft add table inet clamp",
    "nft add chain inet clamp forward '{ type filter hook forward priority 0; }'",
    "nft add rule inet clamp forward tcp flags syn tcp option maxseg size set rt mtu",
)


def _smaller_segments(evidence: FlowEvidence, loss: Loss, words: str) -> Recommendation:
    """Return what lets the sender learn the size that fits, where no ICMP message says it."""
    probing = Line(
        node=evidence.sender,
        text="sysctl -w net.ipv4.tcp_mtu_probing=1",
        why="after timeouts it sends smaller segments, without ICMP (RFC 4821)",
    )
    if not loss.node or loss.node in (evidence.sender, evidence.receiver):
        return Recommendation(words=words, lines=(probing,))
    why = "the router lowers the MSS in SYN packets to what its links take"
    lines = tuple(Line(node=loss.node, text=text, why=why) for text in _CLAMP)
    return Recommendation(words=words, lines=lines, alternatives=(probing,))


def _shape_below(evidence: FlowEvidence) -> Recommendation:
    words = (
        "Shape below the policer's rate at the sender, where a queue delays in place of dropping; "
        "or raise its burst to rate x RTT"
    )
    rate_bps, rtt_s = evidence.rate_bps, evidence.rtt_s
    if not evidence.is_policed or rate_bps is None:
        return Recommendation(words=words + ".")
    if rtt_s:
        words += f", {math.ceil(rate_bps * rtt_s / 8):,} bytes"
    device = evidence.first_interface
    if device is None:
        return Recommendation(words=words + ".")
    share = format_quantity(_BELOW_POLICER * rate_bps / evidence.streams, Unit.BPS)
    line = Line(
        node=evidence.sender,
        text=f"tc qdisc replace dev {device} root fq maxrate "
        f"{math.floor(_BELOW_POLICER * rate_bps / evidence.streams)}bit",
        why=f"{_BELOW_POLICER * 100:.0f} % of {evidence.rate_text}"
        + (f" / {evidence.streams} streams" if evidence.streams > 1 else "")
        + f" = {share}",
    )
    return Recommendation(words=words + ".", lines=(line,))


# What a policer counts has Ethernet's header too, and bursts of offload pass its rate for a moment.
_BELOW_POLICER = 0.95


def _less_sensitive(evidence: FlowEvidence, words: str) -> Recommendation:
    lines = [line for line in (bbr_line(evidence), more_streams(evidence)) if line is not None]
    return Recommendation(
        words=f"{words}; otherwise take a congestion control that does not go by losses, or more "
        "streams.",
        lines=tuple(lines[:1]),
        alternatives=tuple(lines[1:]),
    )


def _longer_queue(evidence: FlowEvidence) -> Recommendation:
    larger = larger_queue(evidence)
    others = [line for line in (bbr_line(evidence), more_streams(evidence)) if line is not None]
    if larger is None:
        return Recommendation(
            words="A queue of the bandwidth-delay product there; else more streams, or a "
            "congestion control that does not go by losses.",
            lines=tuple(others[:1]),
            alternatives=tuple(others[1:]),
        )
    return Recommendation(
        words="Give the queue the bandwidth-delay product; else take more streams, or a congestion "
        "control that does not go by losses.",
        lines=(larger,),
        alternatives=tuple(others),
    )


def _later_drops(evidence: FlowEvidence, loss: Loss) -> Recommendation:
    words = f"Thresholds of {loss.qdisc or 'the queue'} that fit the path: "
    rtt_s, bdp_bytes = evidence.rtt_s, evidence.bdp_bytes
    line = _changed(evidence, loss)
    kind = loss.qdisc.split(" ")[0]
    match kind:
        case "red" | "gred" | "sfq" | "choke":
            size = "" if bdp_bytes is None else f" ({math.ceil(bdp_bytes):,} bytes)"
            words += f"`max` about the bandwidth-delay product{size}, `min` a third of it."
        case _:
            rtt = "" if rtt_s is None else f" ({format_quantity(rtt_s, Unit.SECONDS)} here)"
            words += f"an interval of at least the RTT{rtt}, and a target of a twentieth of it"
            packet_s = None if not evidence.rate_bps else FRAME_BYTES * 8 / evidence.rate_bps
            if packet_s:
                packet = format_quantity(packet_s, Unit.SECONDS)
                words += f", never less than the time of a packet or two ({packet} each)"
            words += "."
    return Recommendation(words=words, lines=(line,) if line is not None else ())


def _changed(evidence: FlowEvidence, loss: Loss) -> Line | None:
    return change_line(evidence.run, loss, rtt_s=evidence.rtt_s, rate_bps=evidence.rate_bps)


def lost_without_window(
    run: Run, losses: Sequence[Loss], *, name: str, share: float
) -> tuple[Finding, ...]:
    """Return the root causes of what a flow lost that has no window: datagrams, or one that failed.

    Args:
        run: the run.
        losses: what it lost, on both ways.
        name: the flow's name.
        share: the share of its packets that were lost, 0 to 1.
    """
    groups = group_losses(losses)
    total = sum(group.packets for group in groups)
    findings = []
    for group in groups:
        is_full = group.cause is RootCause.SHORT_QUEUE
        cause = RootCause.FULL_LINK if is_full else group.cause
        words = advice(group.first, cause)
        if is_full:
            words = "Send less, or give the flow a queue of its own (fq_codel, cake, prio)."
        elif group.cause is RootCause.POLICER:
            words = "Send less than the policer lets through, in smaller bursts."
        elif words and not words.endswith("."):
            words += "."
        change = None if is_full else change_line(run, group.first, rtt_s=None, rate_bps=None)
        lines: tuple[Line, ...] = () if change is None else (change,)
        if group.cause is RootCause.NOT_FORWARDED:
            lines = _forwarding(group.first)
        explanation = group.first.explanation
        findings.append(
            Finding(
                cause=cause,
                share=share * group.packets / total,
                sentence=f"{name} lost {describe(group.losses)}: "
                f"{explanation[0].lower()}{explanation[1:]}",
                remedy=Recommendation(words=words, lines=lines),
            )
        )
    return tuple(findings)
