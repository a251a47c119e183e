"""Kinds of values: how a field of a study is written, and which values are good.

A kind reads a text as a study has it, takes a value from a Python program, writes a value
exactly as it is read back, and knows its JSON Schema. `longfat.model.fields` puts kinds on the
fields of dataclasses. What the methods do is documented at `Kind`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import (
    LARGEST_INTEGER,
    LONGEST_S,
    format_quantity,
    parse_fraction,
    parse_rate_bps,
    parse_size_bytes,
    parse_time_s,
)

T = TypeVar("T")


class WrongKindError(InputError):
    """A text is no value of a kind at all; a reader says what is needed instead."""


class Source(Protocol):
    """Where a value is read from: a node of a study file."""

    @property
    def is_sequence(self) -> bool:
        """Whether it is a list."""

    def line(self, what: str) -> str:
        """Return a text of one line."""

    def sequence(self, what: str) -> Sequence[Source]:
        """Return the entries of a list."""

    def named(self, what: str) -> Mapping[str, Source]:
        """Return the values of a mapping whose keys are names that a person chose."""

    def fields(self, what: str, *, allowed: Iterable[str]) -> Mapping[str, Source]:
        """Return the values of a mapping whose keys are fixed words."""

    def error(self, message: str) -> InputError:
        """Return an error that points here."""

    def expected(self, what: str) -> InputError:
        """Return the error that something else should stand here."""


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
        """Return the value that stands at a place of a study.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number(Kind[T]):
    """A number within limits, in a base unit."""

    least: T
    most: T
    what: str = "a number"

    def check(self, value: T) -> T:
        if self.least <= value <= self.most:  # type: ignore[operator]
            return value
        raise InputError(f"{self.shown(value)} is outside of what is allowed: {self.limits}")

    def parse(self, text: str) -> T:
        return self.check(self.convert(text))

    @abstractmethod
    def convert(self, text: str) -> T:
        """Return the number of a text, within limits or not."""

    def of(self, value: object) -> T:
        if isinstance(value, str):
            return self.parse(value)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InputError(f"{value!r} is not {self.what}")
        return self.check(self.rounded(value))

    @abstractmethod
    def rounded(self, value: float) -> T:
        """Return a number of a program as the field holds it."""

    def words(self, value: T) -> str:
        assert self.unit is not None
        number, space, name = format_quantity(float(value), self.unit).partition(" ")  # type: ignore[arg-type]
        if "." in number and "e" not in number:
            number = number.rstrip("0").rstrip(".")
        return f"{number}{space}{name}"

    def shown(self, value: T) -> str:
        """Return a value as a message shows it, with its unit."""
        return self.text(value)

    @property
    def limits(self) -> str:
        if self.most in (LARGEST_INTEGER, LONGEST_S):
            return f"at least {self.shown(self.least)}"
        return f"{self.text(self.least)} to {self.shown(self.most)}"


_RATE_STEPS = (("tbit", 10**12), ("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3), ("bit", 1))


def rate_text(rate_bps: int) -> str:
    """Return a rate in the largest unit that leaves it a whole number, such as `10gbit`."""
    steps = _RATE_STEPS if rate_bps else _RATE_STEPS[-1:]
    unit, factor = next((unit, factor) for unit, factor in steps if rate_bps % factor == 0)
    return f"{rate_bps // factor}{unit}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(_Number[int]):
    """A rate in bit/s."""

    unit: ClassVar[Unit] = Unit.BPS
    least: int = 0
    most: int = LARGEST_INTEGER
    what: str = "a rate"
    example: str = "10gbit"

    def convert(self, text: str) -> int:
        return parse_rate_bps(text)

    def rounded(self, value: float) -> int:
        return round(value)

    def text(self, value: int) -> str:
        return rate_text(value)

    def schema(self) -> dict[str, Any]:
        return _pattern(r"[0-9.]+ ?([kmgtKMGT]i?)?([bB]it(s?/s(ec)?)?)?", self.example)


_SIZE_STEPS = (("TB", 4), ("GB", 3), ("MB", 2), ("KB", 1))


def size_text(size_bytes: int) -> str:
    """Return a size, such as `25MB` (powers of 1024), or as a number of bytes."""
    for unit, power in _SIZE_STEPS:
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{unit}"
    return str(size_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size(_Number[int]):
    """A size in bytes."""

    unit: ClassVar[Unit] = Unit.BYTES
    least: int = 0
    most: int = LARGEST_INTEGER
    what: str = "a size"
    example: str = "25MB"

    def convert(self, text: str) -> int:
        return parse_size_bytes(text)

    def rounded(self, value: float) -> int:
        return round(value)

    def text(self, value: int) -> str:
        return size_text(value)

    def plain(self, value: int) -> object:
        text = size_text(value)
        return int(text) if text.isdigit() else text

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [
                {"type": "integer", "minimum": self.least, "maximum": self.most},
                _pattern(r"[0-9.]+ ?([kmgtKMGT]i?)?([bB](yte(s)?)?)?", self.example),
            ]
        }

    def shown(self, value: int) -> str:
        text = self.text(value)
        return f"{text} byte{'' if value == 1 else 's'}" if text.isdigit() else text


_TIME_STEPS = (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))


def time_text(time_s: float) -> str:
    """Return a time in the unit in which it is shortest, such as `20ms`."""
    exact = Decimal(repr(float(time_s)))
    texts = [format(exact.scaleb(power).normalize(), "f") + unit for unit, power in _TIME_STEPS]
    # People write 200ms and not 0.2s, but 1.5s and not 1500ms.
    found = min(texts, key=lambda text: len(text) + 2 * ("." in text))
    return found if parse_time_s(found) == time_s else f"{time_s!r}s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Time(_Number[float]):
    """A time in seconds.

    Attributes:
        whole: who counts it in whole seconds; empty, if nobody does.
        bare_seconds: a number without a unit is in seconds, as ping and iperf3 take it. tc
            takes it otherwise, so elsewhere a unit is demanded.
    """

    unit: ClassVar[Unit] = Unit.SECONDS
    least: float = 0.0
    most: float = LONGEST_S
    what: str = "a time"
    example: str = "20ms"
    whole: str = ""
    bare_seconds: bool = True

    def convert(self, text: str) -> float:
        return parse_time_s(text, bare_seconds=self.bare_seconds)

    def check(self, value: float) -> float:
        _Number.check(self, value)
        if self.whole and value != int(value):
            raise InputError(f"{value:g}s: {self.whole} counts in whole seconds")
        return value

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return time_text(value)

    @property
    def limits(self) -> str:
        limits = _Number.limits.fget(self)  # type: ignore[attr-defined]
        return f"{limits}, whole seconds" if self.whole else limits

    def schema(self) -> dict[str, Any]:
        text = _pattern(
            r"[0-9.]+ ?(min|s|sec|secs|ms|msecs?|us|usecs?|µs|ns|nsecs?)?", self.example
        )
        if not self.bare_seconds:
            return {"anyOf": [text, {"const": 0}]}
        number = {"type": "number", "minimum": self.least, "maximum": self.most}
        return {"anyOf": [number, text]}


_PS_PER_B = re.compile(r"([0-9]+)\s*ps/B")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePerByte(_Number[float]):
    """A time for each byte, in seconds; a study writes it in whole picoseconds."""

    unit: ClassVar[Unit] = Unit.SECONDS
    least: float = 0.0
    most: float = 1e-7
    what: str = "a time for each byte, such as 80ps/B"
    example: str = "80ps/B"

    def convert(self, text: str) -> float:
        found = _PS_PER_B.fullmatch(text)
        if not found:
            raise WrongKindError(f"{text!r} is not {self.what}")
        return int(found[1]) / 1e12

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return f"{round(value * 1e12)}ps/B"

    def words(self, value: float) -> str:
        return self.text(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": "^[0-9]+ ?ps/B$", "examples": [self.example]}


def percent_text(fraction: float) -> str:
    """Return a share as a percentage, with all of its digits, such as `0.01%`."""
    percent = format((Decimal(repr(fraction)) * 100).normalize(), "f")
    return f"{percent}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(_Number[float]):
    """A share, 0 to 1; a study writes it as a percentage."""

    unit: ClassVar[Unit] = Unit.FRACTION
    least: float = 0.0
    most: float = 1.0
    what: str = "a percentage"
    example: str = "0.01%"

    def convert(self, text: str) -> float:
        return parse_fraction(text)

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return percent_text(value)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [_pattern(r"[0-9.]+ ?%", self.example), {"const": 0}]}


_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(_Number[int]):
    """A whole number without a unit."""

    least: int = 0
    most: int = LARGEST_INTEGER
    what: str = "a whole number"

    def convert(self, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise WrongKindError(f"{text!r} is not {self.what}")
        return int(text)

    def rounded(self, value: float) -> int:
        if value != int(value):
            raise InputError(f"{value!r} is not {self.what}")
        return int(value)

    def text(self, value: int) -> str:
        return str(value)

    def plain(self, value: int) -> object:
        return value

    def words(self, value: int) -> str:
        return f"{value:,}"

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.least, "maximum": self.most}


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
        what: what it says, for messages, with an example.
        example: a good value.
        problem: says why a text is none; None, if it is one. It sees single blanks between words.
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
        return {"type": "string", "examples": [self.example]}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Integers(Kind[tuple[int, ...]]):
    """One whole number or several.

    Attributes:
        each: one of them.
        what: what is needed, for messages.
    """

    form: ClassVar[str] = "list"
    each: Integer
    what: str

    def parse(self, text: str) -> tuple[int, ...]:
        return (self.each.parse(text),)

    def read(self, source: Source) -> tuple[int, ...]:
        sources = source.sequence(self.what) if source.is_sequence else [source]
        if not sources:
            raise source.expected(self.what)
        return tuple(self.each.read(one) for one in sources)

    def of(self, value: object) -> tuple[int, ...]:
        values = value if isinstance(value, (list, tuple)) else (value,)
        if not values:
            raise InputError(f"{value!r} is not {self.what}")
        return tuple(self.each.of(one) for one in values)

    def text(self, value: tuple[int, ...]) -> str:
        texts = [self.each.text(one) for one in value]
        return texts[0] if len(texts) == 1 else "[" + ", ".join(texts) + "]"

    def plain(self, value: tuple[int, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    @property
    def limits(self) -> str:
        return self.each.limits

    def schema(self) -> dict[str, Any]:
        each = self.each.schema()
        return {"anyOf": [each, {"type": "array", "items": each, "minItems": 1}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts(Kind[tuple[str, ...]]):
    """A list of texts, kept as they were typed.

    Attributes:
        what: what is needed, for messages, with an example.
        each: what one of them is.
        problem: says which of them is wrong, by its index, and why; None, if none is.
    """

    form: ClassVar[str] = "list"
    what: str
    each: str
    problem: Callable[[tuple[str, ...]], tuple[int, str] | None] = lambda _: None

    def parse(self, text: str) -> tuple[str, ...]:
        raise WrongKindError(f"{text!r} is not {self.what}")

    def read(self, source: Source) -> tuple[str, ...]:
        sources = source.sequence(self.what)
        texts = tuple(one.line(self.each) for one in sources)
        if found := self.problem(texts):
            index, reason = found
            raise (sources[index] if sources else source).error(reason)
        return texts

    def of(self, value: object) -> tuple[str, ...]:
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise InputError(f"{value!r} is not {self.what}")
        texts = tuple(map(str, value))
        if found := self.problem(texts):
            raise InputError(found[1])
        return texts

    def text(self, value: tuple[str, ...]) -> str:
        return "[" + ", ".join(value) + "]"

    def plain(self, value: tuple[str, ...]) -> object:
        return list(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": ["string", "number"]}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Names(Kind[tuple[str, ...]]):
    """One name or several, each of them once.

    Attributes:
        what: what is needed, for messages, with an example.
    """

    what: str

    def parse(self, text: str) -> tuple[str, ...]:
        return (text,)

    def read(self, source: Source) -> tuple[str, ...]:
        sources = source.sequence(self.what) if source.is_sequence else [source]
        if not sources:
            raise source.expected(self.what)
        names = tuple(one.line(self.what) for one in sources)
        if len(set(names)) < len(names):
            raise source.error("here is a name written twice")
        return names

    def of(self, value: object) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else Texts.of(_TEXTS, value)

    def text(self, value: tuple[str, ...]) -> str:
        return value[0] if len(value) == 1 else "[" + ", ".join(value) + "]"

    def plain(self, value: tuple[str, ...]) -> object:
        return value[0] if len(value) == 1 else list(value)

    def schema(self) -> dict[str, Any]:
        name: dict[str, Any] = {"type": "string"}
        return {"anyOf": [name, {"type": "array", "items": name, "minItems": 1}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Name(Kind[str]):
    """One name; a list with one name in it will do.

    Attributes:
        what: what is needed, for messages, with an example.
    """

    what: str

    def parse(self, text: str) -> str:
        return text

    def read(self, source: Source) -> str:
        names = Names(what=self.what).read(source)
        if len(names) > 1:
            raise source.expected(self.what)
        return names[0]

    def text(self, value: str) -> str:
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string"}


_TEXTS = Texts(what="a list of names", each="a name")


def _pattern(pattern: str, example: str) -> dict[str, Any]:
    return {"type": ["string", "number"], "pattern": f"^{pattern}$", "examples": [example]}
