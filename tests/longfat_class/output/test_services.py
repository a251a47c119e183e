"""Pages, and the files of Gradescope and GitHub Classroom, against their documented forms."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from dataclasses import replace
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from ruamel.yaml import YAML

from longfat.cli.main import commands
from longfat.common.terminal_console import TerminalConsole
from longfat_class.analysis import CHECKS, Finding, Graded, Score, Submission
from longfat_class.cli.grade import grade, page_names
from longfat_class.cli.render import print_graded
from longfat_class.output import (
    GRADEBOOKS,
    classroom_files,
    gradebook_csv,
    gradescope_results,
    student_page,
)
from longfat_class.output.services import WORKFLOW_FILE
from longfat_class.study import Grading, read_grading
from tests.paths import REPOSITORY

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"
NASTY = "<script>alert('x')</script>"
SECRET = f"{CHECKS['rate'].title}: so secret"
TEST_CODE = "`tc qdisc`"

# gradescope-autograders.readthedocs.io, "Autograder Specifications", "Output format".
_VISIBILITY = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
_FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
GRADESCOPE: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["score", "tests"],
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "integer"},
        "output": {"type": "string"},
        "output_format": _FORMAT,
        "visibility": _VISIBILITY,
        "stdout_visibility": _VISIBILITY,
        "extra_data": {"type": "object"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": _FORMAT,
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "visibility": _VISIBILITY,
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}


@pytest.fixture(scope="module")
def grading() -> Grading:
    return read_grading(TEMPLATE)


@pytest.fixture
def graded(grading: Grading) -> Graded:
    scores = [Score(exercise=one, points=one.points, key="the key") for one in grading.exercises]
    scores[0] = Score(
        exercise=grading.exercises[0], points=0, reasons=(f"{NASTY} in {TEST_CODE}",), key="the key"
    )
    hidden = next(at for at, one in enumerate(grading.exercises) if one.hidden)
    scores[hidden] = Score(
        exercise=grading.exercises[hidden], points=0, reasons=("a secret", SECRET)
    )
    return Graded(
        submission=Submission(
            student=f"Bob {NASTY}",
            folder=Path("bob"),
            seed=7,
            submitted=datetime.fromisoformat("2026-12-01T18:00+01:00"),
        ),
        grading=grading,
        scores=tuple(scores),
        findings=(
            Finding(check="shaper", where="path", words=f"{NASTY} nothing"),
            Finding(check="rate", where="buffers", words="so secret"),
        ),
        problems=(f"path: {NASTY}",),
        late_s=86400.0,
        late_share=0.2,
    )


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.tags.append(tag)


def test_a_page_says_what_and_why(graded: Graded) -> None:
    page = student_page(graded)
    assert "<strong>12</strong> of 20 points" in page  # (20 - 3 - 2) * 80 %
    assert "3 of the 15 points" in page
    assert "<code>tc qdisc</code>" in page
    assert "Through which interface does data leave" in page
    assert "the shaper is not on the path" in page.lower()


def test_a_page_keeps_secrets_and_runs_nothing(graded: Graded) -> None:
    page = student_page(graded)
    tags = _Tags()
    tags.feed(page)
    assert "script" not in tags.tags
    assert "img" not in tags.tags
    assert "default-src 'none'" in page
    assert "secret" not in page
    assert "the key" not in page
    assert "a hidden check did not hold" in page


def test_gradescopes_results(graded: Graded) -> None:
    results = gradescope_results(graded, took_s=12.4)
    jsonschema.validate(results, GRADESCOPE)
    assert results["score"] == graded.total == 12
    assert sum(test["max_score"] for test in results["tests"]) == 20
    hidden = next(test for test in results["tests"] if test["visibility"] != "visible")
    assert hidden["visibility"] == "after_published"
    text = json.dumps(results)
    assert "secret" not in text
    assert "the key" not in text


def test_classrooms_workflow(grading: Grading) -> None:
    files = classroom_files(grading, lab=".lab", setup="make ready")
    workflow = YAML(typ="safe").load(files[WORKFLOW_FILE])
    assert workflow["on"] == ["push", "repository_dispatch"]
    steps = workflow["jobs"]["run-autograding-tests"]["steps"]
    graders = [step for step in steps if "command-grader" in step.get("uses", "")]
    assert len(graders) == len(grading.exercises)
    # action.yml of classroom-resources/autograding-command-grader
    inputs = {"test-name", "setup-command", "command", "timeout", "max-score"}
    assert all(step["with"].keys() == inputs for step in graders)
    reporter = steps[-1]
    runners = reporter["with"]["runners"]
    assert re.fullmatch(r"([a-zA-Z0-9]+,)*[a-zA-Z0-9]+", runners)  # src/main.js of the reporter
    assert runners.split(",") == [step["id"] for step in graders]
    assert reporter["env"] == {
        f"{runner.upper()}_RESULTS": f"${{{{steps.{runner}.outputs.result}}}}"
        for runner in runners.split(",")
    }


def test_the_commands_of_the_workflow_are_commands(grading: Grading) -> None:
    files = classroom_files(grading, lab="a lab", setup="true")
    (job,) = YAML(typ="safe").load(files[WORKFLOW_FILE])["jobs"].values()
    lines = [step["with"]["command"] for step in job["steps"] if "command" in step.get("with", {})]
    assert lines
    for line in lines:
        words = shlex.split(line)
        assert words.pop(0) == "longfat"
        command = commands.get_command(click.Context(commands), words[0])
        assert command is not None
        context = command.make_context(words[0], words[1:])
        assert context.params["lab"] == Path("a lab")


def test_pages_have_safe_names(graded: Graded) -> None:
    folders = ("alice", "..", "a/b/alice", "x y", "x?y", "é" * 300)
    some = [
        replace(graded, submission=replace(graded.submission, folder=Path("/w") / name))
        for name in folders
    ]
    names = page_names(some)
    assert names[0] == "alice.html"
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,120}\.html", name) for name in names)


def test_what_a_student_may_read_in_a_log(graded: Graded) -> None:
    texts = []
    for for_student in (False, True):
        shown = io.StringIO()
        print_graded(
            [graded], console=TerminalConsole(file=shown, width=2000), for_student=for_student
        )
        texts.append(shown.getvalue())
        texts.append(json.dumps(graded.to_json(for_student=for_student)))
    for text in texts[:2]:
        assert "the key" in text
        assert "a secret" in text
    for text in texts[2:]:
        assert "the key" not in text
        assert "secret" not in text
        assert "a hidden check did not hold" in text


def test_points_for_gradebooks(graded: Graded) -> None:
    failed = replace(
        graded,
        submission=replace(graded.submission, student="=1+1", folder=Path("carol")),
        failure="the disk is full",
    )
    rows = {
        name: list(csv.reader(io.StringIO(gradebook_csv([graded, failed], name))))
        for name in GRADEBOOKS
    }
    points, most = f"{graded.total:g}", f"{graded.most:g}"
    title = graded.grading.title
    assert rows["blackboard"] == [["Username", title], ["bob", points], ["carol", ""]]
    assert rows["canvas"][0] == [
        *("Student", "ID", "SIS User ID", "SIS Login ID", "Section", title)
    ]
    assert rows["canvas"][1] == ["Points Possible", "", "", "", "", most]
    assert rows["canvas"][2] == [f"Bob {NASTY}", "", "", "bob", "", points]
    assert rows["moodle"][1][:3] == ["bob", f"Bob {NASTY}", points]
    assert rows["moodle"][1][3].startswith("A path of 500 Mbit/s and 100 ms: 0 of 3; ")
    assert rows["moodle"][2][1] == "'=1+1"
    (option,) = (one for one in grade.params if one.name == "gradebook")
    assert isinstance(option.type, click.Tuple)
    assert option.type.types[0].choices == GRADEBOOKS  # type: ignore[attr-defined]
