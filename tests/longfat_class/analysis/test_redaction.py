"""Nothing of the instructor's study that a student was not given reaches the student."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longfat.studio.app import make_app
from longfat_class.analysis.redaction import OWN_PART, Redaction
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.extension import ExerciseExtension
from tests.command import longfat
from tests.longfat_class.analysis.marked_lab import INSTRUCTOR, MARKER, MISTAKES, hand_in, put_lab
from tests.longfat_class.studio.assignments.test_exercises import check
from tests.studio.conftest import ORIGIN, TOKEN, keys_of_tests

HIDDEN = re.compile(r"zqhidden(question)?(title)?\b")
"""A hidden exercise's name and title, which are shown when it is graded; docs/class.md."""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    return put_lab(tmp_path / "instructors" / "my-lab")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_marker_reaches_a_student(lab: Path, tmp_path: Path) -> None:
    folders = {
        mistake: hand_in(tmp_path / f"student{number}", mistake)
        for number, mistake in enumerate(MISTAKES)
    }
    names = [folder.name for folder in folders.values()]
    options = ("--against", str(lab), "--for-student", "--seed", "3")
    done = longfat("grade", *names, *options, "--out", "out", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    text = longfat("grade", *names, *options, cwd=tmp_path)
    pages = {path.stem: path.read_text() for path in (tmp_path / "out").glob("*.html")}
    assert set(pages) == set(names)
    shown = {
        "--json": done.stdout,
        "text": text.stdout,
        "stderr": text.stderr + done.stderr,
        **pages,
    }
    for name, each in shown.items():
        assert MARKER not in HIDDEN.sub("", each), f"{name}: {_around(each)}"
    # The instructor reads all of it, and students read that there is something.
    grades = (tmp_path / "out" / "grades.json").read_text()
    for marker in ("zqroottext", "zqprogramtext", "zqbulkflow"):
        assert marker in grades
    assert OWN_PART in pages[folders["a network without the switch"].name].replace("&#39;", "'")
    found = {one["student"]: json.dumps(one) for one in json.loads(done.stdout)["submissions"]}
    # What is the student's own is quoted.
    assert "tc nonsense" in found[folders["a set-up line that fails"].name]
    assert (
        "nothing on the path of a flow of the lab"
        in (found[folders["a network without a limit"].name])
    )


def _around(text: str) -> str:
    at = HIDDEN.sub("", text).find(MARKER)
    return HIDDEN.sub("", text)[max(0, at - 200) : at + 200]


@pytest.mark.parametrize("place", ["setup", "event", "flow"])
def test_the_instructors_own_failure_is_the_instructors(tmp_path: Path, place: str) -> None:
    before, after = {
        "setup": ("tcp_mtu_probing=1 &&", "tcp_mtu_probing=1 && false &&"),
        "event": ("test -n zqroottext", "test -z zqroottext"),
        "flow": ("echo zqprogramtext &&", "echo zqprogramtext && false &&"),
    }[place]
    assert before in INSTRUCTOR
    lab = put_lab(tmp_path / "lab", instructor=INSTRUCTOR.replace(before, after))
    hand_in(tmp_path / "alice", "nothing but the answer")
    options = ("grade", "alice", "--against", "lab")
    ours = longfat(*options, cwd=tmp_path)
    assert ours.returncode != 0
    assert MARKER in ours.stderr
    theirs = longfat(*options, "--for-student", cwd=tmp_path)
    assert theirs.returncode == 3
    assert MARKER not in theirs.stdout + theirs.stderr
    assert "the lab's own files are wrong, or one of its cases failed" in theirs.stderr
    (lab / "instructor" / "grading.yaml").write_text("title: zqtitle\nstudy: zqnone.yaml\n")
    theirs = longfat(*options, "--for-student", cwd=tmp_path)
    assert MARKER not in theirs.stdout + theirs.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("mistake", ["a network without the switch", "a loss of everything"])
def test_nor_by_the_studio(
    lab: Path, tmp_path: Path, mistake: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "index.html").write_text("<!doctype html>")
    hand_in(tmp_path / "alice" / "my-lab", mistake)
    keys = keys_of_tests()
    app = make_app(
        workspace=tmp_path / "alice",
        keys=keys,
        static=tmp_path / "static",
        extension=ExerciseExtension(read_assignments([lab], workspace=tmp_path / "alice")),
    )
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        client.headers["Origin"] = ORIGIN
        results = check(client)
        everything = json.dumps(results) + client.get("/api/labs/my-lab/exercises").text
    assert MARKER not in everything
    assert OWN_PART in results["own_works"]["reasons"][0]
    # The server's terminal has it.
    assert MARKER in caplog.text


def test_gradescope_and_pages_are_for_students(lab: Path, tmp_path: Path) -> None:
    hand_in(tmp_path / "alice", "a network without a limit")
    options = ("--against", str(lab), "--gradescope", "results.json", "--out", "out")
    assert longfat("grade", "alice", *options, cwd=tmp_path).returncode == 0
    results = (tmp_path / "results.json").read_text()
    page = (tmp_path / "out" / "alice.html").read_text()
    for text in (results, page):
        assert MARKER not in HIDDEN.sub("", text), _around(text)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("default: `ls /zq/x` failed", f"default: {OWN_PART}"),
        ("`ls /zq/x` failed", OWN_PART),
        ("zq-7: `ls` failed", OWN_PART),
        ("flow 'blast': exited", "flow 'a flow of the lab': exited"),
        (
            "blasting is no flow, and x.blast.rate: 3",
            "blasting is no flow, and x.(a flow of the lab).rate: 3",
        ),
        ("key-blast.a", "(a flow of the lab).a"),
        ("your own words", "your own words"),
        ("flow: `sh -c 'fetch \"secret\" http h2'` exited", f"flow: {OWN_PART}"),
        ("fetch secret", "fetch secret"),
    ],
)
def test_what_is_replaced(message: str, shown: str) -> None:
    redaction = Redaction(
        lines=("fetchsecrethttph2",),
        tokens=frozenset({"/zq/x", "zq-7"}),
        names={"blast": "a flow of the lab"},
    )
    assert redaction.apply(message) == shown
