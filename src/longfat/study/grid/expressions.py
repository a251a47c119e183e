"""Expressions over the parameters of a grid: `buffer * rate * rtt`, `cc != bbr or rtt < 100ms`.

As in claims, each number has a dimension, so `10gbit * 20ms` is a size; the
dimensions are checked before there is any case.

A number leaves an expression as the tools read it: a size in whole bytes, a
rate as `10gbit`, a time as `20ms`, anything else as a plain number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal

from longfat.errors import InputError
from longfat.model.kinds import rate_text, time_text
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.study.claims import columns
from longfat.study.claims.columns import number
from longfat.study.claims.formula import FormulaError, Syntax, offset_of, parse_syntax
from longfat.study.claims.terms import DIMENSIONS, PLAIN, Condition, Term
from longfat.study.grid.language import Kind, Kinds, NameBuilder, Named, NameScope, Texts, Word

LONGEST_EXPRESSION = 500

_SIZE = DIMENSIONS[Unit.BYTES]
_RATE = DIMENSIONS[Unit.BPS]
_TIME = DIMENSIONS[Unit.SECONDS]


@dataclass(frozen=True, slots=True)
class Bindings:
    """The values of the names in one case.

    Attributes:
        numbers: in bits and seconds, by name; of a text, its code.
        words: what a name alone is written as.
        shown: the same, for display.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A number or text that depends on names.

    Attributes:
        text: what was written.
        kind: what it is.
        names: the names in it.
        bare: it is one name and nothing else.
        term: how it is computed.
    """

    text: str
    kind: Kind
    names: tuple[str, ...]
    bare: bool
    term: Term

    def number(self, bindings: Bindings) -> float:
        """Return its value in bits and seconds; of a text, its code.

        Raises:
            InputError: it has no value, as 1 / 0.
        """
        value = number(self.term, NameScope(bindings.numbers))
        if not math.isfinite(value):
            raise InputError(f"{self.text!r} has no value here")
        return value

    def word(self, bindings: Bindings) -> str:
        """Return its value as tools read it.

        Raises:
            InputError: it has no value, or one that no tool reads.
        """
        if self.bare:
            return bindings.words[self.names[0]]
        number = self.number(bindings)
        try:
            return number_word(number, self.kind)
        except InputError as error:
            raise InputError(f"{error.message} (it is {self.text})") from None

    def shown(self, bindings: Bindings) -> str:
        """Return its value in readable form."""
        if self.bare:
            return bindings.shown[self.names[0]]
        return number_shown(self.number(bindings), self.kind)


def parse_expression(text: str, kinds: Kinds) -> Expression:
    """Parse an expression.

    Args:
        text: the expression.
        kinds: the names.

    Raises:
        FormulaError: it is not of the language, has unknown names or mixes dimensions.
    """
    builder = NameBuilder(text, kinds)
    syntax = _parse(text)
    built = builder.build(syntax)
    kind: Kind
    if isinstance(built, Word):
        if built.kind is None:
            builder.term(syntax)  # which reports that there is no such name
        kind = built.kind or Texts()
        if not built.named:
            raise FormulaError("a text needs no expression: write it as it is", offset=0)
    else:
        builder.check(built, offset_of(syntax))
        if isinstance(built, builder.CONDITIONS):
            builder.term(syntax)  # which reports that a number is needed
        kind = built.dimension
    return Expression(
        text=" ".join(text.split()),
        kind=kind,
        names=tuple(builder.names),
        bare=isinstance(built, Named) or (isinstance(built, Word) and built.named),
        term=built,
    )


def parse_condition(text: str, kinds: Kinds) -> tuple[Condition, tuple[str, ...]]:
    """Parse a condition over names.

    Returns:
        The condition and the names in it.

    Raises:
        FormulaError: as `parse_expression`, or it is not true or false.
    """
    builder = NameBuilder(text, kinds)
    return builder.condition(_parse(text), "a condition is"), tuple(builder.names)


def holds(condition: Condition, bindings: Bindings) -> bool:
    """Return whether a condition holds; one that has no value does not."""
    return columns.holds(condition, NameScope(bindings.numbers))


def _parse(text: str) -> Syntax:
    if len(text) > LONGEST_EXPRESSION:
        raise FormulaError(
            f"the expression has more than {LONGEST_EXPRESSION} characters", offset=0
        )
    if not text.strip():
        raise FormulaError("there is no expression", offset=0)
    return parse_syntax(text, "the expression")


def writable(kind: Kind) -> str | None:
    """Return why nothing of a kind can be written into a case; None if it can."""
    if kind is None or isinstance(kind, Texts) or kind in (PLAIN, _SIZE, _RATE, _TIME):
        return None
    return (
        f"this is {kind}, which no tool reads: only a size, a rate, a time or a plain number "
        "can be in a case"
    )


def number_word(value: float, kind: Kind) -> str:
    """Return a number as tools read it.

    Args:
        value: the number, in bits and seconds.
        kind: its dimension.

    Raises:
        InputError: it is negative, and its kind cannot be.
    """
    if kind in (_SIZE, _RATE, _TIME) and value < 0:
        raise InputError(f"{number_shown(value, kind)} is negative: {kind} cannot be less than 0")
    if kind == _SIZE:
        return str(round(value / 8))
    if kind == _RATE:
        return rate_text(round(value))
    if kind == _TIME:
        return time_text(round(value, 9))  # whole nanoseconds
    return plain_word(value)


def plain_word(value: float) -> str:
    """Return a plain number with up to 12 digits, and whole if it is nearly so."""
    return format(Decimal(f"{value:.12g}").normalize() + 0, "f")


def number_shown(value: float, kind: Kind) -> str:
    """Return a number in readable form.

    Args:
        value: the number, in bits and seconds.
        kind: its dimension.
    """
    if kind == _SIZE:
        return format_quantity(value / 8, Unit.BYTES)
    if kind == _RATE:
        return format_quantity(value, Unit.BPS)
    if kind == _TIME:
        return format_quantity(value, Unit.SECONDS)
    return plain_word(float(f"{value:.3g}")) if abs(value) < 100 else plain_word(round(value))
