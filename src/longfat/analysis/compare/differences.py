"""What differs in the results of two sides, metric by metric, and which of it is real."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.analysis.compare.ranktest import (
    LEVEL,
    Floats,
    adjusted,
    least_p,
    shift,
    superiority,
    two_sided_p,
)
from longfat.model.metric import Unit
from longfat.model.spread import HIGH, LOW, Spread
from longfat.study.metrics import known_metrics

if TYPE_CHECKING:
    from longfat.analysis.compare.sides import Pair
    from longfat.execution.runs import Run
    from longfat.model.metric import Metric


class Significance(Enum):
    """How much a difference is worth.

    REAL: by the test, at the level and with all other comparisons taken into account.
    STEADY: every seed of A gives one value and every seed of B another, but the seeds
        are too few, or the comparisons too many, for the test.
    EXACT: one seed on each side; of other seeds nothing is known.
    FEW: too few seeds for any result of the test to be below the level.
    UNPROVEN: what differs may well be the seeds' doing.
    SAME: nothing differs.
    ONE_SIDED: only one side has such a number.
    """

    REAL = "real"
    STEADY = "steady"
    EXACT = "exact"
    FEW = "few seeds"
    UNPROVEN = "no"
    SAME = "same"
    ONE_SIDED = "one side"

    @property
    def differs(self) -> bool:
        """Return whether it is a difference that one can lean on."""
        return self in (
            Significance.REAL,
            Significance.STEADY,
            Significance.EXACT,
            Significance.ONE_SIDED,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A metric of a case on both sides.

    Attributes:
        case: what the pair of cases is called.
        metric: flow or probe and full name, such as `bulk.sender_bps`.
        title: what tables call it, such as `bulk sender`.
        unit: its base unit.
        a: A's numbers; None if no run of A has one.
        b: likewise of B.
        significance: whether the difference is significant.
        shift: by how much B is more (Hodges and Lehmann), in the base unit.
        superiority: how likely a run of B has more than one of A, 0 to 1.
        p: the p-value of the Mann-Whitney test; None if it was not computed.
        adjusted_p: the same with all comparisons taken into account.
    """

    case: str
    metric: str
    title: str
    unit: Unit
    a: Spread | None
    b: Spread | None
    significance: Significance
    shift: float | None = None
    superiority: float | None = None
    p: float | None = None
    adjusted_p: float | None = None

    @property
    def change(self) -> float | None:
        """Return by how much B's median is more than A's, in the base unit."""
        return None if self.a is None or self.b is None else self.b.median - self.a.median

    @property
    def relative(self) -> float | None:
        """Return the change as a part of A's median; None if that is meaningless.

        Of a median of 0 there is no part, and parts of shares are read as shares.
        """
        if self.change is None or self.a is None or self.unit is Unit.FRACTION:
            return None
        return self.change / self.a.median if self.a.median > 0 else None

    @property
    def up(self) -> bool:
        """Return whether B has more."""
        return (self.change or 0.0) > 0 or (not self.change and (self.superiority or 0.5) > 0.5)

    @property
    def size(self) -> float:
        """Return how large it is among others, from 0 to 1: the change by the larger median."""
        if self.a is None or self.b is None:
            return 1.0
        largest = max(abs(self.a.median), abs(self.b.median))
        return abs(self.b.median - self.a.median) / largest if largest else 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return {
            "case": self.case,
            "metric": self.metric,
            "unit": self.unit.value,
            "a": _spread_to_json(self.a),
            "b": _spread_to_json(self.b),
            "change": self.change,
            "relative": self.relative,
            "shift": self.shift,
            "superiority": self.superiority,
            "p": self.p,
            "adjusted_p": self.adjusted_p,
            "significance": self.significance.value,
        }


def _spread_to_json(spread: Spread | None) -> dict[str, float] | None:
    if spread is None:
        return None
    return {
        "median": spread.median,
        "low": spread.low,
        "high": spread.high,
        "count": spread.count,
    }


@dataclass(frozen=True, slots=True)
class _Question:
    """A metric of a pair, with its numbers in the seeds' order."""

    case: str
    metric: str
    known: Metric | None
    a: list[float]
    b: list[float]
    same: bool


def metric_differences(pairs: Sequence[Pair]) -> tuple[Difference, ...]:
    """Compare all metrics of pairs of cases; significance is decided later.

    Args:
        pairs: the pairs.

    Returns:
        The differences, in the order of the pairs and of the metrics in each. Those
        that are left to the test are `UNPROVEN`, with their p-values.
    """
    questions = [question for pair in pairs for question in _questions(pair)]
    found: list[Difference | None] = [None] * len(questions)
    shapes: dict[tuple[int, int], list[int]] = {}
    for index, question in enumerate(questions):
        shapes.setdefault((len(question.a), len(question.b)), []).append(index)
    # All comparisons of so many seeds with so many are computed at once.
    for shape, indices in shapes.items():
        alike = [questions[index] for index in indices]
        for index, difference in zip(indices, _differences(alike, *shape), strict=True):
            found[index] = difference
    return tuple(one for one in found if one is not None)


def with_significance(
    differences: Sequence[Sequence[Difference]], *, level: float = LEVEL
) -> list[tuple[Difference, ...]]:
    """Decide which differences are real, of all that are reported together.

    Args:
        differences: what `metric_differences` returned, of one or more sides against A.
        level: the share of false ones that is allowed among the real ones.

    Returns:
        The same in the same order, with adjusted p-values and significance.
    """
    p_values = [one.p for of_side in differences for one in of_side if one.p is not None]
    corrected = iter(adjusted(np.array(p_values, dtype=np.float64)).tolist())
    found = []
    for of_side in differences:
        judged = [one if one.p is None else _judged(one, next(corrected), level) for one in of_side]
        found.append(tuple(judged))
    return found


def _judged(difference: Difference, adjusted_p: float, level: float) -> Difference:
    significance = difference.significance
    if adjusted_p <= level:
        significance = Significance.REAL
    return replace(difference, adjusted_p=adjusted_p, significance=significance)


def _questions(pair: Pair) -> Iterator[_Question]:
    known = known_metrics(pair.b[0].case) | known_metrics(pair.a[0].case)
    there = {metric for run in (*pair.a, *pair.b) for metric in run.metrics}
    names = [name for name in known if name in there]
    names += sorted(there - known.keys())
    # Runs that give the same bytes for the same seeds are one thing, and no draws to compare.
    same = [(run.seed, run.digest) for run in pair.a] == [(run.seed, run.digest) for run in pair.b]
    for name in names:
        a, b = _numbers(pair.a, name), _numbers(pair.b, name)
        if a or b:
            yield _Question(pair.name, name, known.get(name), a, b, same)


def _numbers(runs: Sequence[Run], metric: str) -> list[float]:
    values = (run.metrics.get(metric) for run in runs)
    return [float(value) for value in values if value is not None and np.isfinite(value)]


def _differences(questions: Sequence[_Question], a: int, b: int) -> Iterator[Difference]:
    """Compare numbers of `a` seeds with numbers of `b` seeds."""
    count = len(questions)
    ours = np.array([question.a for question in questions], dtype=np.float64).reshape(count, a)
    theirs = np.array([question.b for question in questions], dtype=np.float64).reshape(count, b)
    spreads = zip(_spreads(ours), _spreads(theirs), strict=True)
    if not a or not b:
        for question, (one, other) in zip(questions, spreads, strict=True):
            yield _difference(question, one, other, Significance.ONE_SIDED)
        return
    p_values = two_sided_p(ours, theirs).tolist()
    shifts, won = shift(ours, theirs).tolist(), superiority(ours, theirs).tolist()
    steady = (np.ptp(ours, axis=1) == 0) & (np.ptp(theirs, axis=1) == 0)
    equal = steady & (ours[:, 0] == theirs[:, 0])
    enough = least_p(a, b) <= LEVEL
    for index, (question, (one, other)) in enumerate(zip(questions, spreads, strict=True)):
        significance = _significance(
            same=question.same or bool(equal[index]),
            single=a == b == 1,
            steady=bool(steady[index]) and min(a, b) > 1,
            enough=enough,
        )
        tested = enough and significance is not Significance.SAME
        difference = _difference(question, one, other, significance)
        yield replace(
            difference,
            shift=shifts[index],
            superiority=won[index],
            p=p_values[index] if tested else None,
        )


def _significance(*, same: bool, single: bool, steady: bool, enough: bool) -> Significance:
    if same:
        return Significance.SAME
    if single:
        return Significance.EXACT
    if steady:
        return Significance.STEADY
    return Significance.UNPROVEN if enough else Significance.FEW


def _difference(
    question: _Question, a: Spread | None, b: Spread | None, significance: Significance
) -> Difference:
    flow = question.metric.partition(".")[0]
    known = question.known
    return Difference(
        case=question.case,
        metric=question.metric,
        title=question.metric if known is None else f"{flow} {known.title}",
        unit=Unit.COUNT if known is None else known.unit,
        a=a,
        b=b,
        significance=significance,
    )


def _spreads(values: Floats) -> Iterator[Spread | None]:
    """Return the spread of each row, as `longfat.model.spread` defines it."""
    rows, count = values.shape
    if count == 0:
        yield from [None] * rows
        return
    ordered = np.sort(values, axis=1)
    middle = (ordered[:, (count - 1) // 2] + ordered[:, count // 2]) / 2
    low, high = _quantile(ordered, LOW), _quantile(ordered, HIGH)
    for numbers in zip(middle.tolist(), low.tolist(), high.tolist(), strict=True):
        yield Spread(median=numbers[0], low=numbers[1], high=numbers[2], count=count)


def _quantile(ordered: Floats, part: float) -> Floats:
    rank = (ordered.shape[1] - 1) * part
    index = int(rank)
    below = ordered[:, index]
    above = ordered[:, min(index + 1, ordered.shape[1] - 1)]
    found: Floats = below + (above - below) * (rank - index)
    return found
