"""The points of a submission, with reasons: for its student, and for the instructor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from longfat_class.analysis.checks import CHECKS, Finding
from longfat_class.analysis.redaction import Redaction
from longfat_class.analysis.submission import Submission
from longfat_class.study.model import Exercise, Grading


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What an exercise gave.

    Attributes:
        exercise: the exercise.
        points: the points that were earned, before lateness.
        reasons: why not all of them.
        key: the answer key, for the instructor; empty where there is none.
        key_value: the answer key in the base unit of its kind; None where there is none.
        answer_value: likewise what was answered; None if it is no quantity of that kind.
        redaction: what a student may not read of the reasons.
    """

    exercise: Exercise
    points: float
    reasons: tuple[str, ...] = ()
    key: str = ""
    key_value: float | None = None
    answer_value: float | None = None
    redaction: Redaction = field(default_factory=Redaction)

    @property
    def is_full(self) -> bool:
        """Whether all points were earned."""
        return not self.reasons

    @property
    def compared(self) -> bool:
        """Whether an answer was compared with the key, and not only its form."""
        return self.key_value is not None and self.answer_value is not None

    @property
    def visible_reasons(self) -> tuple[str, ...]:
        """The reasons as a student may read them."""
        if self.exercise.hidden and self.reasons:
            return ("a hidden check did not hold",)
        return tuple(dict.fromkeys(map(self.redaction.apply, self.reasons)))

    def to_json(self, *, for_student: bool = False) -> dict[str, Any]:
        """Return it as plain data; for the instructor, or what a student may read."""
        return {
            "exercise": self.exercise.name,
            "title": self.exercise.shown,
            "points": self.points,
            "max_points": self.exercise.points,
            "hidden": self.exercise.hidden,
            "reasons": list(self.visible_reasons if for_student else self.reasons),
            "key": "" if for_student else self.key,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Graded:
    """A submission with its points.

    Attributes:
        submission: the submission.
        grading: what it was graded against.
        scores: one for each exercise.
        findings: what checks found, whether they cost points or not.
        problems: why parts, or cases of them, could not be used.
        oddities: what the instructor should look at; it costs no points.
        digests: hashes of the parts that are seldom the same twice, by their names.
        failure: why the submission could not be graded; empty if it was.
        redaction: what a student may not read of all of these.
        late_s: how long after the deadline it came, in seconds; 0 if in time or not known.
        late_share: the share of the earned points which that costs.
    """

    submission: Submission
    grading: Grading
    scores: tuple[Score, ...]
    findings: tuple[Finding, ...] = ()
    problems: tuple[str, ...] = ()
    oddities: tuple[str, ...] = ()
    digests: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""
    redaction: Redaction = field(default_factory=Redaction)
    late_s: float = 0.0
    late_share: float = 0.0

    @property
    def earned(self) -> float:
        """The points of all exercises."""
        return sum(score.points for score in self.scores)

    @property
    def penalty(self) -> float:
        """The points that lateness costs."""
        return round(self.earned * self.late_share, 2)

    @property
    def total(self) -> float:
        """The points that count."""
        return round(self.earned - self.penalty, 2)

    @property
    def most(self) -> float:
        """The points that could be earned."""
        return sum(score.exercise.points for score in self.scores)

    @property
    def visible_findings(self) -> tuple[Finding, ...]:
        """The findings that a student may read: not those of hidden exercises alone."""
        hidden = {
            f"{score.exercise.part}, {score.exercise.name}"
            for score in self.scores
            if score.exercise.hidden
        }
        secret, open_ = (
            {
                reason
                for score in self.scores
                if score.exercise.hidden is is_hidden
                for reason in score.reasons
            }
            for is_hidden in (True, False)
        )
        return tuple(
            replace(one, words=self.redaction.apply(one.words))
            for one in self.findings
            if one.where not in hidden
            and f"{CHECKS[one.check].title}: {one.words}" not in secret - open_
        )

    @property
    def visible_problems(self) -> tuple[str, ...]:
        """The problems as a student may read them."""
        return tuple(dict.fromkeys(map(self.redaction.apply, self.problems)))

    def to_json(self, *, for_student: bool = False) -> dict[str, Any]:
        """Return it as plain data; for the instructor, or what a student may read."""
        submitted = self.submission.submitted
        failure = "your instructor knows why" if for_student and self.failure else self.failure
        return {
            "student": self.submission.student,
            "folder": self.submission.folder.absolute().name,
            "seed": self.submission.seed,
            "submitted": None if submitted is None else submitted.isoformat(),
            "points": self.total,
            "max_points": self.most,
            "earned": self.earned,
            "late_s": self.late_s,
            "penalty": self.penalty,
            "exercises": [score.to_json(for_student=for_student) for score in self.scores],
            "findings": [
                {"check": one.check, "where": one.where, "found": one.words}
                for one in (self.visible_findings if for_student else self.findings)
            ],
            "problems": list(self.visible_problems if for_student else self.problems),
            "oddities": [] if for_student else list(self.oddities),
            "failure": failure,
        }
