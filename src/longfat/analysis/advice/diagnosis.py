"""What limited a flow: the verdict, its evidence, and the change that would help.

`diagnose` is the entry point. It combines the results of `evidence`, of `limits` or
`inferred`, and of `recommendation`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.applications import APPLICATIONS, examine_application
from longfat.analysis.advice.facts import Fact, facts, udp_facts
from longfat.analysis.advice.flow_evidence import collect_evidence
from longfat.analysis.advice.limits import Limit, Span, spans
from longfat.analysis.advice.recommendation import Recommendation, recommendation
from longfat.analysis.losses import losses
from longfat.common.extras import lazy
from longfat.errors import InputError, MachineError
from longfat.model.flow_path import sender_and_receiver
from longfat.model.flow_path.setting_warnings import ECN_CONTROLS
from longfat.model.metric import Unit
from longfat.model.probes.tcp_sockets import ACCURATE_ECN, CLASSIC_ECN
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.execution.runs import FlowFailure, Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.traffic import Flow
else:
    pa = lazy("pyarrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What limited a flow.

    Attributes:
        flow: the flow's name.
        title: who sends to whom, and how.
        certain: it is read from the kernel's own clocks, and not inferred.
        limit: what limited it most of the time; None where nothing can (UDP), or nothing is known.
        duration_s: how long data flowed, in seconds.
        seconds: seconds by limit; they sum to the duration.
        spans: what ruled from when to when; times count from the first data.
        verdict: the same in one sentence.
        facts: the evidence.
        recommendation: what would help.
        notes: remarks, and what to add to the study.
    """

    flow: str
    title: str
    verdict: str
    facts: tuple[Fact, ...]
    recommendation: Recommendation
    certain: bool = True
    limit: Limit | None = None
    duration_s: float = 0.0
    seconds: Mapping[Limit, float] = dataclasses.field(default_factory=dict)
    spans: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as plain data, numbers in base units."""
        return {
            "flow": self.flow,
            "title": self.title,
            "certain": self.certain,
            "limit": self.limit,
            "duration_s": self.duration_s,
            "seconds": {str(limit): seconds for limit, seconds in self.seconds.items()},
            "spans": [dataclasses.asdict(span) for span in self.spans],
            "verdict": self.verdict,
            "evidence": {fact.key: fact.value for fact in self.facts},
            "help": self.recommendation.words,
            "lines": [dataclasses.asdict(line) for line in self.recommendation.lines],
            "notes": list(self.notes),
        }


def diagnose(run: Run, flow: str | None = None) -> tuple[Diagnosis, ...]:
    """Determine what limited the flows of a run.

    Args:
        run: the run.
        flow: the flow's name; None for all of bulk traffic, calls, requests and videos.

    Raises:
        InputError: there is no such flow, it is none that sends data, or a
            file of the run is missing or broken.
    """
    found: list[Flow] = [
        each
        for each in run.case.flows
        if isinstance(each, (Bulk, *APPLICATIONS)) or each.name in run.flow_failures
    ]
    names = ", ".join(each.name for each in found)
    if flow is not None:
        others = {each.name for each in run.case.flows}
        if flow in others and flow not in {each.name for each in found}:
            raise InputError(
                f"{run.folder}: the flow {flow!r} sends no data that something could limit; "
                + (f"flows that do: {names}" if names else "no flow of this run does")
            )
        found = [each for each in found if each.name == flow]
        if not found:
            known = ", ".join(each.name for each in run.case.flows) or "none"
            raise InputError(f"{run.folder}: no flow {flow!r} in this run; its flows: {known}")
    if not found:
        raise InputError(
            f"{run.folder}: no flow of bulk traffic, cbr, requests or video in this run, and only "
            "such can be diagnosed"
        )
    return tuple(_diagnose(run, each) for each in found)


def _diagnose(run: Run, flow: Flow) -> Diagnosis:
    diagnosis = _limits_of(run, flow)
    return dataclasses.replace(diagnosis, notes=(*_losses(run, flow), *diagnosis.notes))


def _limits_of(run: Run, flow: Flow) -> Diagnosis:
    if flow.name in run.flow_failures:
        return _failure(run, flow, run.flow_failures[flow.name])
    try:
        if not isinstance(flow, Bulk):
            return _application(run, flow)
        return _udp(run, flow) if flow.udp else _tcp(run, flow)
    except MachineError as error:
        raise InputError(f"{run.folder}: flow {flow.name!r}: {error}") from None
    except (KeyError, pa.ArrowException) as error:
        raise InputError(
            f"{run.folder}: its series are not as this longfat writes them ({error}): run it again"
        ) from None


def _failure(run: Run, flow: Flow, failure: FlowFailure) -> Diagnosis:
    time = run.flow_times[flow.name]
    return Diagnosis(
        flow=flow.name,
        title=f"{flow.source} -> {flow.target}, {flow.tool}",
        verdict=f"{flow.name} failed after {time.end_s - time.start_s:.3g} s: {failure.reason}",
        facts=(
            Fact(
                key="status",
                label="exit status",
                value=float(failure.status),
                text=str(failure.status),
            ),
        ),
        recommendation=Recommendation(
            words="A capture at each end shows how far its packets came, and `tc -s qdisc`, "
            "`tc -s filter` and `nft list ruleset` in an event count those that were dropped."
        ),
    )


def _tcp(run: Run, flow: Bulk) -> Diagnosis:
    evidence = collect_evidence(run, flow)
    if not evidence.slices:
        raise InputError(f"{run.folder}: no data of the flow {flow.name!r} was seen")
    seconds = evidence.seconds
    limit = next(iter(seconds))
    origin_s = evidence.slices[0].start_s
    streams = f"{flow.parallel} streams" if flow.parallel > 1 else "1 stream"
    return Diagnosis(
        flow=flow.name,
        title=f"{evidence.sender} -> {evidence.receiver}, {streams}, {evidence.congestion}",
        certain=evidence.measured,
        limit=limit,
        duration_s=evidence.duration_s,
        seconds=seconds,
        spans=tuple(
            dataclasses.replace(span, start_s=span.start_s - origin_s, end_s=span.end_s - origin_s)
            for span in spans(evidence.slices)
        ),
        verdict=_verdict(evidence, limit) + _marks(evidence),
        facts=facts(evidence),
        recommendation=recommendation(evidence, limit),
        notes=_notes(evidence),
    )


_MAX_LOSSES = 4  # `longfat losses` prints all

_SENTENCES = {
    Limit.BOTTLENECK: "The bottleneck was {probably}full {time}.",
    Limit.RECEIVE_WINDOW: "The receive window of {receiver} {probably}limited {flow} {time}: "
    "the receiver let no more be in flight.",
    Limit.SEND_BUFFER: "The send buffer of {sender} {probably}limited {flow} {time}: it had no "
    "room for more data in flight.",
    Limit.LOSS: "The congestion window after losses {probably}limited {flow} {time}: "
    "{congestion} cut it, and the path was not full again.",
    Limit.START_UP: "{flow} was {probably}still starting {time}: its window was growing.",
    Limit.MODEL: "{congestion} itself {probably}limited {flow} {time}: it sent no faster than "
    "its model of the path allowed.",
    Limit.APPLICATION: "The application {probably}limited {flow} {time}: it had nothing to send.",
    Limit.UNKNOWN: "What limited {flow} {time} cannot be determined from what was recorded.",
}


_ECN = {CLASSIC_ECN: "RFC 3168", ACCURATE_ECN: "AccECN"}


def _marks(evidence: FlowEvidence) -> str:
    """Return a sentence about its marks; empty without ECN or a tcp probe."""
    ecn = evidence.ecn
    if ecn is None:
        return ""
    modes = " and ".join(_ECN[mode] for mode in ecn.modes)
    delivered = f"{ecn.delivered:,} delivered packets"
    counts_each = ecn.modes == (ACCURATE_ECN,) or evidence.congestion in ECN_CONTROLS
    if ecn.received_ce is not None:
        marked = f"{ecn.received_ce:,} of {delivered} were marked"
    elif counts_each:
        marked = f"{ecn.delivered_ce:,} of {delivered} were marked"
    else:
        # From a mark until the sender's CWR all ACKs carry ECE: one mark is a window of packets.
        marked = f"{ecn.delivered_ce:,} of {delivered} were acknowledged with ECE"
    return f" ECN was negotiated ({modes}): {marked}."


def _verdict(evidence: FlowEvidence, limit: Limit) -> str:
    share = evidence.seconds[limit] / evidence.duration_s
    time = "all the time" if share > 0.995 else f"{share * 100:.0f} % of the time"
    if limit is Limit.BOTTLENECK and evidence.slowest is not None:
        return _full(evidence, evidence.slowest, time)
    return _SENTENCES[limit].format(
        flow=evidence.flow.name,
        sender=evidence.sender,
        receiver=evidence.receiver,
        congestion=evidence.congestion,
        time=time,
        probably="" if evidence.measured else "probably ",
    )


def _full(evidence: FlowEvidence, slowest: Bottleneck, time: str) -> str:
    name = evidence.flow.name
    full = f"{slowest.interface} with {evidence.rate_text}, was full"
    if not evidence.rivals:
        return f"{name} filled the path: the bottleneck, {full} {time}."
    got = format_quantity(evidence.metric("receiver_bps") or 0.0, Unit.BPS)
    others = f"{evidence.rivals} other stream{'' if evidence.rivals == 1 else 's'}"
    return f"The bottleneck, {full} {time}; {name} had {got} of it beside {others}."


def _notes(evidence: FlowEvidence) -> tuple[str, ...]:
    notes = []
    if evidence.unknown_path:
        notes.append(f"Whether the link was full cannot be determined: {evidence.unknown_path}.")
    if evidence.slowest is not None and evidence.run.case.events:
        notes.append(
            "Events change the network meanwhile. Whether the bottleneck was full is judged by the "
            "rate that it had at each time, and the BDP is that of its mean rate while data "
            "flowed; which link it is, its delay and its queue are those of the start."
        )
    wanted = []
    if not evidence.measured:
        notes.append(
            "No tcp probe sampled this flow: all this is inferred from "
            f"{evidence.flow.tool}'s rows, and less certain than the kernel's own clocks."
        )
        wanted.append(f"tcp: {{of: {evidence.flow.name}, every: 100ms}}")
    if evidence.slowest is not None and evidence.queue is None:
        wanted.append(f"queue: {{of: {evidence.slowest.interface}, every: 100ms}}")
    if wanted:
        notes.append(f"For more detail, add to the study:  probes: {{{', '.join(wanted)}}}")
    return tuple(notes)


def _losses(run: Run, flow: Flow) -> tuple[str, ...]:
    """Return where the packets of a flow were lost, the most first."""
    if run.drops is None:
        return ()
    lost = [loss for loss in losses(run, flow.name) if loss.cause.is_loss]
    return tuple(loss.sentence for loss in lost[:_MAX_LOSSES])


def _application(run: Run, flow: Flow) -> Diagnosis:
    found = examine_application(run, flow)
    return Diagnosis(
        flow=flow.name,
        title=f"{' -> '.join(sender_and_receiver(flow))}, {flow.tool}",
        verdict=found.verdict,
        facts=found.facts,
        recommendation=found.recommendation,
        notes=found.notes,
    )


def _udp(run: Run, flow: Bulk) -> Diagnosis:
    found = udp_facts(run, flow)
    return Diagnosis(
        flow=flow.name,
        title=f"{' -> '.join(sender_and_receiver(flow))}, UDP",
        verdict=f"{flow.name} is UDP, which has no window that could be diagnosed: "
        f"{found.sentence}",
        facts=found.facts,
        recommendation=Recommendation(words=found.help),
    )
