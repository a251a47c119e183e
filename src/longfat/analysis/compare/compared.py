"""The comparison of sides as a value: what terminal and JSON are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.compare.changes import Change, case_changes, environment_changes
from longfat.analysis.compare.differences import (
    Difference,
    Significance,
    metric_differences,
    with_significance,
)
from longfat.analysis.compare.ranktest import LEVEL, least_p
from longfat.analysis.compare.sides import Matching, Pair, Side, make_side, match_cases

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run

TEST = "Mann-Whitney U, two-sided"
CORRECTION = "Benjamini-Hochberg"


@dataclass(frozen=True, slots=True)
class SharedChange:
    """A change that some or all of the cases have in common.

    Attributes:
        change: the change.
        cases: what the pairs of cases are called that have it.
    """

    change: Change
    cases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """A claim with different results on the two sides; None: not evaluated."""

    text: str
    a: bool | None
    b: bool | None


@dataclass(frozen=True, slots=True)
class Sameness:
    """Of how many seeds that both sides have, the runs of a pair of cases are byte-identical."""

    case: str
    equal: int
    seeds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """One side against the base.

    Attributes:
        a: the base.
        b: the side.
        matching: which cases are compared with each other.
        changes: what differs in the cases.
        environment: what differs in kernel, tools and longfat.
        sameness: which runs are byte-identical, for each pair of cases.
        broken: runs that should be byte-identical, for all that decides them is
            equal, and are not.
        claims: the claims with different results.
        differences: all metrics of all pairs of cases.
    """

    a: Side
    b: Side
    matching: Matching
    changes: tuple[SharedChange, ...]
    environment: tuple[Change, ...]
    sameness: tuple[Sameness, ...]
    broken: tuple[tuple[Run, Run], ...]
    claims: tuple[ClaimChange, ...]
    differences: tuple[Difference, ...]

    @property
    def identical(self) -> bool:
        """Return whether both sides have the same cases and seeds, and equal bytes of each."""
        return self._whole and all(one.equal == one.seeds for one in self.sameness)

    @property
    def single(self) -> bool:
        """Return whether every case has one run on each side."""
        return all(len(pair.a) == len(pair.b) == 1 for pair in self.matching.pairs)

    @property
    def differs(self) -> bool:
        """Return whether results differ: really, or for single seeds in any byte."""
        return bool(
            self.broken
            or self.matching.only_a
            or self.matching.only_b
            or any(one.significance.differs for one in self.differences)
            or (self.single and any(one.equal < one.seeds for one in self.sameness))
        )

    @property
    def least_p(self) -> float | None:
        """Return the least p that any pair of cases can give; None for single seeds."""
        sizes = {(len(pair.a), len(pair.b)) for pair in self.matching.pairs}
        found = [least_p(a, b) for a, b in sizes if a > 1 or b > 1]
        return min(found, default=None)

    @property
    def _whole(self) -> bool:
        matching = self.matching
        alike = all(
            [run.seed for run in pair.a] == [run.seed for run in pair.b] for pair in matching.pairs
        )
        return alike and not matching.only_a and not matching.only_b

    def of(self, *significances: Significance) -> list[Difference]:
        """Return the differences of some significances."""
        return [one for one in self.differences if one.significance in significances]

    def to_json(self) -> dict[str, Any]:
        """Return the contrast as plain data."""
        return {
            "a": _side_to_json(self.a),
            "b": _side_to_json(self.b),
            "identical": self.identical,
            "differs": self.differs,
            "cases": [
                {
                    "name": pair.name,
                    "a": pair.a_name,
                    "b": pair.b_name,
                    "a_seeds": [run.seed for run in pair.a],
                    "b_seeds": [run.seed for run in pair.b],
                    "equal_runs": same.equal,
                    "common_seeds": same.seeds,
                }
                for pair, same in zip(self.matching.pairs, self.sameness, strict=True)
            ],
            "only_a": list(self.matching.only_a),
            "only_b": list(self.matching.only_b),
            "changes": [{**one.change.to_json(), "cases": list(one.cases)} for one in self.changes],
            "host": [change.to_json() for change in self.environment],
            "broken": [[str(run.folder) for run in runs] for runs in self.broken],
            "claims": [{"text": one.text, "a": one.a, "b": one.b} for one in self.claims],
            "differences": [one.to_json() for one in self.differences],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One or more sides, each against the same base.

    Attributes:
        contrasts: a contrast for each side but the base.
        level: the share of false ones that is allowed among what is called real.
    """

    contrasts: tuple[Contrast, ...]
    level: float = LEVEL

    @property
    def differs(self) -> bool:
        """Return whether results differ: really, or for single seeds in any byte."""
        return any(one.differs for one in self.contrasts)

    @property
    def tests(self) -> int:
        """Return how many comparisons were tested."""
        return sum(one.p is not None for of in self.contrasts for one in of.differences)

    def to_json(self) -> dict[str, Any]:
        """Return the object that `longfat compare --json` prints."""
        return {
            "differs": self.differs,
            "test": {
                "name": TEST,
                "correction": CORRECTION,
                "level": self.level,
                "count": self.tests,
            },
            "contrasts": [one.to_json() for one in self.contrasts],
        }


def _side_to_json(side: Side) -> dict[str, Any]:
    return {
        "label": side.label,
        "cases": len(side.runs),
        "seeds": list(side.seeds),
        "linux": sorted({run.kernel["release"] for run in side.all_runs}),
    }


def compare_verdicts(verdicts: Mapping[str, Verdict]) -> Compared:
    """Compare a study's verdicts, such as those on several kernels.

    Args:
        verdicts: two or more, by what tables call them (`6.1`, `6.12`); the first is the
            base that the others are held against.

    Raises:
        InputError: one has no runs.
    """
    return compare_sides([verdict_side(label, verdict) for label, verdict in verdicts.items()])


def verdict_side(label: str, verdict: Verdict) -> Side:
    """Return a verdict as a side.

    Args:
        label: what tables call it.
        verdict: the study with its runs.

    Raises:
        InputError: there are no runs, or those of a case differ in more than seeds.
    """
    claims = {one.claim.text: one.passed for one in verdict.claims}
    return make_side(label, verdict.runs, claims=claims)


def compare_sides(sides: Sequence[Side]) -> Compared:
    """Compare each side with the first.

    Args:
        sides: two or more.
    """
    base, *others = sides
    matchings = [match_cases(base, other) for other in others]
    judged = with_significance([metric_differences(matching.pairs) for matching in matchings])
    return Compared(
        contrasts=tuple(
            _contrast(base, other, matching, differences)
            for other, matching, differences in zip(others, matchings, judged, strict=True)
        )
    )


def _contrast(
    a: Side, b: Side, matching: Matching, differences: tuple[Difference, ...]
) -> Contrast:
    return Contrast(
        a=a,
        b=b,
        matching=matching,
        changes=_shared_changes(matching.pairs),
        environment=environment_changes(a.all_runs, b.all_runs),
        sameness=tuple(_sameness(pair) for pair in matching.pairs),
        broken=tuple(runs for pair in matching.pairs for runs in _broken(pair)),
        claims=tuple(
            ClaimChange(text, holds, b.claims[text])
            for text, holds in a.claims.items()
            if text in b.claims and holds is not b.claims[text]
        ),
        differences=differences,
    )


def _shared_changes(pairs: Sequence[Pair]) -> tuple[SharedChange, ...]:
    """Return each change once, with the cases that have it; those of all cases come first."""
    found: dict[Change, list[str]] = {}
    for pair in pairs:
        for change in dict.fromkeys(case_changes(pair.a[0].case, pair.b[0].case)):
            found.setdefault(change, []).append(pair.name)
    shared = [SharedChange(change, tuple(names)) for change, names in found.items()]
    return tuple(sorted(shared, key=lambda one: len(one.cases) < len(pairs)))


def _common(pair: Pair) -> list[tuple[Run, Run]]:
    """Return the runs of both sides that have the same seed."""
    theirs = {run.seed: run for run in pair.b}
    return [(run, theirs[run.seed]) for run in pair.a if run.seed in theirs]


def _sameness(pair: Pair) -> Sameness:
    common = _common(pair)
    return Sameness(pair.name, sum(a.digest == b.digest for a, b in common), len(common))


def _broken(pair: Pair) -> list[tuple[Run, Run]]:
    return [(a, b) for a, b in _common(pair) if a.digest != b.digest and a.key == b.key]
