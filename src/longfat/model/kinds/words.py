"""Kinds of words: yes or no, texts, lines for a shell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.kinds.kind import Kind, WrongKindError

_FLAGS = {"true": True, "True": True, "TRUE": True, "yes": True}
_FLAGS |= {"false": False, "False": False, "FALSE": False, "no": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Kind[bool]):
    """Yes or no."""

    form: ClassVar[str] = "flag"
    what: str = "true or false"

    def parse(self, text: str) -> bool:
        if text not in _FLAGS:
            raise WrongKindError(f"{text!r} is not {self.what}")
        return _FLAGS[text]

    def of(self, value: object) -> bool:
        return value if isinstance(value, bool) else Kind.of(self, value)

    def text(self, value: bool) -> str:
        return "yes" if value else "no"

    @property
    def limits(self) -> str:
        return "yes or no"

    def schema(self) -> dict[str, Any]:
        return {"enum": [True, False, "yes", "no"]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Kind[str]):
    """A text of one line.

    Attributes:
        what: its meaning, for messages, with an example.
        example: a good value.
        problem: returns why a text is not valid; None, if it is. It sees single blanks
            between words.
    """

    what: str
    example: str
    problem: Callable[[str], str | None] = lambda _: None

    def parse(self, text: str) -> str:
        words = " ".join(text.split())
        if reason := self.problem(words):
            raise InputError(reason)
        return words

    def text(self, value: str) -> str:
        return value

    def schema(self) -> dict[str, Any]:
        # The reader takes what was typed: a number without quotes is a text, too.
        return {"type": ["string", "number"], "examples": [self.example]}


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOf(Kind[str]):
    """One of a few words.

    Attributes:
        what: what the words are, for messages, such as "a colour".
        options: the words.
    """

    what: str
    options: tuple[str, ...]

    def parse(self, text: str) -> str:
        if text not in self.options:
            raise InputError(
                f"{text!r} is not {self.what}{nearest(text, self.options)} "
                f"(there are: {listed(self.options)})"
            )
        return text

    def text(self, value: str) -> str:
        return value

    @property
    def limits(self) -> str:
        return ", ".join(self.options)

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line(Text):
    """A line that goes to a shell, or to another program, as it was typed."""

    def parse(self, text: str) -> str:
        line = text.strip()
        if "\n" in line or "\0" in line or not line:
            raise WrongKindError(f"{text!r} is not {self.what}")
        if reason := self.problem(line):
            raise InputError(reason)
        return line
