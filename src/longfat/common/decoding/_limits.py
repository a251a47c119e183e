"""Limits of declared types: `Annotated[str, Length(maximum=200)]` is a text of that length."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Length:
    """The length of a text, a list or an object.

    Attributes:
        maximum: the maximum.
        minimum: the minimum.
    """

    maximum: int
    minimum: int = 0

    def __call__(self, value: Sized) -> None:
        """Check a value.

        Raises:
            ValueError: it is shorter or longer.
        """
        if self.minimum <= len(value) <= self.maximum:
            return
        unit = "characters" if isinstance(value, str) else "entries"
        limits = f"{self.minimum} to {self.maximum}" if self.minimum else f"at most {self.maximum}"
        raise ValueError(f"found {len(value)} {unit}, expected {limits}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The range of a number.

    Attributes:
        minimum: the minimum.
        maximum: the maximum.
    """

    minimum: float
    maximum: float

    def __call__(self, value: float) -> None:
        """Check a value.

        Raises:
            ValueError: it is outside of the range.
        """
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"found {value}, expected {self.minimum} to {self.maximum}")
