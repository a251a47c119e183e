"""Points as the CSV files that gradebooks of courses import.

Sources: docs.moodle.org, "Grade import" (columns are mapped when the file is imported);
Instructure's guide "How do I import grades in the Gradebook" (Student, ID, SIS User ID, SIS Login
ID, Section, one column for each assignment, a row Points Possible); Blackboard's help "Work offline
with grade data" (Username, and one column for each item).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.analysis.grading import Graded

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
