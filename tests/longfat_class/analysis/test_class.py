"""A whole class graded: good, late, wrong in silence, hostile, each with points and reasons."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.execution.cache import ResultCache
from longfat.execution.tools import Toolbox
from longfat_class.analysis import Graded, Player, Submission, grade
from longfat_class.study import read_grading
from tests.longfat_class.analysis.class_of_students import (
    DEADLINE,
    POINTS,
    STUDENTS,
    TEMPLATE,
    Text,
    make_solution,
)

LOSSY = ("lossy_throughput", "lossy_retransmits")
REAL = """
  real:
    title: A test between two machines
    part: real
    points: 2
    claim: {it moved data: real.report.receiver > 1mbit}
    checks: [rate, figures, algorithm]
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The template's lab, with a deadline and a part more."""
    folder = tmp_path_factory.mktemp("lab")
    text = (TEMPLATE / "instructor" / "grading.yaml").read_text()
    text = text.replace("# deadline:", "deadline:")
    text = text.replace("\nexercises:", "  real: {iperf3: real.json, rate: 1gbit}\n\nexercises:")
    (folder / "grading.yaml").write_text(text + REAL)
    study = (TEMPLATE / "instructor" / "study.yaml").read_text()
    (folder / "study.yaml").write_text(study)
    return folder


@pytest.fixture(scope="module")
def graded(lab: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Graded]:
    folder = tmp_path_factory.mktemp("submissions")
    grading = read_grading(lab)
    # What does not end is ended early, so that the test does.
    hasty = replace(grading, limits=replace(grading.limits, time_s=4.0))
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(max_workers=2) as threads:
        patch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path_factory.mktemp("cache")))
        player = Player(ResultCache(), Toolbox())
        make_solution(folder / "key", {})
        solution = Submission(student="key", folder=folder / "key", seed=1, is_solution=True)
        scores = grade(solution, grading, player=player, exercises=LOSSY).scores
        answers = {score.exercise.name: score.key for score in scores}
        for name, student in STUDENTS.items():
            make_solution(folder / name, answers)
            for edit in student.edits:
                edit(folder / name)

        def one(name: str) -> Graded:
            student = STUDENTS[name]
            submission = Submission(
                student=name,
                folder=folder / name,
                seed=1,
                submitted=DEADLINE + student.late,
            )
            if not student.is_endless:
                return grade(submission, grading, player=player)
            # Its other parts have been run by now, for `good`.
            return grade(submission, hasty, player=player)

        first = one("good")
        names = [name for name in STUDENTS if name != "good"]
        return {"good": first, **dict(zip(names, threads.map(one, names), strict=True))}


def test_it_is_a_class() -> None:
    assert len(STUDENTS) >= 40


@pytest.mark.slow
def test_every_student_gets_what_is_due(graded: dict[str, Graded]) -> None:
    # One test, and not one for each: where tests run side by side, each process would grade all.
    assert "\n".join(f"{name}: {words}" for name in STUDENTS for words in wrong(graded, name)) == ""


def has(text: str, piece: Text) -> bool:
    """Tell whether a piece, or one of several, is in a text."""
    return any(one in text for one in ([piece] if isinstance(piece, str) else piece))


def wrong(graded: dict[str, Graded], name: str) -> Iterator[str]:
    """Yield what a student got otherwise than expected: points, reasons, findings, total."""
    student, found = STUDENTS[name], graded[name]
    points = {score.exercise.name: score.points for score in found.scores}
    reasons = {score.exercise.name: " | ".join(score.reasons) for score in found.scores}
    expected = {one: 0.0 if one in student.lost else most for one, most in POINTS.items()}
    if points != expected:
        yield f"points {points}, because of {reasons}"
    for exercise, piece in student.lost.items():
        if not reasons[exercise] or not has(reasons[exercise], piece):
            yield f"{exercise}: {piece!r} is not in {reasons[exercise]!r}"
    if found.total != pytest.approx(sum(expected.values()) * (1 - student.penalty)):
        yield f"{found.total} points in all, with {found.penalty} taken off"
    words: dict[str, str] = {}
    for one in found.findings:
        words[one.check] = f"{words.get(one.check, '')} | {one.words}"
    if words.keys() != student.found.keys():
        yield f"findings {words}"
    for check, piece in student.found.items():
        if not has(words.get(check, ""), piece):
            yield f"{check}: {piece!r} is not in {words.get(check)!r}"
    unused = " | ".join(found.problems)
    if student.unused not in unused:
        yield f"{student.unused!r} is not in {unused!r}"
    told = [*found.problems, *(reason for score in found.scores for reason in score.reasons)]
    yield from (f"it is told {one!r}" for one in told if "/tmp" in one or "LONGFAT_" in one)
