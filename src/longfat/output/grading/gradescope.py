"""Gradescope's results.json.

Source: gradescope-autograders.readthedocs.io, "Autograder Specifications", "Output format":
`score`, `output`, `visibility` and `tests`, each with `name`, `score`, `max_score`, `status`,
`output`, `visibility`; text fields are plain text unless `output_format` specifies another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.analysis.grading import CHECKS

if TYPE_CHECKING:
    from longfat.analysis.grading import Graded, Score

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
