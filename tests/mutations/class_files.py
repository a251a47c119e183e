"""Readers of the files of a class: grading, answers, rosters, metadata."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from longfat_class.study import read_answers, read_grading
from longfat_class.study.roster import read_metadata, read_roster
from tests.mutations.kind import WrongError, write
from tests.paths import REPOSITORY


@cache
def _key() -> bytes:
    return (REPOSITORY / "labs/templates/bdp/instructor/study.yaml").read_bytes()


def check_grading(folder: Path, content: bytes) -> None:
    write(folder, "study.yaml", _key())
    found = read_grading(write(folder, "grading.yaml", content))
    if not 0 <= found.points <= 1000 * len(found.exercises):
        raise WrongError("points that nobody can earn")


def check_answers(folder: Path, content: bytes) -> None:
    read_answers(write(folder, "answers.yaml", content))


def rosters() -> list[bytes]:
    return [
        b"folder,name,seed,submitted\nalice,Alice A,7,2026-11-30T17:55+01:00\n"
        b'"b, b","B ""B"" B",,\n',
        b"folder\na\nb\n",
    ]


def check_roster(folder: Path, content: bytes) -> None:
    read_roster(write(folder, "roster.csv", content))


def metadata() -> list[bytes]:
    """Return what Gradescope documents of submission_metadata.json."""
    assignment = {"due_date": "2018-07-31T23:00:00.000000-07:00", "id": 25828, "group_size": 4}
    users = [{"email": "student@example.com", "id": 1234, "name": "Student User"}]
    data = {"created_at": "2018-07-01T14:22:32.365935-07:00", "id": 123456, "users": users}
    return [json.dumps({**data, "assignment": assignment}).encode()]


def check_metadata(folder: Path, content: bytes) -> None:
    read_metadata(write(folder, "submission_metadata.json", content))
