"""The text of a script, read from left to right, and places in it.

What a word means depends on where it stands: `.` is a TCP flag, the start of a
number, or a part of `...`. So there is no list of tokens; whoever reads a part asks for
what may stand there.
"""

from __future__ import annotations

import re

from longfat.errors import InputError, Place

_BLANK = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SHOWN = re.compile(r"[^\s,;()\[\]{}<>]{1,40}|\S")


class Scanner:
    """A script's text, and how far it has been read.

    Args:
        text: the script.
        file: its name, as the person gave it.
    """

    def __init__(self, text: str, *, file: str) -> None:
        self.text = text
        self.file = file
        self.offset = 0

    def place(self, offset: int | None = None) -> Place:
        """Return the place of an offset; of where the next word begins, if None."""
        if offset is None:
            self.skip()
            offset = self.offset
        line = self.text.count("\n", 0, offset) + 1
        return Place(self.file, line, offset - (self.text.rfind("\n", 0, offset) + 1) + 1)

    def error(self, message: str, *, at: int | None = None) -> InputError:
        """Return an error at an offset; at the next word, if None."""
        return InputError(message, place=self.place(at))

    def found(self) -> str:
        """Return the next word as a message shows it."""
        self.skip()
        match = _SHOWN.match(self.text, self.offset)
        return f"found {match[0]!r}" if match else "the script ends"

    def wrong(self, needed: str) -> InputError:
        """Return the error that something else stands where `needed` should be."""
        return self.error(f"{self.found()}, expected {needed}")

    def skip(self) -> None:
        """Pass blanks and comments.

        Raises:
            InputError: a comment has no end.
        """
        match = _BLANK.match(self.text, self.offset)
        assert match is not None
        self.offset = match.end()
        if self.text.startswith("/*", self.offset):
            raise InputError("this comment has no end: expected */", place=self._here())

    def _here(self) -> Place:
        return self.place(self.offset)

    @property
    def at_end(self) -> bool:
        """Return whether nothing but blanks and comments is left."""
        self.skip()
        return self.offset >= len(self.text)

    def peek(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Return the match of a pattern at the next word, without reading it."""
        self.skip()
        return pattern.match(self.text, self.offset)

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what matches a pattern, if the next word does."""
        match = self.peek(pattern)
        if match is not None:
            self.offset = match.end()
        return match

    def need(self, pattern: re.Pattern[str], needed: str) -> re.Match[str]:
        """Read what matches a pattern.

        Args:
            pattern: what may stand here.
            needed: the same in words.

        Raises:
            InputError: something else stands here.
        """
        match = self.take(pattern)
        if match is None:
            raise self.wrong(needed)
        return match

    def sees(self, mark: str) -> bool:
        """Return whether a mark such as `(` stands next."""
        self.skip()
        return self.text.startswith(mark, self.offset)

    def accept(self, mark: str) -> bool:
        """Read a mark such as `(`, if it stands next."""
        if self.sees(mark):
            self.offset += len(mark)
            return True
        return False

    def expect(self, mark: str) -> None:
        """Read a mark.

        Raises:
            InputError: something else stands here.
        """
        if not self.accept(mark):
            raise self.wrong(f"{mark!r}")

    def integer(self, needed: str, *, maximum: int, minimum: int = 0) -> int:
        """Read a whole number within bounds, decimal or with 0x.

        Raises:
            InputError: there is none, or it is out of bounds.
        """
        self.skip()
        start = self.offset
        value = whole_number(self.need(INTEGER, needed)[0])
        if not minimum <= value <= maximum:
            raise self.error(f"{needed} is {value}, expected {minimum} to {maximum}", at=start)
        return value


def whole_number(text: str) -> int:
    """Return what `INTEGER` matches as a number: with zeros before it, it is decimal too."""
    return int(text, 16 if "x" in text.lower() else 10)


INTEGER = re.compile(r"-?(?:0[xX][0-9a-fA-F]{1,16}|0*(?!0[xX])\d{1,19})(?![.]\d)")
WORD = re.compile(r"[A-Za-z_]\w*")
STRING = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
BACK_QUOTED = re.compile(r"`((?:\\.|[^`\\])*)`", re.DOTALL)
CODE = re.compile(r"%\{(.*?)\}%", re.DOTALL)
