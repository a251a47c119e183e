"""What of the instructor's study a student may not read: it is taken out of what is shown.

A student's part runs in the instructor's case, so that an error may quote what the student was
never given: a line of an event, a program's command, the name of a flow. Whether a text was
given is decided by the handout and by what was handed in: all else of the instructor's cases is
replaced. The instructor's own output has it in full.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.events import TypedLine
from longfat.study.file_reader import MAX_FILE_BYTES, folder_reader
from longfat_class.study.read import STUDENT

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.case import Case
    from longfat_class.analysis.submission import Submission
    from longfat_class.study.model import Grading

OWN_PART = (
    "a part of the lab that you were not given failed with what you handed in; your instructor's "
    "output shows it"
)
"""What a student reads in place of a message that quotes what was not given."""

_TOKEN = re.compile(r"[\w./:%@+-]+")
_NAME = re.compile(r"[\w-]+")
# Words of a shell and of tools, which say nothing, are left out by their form.
_PLAIN = re.compile(r"[A-Za-z]?[a-z]+|.{1,3}|\W+|[0-9.]+")
_QUOTING = re.compile(r"""[\s"'`\\]+""")
_MIN_LINE_LENGTH = 8
_INTERFACE = re.compile(r"[\w-]+-eth[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redaction:
    """What is replaced in messages to a student.

    Attributes:
        lines: lines and commands, without quoting: a message with one is replaced.
        tokens: likewise, names and values in them.
        names: names of flows, probes and cases, with what replaces each of them.
    """

    lines: tuple[str, ...] = ()
    tokens: frozenset[str] = frozenset()
    names: Mapping[str, str] = field(default_factory=dict)

    def apply(self, message: str) -> str:
        """Return a message as its student may read it."""
        if not self._quotes(message):
            return self._without_names(message)
        # Where it happened is the student's part and case, or a check.
        place, colon, _ = message.partition(": ")
        if not colon or self._quotes(place):
            return OWN_PART
        return f"{self._without_names(place)}: {OWN_PART}"

    def _quotes(self, message: str) -> bool:
        unquoted = _unquoted(message)
        return not self.tokens.isdisjoint(_tokens(message)) or any(
            line in unquoted for line in self.lines
        )

    def _without_names(self, message: str) -> str:
        def shown(match: re.Match[str]) -> str:
            name = match[0]
            for prefix in ("", "key-"):
                own = name.removeprefix(prefix)
                if own in self.names:
                    replacement = self.names[own]
                    around = message[match.start() - 1 : match.start()] + message[match.end() :][:1]
                    return f"({replacement})" if "." in around else replacement
            return name

        return _NAME.sub(shown, message)


def redaction_for(submission: Submission, grading: Grading) -> Redaction:
    """Return what is replaced in messages about a submission.

    Args:
        submission: the submission.
        grading: the instructor's file, in whose folder's parent the handout lies.
    """
    given: set[str] = set()
    given_text = ""
    for text in (*_handout(grading.folder.parent / STUDENT), *_handed_in(submission, grading)):
        given |= _tokens(text)
        given_text += _unquoted(text) + "\n"
    for exercise in grading.exercises:
        if not exercise.hidden:
            for text in (exercise.name, exercise.shown, *exercise.hints):
                given |= _tokens(text)
    given |= set(grading.parts)
    secret: set[str] = set()
    lines: set[str] = set()
    names: dict[str, str] = {}
    for name, planned in grading.study.cases.items():
        names[name] = "a case of the lab"
        names |= {flow.name: "a flow of the lab" for flow in planned.case.flows}
        names |= {probe.name: "a probe of the lab" for probe in planned.case.probes}
        for text in _lines(planned.case):
            secret |= _tokens(text)
            lines.add(_unquoted(text))
    return Redaction(
        lines=tuple(
            line
            for line in sorted(lines)
            if len(line) >= _MIN_LINE_LENGTH and line not in given_text
        ),
        tokens=frozenset(
            one
            for one in secret - given - set(names)
            if not _PLAIN.fullmatch(one) and not _INTERFACE.fullmatch(one)
        ),
        names={name: shown for name, shown in names.items() if name not in given},
    )


def _lines(case: Case) -> Iterator[str]:
    """Yield what is typed in a case, and the paths of its files."""
    yield from (command.line for command in case.setup)
    for event in case.events:
        if isinstance(event, TypedLine):
            yield event.line
    for flow in case.flows:
        for one in fields(flow):
            value = getattr(flow, one.name)
            if isinstance(value, str) and len(value.split()) > 1:
                yield value
    for file in case.files:
        yield file.path


def _unquoted(text: str) -> str:
    """Return a text without blanks and quoting, which a shell's line gets more of."""
    return _QUOTING.sub("", text)


def _tokens(text: str) -> set[str]:
    """Return the names and values in a text, whole and split at punctuation."""
    tokens = set(_TOKEN.findall(text))
    return tokens | {name for token in tokens for name in _NAME.findall(token)}


def _handout(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_size <= MAX_FILE_BYTES:
                yield path.read_bytes().decode(errors="replace")


def _handed_in(submission: Submission, grading: Grading) -> Iterator[str]:
    beside = folder_reader(submission.files)
    for part in grading.parts.values():
        for file in part.files:
            with contextlib.suppress(InputError):
                yield beside(file).decode(errors="replace")
