"""What an instructor should look at in submissions, and what a hostile one costs others."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.execution.tools import Toolbox
from longfat_class.analysis import Graded, Player, Submission, grade, shared_oddities
from longfat_class.study import read_grading
from longfat_class.study.model import Limits
from tests.longfat_class.analysis.class_of_students import (
    TEMPLATE,
    Edit,
    add,
    answer,
    change,
    make_solution,
    put,
)

ODD_LINES = """
- root: tc filter add dev s1-eth1 ingress matchall action mirred egress redirect dev s2-eth1 || true
- h1: (sleep 9; ip addr add 10.0.0.9/32 dev lo) > /dev/null 2>&1 &
- h2: kill -9 99999 || true
"""
ENDLESS = '"while true; do true; done"'


def graded(
    folder: Path, name: str, *edits: Edit, exercises: tuple[str, ...], seed: int = 1
) -> Graded:
    make_solution(folder / name, {})
    for edit in edits:
        edit(folder / name)
    submission = Submission(student=name, folder=folder / name, seed=seed)
    player = Player(None, Toolbox())
    return grade(submission, read_grading(TEMPLATE), player=player, exercises=exercises)


def test_odd_lines_are_listed_and_cost_nothing(tmp_path: Path) -> None:
    one = graded(tmp_path, "odd", add("path.yaml", ODD_LINES), exercises=("path",))
    assert one.total == 3
    listed = "\n".join(one.oddities)
    assert "a line at root redirects or copies packets: tc filter add" in listed
    assert "a line at h1 leaves something running: (sleep 9;" in listed
    assert "a line at h1 gives lo an address" in listed
    assert "a line at h2 ends processes: kill" in listed
    assert one.to_json()["oddities"] == list(one.oddities)
    assert one.to_json(for_student=True)["oddities"] == []


def test_a_usual_solution_is_not_odd(tmp_path: Path) -> None:
    one = graded(tmp_path, "usual", exercises=("path", "fill", "contest"))
    assert one.oddities == ()


def test_an_answer_that_is_right_for_another_is_odd(tmp_path: Path) -> None:
    question = ("lossy_throughput",)
    first = graded(tmp_path, "first", exercises=question, seed=1)
    key = first.scores[0].key
    second = graded(
        tmp_path, "second", answer("lossy_throughput", key), exercises=question, seed=12345
    )
    assert second.total == 0
    odd = shared_oddities([first, second])
    assert odd[0] == ()
    assert odd[1] == ("lossy_throughput: its wrong answer would be right for first",)


@pytest.mark.slow
def test_equal_parts_are_odd_unless_they_were_given(tmp_path: Path) -> None:
    def takes(name: str, *edits: Edit) -> Graded:
        return graded(tmp_path, name, *edits, exercises=("fill",))

    same = add("study.yaml", "\n# a comment of one's own\n")
    other = change("study.yaml", "16777216", "16777210")
    odd = shared_oddities([takes("a"), takes("b", same), takes("c", other)])
    assert odd[0] == ("buffers: equal but for blanks and comments: b",)
    assert odd[1] == ("buffers: equal but for blanks and comments: a",)
    assert odd[2] == ()

    def as_given(folder: Path) -> None:
        shutil.copy(TEMPLATE / "student" / "study.yaml", folder)

    assert shared_oddities([takes("d", as_given), takes("e", as_given)]) == [(), ()]


def test_a_submission_has_a_deadline_for_all_of_its_parts(tmp_path: Path) -> None:
    make_solution(tmp_path / "slow", {})
    for edit in (
        add("path.yaml", f"- h1: {ENDLESS}\n"),
        change("study.yaml", "sysctl -w net.ipv4.tcp_rmem='10240 87380 16777216'", ENDLESS),
        put("contest.py", "while True: pass\n"),
    ):
        edit(tmp_path / "slow")
    grading = read_grading(TEMPLATE)
    grading = replace(grading, limits=replace(grading.limits, time_s=4.0, total_s=5.0))
    began_s = time.monotonic()
    one = grade(
        Submission(student="slow", folder=tmp_path / "slow", seed=1),
        grading,
        player=Player(None, Toolbox()),
        exercises=("path", "fill", "contest"),
    )
    assert one.total == 0
    assert time.monotonic() - began_s < 60  # of three parts, each of which never ends
    assert "the submission's other parts took all of its time" in " ".join(one.problems)


@pytest.mark.parametrize(("spent_s", "left_s"), [(0, 10), (12, 8), (20, 0), (25, -5)])
def test_what_is_left_of_a_submissions_time(spent_s: float, left_s: float) -> None:
    assert Limits(time_s=10).after(spent_s).time_s == left_s
    assert Limits(time_s=10, total_s=15).after(spent_s).time_s == min(10, 15 - spent_s)
