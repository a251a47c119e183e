"""What a capture shows of its connections: pcap or pcapng, of any network.

The packets are decoded in a process of its own (`analysis.packets.decoders`). The connections with
the most data are diagnosed; ICMP messages and unanswered ARP requests belong to all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from longfat.analysis.advice.foreign.foreign_diagnosis import (
    ConnectionKey,
    ForeignDiagnosis,
    finding,
    ranked,
)
from longfat.analysis.advice.foreign.stream_evidence import Side, StreamEvidence, stream_evidence
from longfat.analysis.advice.foreign.stream_findings import (
    TO_LEARN,
    stream_facts,
    stream_findings,
)
from longfat.analysis.advice.root_cause import Finding, RootCause
from longfat.analysis.packets import decoders
from longfat.analysis.packets.capture import MAX_PACKETS, open_capture
from longfat.analysis.packets.streams import streams_of
from longfat.analysis.packets.table import ABSENT, PacketTable
from longfat.errors import InputError

MAX_STREAMS = 8
"""So many connections of a capture are diagnosed, those with the most data."""

_MIN_PART = 0.01  # of the data of the largest
_WHO_HAS = re.compile(r"who has (\S+?)\?", re.IGNORECASE)
_IS_AT = re.compile(r"(\S+) is at", re.IGNORECASE)
_MIN_REQUESTS = 3
_MANY_BYTES = 100_000
_LOSSES = frozenset((RootCause.POLICER, RootCause.RANDOM_LOSS, RootCause.SHORT_QUEUE))

# RFC 792, RFC 1812, RFC 4443.
_UNREACHABLE, _EXCEEDED, _UNREACHABLE_6, _TOO_BIG_6, _EXCEEDED_6 = 3, 11, 1, 2, 3
_FRAGMENTATION_NEEDED = 4
_PROHIBITED, _PROHIBITED_6 = frozenset((9, 10, 13)), frozenset((1, 5, 6))
_PORT, _PORT_6 = 3, 4


def diagnose_capture(
    path: Path, *, name: str | None = None, streams: tuple[int, ...] | None = None
) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the connections of a capture.

    Args:
        path: the file.
        name: what to call it; by default the path.
        streams: the numbers of the TCP streams; None for those with the most data.

    Raises:
        InputError: it is no capture, it cannot be decoded, or it has no packet of TCP.
    """
    called = name or str(path)
    capture = open_capture(path, name=called)
    table = decoders.decode(capture, decoder=decoders.choose_decoder("dpkt"), count=MAX_PACKETS)
    return diagnose_packets(table, name=called, streams=streams)


def diagnose_packets(
    table: PacketTable, *, name: str, streams: tuple[int, ...] | None = None
) -> tuple[ForeignDiagnosis, ...]:
    """Return what limited the connections among decoded packets; see `diagnose_capture`."""
    everywhere = _everywhere(table)
    known = streams_of(table)
    if not known:
        if everywhere.findings:
            return (_without_connections(table, name, everywhere),)
        raise InputError(
            f"{name}: a capture of {len(table):,} packets without any of TCP; only TCP can be "
            "diagnosed from packets (for UDP: the report of its program)"
        )
    largest = max(sum(stream["bytes"]) for stream in known)
    order = sorted(known, key=lambda stream: (-sum(stream["bytes"]), stream["number"]))
    chosen = [
        stream["number"]
        for stream in order
        if (stream["number"] in streams if streams is not None else True)
    ]
    if streams is None:
        sizes = {stream["number"]: sum(stream["bytes"]) for stream in known}
        chosen = [n for n in chosen if sizes[n] >= _MIN_PART * largest][:MAX_STREAMS]
    found = [_diagnose(table, number, name, everywhere) for number in chosen]
    left = len(known) - len(found)
    if left and found and streams is None:
        note = f"{left} more connection{'s' if left > 1 else ''} with little data in {name}."
        found[-1] = replace(found[-1], notes=(*found[-1].notes, note))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Everywhere:
    """What packets other than TCP's show."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    has_too_big: bool


def _diagnose(
    table: PacketTable, number: int, name: str, everywhere: _Everywhere
) -> ForeignDiagnosis:
    evidence = stream_evidence(table, number)
    facts = stream_facts(evidence)
    # Where data pass, an ICMP message is of a moment, or of another flow.
    weight = 0.5 if evidence.data_bytes >= _MANY_BYTES else 1.0
    others = (replace(one, share=weight * one.share) for one in everywhere.findings)
    findings = [*stream_findings(evidence, facts), *others]
    if everywhere.has_too_big:
        # The first window is sent again when the path's MTU is learnt; that is no loss.
        findings = [one for one in findings if one.cause not in _LOSSES]
    ends = (evidence.sender, evidence.receiver)
    source, target = (f"{end.address}:{end.port}" for end in ends)
    packets = int((table.wholes["tcp_stream"] == number).sum())
    return ForeignDiagnosis(
        files=(name,),
        flow=f"{source} -> {target}",
        title=f"{packets:,} packets, captured {evidence.side}",
        findings=ranked(findings, to_learn=TO_LEARN),
        facts=tuple(facts),
        unknown=tuple(_unknown(evidence)),
        notes=(*_notes(evidence, everywhere), *everywhere.notes),
        connections=(ConnectionKey((end.address, end.port) for end in ends),),
        duration_s=evidence.duration_s,
    )


def _without_connections(
    table: PacketTable, name: str, everywhere: _Everywhere
) -> ForeignDiagnosis:
    return ForeignDiagnosis(
        files=(name,),
        flow=name,
        title=f"{len(table):,} packets, none of TCP",
        findings=ranked(everywhere.findings, to_learn=TO_LEARN),
        facts=(),
        notes=everywhere.notes,
    )


def _unknown(evidence: StreamEvidence) -> Iterator[str]:
    if not evidence.segments:
        return
    if evidence.is_scaled is None:
        yield (
            "Whether window scaling was agreed, and so the receive window: the SYN packets are "
            "not in "
            "the capture. Start it before the connection."
        )
    if evidence.side is Side.RECEIVER:
        yield (
            "What was in flight, and what the sender waited for: the capture is near the receiver. "
            "Capture at the sender, too."
        )
    elif evidence.side is Side.MIDDLE:
        yield "What was in flight: the capture is between both ends, and sees a part of the path."
    yield "The sender's congestion window, pacing and buffers: `ss -tinm` at the sender shows them."
    yield "What other traffic the slowest link carries."


def _notes(evidence: StreamEvidence, everywhere: _Everywhere) -> Iterator[str]:
    for end, at_s in evidence.resets[:1]:
        yield f"{end} reset the connection at {at_s:.3g} s."
    if evidence.ecn_agreed:
        yield (
            f"ECN was agreed: {evidence.marked:,} packets of the data were marked here, and "
            f"{evidence.echoed:,} acknowledgements echo a mark."
        )
    if evidence.mss is not None and evidence.mss <= 536:
        yield f"The MSS that was agreed is only {evidence.mss} bytes."
    if evidence.unseen:
        yield (
            f"{evidence.unseen:,} segments were never seen before their acknowledgement or their "
            "successors: the capture missed packets, or they were lost before it."
        )
    if everywhere.has_too_big and evidence.timeouts:
        yield "An ICMP message says that packets are too big: path MTU discovery works here."


def _everywhere(table: PacketTable) -> _Everywhere:
    findings: list[Finding] = []
    notes: list[str] = []
    counts: Counter[RootCause] = Counter()
    example: dict[RootCause, str] = {}
    too_big = 0
    for version, kind_key, code_key in (
        (4, "icmp_type", "icmp_code"),
        (6, "icmp6_type", "icmp6_code"),
    ):
        kinds = table.wholes[kind_key]
        for row in np.flatnonzero(kinds != ABSENT).tolist():
            kind, code = int(kinds[row]), int(table.wholes[code_key][row])
            too_big += (kind, code) == (_UNREACHABLE, _FRAGMENTATION_NEEDED) and version == 4
            too_big += kind == _TOO_BIG_6 and version == 6
            cause = _cause_of(version, kind, code)
            if cause is not None:
                counts[cause] += 1
                example.setdefault(cause, table.texts["source"][row])
    for cause, count in counts.items():
        sentence, remedy = _ICMP[cause]
        findings.append(
            finding(
                cause,
                0.9 if count > 1 else 0.6,
                f"{example[cause]} reports by ICMP, {count:,} times: {sentence}.",
                remedy=remedy,
                certain=True,
            )
        )
    if too_big:
        notes.append(f"{too_big:,} ICMP messages say that packets are too big for a link.")
    silent = _unanswered(table)
    if silent:
        findings.append(
            finding(
                RootCause.NO_NEIGHBOUR,
                0.9,
                f"Nobody answers the ARP requests for {', '.join(silent[:3])}: that host is "
                "down, has "
                "another address, or is not on this link.",
                remedy="`ip neigh` and `ip addr` at both ends show the addresses.",
                certain=True,
            )
        )
    return _Everywhere(tuple(findings), tuple(notes), bool(too_big))


def _cause_of(version: int, kind: int, code: int) -> RootCause | None:
    unreachable, exceeded = (
        (_UNREACHABLE, _EXCEEDED) if version == 4 else (_UNREACHABLE_6, _EXCEEDED_6)
    )
    prohibited, port = (_PROHIBITED, _PORT) if version == 4 else (_PROHIBITED_6, _PORT_6)
    if kind == exceeded and code == 0:
        return RootCause.ROUTING_LOOP
    if kind != unreachable or code == port or (version == 4 and code == _FRAGMENTATION_NEEDED):
        return None
    return RootCause.FIREWALL if code in prohibited else RootCause.NO_ROUTE


_ICMP = {
    RootCause.ROUTING_LOOP: (
        "the TTL was used up on the way",
        "`traceroute` shows whether the same routers come again and again; a traceroute that runs "
        "meanwhile causes such messages itself.",
    ),
    RootCause.FIREWALL: ("a rule prohibits it", "`nft list ruleset` there shows which."),
    RootCause.NO_ROUTE: (
        "the network or the host cannot be reached",
        "`ip route get ADDRESS` there shows the route that is missing.",
    ),
}


def _unanswered(table: PacketTable) -> list[str]:
    """Return the addresses that ARP requested some times and nobody answered for."""
    requests: Counter[str] = Counter()
    answers: set[str] = set()
    for protocol, info in zip(table.texts["protocol"], table.texts["info"], strict=True):
        if protocol != "ARP":
            continue
        if (match := _WHO_HAS.match(info)) is not None:
            requests[match[1]] += 1
        elif (match := _IS_AT.match(info)) is not None:
            answers.add(match[1])
    return [
        address
        for address, count in requests.most_common()
        if count >= _MIN_REQUESTS and address not in answers
    ]
