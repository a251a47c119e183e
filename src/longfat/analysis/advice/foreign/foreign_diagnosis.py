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
class Candidate:
    """A possible cause and its weight.

    Attributes:
        finding: the cause, with its evidence and remedy.
        share: the share of the time in which it limited the flow, or how sure it is where no
            time is known; 0 to 1.
        certain: it was measured, and not inferred.
        explains: it shows why, where another file only shows that the cause is there.
    """

    finding: Finding
    share: float
    certain: bool = False
    explains: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignDiagnosis:
    """What limited a flow, from a file that is not of a run.

    Attributes:
        files: the names of the files that it was read from.
        flow: the flow's name: its ends where they are known.
        title: what kind of data it is, and how much of it.
        candidates: the causes, the heaviest first.
        facts: all that was measured.
        unknown: what these data cannot show, and what to add to learn it.
        notes: further remarks.
        connections: the connections that it is about.
        duration_s: how long data flowed, in seconds; 0 if not known.
    """

    files: tuple[str, ...]
    flow: str
    title: str
    candidates: tuple[Candidate, ...]
    facts: tuple[Fact, ...]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    connections: tuple[ConnectionKey, ...] = ()
    duration_s: float = 0.0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The causes, the heaviest first; at least one."""
        return tuple(candidate.finding for candidate in self.candidates)

    @property
    def is_certain(self) -> bool:
        """Whether the first cause was measured, and not inferred."""
        return self.candidates[0].certain

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
            "causes": [
                {**candidate.finding.to_json(), "share": candidate.share}
                for candidate in self.candidates
            ],
            "evidence": {fact.key: fact.value for fact in self.facts},
            "help": remedy.words,
            "lines": [
                {"node": line.node, "text": line.text, "why": line.why} for line in remedy.lines
            ],
            "unknown": list(self.unknown),
            "notes": list(self.notes),
        }


def candidate(
    cause: RootCause,
    share: float,
    sentence: str,
    *,
    remedy: str,
    lines: Iterable[Line] = (),
    evidence: Iterable[Fact] = (),
    certain: bool = False,
    explains: bool = False,
) -> Candidate:
    """Return a possible cause.

    Args:
        cause: the cause.
        share: its weight, see `Candidate`.
        sentence: what was seen.
        remedy: what would help.
        lines: lines to paste.
        evidence: the measurements that show it.
        certain: it was measured, and not inferred.
        explains: see `Candidate`.
    """
    finding = Finding(
        cause=cause,
        sentence=sentence,
        evidence=tuple(evidence),
        remedy=Recommendation(words=remedy, lines=tuple(lines)),
    )
    weight = max(0.0, min(1.0, share))
    return Candidate(finding=finding, share=weight, certain=certain, explains=explains)


def ranked(candidates: Iterable[Candidate], *, to_learn: str) -> tuple[Candidate, ...]:
    """Return candidates with the heaviest first and each cause once.

    Args:
        candidates: the causes, in any order.
        to_learn: what to add if there is no cause.

    Returns:
        At least one: that nothing is known, if nothing weighs enough.
    """
    heaviest: dict[RootCause, Candidate] = {}
    for one in candidates:
        if one.share < MIN_SHARE:
            continue
        other = heaviest.get(one.finding.cause, one)
        first, second = sorted((other, one), key=lambda each: (each.explains, each.share))[::-1]
        heaviest[one.finding.cause] = replace(first, share=max(first.share, second.share))
    if len(heaviest) > 1:
        heaviest.pop(RootCause.UNKNOWN, None)
    order = sorted(heaviest.values(), key=lambda one: (-one.share, one.finding.cause))
    if order:
        return tuple(order)
    return (
        candidate(
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
