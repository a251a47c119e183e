"""The workflow of GitHub Classroom: a test for each exercise, which passes with all of its points.

It is what Classroom's own assignments have since 2024: a step of `autograding-command-grader` for
each test, whose points are awarded if its command ends with 0, and
`autograding-grading-reporter`, which finds the result of the step `a` in `A_RESULTS`.
"""

from __future__ import annotations

import io
import math
import shlex
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML

if TYPE_CHECKING:
    from longfat.study.grading import Exercise, Grading

WORKFLOW_FILE = ".github/workflows/classroom.yml"

_OWNER = "classroom-resources"
_LEAST_MINUTES = 5


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
    return max(_LEAST_MINUTES, math.ceil(2 * grading.limits.time_s * len(grading.parts) / 60))


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
