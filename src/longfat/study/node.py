"""Reading values out of a YAML document, with messages that point at them.

The second layer of reading a study: a `Node` is a value with its place and the path of keys
that leads to it, and has one reader for each kind of value. The third layer (`read`,
`network`, `flows`) defines which fields there are.

Quotes change nothing for a reader: what counts is the text that was typed.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, MistakesError, Place
from longfat.model.metric import Unit
from longfat.model.units import parse_quantity
from longfat.study.document import Mapping, Mark, Raw, Scalar, Sequence, label

T = TypeVar("T")

_NULLS = ("", "~", "null", "Null", "NULL")
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False}
_BOOLEANS |= {"FALSE": False, "yes": True, "no": False}
_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")

MAX_LINES = 20_000
"""How many lines a field may type, counting each node that a line is typed at."""

NAME_RULE = "a letter, then up to 63 letters, digits, - or _"

MAX_ERRORS = 100
"""After so many, nothing more is read."""


class ErrorList:
    """The errors of one file, collected so that all are reported at once.

    A reader that finds an error passes it to `Node.note`. If errors are collected, reading
    continues; if not, the error is raised at once. What depends on something that could not be
    read is not checked, so that one error is not reported as two.
    """

    def __init__(self) -> None:
        self._errors: list[InputError] = []

    def __len__(self) -> int:
        return len(self._errors)

    def add(self, error: InputError) -> None:
        """Add an error, once for each location and message.

        Raises:
            InputError: there are too many, or it has no location.
        """
        for part in error.mistakes:
            if part.place is None:
                raise part
            if not any(self._is_same(part, other) for other in self._errors):
                self._errors.append(part)
        if len(self._errors) >= MAX_ERRORS:
            self.check()

    def check(self) -> None:
        """Raise the collected errors, if there are any.

        Raises:
            InputError: the error, or all of them.
        """
        if len(self._errors) > 1:
            raise MistakesError(self._errors)
        if self._errors:
            raise self._errors[0]

    @staticmethod
    def _is_same(error: InputError, other: InputError) -> bool:
        # An error in a common field occurs in each case.
        assert error.place is not None
        assert other.place is not None
        return (error.place.line, error.place.column) == (other.place.line, other.place.column)


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a mapping.

    Attributes:
        names: the names it is made of; one, but for a key such as `[h1, h3]`.
        text: the key as a field path writes it.
        place: its place in the file.
    """

    names: tuple[str, ...]
    text: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A value of a document.

    Attributes:
        raw: the value.
        file: the file as the user named it.
        field: the path of keys that leads to it.
        errors: collects errors; None to raise them at once.
    """

    raw: Raw
    file: str
    field: str = ""
    errors: ErrorList | None = dataclasses.field(default=None, compare=False, repr=False)

    @property
    def place(self) -> Place:
        """Return its place in the file."""
        return self._at(self.raw.mark)

    def _at(self, mark: Mark) -> Place:
        return Place(self.file, mark.line, mark.column, self.field)

    def place_of(self, offset: int) -> Place:
        """Return the place of a character of a text, as far as that is known.

        Args:
            offset: its index in the text.
        """
        place = self.place
        if isinstance(self.raw, Scalar) and self.raw.text_column is not None:
            return replace(place, column=self.raw.text_column + offset)
        return place

    def error(self, message: str) -> InputError:
        """Return an error that points here."""
        return InputError(message, place=self.place)

    def note(self, error: InputError) -> None:
        """Collect an error, so that reading can continue.

        Raises:
            InputError: the error itself, if errors are not collected, or too many are.
        """
        if self.errors is None:
            raise error
        self.errors.add(error)

    def attempt(self, read: Callable[[], T]) -> T | None:
        """Return what a reader returns; None if it raised an error, which is collected.

        Raises:
            InputError: the error, if errors are not collected.
        """
        try:
            return read()
        except InputError as error:
            self.note(error)
            return None

    def strict(self) -> Node:
        """Return the same node, at which errors are raised at once."""
        return replace(self, errors=None)

    @property
    def is_null(self) -> bool:
        """Whether nothing was written: an empty value, `~` or `null`."""
        return isinstance(self.raw, Scalar) and self.raw.plain and self.raw.text in _NULLS

    @property
    def is_sequence(self) -> bool:
        """Whether it is a sequence."""
        return isinstance(self.raw, Sequence)

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""
        return isinstance(self.raw, Mapping)

    def _found(self) -> str:
        match self.raw:
            case Mapping():
                return "a mapping"
            case Sequence():
                return "a sequence"
            case Scalar() if self.is_null:
                return "nothing"
            case Scalar():
                text = self.raw.text
                return repr(text if len(text) <= 60 else f"{text[:57]}...")

    def expected(self, what: str) -> InputError:
        """Return the error that something else is expected here."""
        return self.error(f"found {self._found()}, expected {what}")

    # Mappings and sequences.

    def items(self, what: str) -> list[tuple[Key, Node]]:
        """Return keys and values of a mapping, in the file's order.

        Args:
            what: what is needed here, for the message.

        Raises:
            InputError: it is no mapping.
        """
        if not isinstance(self.raw, Mapping):
            raise self.expected(what)
        return [(self._key(key), self._child(key, value)) for key, value in self.raw.pairs]

    def _key(self, key: Raw) -> Key:
        text = label(key)
        field = self._path(text)
        names: tuple[str, ...]
        match key:
            case Sequence():
                names = tuple(self._inner(item, field).text("a name") for item in key.items)
            case _:
                names = (text,)
        return Key(names, text, Place(self.file, key.mark.line, key.mark.column, field))

    def _child(self, key: Raw, value: Raw) -> Node:
        return self._inner(value, self._path(label(key)))

    def _inner(self, raw: Raw, field: str) -> Node:
        # Not by `replace`, which takes several times as long: grids make millions of them.
        return Node(raw=raw, file=self.file, field=field, errors=self.errors)

    def _path(self, name: str) -> str:
        return f"{self.field}.{name}" if self.field else name

    def fields(
        self,
        what: str,
        *,
        allowed: Iterable[str],
        also_allowed: Iterable[str] = (),
        collect_errors: bool = False,
    ) -> dict[str, Node]:
        """Return the values of a mapping whose keys are fixed words.

        Args:
            what: what is needed here, for the message.
            allowed: the words.
            also_allowed: more words that are allowed, which a message does not list.
            collect_errors: note a key that is not allowed and return the other fields, instead
                of raising at once; else a missing field would often be a second error.

        Raises:
            InputError: it is no mapping, or has a key that is not allowed.
        """
        allowed = tuple(allowed)
        every = (*allowed, *also_allowed)
        values = {}
        for key, value in self.items(what):
            if key.text in every:
                values[key.text] = value
                continue
            unknown = InputError(
                f"unknown field {key.text!r}{nearest(key.text, every)} "
                f"(there are: {listed(allowed)})",
                place=key.place,
            )
            if not collect_errors:
                raise unknown
            self.note(unknown)
        return values

    def named(self, what: str) -> dict[str, Node]:
        """Return the values of a mapping whose keys are names that the user chose.

        Raises:
            InputError: it is no mapping, or a key is no name.
        """
        values = {}
        for key, value in self.items(what):
            if not _NAME.fullmatch(key.text):
                self.note(
                    InputError(f"{key.text!r} cannot be a name: write {NAME_RULE}", place=key.place)
                )
            values[key.text] = value
        return values

    def sequence(self, what: str) -> list[Node]:
        """Return the values of a sequence.

        Raises:
            InputError: it is no sequence.
        """
        if not isinstance(self.raw, Sequence):
            raise self.expected(what)
        return [
            self._inner(item, f"{self.field}[{index}]") for index, item in enumerate(self.raw.items)
        ]

    # Texts.

    def text(self, what: str = "a text") -> str:
        """Return a text as it was typed.

        Raises:
            InputError: it is no text, or an empty one.
        """
        if not isinstance(self.raw, Scalar) or self.is_null:
            raise self.expected(what)
        if not self.raw.text.strip():
            raise self.error(f"found an empty text, expected {what}")
        return self.raw.text

    def line(self, what: str) -> str:
        """Return a text of one line, without white space around it."""
        text = self.text(what).strip()
        if "\n" in text:
            raise self.error(f"found several lines, expected {what}")
        return text

    def lines(self) -> list[Node]:
        """Return the lines of a block (`|`), each with its place; a text that is none, alone.

        A line that ends with a backslash continues in the next one, as in a shell. Empty
        lines and those that begin with `#` are skipped.
        """
        if not isinstance(self.raw, Scalar) or self.raw.block is None:
            return [self]
        start = self.raw.block
        lines = []
        begun: tuple[Mark, str] | None = None
        for index, line in enumerate(self.raw.text.split("\n")):
            text = line.strip()
            mark = Mark(
                line=start.line + index, column=start.column + len(line) - len(line.lstrip())
            )
            if begun is not None:
                mark, text = begun[0], f"{begun[1]} {text}"
            elif not text or text.startswith("#"):
                continue
            if text.endswith("\\"):
                begun = mark, text[:-1].rstrip()
            else:
                lines.append((mark, text))
                begun = None
        lines += [begun] if begun is not None else []
        return [
            replace(self, raw=Scalar(mark=mark, text=text, plain=False)) for mark, text in lines
        ]

    def boolean(self) -> bool:
        """Return `true` or `false`."""
        value = _BOOLEANS.get(self.line("true or false"))
        if value is None:
            raise self.expected("true or false")
        return value

    def integer(self, *, minimum: int, maximum: int) -> int:
        """Return a whole number.

        Args:
            minimum: the smallest that is allowed.
            maximum: the largest that is allowed.

        Raises:
            InputError: it is no whole number, or is outside.
        """
        text = self.line("a whole number")
        if not _INTEGER.fullmatch(text):
            raise self.expected("a whole number")
        value = int(text)
        if minimum <= value <= maximum:
            return value
        raise self.error(f"{value} is outside of what is allowed: {minimum} to {maximum}")

    def quantity(self, unit: Unit) -> float:
        """Return a quantity of a kind, in its base unit."""
        text = self.line(f"a value in {unit.value}")
        try:
            return parse_quantity(text, unit)
        except InputError as error:
            raise self.error(error.message) from None


def typed_lines(key: Key, value: Node, *, form: str) -> Iterator[tuple[str, str, Place]]:
    """Yield what is typed where, of `NODE: LINE` with several nodes or lines.

    Args:
        key: the node, or nodes.
        value: a line, a block of lines, or a list of those.
        form: what is needed here, for messages.

    Yields:
        Node, line and the line's place: each line at all nodes before the next line.

    Raises:
        InputError: there is no node or no line.
    """
    if not key.names:
        raise InputError(f"found no node, expected {form}", place=key.place)
    values = value.sequence("a list of lines") if value.is_sequence else [value]
    texts = [line for node in values for line in node.lines()]
    if not texts:
        raise value.error("there is no line")
    check_lines(value, len(texts) * len(key.names))
    for text in texts:
        line = text.line("a line to type")
        for name in key.names:
            yield name, line, text.place


def check_lines(node: Node, count: int) -> None:
    """Check how many lines are typed.

    Args:
        node: what types them, for the message.
        count: how many it types, or types together with all before it.

    Raises:
        InputError: too many.
    """
    if count > MAX_LINES:
        raise node.error(
            f"here are {count:,} lines to type, counting each node of each line, and at most "
            f"{MAX_LINES:,} are possible: put them into a script under files"
        )
