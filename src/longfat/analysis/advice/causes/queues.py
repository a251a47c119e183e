"""Root causes at links and queues: a full link and whose it is, and a congested way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.causes.lines import fair_queue_line
from longfat.analysis.advice.limits import MODEL_BASED, Limit
from longfat.analysis.advice.recommendation import Line, Recommendation, bbr_line
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.model.flow_path import idle_rtt
from longfat.model.metric import Unit
from longfat.model.traffic import Bulk, Cbr, Program
from longfat.model.typed_line import NotUnderstoodError
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.model.traffic import Flow

# A queue that adds this share of the idle RTT is worth a word, and from the second on it is what
# is wrong with a full link; less than so many seconds nobody notices.
_NOTED = 0.5
_STANDING = 1.0
_STANDING_S = 0.01

# Of a fair share of the link, less than this is unequal.
_UNEQUAL = 0.5
# Traffic that does not yield is named from this share of the link on.
_UNYIELDING = 0.25
# RTTs that differ by this factor make unequal shares.
_RTT_FACTOR = 1.5
# A way back is congested from this use of its rate on.
_BUSY = 0.8


def full_link(evidence: FlowEvidence, *, rest: float) -> Iterator[Finding]:
    """Yield what a full bottleneck means for a flow.

    Args:
        evidence: the flow.
        rest: the share of its time that neither a known link, the windows nor the application
            claim.
    """
    share = evidence.share_of(Limit.BOTTLENECK)
    # Where nothing limits by a rate that is known, a queue that stands shows a full link.
    share = share or min(rest, evidence.standing_share)
    if not share:
        return
    if evidence.is_policed:
        policer = evidence.slowest.policer if evidence.slowest else None
        at = f" at {policer.interface} ({policer.direction})" if policer else ""
        yield Finding(
            cause=RootCause.POLICER,
            share=share,
            sentence=f"{_filled(evidence, share)} A policer{at} sets that rate.",
            remedy=Recommendation(words="Nothing: the flow has what the policer lets through."),
        )
        return
    own = evidence.metric("receiver_bps") or 0.0
    if evidence.is_sender_shaped and not evidence.rivals:
        slowest = evidence.slowest
        assert slowest is not None
        yield Finding(
            cause=RootCause.SENDER_SHAPER,
            share=share,
            sentence=f"{evidence.sender}'s own shaper limits {evidence.flow.name}: "
            f"{slowest.interface} has {evidence.rate_text}, and it was full {_time(share)}.",
            remedy=Recommendation(
                words=f"A higher rate of the shaper at {slowest.interface}, or none, if the path "
                "carries more: `tc qdisc show` and `tc class show` list it."
            ),
        )
        return
    if (unyielding := _unyielding(evidence)) is not None:
        yield _unresponsive(evidence, unyielding, share=share)
        return
    rate_bps = evidence.rate_bps
    if evidence.rivals and rate_bps is not None:
        streams = evidence.streams + evidence.rivals
        fair_bps = rate_bps * evidence.streams / streams
        if own < _UNEQUAL * fair_bps:
            yield _unequal(evidence, share=share, fair_bps=fair_bps)
            return
    yield _alone(evidence, share=share)


def crowded_out(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield what takes the link from a flow that losses hold back.

    Args:
        evidence: the flow.
        share: the share of its time in which losses may have held it back.
    """
    if share and (unyielding := _unyielding(evidence)) is not None:
        yield _unresponsive(evidence, unyielding, share=share)


@dataclass(frozen=True, slots=True)
class _Unyielding:
    """Traffic over the bottleneck that does not slow down for others."""

    names: str
    rate_bps: float


def _unyielding(evidence: FlowEvidence) -> _Unyielding | None:
    """Return what does not yield of a flow's rivals, if it takes more of the link than the flow."""
    rate_bps, own = evidence.rate_bps, evidence.metric("receiver_bps") or 0.0
    if rate_bps is None:
        return None
    names: list[str] = []
    total_bps = 0.0
    for other in evidence.others:
        if isinstance(other, Bulk) and not other.udp:
            continue
        if isinstance(other, Bulk):
            sent_bps = evidence.run.metrics.get(f"{other.name}.sender_bps", 0.0)
        elif isinstance(other, Cbr):
            sent_bps = other.size_bytes * 8 / other.gap_s
        else:
            continue
        sent_bps *= _overlap(evidence, other)
        if not sent_bps:
            continue
        names.append(other.name)
        total_bps += sent_bps
    if evidence.unknown_load_bps >= _UNYIELDING * rate_bps:
        programs = [other.name for other in evidence.others if isinstance(other, Program)]
        names += programs or ["traffic of no flow"]
        total_bps += evidence.unknown_load_bps
    if not names or total_bps < max(_UNYIELDING * rate_bps, own / 2):
        return None
    return _Unyielding(" and ".join(names), total_bps)


def _overlap(evidence: FlowEvidence, other: Flow) -> float:
    """Return the share of the flow's time in which another one ran, too, 0 to 1."""
    times = evidence.run.flow_times.get(other.name)
    if times is None or not evidence.duration_s:
        return 1.0
    begin_s, end_s = evidence.slices[0].start_s, evidence.slices[-1].end_s
    both_s = min(end_s, times.end_s) - max(begin_s, times.start_s)
    return min(1.0, max(0.0, both_s / (end_s - begin_s)))


def _unresponsive(evidence: FlowEvidence, rivals: _Unyielding, *, share: float) -> Finding:
    slowest = evidence.slowest
    at = f" at {slowest.interface}" if slowest is not None else ""
    own = format_quantity(evidence.metric("receiver_bps") or 0.0, Unit.BPS)
    return Finding(
        cause=RootCause.UNRESPONSIVE_TRAFFIC,
        share=share,
        sentence=f"Traffic that does not yield takes the link{at}: {rivals.names} "
        f"{'send' if ' and ' in rivals.names else 'sends'} "
        f"{format_quantity(rivals.rate_bps, Unit.BPS)} whatever is lost, where the link carries "
        f"{evidence.rate_text}, and {evidence.flow.name} had {own}.",
        remedy=Recommendation(
            words="A queue for each flow (fq_codel, cake, or classes with a rate each) at "
            f"{slowest.interface if slowest else 'the bottleneck'} gives every flow its share; "
            f"else {rivals.names} must send less.",
            lines=_fair_queue(evidence),
        ),
    )


def _unequal(evidence: FlowEvidence, *, share: float, fair_bps: float) -> Finding:
    own = format_quantity(evidence.metric("receiver_bps") or 0.0, Unit.BPS)
    rivals = [other for other in evidence.others if isinstance(other, Bulk) and not other.udp]
    reasons = []
    controls = {evidence.control_of(other) for other in rivals} - {evidence.congestion}
    if controls:
        reasons.append(
            f"{' and '.join(sorted(controls))} there take more than {evidence.congestion}"
        )
    rtts_s = [rtt for other in rivals if (rtt := _idle_rtt_s(evidence, other))]
    if evidence.rtt_s and rtts_s and min(rtts_s) * _RTT_FACTOR < evidence.rtt_s:
        reasons.append(
            f"their RTT is {format_quantity(min(rtts_s), Unit.SECONDS)}, this flow's "
            f"{format_quantity(evidence.rtt_s, Unit.SECONDS)}, and windows grow per round trip"
        )
    why = f": {'; '.join(reasons)}" if reasons else ", since each loss cuts its window"
    line = bbr_line(evidence)
    own_control = (line,) if line is not None and not controls else ()
    return Finding(
        cause=RootCause.UNEQUAL_SHARES,
        share=share,
        sentence=f"{_filled(evidence, share)} That is less than half of a fair share of it "
        f"({format_quantity(fair_bps, Unit.BPS)}; {own}){why}.",
        remedy=Recommendation(
            words="Nothing makes the link carry more. A queue for each flow (fq_codel, cake) at "
            f"{evidence.slowest.interface if evidence.slowest else 'the bottleneck'} makes the "
            "shares equal; another congestion control or more streams take more from the others.",
            lines=_fair_queue(evidence) or own_control,
            alternatives=own_control if _fair_queue(evidence) else (),
        ),
    )


def _idle_rtt_s(evidence: FlowEvidence, flow: Bulk) -> float:
    try:
        return idle_rtt(evidence.run.case, flow, evidence.run.metrics)[0]
    except NotUnderstoodError:
        return 0.0


def _alone(evidence: FlowEvidence, *, share: float) -> Finding:
    words = "Nothing: the link is full."
    cause = RootCause.FULL_LINK
    sentence = _filled(evidence, share)
    clocks = [evidence.clock(name) for name in ("rwnd_limited", "sndbuf_limited")]
    if sum(clock[0] / clock[1] for clock in clocks if clock) > 0.5:
        words += (
            " Window or buffer were filled as well, beyond what the path holds: larger ones would "
            "only make the queue longer."
        )
    delay_s = evidence.queue_delay_s
    if delay_s is not None and evidence.rtt_s and delay_s > _STANDING_S:
        added = (
            f"its queue adds {format_quantity(delay_s, Unit.SECONDS)} to the path's "
            f"{format_quantity(evidence.rtt_s, Unit.SECONDS)}"
        )
        shorter = (
            "a shorter buffer, RED or fq_codel would cut the delay and leave the throughput."
            if not evidence.has_managed_queue
            else "lower thresholds would cut the delay and leave the throughput."
        )
        sentence = f"{sentence[:-1]}, and {added}."
        if delay_s > _STANDING * evidence.rtt_s:
            cause = RootCause.STANDING_QUEUE
        if delay_s > _NOTED * evidence.rtt_s:
            words = f"Nothing makes the link carry more; {shorter}"
    lines = _fair_queue(evidence) if cause is RootCause.STANDING_QUEUE else ()
    return Finding(
        cause=cause,
        share=share,
        sentence=sentence,
        remedy=Recommendation(words=words, lines=lines),
    )


def _fair_queue(evidence: FlowEvidence) -> tuple[Line, ...]:
    slowest = evidence.slowest
    if slowest is None:
        return ()
    line = fair_queue_line(evidence.run, slowest.node, slowest.interface)
    return (line,) if line is not None else ()


def _filled(evidence: FlowEvidence, share: float) -> str:
    name, slowest = evidence.flow.name, evidence.slowest
    own = format_quantity(evidence.metric("receiver_bps") or 0.0, Unit.BPS)
    if slowest is None or not evidence.share_of(Limit.BOTTLENECK):
        return (
            f"A queue on the path never emptied {_time(share)}, so the link behind it was full, "
            f"whatever its rate is called: {name} had {own}."
        )
    full = f"{slowest.interface} with {evidence.rate_text}, was full"
    if not evidence.rivals:
        return f"{name} filled the path: the bottleneck, {full} {_time(share)}."
    others = f"{evidence.rivals} other stream{'' if evidence.rivals == 1 else 's'}"
    return f"The bottleneck, {full} {_time(share)}; {name} had {own} of it beside {others}."


def _time(share: float) -> str:
    return "all the time" if share > 0.995 else f"{share * 100:.0f} % of the time"


def way_back(evidence: FlowEvidence, *, share: float) -> Iterator[Finding]:
    """Yield what holds up the acknowledgements.

    Args:
        evidence: the flow.
        share: the share of its time that neither the link, the windows nor the application claim.
    """
    back = evidence.back
    lost = [loss for loss in evidence.back_losses if loss.qdisc]
    if back is None or not share:
        return
    waits = (
        evidence.queue_delay_s is not None
        and evidence.rtt_s is not None
        and (evidence.queue_delay_s > max(_STANDING_S, _NOTED * evidence.rtt_s))
    )
    lost_there = sum(loss.packets for loss in lost if loss.interface == back.interface)
    if back.use < _BUSY and not (lost_there and back.use > _BUSY / 2):
        return
    if not waits and not lost_there:
        return
    others = f" beside {' and '.join(back.others)}" if back.others else ""
    dropped = f", and {lost_there:,} of them were lost" if lost_there else ""
    rtt = evidence.metric("mean_rtt_s")
    seen = (
        f" The RTT was {format_quantity(rtt, Unit.SECONDS)} on a path of "
        f"{format_quantity(evidence.rtt_s, Unit.SECONDS)}."
        if rtt is not None and evidence.rtt_s
        else ""
    )
    line = fair_queue_line(evidence.run, back.node, back.interface)
    yield Finding(
        cause=RootCause.ACK_PATH,
        share=share,
        sentence=f"The way back is full: acknowledgements wait at {back.interface}, which carries "
        f"{format_quantity(back.rate_bps, Unit.BPS)}{others}{dropped}.{seen}",
        remedy=Recommendation(
            words=f"More rate at {back.interface}, or a queue for each flow there (fq_codel), so "
            "that acknowledgements do not wait behind data; cake has `ack-filter` to send fewer.",
            lines=(line,) if line is not None else (),
        ),
    )


def model(evidence: FlowEvidence) -> Iterator[Finding]:
    """Yield that the congestion control sent less than the link carries."""
    share = evidence.share_of(Limit.MODEL)
    if share and evidence.congestion in MODEL_BASED:
        yield Finding(
            cause=RootCause.MODEL,
            share=share,
            sentence=f"{evidence.congestion} itself limited {evidence.flow.name} {_time(share)}: "
            "it sent no faster than its model of the path allowed.",
            remedy=Recommendation(words="There is no setting for that."),
        )
