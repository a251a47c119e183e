"""Who submitted when: a class's roster, and Gradescope's metadata of a submission.

A roster is a CSV file with a row for each submission:

    folder,name,seed,submitted
    alice,Alice Adams,,2026-11-30T17:55+01:00
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from longfat.common.decoding import Decoder, read_bytes, read_json
from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, Place
from longfat.model.kinds import Integer
from longfat.model.kinds.kind import WrongKindError
from longfat.study.expand import MAX_SEED
from longfat_class.study.model import Moment

COLUMNS = ("folder", "name", "seed", "submitted")
_MAX_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of a roster.

    Attributes:
        folder: the submission's folder, without those that it is in.
        name: the student; empty where the folder's name will do.
        seed: the seed; None where it follows from the name.
        submitted: when it was handed in; None where it is not known.
    """

    folder: str
    name: str = ""
    seed: int | None = None
    submitted: datetime | None = None


def read_roster(path: Path) -> dict[str, Entry]:
    """Read a roster.

    Args:
        path: the file.

    Returns:
        Its rows by folder.

    Raises:
        InputError: it cannot be read, or a value in it is wrong; then with its line.
    """
    reader = csv.reader(io.StringIO(_text(path)))
    found: dict[str, Entry] = {}
    heads: list[str] | None = None
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if heads is None:
                heads = _heads(path, row, reader.line_num)
                continue
            entry = _entry(path, dict(zip(heads, row, strict=False)), reader.line_num)
            if entry.folder in found:
                raise InputError(
                    f"the folder {entry.folder!r} is here twice",
                    place=Place(str(path), reader.line_num, 1, "folder"),
                )
            found[entry.folder] = entry
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", place=Place(str(path), reader.line_num, 1)) from None
    return found


def _text(path: Path) -> str:
    try:
        return read_bytes(path, most_bytes=_MAX_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: the file is not UTF-8") from None


def _heads(path: Path, row: list[str], line: int) -> list[str]:
    heads = [cell.strip() for cell in row]
    place = Place(str(path), line, 1)
    for head in heads:
        if head not in COLUMNS:
            raise InputError(
                f"unknown column {head!r}{nearest(head, COLUMNS)} (there are: {listed(COLUMNS)})",
                place=place,
            )
    if "folder" not in heads or len(set(heads)) < len(heads):
        raise InputError("the first line names the columns, each once, and folder", place=place)
    return heads


def _entry(path: Path, row: Mapping[str, str], line: int) -> Entry:
    cells = {key: value.strip() for key, value in row.items()}
    place = Place(str(path), line, 1, "folder")
    if not cells.get("folder"):
        raise InputError("here is no folder", place=place)
    try:
        place = Place(str(path), line, 1, "seed")
        seed = Integer(maximum=MAX_SEED).parse(cells["seed"]) if cells.get("seed") else None
        place = Place(str(path), line, 1, "submitted")
        submitted = Moment().parse(cells["submitted"]) if cells.get("submitted") else None
    except WrongKindError as error:
        raise InputError(error.message, place=place) from None
    except InputError as error:
        raise InputError(error.message, place=place) from None
    return Entry(folder=cells["folder"], name=cells.get("name", ""), seed=seed, submitted=submitted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Assignment:
    due_date: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _User:
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Metadata:
    created_at: str
    assignment: _Assignment = _Assignment()
    users: tuple[_User, ...] = ()


_METADATA = Decoder(_Metadata, ignore_unknown=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradescopeMetadata:
    """The contents of Gradescope's submission_metadata.json.

    Attributes:
        student: the names of the students, joined.
        submitted: when it was handed in.
        deadline: when it was due; None if Gradescope has no date.
    """

    student: str
    submitted: datetime
    deadline: datetime | None


def read_metadata(path: Path) -> GradescopeMetadata:
    """Read Gradescope's submission_metadata.json.

    Source: gradescope-autograders.readthedocs.io, "Submission Metadata".

    Raises:
        InputError: it cannot be read, or is none.
    """
    try:
        data = read_json(path, allow_repeated=True)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    found: _Metadata = _METADATA.decode(data, where=str(path), error=InputError)
    due = found.assignment.due_date
    return GradescopeMetadata(
        student=", ".join(filter(None, (" ".join(one.name.split()) for one in found.users))),
        submitted=_moment(path, "created_at", found.created_at),
        deadline=None if due is None else _moment(path, "assignment.due_date", due),
    )


def _moment(path: Path, field: str, text: str) -> datetime:
    try:
        return Moment().parse(text)
    except InputError as error:
        raise InputError(f"{path}: {field}: {error.message}") from None
