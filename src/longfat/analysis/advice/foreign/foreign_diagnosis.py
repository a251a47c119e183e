"""The result of a diagnosis of strangers' traffic: ranked causes, evidence, what is not known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.recommendation import Line, Recommendation
from longfat.analysis.advice.root_cause import Finding, RootCause

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.analysis.advice.facts import Fact

MIN_SHARE = 0.05
"""A cause with less weight than this is not reported."""

ConnectionKey = frozenset[tuple[str, int]]
"""The two ends of a connection: address and port each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDiagnosis:
    """What limited a flow, from a file that is not of a run.

    Attributes:
        files: the names of the files that it was read from.
        flow: the flow's name: its ends where they are known.
        title: what kind of data it is, and how much of it.
        findings: the causes, the heaviest first.
        facts: all that was measured.
        unknown: what these data cannot show, and what to add to learn it.
        notes: further remarks.
        connections: the connections that it is about.
        duration_s: how long data flowed, in seconds; 0 if not known.
    """

    files: tuple[str, ...]
    flow: str
    title: str
    findings: tuple[Finding, ...]
    facts: tuple[Fact, ...]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    connections: tuple[ConnectionKey, ...] = ()
    duration_s: float = 0.0

    @property
    def is_certain(self) -> bool:
        """Whether the first cause was measured, and not inferred."""
        return self.findings[0].certain

    @property
    def verdict(self) -> str:
        """What limited the flow, in a sentence."""
        return self.findings[0].sentence

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, in the form of a `Diagnosis` where that applies."""
        remedy = self.findings[0].remedy
        return {
            "files": list(self.files),
            "flow": self.flow,
            "title": self.title,
            "certain": self.is_certain,
            "limit": self.findings[0].cause,
            "duration_s": self.duration_s,
            "verdict": self.verdict,
            "causes": [finding.to_json() for finding in self.findings],
            "evidence": {fact.key: fact.value for fact in self.facts},
            "help": remedy.words,
            "lines": [
                {"node": line.node, "text": line.text, "why": line.why} for line in remedy.lines
            ],
            "unknown": list(self.unknown),
            "notes": list(self.notes),
        }


def finding(
    cause: RootCause,
    share: float,
    sentence: str,
    *,
    remedy: str,
    lines: Iterable[Line] = (),
    evidence: Iterable[Fact] = (),
    certain: bool = False,
    explains: bool = False,
) -> Finding:
    """Return a possible cause.

    Args:
        cause: the cause.
        share: its weight, see `Finding`.
        sentence: what was seen.
        remedy: what would help.
        lines: lines to paste.
        evidence: the measurements that show it.
        certain: it was measured, and not inferred.
        explains: see `Finding`.
    """
    return Finding(
        cause=cause,
        share=max(0.0, min(1.0, share)),
        sentence=sentence,
        evidence=tuple(evidence),
        remedy=Recommendation(words=remedy, lines=tuple(lines)),
        certain=certain,
        explains=explains,
    )


def ranked(findings: Iterable[Finding], *, to_learn: str) -> tuple[Finding, ...]:
    """Return findings with the heaviest first and each cause once.

    Args:
        findings: the causes, in any order.
        to_learn: what to add if there is no cause.

    Returns:
        At least one: that nothing is known, if nothing weighs enough.
    """
    heaviest: dict[RootCause, Finding] = {}
    for one in findings:
        if one.share < MIN_SHARE:
            continue
        other = heaviest.get(one.cause, one)
        first, second = sorted((other, one), key=lambda each: (each.explains, each.share))[::-1]
        heaviest[one.cause] = replace(first, share=max(first.share, second.share))
    if len(heaviest) > 1:
        heaviest.pop(RootCause.UNKNOWN, None)
    order = sorted(heaviest.values(), key=lambda one: (-one.share, one.cause))
    if order:
        return tuple(order)
    return (
        finding(
            RootCause.UNKNOWN,
            0.0,
            "What limited this flow cannot be determined from these data.",
            remedy=to_learn,
        ),
    )


def chosen(facts: Iterable[Fact], *keys: str) -> tuple[Fact, ...]:
    """Return the facts with these keys, in the order of the keys."""
    by_key = {fact.key: fact for fact in facts}
    return tuple(by_key[key] for key in keys if key in by_key)
