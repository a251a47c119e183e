"""Kinds of numbers with units: rates, sizes, times, shares, and whole numbers without one."""

from __future__ import annotations

import re
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from longfat.errors import InputError
from longfat.model.kinds.kind import Kind, T, WrongKindError, pattern_schema
from longfat.model.metric import Unit
from longfat.model.units import (
    MAX_INTEGER,
    MAX_S,
    format_quantity,
    parse_fraction,
    parse_rate_bps,
    parse_size_bytes,
    parse_time_s,
    quantity_pattern,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Number(Kind[T]):
    """A number within limits, in a base unit."""

    minimum: T
    maximum: T
    what: str = "a number"

    def check(self, value: T) -> T:
        if self.minimum <= value <= self.maximum:  # type: ignore[operator]
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
        if not abs(value) <= sys.float_info.max:  # NaN is not, either
            raise InputError(f"that is not {self.what}: it is too large, or not finite")
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
        if self.maximum in (MAX_INTEGER, MAX_S):
            return f"at least {self.shown(self.minimum)}"
        return f"{self.text(self.minimum)} to {self.shown(self.maximum)}"


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
    minimum: int = 0
    maximum: int = MAX_INTEGER
    what: str = "a rate"
    example: str = "10gbit"

    def convert(self, text: str) -> int:
        return parse_rate_bps(text)

    def rounded(self, value: float) -> int:
        return round(value)

    def text(self, value: int) -> str:
        return rate_text(value)

    def schema(self) -> dict[str, Any]:
        return pattern_schema(quantity_pattern(Unit.BPS), self.example)


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
    minimum: int = 0
    maximum: int = MAX_INTEGER
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
                {"type": "integer", "minimum": self.minimum, "maximum": self.maximum},
                pattern_schema(quantity_pattern(Unit.BYTES), self.example),
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


def times_text(times_s: Sequence[float]) -> list[str]:
    """Return times in one unit, the one in which they are shortest together."""
    exact = [Decimal(repr(float(time_s))) for time_s in times_s]
    units = [
        [format(time.scaleb(power).normalize(), "f") + unit for time in exact]
        for unit, power in _TIME_STEPS
    ]
    return min(units, key=lambda texts: sum(len(text) + 2 * ("." in text) for text in texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Time(_Number[float]):
    """A time in seconds.

    Attributes:
        whole: the tool that counts it in whole seconds; empty, if none does.
        bare_seconds: a number without a unit is in seconds, as ping and iperf3 take it. tc
            takes it otherwise, so elsewhere a unit is demanded.
    """

    unit: ClassVar[Unit] = Unit.SECONDS
    minimum: float = 0.0
    maximum: float = MAX_S
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
        text = pattern_schema(quantity_pattern(Unit.SECONDS), self.example)
        if not self.bare_seconds:
            return {"anyOf": [text, {"const": 0}]}
        number = {"type": "number", "minimum": self.minimum, "maximum": self.maximum}
        return {"anyOf": [number, text]}


MAX_OFFSET_S = 315_360_000.0
"""How far a clock may be off, in seconds: ten years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Offset(_Number[float]):
    """A time in seconds that may be negative."""

    unit: ClassVar[Unit] = Unit.SECONDS
    minimum: float = -MAX_OFFSET_S
    maximum: float = MAX_OFFSET_S
    what: str = "a time, perhaps negative (such as -3s)"
    example: str = "3s"

    def convert(self, text: str) -> float:
        sign, number = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
        return sign * parse_time_s(number) or 0.0  # -0.0 would be another value

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return f"-{time_text(-value)}" if value < 0 else time_text(value)

    def schema(self) -> dict[str, Any]:
        return pattern_schema(f"[-+]?{quantity_pattern(Unit.SECONDS)}", self.example)


_PPM = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)\s*ppm")


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(_Number[float]):
    """What a clock gains, in millionths; negative, if it loses."""

    minimum: float = -100_000.0
    maximum: float = 100_000.0
    what: str = "a drift, such as 100ppm or -20ppm"
    example: str = "100ppm"

    def convert(self, text: str) -> float:
        found = _PPM.fullmatch(text)
        if not found and text != "0":
            raise WrongKindError(f"{text!r} is not {self.what}")
        return float(found[1]) if found else 0.0

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return f"{format(Decimal(repr(value)).normalize(), 'f')}ppm"

    def words(self, value: float) -> str:
        return self.text(value)

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [
                {"type": "string", "pattern": "^[-+]?[0-9.]+ ?ppm$", "examples": [self.example]},
                {"const": 0},
            ]
        }


_PS_PER_B = re.compile(r"([0-9]+)\s*ps/B")


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePerByte(_Number[float]):
    """A time for each byte, in seconds; a study writes it in whole picoseconds."""

    unit: ClassVar[Unit] = Unit.SECONDS
    minimum: float = 0.0
    maximum: float = 1e-7
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
    minimum: float = 0.0
    maximum: float = 1.0
    what: str = "a percentage"
    example: str = "0.01%"

    def convert(self, text: str) -> float:
        return parse_fraction(text)

    def rounded(self, value: float) -> float:
        return float(value)

    def text(self, value: float) -> str:
        return percent_text(value)

    def schema(self) -> dict[str, Any]:
        return {
            "anyOf": [pattern_schema(quantity_pattern(Unit.FRACTION), self.example), {"const": 0}]
        }


_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer(_Number[int]):
    """A whole number without a unit."""

    minimum: int = 0
    maximum: int = MAX_INTEGER
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
        return {"type": "integer", "minimum": self.minimum, "maximum": self.maximum}
