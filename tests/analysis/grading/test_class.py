"""A whole class graded: good, late, wrong in silence, hostile, each with points and reasons."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.analysis.grading import Graded, Player, Submission, grade
from longfat.execution.cache import ResultCache
from longfat.execution.tools import Toolbox
from longfat.study.grading import read_grading
from tests.analysis.grading.class_of_students import (
    DEADLINE,
    POINTS,
    STUDENTS,
    TEMPLATE,
    make_solution,
)

MOST_CPU_S = 60.0
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
    for name, student in STUDENTS.items():
        make_solution(folder / name)
        for edit in student.edits:
            edit(folder / name)
    grading = read_grading(lab)
    # What does not end is ended early, so that the test does.
    hasty = replace(grading, limits=replace(grading.limits, time_s=4.0))
    before_s = _cpu_s()
    with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor(max_workers=2) as threads:
        patch.setenv("LONGFAT_RESULT_CACHE", str(tmp_path_factory.mktemp("cache")))
        player = Player(ResultCache(), Toolbox())

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
        found = {"good": first, **dict(zip(names, threads.map(one, names), strict=True))}
    used_s = _cpu_s() - before_s

    print(f"graded {len(found)} submissions in {used_s:.1f} s of CPU time")
    assert used_s < MOST_CPU_S
    return found


def _cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def test_it_is_a_class() -> None:
    assert len(STUDENTS) >= 40


@pytest.mark.parametrize("name", STUDENTS)
def test_points_and_reasons(name: str, graded: dict[str, Graded]) -> None:
    student, found = STUDENTS[name], graded[name]
    points = {score.exercise.name: score.points for score in found.scores}
    reasons = {score.exercise.name: " | ".join(score.reasons) for score in found.scores}
    expected = {one: 0.0 if one in student.lost else most for one, most in POINTS.items()}
    assert points == expected, reasons
    for exercise, piece in student.lost.items():
        assert piece in reasons[exercise]
        assert reasons[exercise]
    earned = sum(expected.values())
    assert found.total == pytest.approx(earned * (1 - student.penalty))


@pytest.mark.parametrize("name", STUDENTS)
def test_what_the_checks_find(name: str, graded: dict[str, Graded]) -> None:
    found: dict[str, str] = {}
    for one in graded[name].findings:
        found[one.check] = f"{found.get(one.check, '')} | {one.words}"
    assert found.keys() == STUDENTS[name].found.keys(), found
    for check, piece in STUDENTS[name].found.items():
        assert piece in found[check]


def test_no_path_of_this_computer_is_told(graded: dict[str, Graded]) -> None:
    for one in graded.values():
        for words in (*one.problems, *(reason for s in one.scores for reason in s.reasons)):
            assert "/tmp" not in words
            assert "LONGFAT_" not in words
