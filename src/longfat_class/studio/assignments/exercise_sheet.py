"""A student's files of a lab with exercises: created from the handout, filled in, submitted.

They are in a folder of the workspace that is named after the lab, as `longfat grade` expects:
the page and an editor write the same files. An existing file is never replaced by the one of
the handout.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import stat
import zipfile
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.studio.guarded_files import Base
from longfat.studio.http import HttpError, conflict
from longfat.studio.workspace import StoredFile, version_of
from longfat.study import STUDY_FILE
from longfat.study.document import parse_document
from longfat.study.file_reader import MAX_FILE_BYTES
from longfat.study.node import Node
from longfat_class.analysis import Submission, needed_parts
from longfat_class.study import PartKind
from longfat_class.study.answers import Answer, parse_answers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from longfat.studio.workspace import Workspace
    from longfat_class.studio.assignments.assignment import Assignment
    from longfat_class.studio.assignments.events import (
        CheckCountInfo,
        ExerciseCheck,
        ExerciseFile,
        ExercisePart,
        Exercises,
    )
    from longfat_class.study import Exercise, Part

MAX_ANSWER = 200
"""The maximum number of characters of an answer."""

RESERVE_BYTES = 1 << 20
"""How far the disk quota may be exceeded for the files of a lab's parts: they are handed in."""

_MAX_FILES = 500
_MAX_ZIP_BYTES = 64 << 20
_PLAIN = re.compile(r"[0-9A-Za-z][0-9A-Za-z.,/% +-]*")
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitter:
    """Who submits the exercises.

    Attributes:
        name: the name from which the seed is derived, as in `longfat grade`.
        folder: the name of a submission's folder.
        seed: the seed.
    """

    name: str
    folder: str
    seed: int


@dataclass(frozen=True, slots=True)
class ExerciseSheet:
    """The files of a student for a lab.

    Args:
        assignment: the lab.
        workspace: the student's workspace.
        submitter: whose they are.
    """

    assignment: Assignment
    workspace: Workspace
    submitter: Submitter

    @property
    def place(self) -> str:
        """The folder of the files, below the workspace."""
        return self.assignment.name

    @property
    def study_path(self) -> str:
        """The study that the canvas shows, below the workspace."""
        return f"{self.place}/{STUDY_FILE}"

    @property
    def paths(self) -> frozenset[str]:
        """The files of all parts, below the workspace."""
        parts = self.assignment.grading.parts.values()
        return frozenset(f"{self.place}/{file}" for part in parts for file in part.files)

    @property
    def reserve_bytes(self) -> int:
        """How far the disk quota may be exceeded for `paths`."""
        return RESERVE_BYTES

    @property
    def submission(self) -> Submission:
        """The files as they would be submitted now."""
        folder = self.workspace.root / self.place
        return Submission(student=self.submitter.name, folder=folder, seed=self.submitter.seed)

    def begin(self) -> None:
        """Copy the files of the handout, except those that exist.

        Raises:
            InputError: they cannot be written.
        """
        with self.workspace.lock:
            self.workspace.folder(self.place, make=True)
            for path in _files(self.assignment.given.folder):
                stored = self._stored(path)
                if stored.content is not None:
                    continue
                content = (self.assignment.given.folder / path).read_bytes()
                if path == STUDY_FILE:
                    content = _with_seed(content, self.submitter.seed)
                self._write(path, content, stored=stored)

    def to_json(
        self, *, check: ExerciseCheck | None, counts: dict[str, CheckCountInfo]
    ) -> Exercises:
        """Return the lab and the files for the page.

        Args:
            check: the last check.
            counts: the counts of checks by exercise.
        """
        self.begin()
        parts = [self._part(part) for part in self.assignment.grading.parts.values()]
        return {
            **self.assignment.to_json(),
            "student": self.submitter.name,
            "seed": self.submitter.seed,
            "folder": self.place,
            "parts": parts,
            "digests": self.digests(),
            "check": check,
            "counts": counts,
        }

    def digests(self) -> dict[str, str]:
        """Return the digest of the files that each exercise depends on, by its name."""
        return {one.name: self.digest(one) for one in self.assignment.open_exercises}

    def digest(self, exercise: Exercise) -> str:
        """Return the digest of what an exercise depends on: its answer, and files of parts."""
        found = hashlib.sha256()
        grading = self.assignment.grading
        for name in needed_parts([exercise], grading):
            if exercise.term is not None and name == exercise.part:
                found.update(repr(_typed(self.answer(exercise))).encode())
                continue
            for file in grading.parts[name].files:
                content = self._read_or_none(file)
                found.update(f"{file} {-1 if content is None else len(content)}\n".encode())
                found.update(content or b"")
        return found.hexdigest()[:16]

    def set_part(self, file: str, text: str, *, base: Base) -> str:
        """Write a file of a part.

        Args:
            file: the file, below the folder.
            text: its new content.
            base: what it is based on.

        Returns:
            Its new version.

        Raises:
            InputError: no part has such a file, it is too large, or cannot be written.
            HttpError: it was changed meanwhile; the status is 409.
        """
        files = [each for part in self.assignment.grading.parts.values() for each in part.files]
        if file not in files:
            raise InputError(f"no part of {self.place} is in {file!r} (files: {listed(files)})")
        self._check_size(file, content := text.encode())
        with self.workspace.lock:
            stored = self._stored(file)
            base.check(f"{self.place}/{file}", stored, content)
            self._write(file, content, stored=stored)
        return version_of(content)

    def set_answer(self, question: str, text: str, *, base: Base) -> str | None:
        """Write an answer into its file, and leave the rest of the file as it is.

        Args:
            question: the exercise, or another question in the file.
            text: the answer; empty for none.
            base: what it is based on: a version of this answer.

        Returns:
            The new version of the answer.

        Raises:
            InputError: there is no such question, the answer is invalid, or cannot be written.
            HttpError: it was changed meanwhile; the status is 409.
        """
        if len(text) > MAX_ANSWER or "\n" in text or not text.isprintable():
            raise InputError(f"an answer is a line of at most {MAX_ANSWER} characters")
        text = text.strip()
        with self.workspace.lock:
            for part in self._parts(PartKind.ANSWERS):
                (file,) = part.files
                stored = self._stored(file)
                answers = self._answers(part, stored.content or b"")
                if question not in answers:
                    continue
                now = answers[question]
                if not base.force and now != text and _answer_version(now) != base.version:
                    raise conflict(f"the answer to {question}", is_known=base.version is not None)
                content = _with_answer(stored.content or b"", question, text, file=file)
                self._check_size(file, content)
                self._write(file, content, stored=stored)
                return _answer_version(text)
        raise InputError(f"there is no question {question[:80]!r} in {self.place}")

    def answer(self, exercise: Exercise) -> Answer | None:
        """Return the answer to a question; None if there is none, or the file cannot be read."""
        (file,) = self.assignment.grading.parts[exercise.part].files
        with contextlib.suppress(InputError):
            answers = parse_answers(self._read_or_none(file) or b"", file=file)
            answer = answers.get(exercise.name)
            if answer is not None and not answer.is_blank:
                return answer
        return None

    def pack(self) -> bytes:
        """Return the submission as a ZIP file: one folder, named after the student.

        Raises:
            InputError: it is too large.
        """
        packed = io.BytesIO()
        size = 0
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in _files(self.workspace.folder(self.place)):
                content = self.workspace.read(f"{self.place}/{path}", most_bytes=MAX_FILE_BYTES)
                size += len(content)
                if size > _MAX_ZIP_BYTES:
                    raise InputError(
                        f"{self.place}: more than {_MAX_ZIP_BYTES >> 20} MB: remove what does "
                        "not belong to the submission"
                    )
                about = zipfile.ZipInfo(f"{self.submitter.folder}/{path}", _NO_TIME)
                about.compress_type = zipfile.ZIP_DEFLATED
                about.external_attr = 0o644 << 16
                archive.writestr(about, content)
        return packed.getvalue()

    def _parts(self, kind: PartKind) -> list[Part]:
        return [one for one in self.assignment.grading.parts.values() if one.kind is kind]

    def _part(self, part: Part) -> ExercisePart:
        found: ExercisePart = {
            "name": part.name,
            "kind": part.kind.value,
            "files": [self._file(part, file) for file in part.files],
            "answers": [],
        }
        if part.kind is PartKind.ANSWERS:
            content = self._read_or_none(part.files[0]) or b""
            answers = self._answers(part, content)
            found["answers"] = [
                {"name": name, "text": text, "version": _answer_version(text)}
                for name, text in answers.items()
            ]
        return found

    def _file(self, part: Part, file: str) -> ExerciseFile:
        """Return a file of a part; without its text if that is not edited in the page."""
        about: ExerciseFile = {
            "file": file,
            "text": None,
            "size_bytes": None,
            "problem": "",
            "is_canvas": file == STUDY_FILE,
            "version": None,
        }
        try:
            stored = self._stored(file)
            content = stored.content
            about["version"] = stored.version
            about["size_bytes"] = None if content is None else len(content)
            by_hand = part.kind not in (PartKind.IPERF3, PartKind.ANSWERS)
            if by_hand and not about["is_canvas"]:
                about["text"] = (content or b"").decode()
        except InputError as error:
            about["problem"] = error.message
        except UnicodeDecodeError:
            about["problem"] = f"{file}: the file is not UTF-8"
        return about

    def _answers(self, part: Part, content: bytes) -> dict[str, str]:
        """Return the answers of a part by their questions; empty if there is none yet.

        Questions of hidden exercises are included only if the student's own file names them.
        """
        questions = [one.name for one in self.assignment.open_exercises if one.part == part.name]
        texts = _texts(content, part.files[0])
        return dict.fromkeys(questions, "") | {
            name: text for name, text in texts.items() if name.strip()
        }

    def _read(self, file: str) -> bytes | None:
        return self._stored(file).content

    def _stored(self, file: str) -> StoredFile:
        return self.workspace.stored(f"{self.place}/{file}", most_bytes=MAX_FILE_BYTES)

    def _read_or_none(self, file: str) -> bytes | None:
        """Return a file; None if it does not exist or cannot be read, which a check reports."""
        try:
            return self._read(file)
        except InputError:
            return None

    def _write(self, file: str, content: bytes, *, stored: StoredFile) -> None:
        if len(content) > len(stored.content or b""):
            self.workspace.disk.check(reserve_bytes=RESERVE_BYTES)
        above = file.rpartition("/")[0]
        self.workspace.folder(f"{self.place}/{above}" if above else self.place, make=True)
        self.workspace.replace(f"{self.place}/{file}", content, stored=stored)

    def _check_size(self, file: str, content: bytes) -> None:
        most = self.assignment.grading.limits.input_bytes
        if len(content) > most:
            raise HttpError(
                f"{file}: {len(content)} bytes, and at most {most} are read when it is graded",
                status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )


def _files(folder: Path) -> Iterator[str]:
    """Yield the files of a folder and those below it, without hidden ones and links."""
    count = 0
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(above, name)
            if name.startswith(".") or not stat.S_ISREG(path.lstat().st_mode):
                continue
            count += 1
            if count > _MAX_FILES:
                raise InputError(f"{folder.name}: more than {_MAX_FILES} files")
            yield path.relative_to(folder).as_posix()


def _with_seed(content: bytes, seed: int) -> bytes:
    """Return a study with a seed; unchanged if it has one or cannot be read."""
    more = b"\n# The seed that your exercises are checked with.\nseed: %d\n" % seed
    try:
        fields = Node(raw=parse_document(content, file=STUDY_FILE), file=STUDY_FILE).named("fields")
        if "seed" in fields:
            return content
        parse_document(content + more, file=STUDY_FILE)
    except InputError:
        return content
    return content.rstrip(b"\n") + b"\n" + more


def _with_answer(content: bytes, question: str, text: str, *, file: str) -> bytes:
    """Return a file of answers with one answer replaced; all other lines are kept."""
    value = text if _PLAIN.fullmatch(text) or not text else json.dumps(text, ensure_ascii=False)
    line = f"{question}: {value}".rstrip()
    comment = re.compile(
        rf"""["']?{re.escape(question)}["']?[ \t]*:[ \t]*"""
        r"""(?:"(?:[^"\\\n]|\\.)*"|[^"#\n]*?)[ \t]*(?P<comment>#[^\n]*)?"""
    )
    own = re.compile(rf"""["']?{re.escape(question)}["']?[ \t]*:(?:[ \t]|$)""")
    lines: list[str] = []
    is_written = False
    # Bytes that are no text stay as they are.
    for before in content.decode(errors="surrogateescape").rstrip("\n").split("\n"):
        if not own.match(before):
            lines.append(before)
        elif not is_written:
            kept = comment.fullmatch(before.rstrip("\r"))
            lines.append(f"{line}  {(kept and kept['comment']) or ''}".rstrip())
            is_written = True
    if not is_written:
        while lines and not lines[-1].strip():
            lines.pop()
        lines.append(line)
    after = ("\n".join(lines).lstrip("\n") + "\n").encode(errors="surrogateescape")
    answers = {**_texts(content, file), question: text}
    if _without_blanks(_texts(after, file)) == _without_blanks(answers):
        return after
    # The line is within a text over several lines.
    written = (f"{name}: {json.dumps(each, ensure_ascii=False)}" for name, each in answers.items())
    return ("\n".join(written) + "\n").encode()


def _without_blanks(answers: Mapping[str, str]) -> dict[str, str]:
    return {name: text for name, text in answers.items() if text}


def _typed(answer: Answer | None) -> str | None:
    """Return an answer as it was typed, or why that cannot be read; None if there is none."""
    return None if answer is None else answer.text or answer.problem


def _answer_version(text: str) -> str | None:
    return version_of(text.encode()) if text else None


def _texts(content: bytes, file: str) -> dict[str, str]:
    try:
        return {name: one.text for name, one in parse_answers(content, file=file).items()}
    except InputError:
        return {}
