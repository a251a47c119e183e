"""`longfat grade` and `longfat labs new, seed, check, classroom`, as they are typed."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from longfat.errors import HostError
from longfat_class.analysis.submission import Handed, Submission
from longfat_class.analysis.submission import take_in as take_in_as_ever
from longfat_class.cli.grade import grade
from tests.command import longfat
from tests.mutations.class_files import metadata
from tests.paths import REPOSITORY

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"


@pytest.fixture
def class_folder(tmp_path: Path) -> Path:
    """A lab, and two submissions, that ask for few runs."""
    shutil.copytree(TEMPLATE, tmp_path / "lab")
    for name in ("alice", "bob"):
        shutil.copytree(TEMPLATE / "instructor" / "solution", tmp_path / name)
    (tmp_path / "bob" / "answers.yaml").write_text("bdp: 3 MB\n")
    return tmp_path


def test_a_new_lab_is_whole(tmp_path: Path) -> None:
    done = longfat("labs", "new", "mine", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "mine/student/text.md").is_file()
    assert (tmp_path / "mine/instructor/grading.yaml").is_file()
    again = longfat("labs", "new", "mine", cwd=tmp_path)
    assert again.returncode == 2
    assert "it is there already" in again.stderr
    other = longfat("labs", "new", "x", "--template", "bpd", cwd=tmp_path)
    assert other.returncode == 2
    assert "did you mean 'bdp'" in other.stderr


def test_a_seed_follows_from_the_name(tmp_path: Path) -> None:
    seeds = [
        longfat("labs", "seed", name, cwd=tmp_path).stdout for name in ("alice", " Alice ", "bob")
    ]
    assert seeds[:2] == ["220208\n", "220208\n"]
    assert seeds[2] != seeds[0]


def test_points_as_table_json_and_pages(class_folder: Path) -> None:
    options = ("--against", "lab", "--exercise", "bdp")
    done = longfat("grade", "alice", *options, cwd=class_folder)
    assert done.returncode == 0, done.stderr
    assert "2 of 2" in done.stdout
    done = longfat("grade", "alice", "bob", *options, "--json", "--out", "out", cwd=class_folder)
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert [one["points"] for one in document["submissions"]] == [2, 0]
    assert document["submissions"][0]["seed"] == 220208
    assert "is not within 6 %" in document["submissions"][1]["exercises"][0]["reasons"][0]
    assert json.loads((class_folder / "out/grades.json").read_text()) == document
    assert "0</strong> of 2" in (class_folder / "out/bob.html").read_text()


def test_a_roster_tells_who_and_when(class_folder: Path) -> None:
    grading = class_folder / "lab/instructor/grading.yaml"
    grading.write_text(grading.read_text().replace("# deadline:", "deadline:"))
    (class_folder / "roster.csv").write_text(
        "folder,name,seed,submitted\n"
        "alice,Alice A,5,2026-12-01T17:00+01:00\nbob,Bob B,,\ncarol,,,\n"
    )
    options = ("--against", "lab", "--exercise", "bdp", "--json", "--roster", "roster.csv")
    done = longfat("grade", "alice", *options, cwd=class_folder)
    (found,) = json.loads(done.stdout)["submissions"]
    assert "not handed in: bob, carol" in done.stderr
    assert found["student"] == "Alice A"
    assert found["seed"] == 5
    assert found["points"] == pytest.approx(1.6)
    assert found["late_s"] == 23 * 3600
    done = longfat("grade", "bob", *options, cwd=class_folder)
    (found,) = json.loads(done.stdout)["submissions"]
    assert found["student"] == "Bob B"
    seed = longfat("labs", "seed", "bob", cwd=class_folder).stdout
    assert found["seed"] == int(seed)


def test_for_gradescope(class_folder: Path) -> None:
    (class_folder / "submission_metadata.json").write_bytes(metadata()[0])
    options = ("--against", "lab", "--exercise", "bdp", "--gradescope", "results/results.json")
    done = longfat(
        "grade", "bob", *options, "--metadata", "submission_metadata.json", cwd=class_folder
    )
    assert done.returncode == 1, done.stderr
    results = json.loads((class_folder / "results/results.json").read_text())
    assert results["score"] == 0
    assert "Student User" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nobody", "--against", "lab"), "there is no such submission"),
        (("alice", "--against", "nowhere"), "nowhere"),
        (("alice", "--against", "lab", "--exercise", "bpd"), "did you mean 'bdp'"),
        (("alice", "--against", "lab", "--submitted", "today"), "a date and time"),
        (("alice", "bob", "--against", "lab", "--gradescope", "x"), "are of one submission"),
        (("alice",), "--against"),
    ],
)
def test_mistakes_of_the_instructor(
    class_folder: Path, words: tuple[str, ...], message: str
) -> None:
    done = longfat("grade", *words, cwd=class_folder)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_for_classroom(class_folder: Path) -> None:
    words = ("labs", "classroom", "lab", "--out", "repository", "--setup", "true")
    done = longfat(*words, cwd=class_folder)
    assert done.returncode == 0, done.stderr
    assert (class_folder / "repository/.github/workflows/classroom.yml").is_file()


def test_the_solution_of_the_template_gets_all_points(tmp_path: Path) -> None:
    done = longfat("labs", "check", str(TEMPLATE), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "20 of 20" in done.stdout


def test_what_students_are_given_gets_no_points_for_nothing(tmp_path: Path) -> None:
    shutil.copytree(TEMPLATE / "student", tmp_path / "student")
    done = longfat("grade", "student", "--against", str(TEMPLATE), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(done.stdout)["submissions"]
    # The case that is given is right as it is.
    assert {one["exercise"]: one["points"] for one in found["exercises"] if one["points"]} == {
        "reason": 2
    }


def test_a_submission_that_cannot_be_graded_costs_no_other_one(
    class_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (class_folder / "carol").symlink_to("nowhere")
    shutil.copytree(class_folder / "alice", class_folder / "dora")

    def take_in(submission: Submission, *arguments: Any) -> Handed:
        if submission.student == "dora":
            raise RecursionError("a defect of ours")
        return take_in_as_ever(submission, *arguments)

    # The package has a function of the module's name.
    module = importlib.import_module("longfat_class.analysis.grade")
    monkeypatch.setattr(module, "take_in", take_in)
    monkeypatch.chdir(class_folder)
    arguments = ["carol", "dora", "alice", "--against", "lab", "--json", "--out", "out"]
    with pytest.raises(HostError, match="not graded: dora"):
        grade.main(arguments, standalone_mode=False)
    carol, dora, alice = json.loads(capsys.readouterr().out)["submissions"]
    # All but the answer that the solution has as the key.
    assert (alice["points"], alice["failure"]) == (17, "")
    assert (carol["points"], carol["failure"]) == (0, "")
    assert "a link to one" in carol["exercises"][0]["reasons"][0]
    assert (dora["points"], dora["problems"]) == (0, [])
    assert re.fullmatch(
        r"an error in longfat \(test_grade\.py:\d+\): RecursionError: a defect of ours",
        dora["failure"],
    )
    page = (class_folder / "out" / "dora.html").read_text()
    assert "could not be graded" in page
    assert "RecursionError" not in page
