"""A student's files of a lab with exercises: created from the handout, filled in, submitted.

They are in a folder of the workspace that is named after the lab, as `longfat grade` expects:
the page and an editor write the same files. An existing file is never replaced by the one of
the handout.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import stat
import threading
import zipfile
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.analysis.grading import Submission, needed_parts
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.studio.http_error import HttpError
from longfat.study import STUDY_FILE
from longfat.study.document import is_blank, parse_document
from longfat.study.files import MOST_FILE_BYTES
from longfat.study.grading import PartKind
from longfat.study.grading.answers import parse_answers
from longfat.study.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.studio.assignments.assignment import Assignment
    from longfat.studio.workspace import Workspace
    from longfat.study.grading import Exercise, Part

LONGEST_ANSWER = 200
"""The maximum number of characters of an answer."""

_MOST_FILES = 500
_MOST_ZIP_BYTES = 64 << 20
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
class Workbook:
    """The files of a student for a lab.

    Args:
        assignment: the lab.
        workspace: the student's workspace.
        submitter: whose they are.
    """

    assignment: Assignment
    workspace: Workspace
    submitter: Submitter
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def place(self) -> str:
        """The folder of the files, below the workspace."""
        return self.assignment.name

    @property
    def study_path(self) -> str:
        """The study that the canvas shows, below the workspace."""
        return f"{self.place}/{STUDY_FILE}"

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
        with self._lock:
            self.workspace.folder(self.place, make=True)
            for path in _files(self.assignment.given.folder):
                if self._read(path) is not None:
                    continue
                content = (self.assignment.given.folder / path).read_bytes()
                if path == STUDY_FILE:
                    content = _with_seed(content, self.submitter.seed)
                self._write(path, content)

    def to_json(self) -> dict[str, Any]:
        """Return the lab and the files, as part of `Exercises` of the page's types."""
        self.begin()
        parts = [self._part(part) for part in self.assignment.grading.parts.values()]
        return {
            **self.assignment.to_json(),
            "student": self.submitter.name,
            "seed": self.submitter.seed,
            "folder": self.place,
            "parts": parts,
            "digests": self.digests(),
        }

    def digests(self) -> dict[str, str]:
        """Return the digest of the files that each exercise depends on, by its name."""
        return {one.name: self.digest(one) for one in self.assignment.open_exercises}

    def digest(self, exercise: Exercise) -> str:
        """Return the digest of the files that an exercise depends on."""
        found = hashlib.sha256()
        grading = self.assignment.grading
        for name in needed_parts([exercise], grading):
            for file in grading.parts[name].files:
                content = self._read_or_none(file)
                found.update(f"{file} {-1 if content is None else len(content)}\n".encode())
                found.update(content or b"")
        return found.hexdigest()[:16]

    def set_part(self, file: str, text: str) -> None:
        """Write a file of a part.

        Args:
            file: the file, below the folder.
            text: its new content.

        Raises:
            InputError: no part has such a file, it is too large, or cannot be written.
        """
        files = [each for part in self.assignment.grading.parts.values() for each in part.files]
        if file not in files:
            raise InputError(f"no part of {self.place} is in {file!r} (files: {listed(files)})")
        self._check_size(file, content := text.encode())
        self.workspace.disk.check()
        with self._lock:
            self._write(file, content)

    def set_answer(self, question: str, text: str) -> str:
        """Write an answer into its file, and leave the rest of the file as it is.

        Args:
            question: the exercise, or another question in the file.
            text: the answer; empty for none.

        Returns:
            The file.

        Raises:
            InputError: there is no such question, the answer is invalid, or cannot be written.
        """
        if len(text) > LONGEST_ANSWER or "\n" in text or not text.isprintable():
            raise InputError(f"an answer is a line of at most {LONGEST_ANSWER} characters")
        self.workspace.disk.check()
        with self._lock:
            for part in self._parts(PartKind.ANSWERS):
                (file,) = part.files
                before = self._read_or_none(file) or b""
                if question in self._answers(part, before):
                    content = _with_answer(before, question, text.strip(), file=file)
                    self._check_size(file, content)
                    self._write(file, content)
                    return file
        raise InputError(f"there is no question {question[:80]!r} in {self.place}")

    def pack(self) -> bytes:
        """Return the submission as a ZIP file: one folder, named after the student.

        Raises:
            InputError: it is too large.
        """
        packed = io.BytesIO()
        size = 0
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in _files(self.workspace.folder(self.place)):
                content = self.workspace.read(f"{self.place}/{path}", most_bytes=MOST_FILE_BYTES)
                size += len(content)
                if size > _MOST_ZIP_BYTES:
                    raise InputError(
                        f"{self.place}: more than {_MOST_ZIP_BYTES >> 20} MB: remove what does "
                        "not belong to the submission"
                    )
                about = zipfile.ZipInfo(f"{self.submitter.folder}/{path}", _NO_TIME)
                about.compress_type = zipfile.ZIP_DEFLATED
                about.external_attr = 0o644 << 16
                archive.writestr(about, content)
        return packed.getvalue()

    def _parts(self, kind: PartKind) -> list[Part]:
        return [one for one in self.assignment.grading.parts.values() if one.kind is kind]

    def _part(self, part: Part) -> dict[str, Any]:
        found: dict[str, Any] = {
            "name": part.name,
            "kind": part.kind.value,
            "files": [self._file(part, file) for file in part.files],
            "answers": [],
        }
        if part.kind is PartKind.ANSWERS:
            content = self._read_or_none(part.files[0]) or b""
            answers = self._answers(part, content)
            found["answers"] = [{"name": name, "text": text} for name, text in answers.items()]
        return found

    def _file(self, part: Part, file: str) -> dict[str, Any]:
        """Return a file of a part; without its text if that is not edited in the page."""
        about: dict[str, Any] = {"file": file, "text": None, "size_bytes": None, "problem": ""}
        about["is_canvas"] = file == STUDY_FILE
        try:
            content = self._read(file)
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
        found = dict.fromkeys(questions, "")
        try:
            root = Node(raw=parse_document(content, file=part.files[0]), file=part.files[0])
            found |= dict.fromkeys((name for name in root.named("answers") if name.strip()), "")
            answers = parse_answers(content, file=part.files[0])
        except InputError:
            return found  # a check reports it, and the next answer rewrites it
        return found | {name: one.text for name, one in answers.items() if name in found}

    def _read(self, file: str) -> bytes | None:
        return self.workspace.read_or_none(f"{self.place}/{file}", most_bytes=MOST_FILE_BYTES)

    def _read_or_none(self, file: str) -> bytes | None:
        """Return a file; None if it does not exist or cannot be read, which a check reports."""
        try:
            return self._read(file)
        except InputError:
            return None

    def _write(self, file: str, content: bytes) -> None:
        above = file.rpartition("/")[0]
        self.workspace.folder(f"{self.place}/{above}" if above else self.place, make=True)
        self.workspace.write(f"{self.place}/{file}", content)

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
            if count > _MOST_FILES:
                raise InputError(f"{folder.name}: more than {_MOST_FILES} files")
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
    """Return a file of answers with one answer replaced; comments are kept."""
    value = text if _PLAIN.fullmatch(text) or not text else json.dumps(text, ensure_ascii=False)
    line = f"{question}: {value}".rstrip()
    old = r'(?:"(?:[^"\\\n]|\\.)*"|[^"#\n]*?)'
    pattern = re.compile(
        rf"^{re.escape(question)}[ \t]*:[ \t]*{old}[ \t]*(#[^\n]*)?$", re.MULTILINE
    )
    try:
        before = content.decode()
        after, count = pattern.subn(
            lambda found: f"{line}  {found[1] or ''}".rstrip(), before, count=1
        )
        if not count:
            after = f"{before.rstrip()}\n{line}\n".lstrip("\n")
        if _texts(after.encode(), file) == {**_texts(content, file), question: text}:
            return after.encode()
        answers = _texts(content, file)
    except (InputError, UnicodeDecodeError):
        answers = {}
    answers[question] = text
    written = (f"{name}: {json.dumps(each, ensure_ascii=False)}" for name, each in answers.items())
    return ("\n".join(written) + "\n").encode()


def _texts(content: bytes, file: str) -> dict[str, str]:
    if is_blank(content):
        return {}
    root = Node(raw=parse_document(content, file=file), file=file)
    found = dict.fromkeys(root.named("answers"), "")
    return found | {name: one.text for name, one in parse_answers(content, file=file).items()}
