"""What a kind of values is: how they are read, written, shown and described.

What the methods do is documented at `Kind`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from longfat.errors import InputError
from longfat.model.metric import Unit

T = TypeVar("T")


class WrongKindError(InputError):
    """A text is no value of a kind at all; the reader reports what is expected."""


class Source(Protocol):
    """Where a value is read from: a node of a study file."""

    @property
    def is_sequence(self) -> bool:
        """Whether it is a list."""

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""

    def line(self, what: str) -> str:
        """Return a text of one line."""

    def sequence(self, what: str) -> Sequence[Source]:
        """Return the entries of a list."""

    def named(self, what: str) -> Mapping[str, Source]:
        """Return the values of a mapping with user-defined keys."""

    def fields(self, what: str, *, allowed: Iterable[str]) -> Mapping[str, Source]:
        """Return the values of a mapping whose keys are fixed words."""

    def error(self, message: str) -> InputError:
        """Return an error that points here."""

    def expected(self, what: str) -> InputError:
        """Return the error that something else is expected here."""

    def note(self, error: InputError) -> None:
        """Collect an error, so that reading can continue; raise it if none are collected."""


class Kind(ABC, Generic[T]):
    """How the values of a field are written, and which of them are good."""

    what: str
    """What is needed, for messages: `a rate`."""

    unit: ClassVar[Unit | None] = None
    """The unit of its numbers, in which tables and forms show them."""

    example: str = ""
    """A good value, as a form shows it."""

    form: ClassVar[str] = "text"
    """What a form has for it: `text`, `flag` or `list`."""

    @abstractmethod
    def parse(self, text: str) -> T:
        """Return the value of a text as a study writes it.

        Raises:
            InputError: it is none, or not within the limits.
        """

    @abstractmethod
    def text(self, value: T) -> str:
        """Return a value as a study writes it: short, and exactly the value that is read back."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values in a study file."""

    def read(self, source: Source) -> T:
        """Return the value at a place of a study.

        Raises:
            InputError: it is none; with its place.
        """
        text = source.line(self.what)
        try:
            return self.parse(text)
        except WrongKindError:
            raise source.expected(self.what) from None
        except InputError as error:
            raise source.error(error.message) from None

    def of(self, value: object) -> T:
        """Return the value that a Python program gave: a text as in a study, or the value itself.

        Raises:
            InputError: it is none.
        """
        try:
            return self.parse(value if isinstance(value, str) else str(value))
        except WrongKindError:
            raise InputError(f"{value!r} is not {self.what}") from None

    def plain(self, value: T) -> object:
        """Return a value as YAML holds it; a text, where YAML has nothing better."""
        return self.text(value)

    def words(self, value: T) -> str:
        """Return a value as people read it."""
        return self.text(value)

    @property
    def limits(self) -> str:
        """The limits in words, such as `1 to 128`; empty, if there are none."""
        return ""


def pattern_schema(pattern: str, example: str) -> dict[str, Any]:
    """Return the JSON Schema of a text that fits a pattern, or of a number."""
    return {"type": ["string", "number"], "pattern": f"^{pattern}$", "examples": [example]}
