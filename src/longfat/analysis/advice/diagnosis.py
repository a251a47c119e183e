"""What limited a flow: its root causes in their order, the evidence, and what would help.

`diagnose` is the entry point. The modules of `causes` give findings from what `flow_evidence`
collects; here they are put in an order.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.applications import APPLICATIONS, examine_application
from longfat.analysis.advice.causes.cpu import busy_cpu
from longfat.analysis.advice.causes.dropped import (
    dropped_packets,
    group_losses,
    lost_without_window,
    presumed_losses,
)
from longfat.analysis.advice.causes.growth import early_exit, stuck_window
from longfat.analysis.advice.causes.marks import missing_marks
from longfat.analysis.advice.causes.queues import crowded_out, full_link, model, way_back
from longfat.analysis.advice.causes.waiting import (
    application,
    listen_queue,
    outages,
    reordering,
    small_writes,
    start_up,
    timeouts,
    unknown,
    windows,
)
from longfat.analysis.advice.facts import Fact, facts, udp_facts
from longfat.analysis.advice.flow_evidence import collect_evidence
from longfat.analysis.advice.foreign.run_programs import captured_connections
from longfat.analysis.advice.limits import Limit, Span, spans
from longfat.analysis.advice.recommendation import Recommendation
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.analysis.losses import losses_by_flow
from longfat.analysis.packets.decoded_capture import captures_of
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.common.extras import lazy
from longfat.errors import InputError, MachineError
from longfat.model.flow_path import sender_and_receiver
from longfat.model.flow_path.setting_warnings import ECN_CONTROLS
from longfat.model.metric import Unit
from longfat.model.probes import Tcp
from longfat.model.probes.tcp_sockets import ACCURATE_ECN, CLASSIC_ECN
from longfat.model.traffic import Bulk, Program
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from longfat.analysis.advice.flow_evidence import FlowEvidence
    from longfat.analysis.losses import Loss
    from longfat.execution.runs import FlowFailure, Run
    from longfat.model.traffic import Flow

    _Losses = Sequence[Loss]
else:
    pa = lazy("pyarrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What limited a flow.

    Attributes:
        flow: the flow's name.
        title: who sends to whom, and how.
        causes: the root causes, the most important first; empty where none is known.
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
    causes: tuple[Finding, ...] = ()

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
            "causes": [finding.to_json() for finding in self.causes],
            "evidence": {fact.key: fact.value for fact in self.facts},
            "help": self.recommendation.words,
            "lines": [dataclasses.asdict(line) for line in self.recommendation.lines],
            "alternatives": [dataclasses.asdict(line) for line in self.recommendation.alternatives],
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
    lost = losses_by_flow(run)
    found: list[Flow] = [
        each
        for each in run.case.flows
        if isinstance(each, (Bulk, *APPLICATIONS))
        or each.name in run.flow_failures
        or group_losses(lost.get(each.name, ()))
        or tcp_samples(run, each) is not None
        or (isinstance(each, Program) and captures_of(run))
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
            f"{run.folder}: no flow of bulk traffic, cbr, requests or video in this run, and no "
            "other flow failed or lost a packet"
        )
    return tuple(_diagnose(run, each, lost.get(each.name, ())) for each in found)


def _diagnose(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    diagnosis = _limits_of(run, flow, lost)
    return dataclasses.replace(diagnosis, notes=(*_loss_notes(lost), *diagnosis.notes))


def _limits_of(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    if flow.name in run.flow_failures:
        return _failure(run, flow, lost, run.flow_failures[flow.name])
    try:
        if isinstance(flow, APPLICATIONS):
            return _application(run, flow, lost)
        if not isinstance(flow, Bulk):
            if tcp_samples(run, flow) is not None:
                return _tcp(run, flow, lost)
            return _captured(run, flow) or _losing(run, flow, lost)
        return _udp(run, flow, lost) if flow.udp else _tcp(run, flow, lost)
    except MachineError as error:
        raise InputError(f"{run.folder}: flow {flow.name!r}: {error}") from None
    except (KeyError, pa.ArrowException) as error:
        raise InputError(
            f"{run.folder}: its series are not as this longfat writes them ({error}): run it again"
        ) from None


def _failure(run: Run, flow: Flow, lost: _Losses, failure: FlowFailure) -> Diagnosis:
    time = run.flow_times[flow.name]
    failed = f"{flow.name} failed after {time.end_s - time.start_s:.3g} s: {failure.reason}"
    failed += "" if failed.endswith(".") else "."
    status = Fact(
        key="status", label="exit status", value=float(failure.status), text=str(failure.status)
    )
    if tcp_samples(run, flow) is not None:
        seen = _tcp(run, flow, lost)
        if seen.limit is not None:
            return dataclasses.replace(
                seen, verdict=f"{failed} {seen.verdict}", facts=(status, *seen.facts)
            )
    causes = lost_without_window(run, lost, name=flow.name, share=1.0)
    return Diagnosis(
        flow=flow.name,
        title=f"{flow.source} -> {flow.target}, {flow.tool}",
        causes=causes,
        verdict=" ".join([failed, *(finding.sentence for finding in causes[:1])]),
        facts=(status,),
        recommendation=causes[0].remedy
        if causes
        else Recommendation(
            words="A capture at each end shows how far its packets came, and `tc -s qdisc`, "
            "`tc -s filter` and `nft list ruleset` in an event count those that were dropped."
        ),
    )


def _unseen(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    """Return what is known of a flow that was not sampled while its data was on the way."""
    diagnosis = _losing(run, flow, lost)
    every_s = min((probe.every_s for probe in run.case.probes_of(Tcp, target=flow.name)), default=0)
    words = (
        f"it was over before a second sample: let its tcp probe sample more often than every "
        f"{format_quantity(every_s, Unit.SECONDS)}."
        if every_s
        else "add a tcp probe."
    )
    note = f"No data of {flow.name} was seen, so what limited its rate is not known: {words}"
    return dataclasses.replace(diagnosis, notes=(note,))


def _captured(run: Run, flow: Flow) -> Diagnosis | None:
    """Return what captures show of a program; None if they have none of its connections."""
    connections = captured_connections(run, flow)
    if not connections:
        return None
    longest = max(connections, key=lambda connection: connection.duration_s)
    more = len(connections) - 1
    of = f"Of {more + 1:,} connections this is the longest: {longest.flow}."
    return Diagnosis(
        flow=flow.name,
        title=f"{flow.source} -> {flow.target}, {flow.tool}; {longest.title}",
        certain=longest.is_certain,
        duration_s=longest.duration_s,
        causes=longest.findings,
        verdict=longest.verdict,
        facts=longest.facts,
        recommendation=longest.findings[0].remedy,
        notes=(*([of] if more else []), *longest.notes, *longest.unknown),
    )


def _losing(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    """Return what made a flow lose packets of which nothing else is known, such as a ping."""
    share = run.metrics.get(f"{flow.name}.loss", 0.0)
    causes = lost_without_window(run, lost, name=flow.name, share=share)
    return Diagnosis(
        flow=flow.name,
        title=f"{flow.source} -> {flow.target}, {flow.tool}",
        causes=causes,
        verdict=causes[0].sentence
        if causes
        else f"{flow.name} lost nothing, and more is not known.",
        facts=(),
        recommendation=causes[0].remedy if causes else Recommendation(words=""),
    )


def _tcp(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    evidence = collect_evidence(run, flow, lost)
    if not evidence.slices:
        return _unseen(run, flow, lost)
    seconds = evidence.seconds
    limit = next(iter(seconds))
    causes = _findings(evidence)
    origin_s = evidence.slices[0].start_s
    streams = f"{evidence.streams} streams" if evidence.streams > 1 else "1 stream"
    streams = streams if isinstance(flow, Bulk) else flow.tool
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
        causes=causes,
        verdict=causes[0].sentence + _marks(evidence),
        facts=facts(evidence),
        recommendation=causes[0].remedy,
        notes=_notes(evidence),
    )


_MAX_LOSSES = 4  # `longfat losses` prints all

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


def _findings(evidence: FlowEvidence) -> tuple[Finding, ...]:
    """Return the root causes of a flow's rate, the first of which matters most.

    The kernel's clocks and the link claim their parts of the time. The rest belongs to the
    network, and the evidence there competes for it.
    """
    if cpu := tuple(busy_cpu(evidence)):
        return (*cpu, *outages(evidence))  # what windows and queues show follows from it
    window = tuple(stuck_window(evidence)) or tuple(windows(evidence))
    claimed = [*window, *application(evidence), *outages(evidence), *model(evidence)]
    waited = evidence.share_of(Limit.TIMEOUT)
    rest = waited + sum(
        evidence.share_of(limit) for limit in (Limit.LOSS, Limit.START_UP, Limit.UNKNOWN)
    )
    rest = max(0.0, rest - sum(outage.share for outage in evidence.outages))
    if rest < _NO_MATTER:
        rest = 0.0
    network = [*missing_marks(evidence), *listen_queue(evidence, share=rest)]
    network += way_back(evidence, share=rest)
    if not network:
        network = [
            *small_writes(evidence, share=rest),
            *crowded_out(evidence, share=rest),
            *dropped_packets(evidence, share=rest),
            *presumed_losses(evidence, share=evidence.share_of(Limit.LOSS)),
            *reordering(evidence, share=rest),
            *early_exit(evidence),
        ]
        explained = [*claimed, *network]
        if not any(finding.share >= waited / 2 for finding in explained if _explains(finding)):
            # A window that is small is no matter while nothing is sent.
            left = (rest - waited) / rest if rest else 0.0
            network = [
                dataclasses.replace(finding, share=finding.share * left) for finding in network
            ]
            network += timeouts(evidence)
    is_full = not network or evidence.share_of(Limit.BOTTLENECK) > 0
    full = full_link(evidence, rest=rest) if is_full else ()
    findings = [*claimed, *network, *full]
    covered = max((finding.share for finding in [*network, *findings[len(claimed) :]]), default=0.0)
    if covered < rest / 2:
        findings += [*start_up(evidence), *unknown(evidence)]
    return tuple(sorted(findings, key=_rank))


def _explains(finding: Finding) -> bool:
    """Return whether a finding explains timeouts: they are no cause of their own then."""
    return finding.cause not in (
        *(RootCause.SHORT_QUEUE, RootCause.START_UP, RootCause.APPLICATION),
        *(RootCause.RECEIVE_WINDOW, RootCause.SEND_BUFFER, RootCause.MODEL),
    )


def _rank(finding: Finding) -> tuple[bool, float]:
    """Return the key that puts findings in order.

    A link may be full for most of a time of which something else took much: that matters more.
    """
    least = _MIN_OUTAGE if finding.cause is RootCause.OUTAGE else _MIN_SHARE
    matters = finding.share >= least and finding.cause is not RootCause.FULL_LINK
    return not matters, -finding.share


# What takes less of a flow's time than that comes after a full link; of an outage less is enough.
_MIN_SHARE = 0.25
_MIN_OUTAGE = 0.05
# Less than this share of the time is of no matter.
_NO_MATTER = 0.005


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


def _loss_notes(lost: _Losses) -> tuple[str, ...]:
    """Return where the packets of a flow were lost, the most first."""
    return tuple(loss.sentence for loss in lost[:_MAX_LOSSES])


def _causes_of_losses(run: Run, flow: Flow, lost: _Losses) -> tuple[Finding, ...]:
    share = run.metrics.get(f"{flow.name}.loss", 0.0)
    return lost_without_window(run, lost, name=flow.name, share=share)


def _causes_at_sender(run: Run, flow: Flow, lost: _Losses) -> tuple[Finding, ...]:
    """Return what the sender of answers waited for, beside the next request; needs a tcp probe."""
    if tcp_samples(run, flow) is None:
        return ()
    evidence = collect_evidence(run, flow, lost)
    if not evidence.slices:
        return ()
    return tuple(
        finding for finding in _findings(evidence) if finding.cause is not RootCause.APPLICATION
    )


def _application(run: Run, flow: Flow, lost: _Losses) -> Diagnosis:
    found = examine_application(run, flow)
    return Diagnosis(
        flow=flow.name,
        title=f"{' -> '.join(sender_and_receiver(flow))}, {flow.tool}",
        causes=_causes_of_losses(run, flow, lost) or _causes_at_sender(run, flow, lost),
        verdict=found.verdict,
        facts=found.facts,
        recommendation=found.recommendation,
        notes=found.notes,
    )


def _udp(run: Run, flow: Bulk, lost: _Losses) -> Diagnosis:
    found = udp_facts(run, flow)
    return Diagnosis(
        flow=flow.name,
        title=f"{' -> '.join(sender_and_receiver(flow))}, UDP",
        causes=_causes_of_losses(run, flow, lost),
        verdict=f"{flow.name} is UDP, which has no window that could be diagnosed: "
        f"{found.sentence}",
        facts=found.facts,
        recommendation=Recommendation(words=found.help),
    )
