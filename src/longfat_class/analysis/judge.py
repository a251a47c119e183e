"""What each exercise of one submission gets, with the reasons.

Its claim has to hold, its answer has to be right, and its checks must find nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.metric import Metric
from longfat.model.units import format_quantity, parse_literal
from longfat.study.claims.aggregates import NotRunError
from longfat.study.claims.rows import ResultScope, Table, factor
from longfat.study.expressions.evaluation import number
from longfat.study.metrics import find_metric
from longfat_class.analysis.checks import CHECKS, Finding
from longfat_class.analysis.counted import forged
from longfat_class.analysis.scores import Score
from longfat_class.analysis.submission import AS_THE_KEY, Handed, Played
from longfat_class.study.answers import of_kind
from longfat_class.study.model import KEY_PREFIX, Exercise, Grading, PartKind

if TYPE_CHECKING:
    from longfat.model.metric import Unit

_READING = re.compile(r"(?<![\w.-])([A-Za-z][\w-]*)\.([A-Za-z][\w-]*)\.([A-Za-z]\w*)")
_SAME_FIGURE = 0.01

_ALWAYS = ("algorithm", "figures", "rate")
"""The checks that are made of every part, whatever the exercises require."""

# What an answer is when it is off by just this factor.
_SLIPS = (
    (8.0, "bits and bytes may be mixed up"),
    (1000.0, "a prefix may be wrong (k, M, G)"),
    (1e6, "a prefix may be wrong (k, M, G)"),
    (2.0, "a factor of 2: one way or both, buffer or window?"),
)
_SLIP = 0.06


@dataclass(frozen=True, slots=True)
class Judge:
    """Grades the exercises of one submission."""

    grading: Grading
    handed: Mapping[str, Handed]
    results: Mapping[str, Mapping[str, float]]
    is_solution: bool
    _seen: dict[tuple[str, str, frozenset[str]], list[Finding]] = field(default_factory=dict)
    _more: list[Finding] = field(default_factory=list)
    _against: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def findings(self) -> list[Finding]:
        """Return what the checks of exercises found, and then all others."""
        found = [one for each in self._seen.values() for one in each] + self._more
        checked = {(part, check) for part, check, _ in self._seen}
        for name, handed in self.handed.items():
            for check in CHECKS:
                if check in _ALWAYS and (name, check) not in checked:
                    found += CHECKS[check].findings(handed)
        return found

    def score(self, exercise: Exercise) -> Score:
        """Return the points of an exercise, with the reasons."""
        handed = self.handed[exercise.part]
        if handed.problem:
            return Score(exercise=exercise, points=0.0, reasons=(handed.problem,))
        reasons: list[str] = []
        key = given = None
        if exercise.claim is not None:
            reasons += self._claim(exercise)
        if exercise.term is not None:
            key = self._key(exercise)
            given, wrong = self._answer(exercise, handed, key)
            reasons += wrong
        cases = frozenset(exercise.cases or exercise.named)
        for name in exercise.checks:
            reasons += [
                f"{CHECKS[name].title}: {one.words}" for one in self._look(name, handed, cases)
            ]
            reasons += self._not_run(handed, cases) if not reasons else []
        points = 0.0 if reasons else exercise.points
        return Score(
            exercise=exercise,
            points=points,
            reasons=tuple(dict.fromkeys(reasons)),
            key="" if key is None else _in_unit(key, exercise),
            key_value=key,
            answer_value=given,
        )

    def _look(self, name: str, handed: Handed, cases: frozenset[str]) -> list[Finding]:
        place = (handed.part.name, name, cases)
        if place not in self._seen:
            self._seen[place] = CHECKS[name].findings(handed, cases)
        return self._seen[place]

    def _not_run(self, handed: Handed, cases: frozenset[str]) -> list[str]:
        """Return why cases did not run in which a check would have found something."""
        return [
            f"{one.name}: {one.problem}"
            for one in handed.cases
            if one.problem and (not cases or one.name in cases)
        ]

    # ----------------------------------------------------------------- claims

    def _claim(self, exercise: Exercise) -> list[str]:
        claim = exercise.claim
        assert claim is not None
        if false := list(self._unbelieved(claim.cases)):
            return false
        missing = sorted(case for case in claim.cases if case not in self.results)
        if missing:
            return [self._missing(case) for case in missing]
        table = Table(self.results, tuple(self.grading.known))
        try:
            if claim.holds(table):
                return []
        except (InputError, NotRunError):
            pass  # a number does not exist, so the condition on it is false
        measured = self._measured(claim.expression)
        beside = f" ({'; '.join(measured)})" if measured else ""
        return [f"it does not hold that {claim.text}{beside}"]

    def _unbelieved(self, cases: frozenset[str]) -> Iterator[str]:
        """Yield what speaks against the figures of cases: no claim about them holds."""
        for handed in self.handed.values():
            named = cases & {handed.part.name, *(one.name for one in handed.cases)}
            for one in handed.cases:
                if one.name in named:
                    yield from (
                        f"not believed: {one.name}: {why}" for why in self._forged(handed, one)
                    )
            if named and handed.part.rate_bps is not None:
                for finding in self._look("rate", handed, named):
                    yield f"{CHECKS['rate'].title}: {finding.words}"

    def _forged(self, handed: Handed, played: Played) -> list[str]:
        """Return what `forged` yields of a case of a part, once for all exercises about it."""
        key = handed.part.name, played.name
        if key not in self._against:
            self._against[key] = list(forged(played))
        return self._against[key]

    def _missing(self, case: str) -> str:
        for handed in self.handed.values():
            for played in handed.cases:
                if played.name == case:
                    return f"{case}: {played.problem}"
            if handed.problem and (handed.part.name == case or handed.part.kind is PartKind.STUDY):
                return f"{handed.part.name}: {handed.problem}"
        there = [one.name for each in self.handed.values() for one in each.cases]
        return f"the study has no case {case!r}" + (
            f" (there are: {listed(there)})" if there else ""
        )

    def _measured(self, expression: str) -> list[str]:
        """Return what was measured of each metric that an expression names."""
        found = []
        for case, flow, name in dict.fromkeys(_READING.findall(expression)):
            known = self.grading.known.get(case, {})
            full = find_metric(flow, name, known)
            if full is None or case.startswith(KEY_PREFIX):
                continue
            value = self.results.get(case, {}).get(full)
            shown = "not measured" if value is None else format_quantity(value, known[full].unit)
            found.append(f"{case}.{flow}.{name}: {shown}")
        return found

    # ---------------------------------------------------------------- answers

    def _answer(
        self, exercise: Exercise, handed: Handed, value: float | None
    ) -> tuple[float | None, list[str]]:
        """Return an answer in the base unit of its kind, and what is wrong with it.

        Args:
            exercise: the question.
            handed: the answers.
            value: the answer key, see `_key`.
        """
        unit = exercise.answer_unit
        if value is None:
            missing = [self._missing(case) for case in exercise.named if case not in self.results]
            return None, missing or ["the runs that it is about do not have this figure"]
        answer = handed.answers.get(exercise.name)
        if answer is None or answer.is_blank:
            return None, [self._not_answered(exercise, handed)]
        if self.is_solution and answer.text == AS_THE_KEY:
            return value, []
        if answer.quantity is None:
            return None, [answer.problem]
        given = of_kind(answer.quantity, unit)
        if given is None:
            example = f"such as {_example(exercise)}" if exercise.unit else "without a unit"
            return None, [f"{answer.text!r} is of another kind than the question needs: {example}"]
        if abs(given - value) <= exercise.tolerance * abs(value):
            return given, []
        reason = f"{answer.text!r} is not within {exercise.tolerance * 100:g} % of the answer"
        slip = _slip(given, value)
        reasons = [f"{reason}; {slip}" if slip else reason]
        if exercise.named and not slip and not self._is_measured(given, unit):
            self._more.append(
                Finding(
                    check="figures",
                    where=f"{handed.part.name}, {exercise.name}",
                    words=f"{answer.text!r} is none of the figures of any run",
                )
            )
            reasons.append("no run gave this figure")
        return given, reasons

    def _not_answered(self, exercise: Exercise, handed: Handed) -> str:
        """Return that a question is not answered, and where its name may be misspelt."""
        # A hidden question's name is treated as any other that the student cannot know.
        known = {one.name for one in self.grading.exercises if not one.hidden}
        for name, answer in handed.answers.items():
            if (
                not answer.is_blank
                and name not in known
                and (like := nearest(name, [exercise.name]))
            ):
                return f"not answered; line {answer.place.line} answers {name!r}{like}"
        return "not answered"

    def _key(self, exercise: Exercise) -> float | None:
        """Return the answer key in the base unit; None if it has no value."""
        assert exercise.term is not None
        table = Table(self.results, tuple(self.grading.known))
        try:
            found = number(exercise.term, ResultScope(table)) / factor(exercise.answer_unit)
        except (InputError, NotRunError):
            return None
        return found if math.isfinite(found) else None

    def _is_measured(self, given: float, unit: Unit) -> bool:
        """Return whether any run, the student's or the instructor's, gave a figure."""
        for case, metrics in self.results.items():
            known: Mapping[str, Metric] = self.grading.known.get(case, {})
            for name, value in metrics.items():
                metric = known.get(name)
                if metric is not None and metric.unit is not unit:
                    continue
                if abs(given - value) <= _SAME_FIGURE * abs(value):
                    return True
        return False


def _slip(given: float, value: float) -> str:
    if not given or not value:
        return ""
    ratio = max(given / value, value / given)
    for factor_, words in _SLIPS:
        if abs(ratio / factor_ - 1) <= _SLIP:
            return words
    return ""


def _in_unit(value: float, exercise: Exercise) -> str:
    """Return a key in the unit of its exercise."""
    if not exercise.unit:
        return f"{value:.4g}"
    return f"{value / parse_literal(f'1{exercise.unit}').value:.4g} {exercise.unit}"


def _example(exercise: Exercise) -> str:
    return f"12.3 {exercise.unit}"
