"""Combines diagnoses of the same connection that come from several files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from longfat.analysis.advice.foreign.foreign_diagnosis import ForeignDiagnosis, ranked
from longfat.analysis.advice.root_cause import Finding, RootCause

_CERTAIN_BONUS = 1.25


def combine(diagnoses: Sequence[ForeignDiagnosis]) -> tuple[ForeignDiagnosis, ...]:
    """Return diagnoses with those of common connections merged.

    A connection with more certain evidence (the kernel's clocks, packets) outweighs what was
    inferred from rows. Where nothing connects files, each keeps its own.

    Args:
        diagnoses: the diagnoses of all files, in their order.
    """
    groups: list[list[ForeignDiagnosis]] = []
    for diagnosis in diagnoses:
        keys = set(diagnosis.connections)
        related = [
            group
            for group in groups
            if any(keys & set(other.connections) for other in group)
            # Sockets of one file are apart, unless a report has them as its streams.
            and not all(other.files == diagnosis.files for other in group)
        ]
        if not related:
            groups.append([diagnosis])
            continue
        first, *others = related
        first.append(diagnosis)
        for other in others:
            first.extend(other)
            groups.remove(other)
    return tuple(group[0] if len(group) == 1 else _merge(group) for group in groups)


def _merge(group: Sequence[ForeignDiagnosis]) -> ForeignDiagnosis:
    files = tuple(dict.fromkeys(name for one in group for name in one.files))
    main = max(group, key=lambda one: len(one.connections))
    measured = {one.cause for each in group for one in each.findings if one.certain} - {
        RootCause.UNKNOWN
    }
    findings = [_weighed(one, bool(measured)) for each in group for one in each.findings]
    known = [one for one in findings if one.cause is not RootCause.UNKNOWN]
    facts = {fact.key: fact for each in reversed(group) for fact in each.facts}
    count = len(group)
    return ForeignDiagnosis(
        files=files,
        flow=main.flow,
        title=f"{main.title}; {count} sources",
        findings=ranked(known or findings, to_learn=group[0].findings[0].remedy.words),
        facts=tuple(facts.values()),
        unknown=_still_unknown(group),
        notes=tuple(dict.fromkeys(note for each in group for note in each.notes)),
        connections=tuple(dict.fromkeys(key for each in group for key in each.connections)),
        duration_s=max(each.duration_s for each in group),
    )


def _weighed(one: Finding, has_measured: bool) -> Finding:
    """Return a cause with less weight if others were measured and this one was inferred."""
    if one.certain or not has_measured:
        return one
    return replace(one, share=one.share / _CERTAIN_BONUS)


def _still_unknown(group: Sequence[ForeignDiagnosis]) -> tuple[str, ...]:
    """Return what no file of a group knows: a remark that all of a kind of file make."""
    count = len(group)
    remarks: dict[str, int] = {}
    for each in group:
        for remark in each.unknown:
            remarks[remark] = remarks.get(remark, 0) + 1
    # Another file is what most remarks ask for.
    return tuple(remark for remark, times in remarks.items() if times == count)
