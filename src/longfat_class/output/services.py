"""The results of grading as the files that services of courses import.

* Gradescope's results.json. Source: gradescope-autograders.readthedocs.io, "Autograder
  Specifications", "Output format": `score`, `output`, `visibility` and `tests`, each with `name`,
  `score`, `max_score`, `status`, `output`, `visibility`; text fields are plain text unless
  `output_format` specifies another.
* The CSV files of gradebooks. Sources: docs.moodle.org, "Grade import" (columns are mapped when
  the file is imported); Instructure's guide "How do I import grades in the Gradebook" (Student,
  ID, SIS User ID, SIS Login ID, Section, one column for each assignment, a row Points Possible);
  Blackboard's help "Work offline with grade data" (Username, and one column for each item).
* The workflow of GitHub Classroom: a test for each exercise, which passes with all of its points.
  It is what Classroom's own assignments have since 2024: a step of `autograding-command-grader`
  for each test, whose points are awarded if its command ends with 0, and
  `autograding-grading-reporter`, which finds the result of the step `a` in `A_RESULTS`.
"""

from __future__ import annotations

import csv
import io
import math
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

from longfat_class.analysis import CHECKS

if TYPE_CHECKING:
    from longfat_class.analysis import Graded, Score
    from longfat_class.study import Exercise, Grading

VISIBLE, AFTER_PUBLISHED = "visible", "after_published"


def gradescope_results(graded: Graded, *, took_s: float | None = None) -> dict[str, Any]:
    """Return the contents of results.json for a submission, as plain data.

    The penalty for lateness is in the overall `score`, which Gradescope takes in place of the sum
    of the tests. A hidden exercise is shown once the grades are published, without reasons.

    Args:
        graded: the submission.
        took_s: how long grading took, in seconds.
    """
    lines = [f"Seed {graded.submission.seed}."]
    if graded.failure:
        lines.append("This could not be graded. Your instructor knows the reason.")
    if graded.penalty:
        lines.append(f"Late: {graded.penalty:g} of {graded.earned:g} points are taken off.")
    lines += graded.visible_problems
    for name in dict.fromkeys(one.check for one in graded.visible_findings):
        where = [
            f"{one.where}: {one.words}" for one in graded.visible_findings if one.check == name
        ]
        lines += ["", CHECKS[name].title.capitalize() + ".", *where, CHECKS[name].explanation]
    results: dict[str, Any] = {
        "score": graded.total,
        "output": "\n".join(lines),
        "output_format": "text",
        "visibility": VISIBLE,
        "stdout_visibility": "hidden",
        "tests": [_test(number, score) for number, score in enumerate(graded.scores, start=1)],
    }
    if took_s is not None:
        results["execution_time"] = round(took_s)
    return results


def _test(number: int, score: Score) -> dict[str, Any]:
    hints = [] if score.is_full else [f"Hint: {hint}" for hint in score.exercise.hints]
    return {
        "name": score.exercise.shown,
        "number": str(number),
        "score": score.points,
        "max_score": score.exercise.points,
        "status": "passed" if score.is_full else "failed",
        "output": "\n".join([*score.visible_reasons, *hints]),
        "output_format": "text",
        "visibility": AFTER_PUBLISHED if score.exercise.hidden else VISIBLE,
    }


Rows = Iterator[Sequence[object]]


def _moodle(graded: Sequence[Graded], title: str) -> Rows:
    yield "username", "fullname", title, "feedback"
    for one in graded:
        yield _login(one), _text(one.submission.student), _points(one), _text(_feedback(one))


def _canvas(graded: Sequence[Graded], title: str) -> Rows:
    yield "Student", "ID", "SIS User ID", "SIS Login ID", "Section", title
    yield "Points Possible", "", "", "", "", f"{graded[0].most:g}"
    for one in graded:
        yield _text(one.submission.student), "", "", _login(one), "", _points(one)


def _blackboard(graded: Sequence[Graded], title: str) -> Rows:
    yield "Username", title
    for one in graded:
        yield _login(one), _points(one)


_FORMS: Mapping[str, Callable[[Sequence[Graded], str], Rows]] = {
    "moodle": _moodle,
    "canvas": _canvas,
    "blackboard": _blackboard,
}

GRADEBOOKS = tuple(_FORMS)
"""The gradebooks for which there is a form."""


def gradebook_csv(graded: Sequence[Graded], gradebook: str) -> str:
    """Return points as the CSV file that a gradebook imports.

    A student's login is the name of the folder that was handed in. Whoever could not be graded has
    no points, so that an import leaves their cell as it is.

    Args:
        graded: the submissions; at least one.
        gradebook: one of `GRADEBOOKS`.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows(_FORMS[gradebook](graded, graded[0].grading.title))
    return text.getvalue()


def _login(graded: Graded) -> str:
    return _text(graded.submission.folder.absolute().name)


def _points(graded: Graded) -> str:
    return "" if graded.failure else f"{graded.total:g}"


def _feedback(graded: Graded) -> str:
    lines = [
        f"{one.exercise.shown}: {one.points:g} of {one.exercise.points:g}" for one in graded.scores
    ]
    return "; ".join(lines)


def _text(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


WORKFLOW_FILE = ".github/workflows/classroom.yml"

_OWNER = "classroom-resources"
_MIN_MINUTES = 5


def classroom_files(grading: Grading, *, lab: str, setup: str) -> dict[str, str]:
    """Return the files, by their paths in the repository of an assignment.

    Args:
        grading: the instructor's file.
        lab: where the lab is when the tests run, relative to the repository.
        setup: the command that makes longfat and the lab available there.
    """
    return {WORKFLOW_FILE: _workflow(grading, lab, setup)}


def _command(exercise: Exercise, lab: str) -> str:
    # The folder of a checkout has the name of the repository, which ends in the student's.
    # Students read the log.
    words = ["longfat", "grade", ".", "--against", lab, "--exercise", exercise.name]
    words.append("--for-student")
    return shlex.join(words)


def _minutes(grading: Grading) -> int:
    """Return the timeout of a test in minutes; the grading limits take effect before it."""
    return max(_MIN_MINUTES, math.ceil(2 * grading.limits.time_s * len(grading.parts) / 60))


def _workflow(grading: Grading, lab: str, setup: str) -> str:
    steps: list[dict[str, Any]] = [
        {"name": "Checkout code", "uses": "actions/checkout@v4"},
        {"name": "Set up", "run": setup},
    ]
    results = {}
    for number, exercise in enumerate(grading.exercises, start=1):
        # The reporter takes letters and digits.
        runner = f"exercise{number}"
        steps.append(
            {
                "name": exercise.shown,
                "id": runner,
                "uses": f"{_OWNER}/autograding-command-grader@v1",
                "with": {
                    "test-name": exercise.shown,
                    "setup-command": "",
                    "command": _command(exercise, lab),
                    "timeout": _minutes(grading),
                    "max-score": math.floor(exercise.points),
                },
            }
        )
        results[f"{runner.upper()}_RESULTS"] = f"${{{{steps.{runner}.outputs.result}}}}"
    steps.append(
        {
            "name": "Autograding Reporter",
            "uses": f"{_OWNER}/autograding-grading-reporter@v1",
            "env": results,
            "with": {"runners": ",".join(f"exercise{n + 1}" for n in range(len(results)))},
        }
    )
    job = {
        "runs-on": "ubuntu-latest",
        "if": "github.actor != 'github-classroom[bot]'",
        "steps": steps,
    }
    workflow = {
        "name": "Autograding Tests",
        "on": ["push", "repository_dispatch"],
        "permissions": {"checks": "write", "actions": "read", "contents": "read"},
        "jobs": {"run-autograding-tests": job},
    }
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 1000
    text = io.StringIO()
    yaml.dump(workflow, text)
    return text.getvalue()
