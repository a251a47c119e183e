"""Expressions over names: `buffer * rate * rtt`, `cc != bbr or rtt < 100ms`.

The names are the parameters and derived values of a grid. As in claims, each number has a
dimension, so `10gbit * 20ms` is a size; the dimensions are checked before there is any case.

A number leaves an expression as the tools read it: a size in whole bytes, a rate as `10gbit`, a
time as `20ms`, anything else as a plain number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NoReturn

from lark import Token

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.kinds import rate_text, time_text
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, parse_literal
from longfat.study.expressions import evaluation
from longfat.study.expressions.compiler import Compiler, Kinds
from longfat.study.expressions.evaluation import Text, Value
from longfat.study.expressions.functions import ARGUMENTS, MODELS
from longfat.study.expressions.parser import FormulaError, Syntax, offset_of, parse_syntax
from longfat.study.expressions.terms import (
    DIMENSIONS,
    PLAIN,
    Condition,
    Kind,
    NameRef,
    Term,
    TextLiteral,
    TextRef,
    Texts,
)

MAX_LENGTH = 500
"""The number of characters that an expression may have."""

COMMA_HINT = "; between braces or brackets, a text with a comma must be quoted"

_SIZE = DIMENSIONS[Unit.BYTES]
_RATE = DIMENSIONS[Unit.BPS]
_TIME = DIMENSIONS[Unit.SECONDS]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")

# `bdp`, `cubic` and `mathis` can be names, too: the call of a function has a parenthesis.
_KEYWORDS = ("and", "or", "not", "where", *(name for name in ARGUMENTS if name not in MODELS))


def name_problem(name: str) -> str | None:
    """Return why no parameter can be called so; None if one can."""
    if not _NAME.fullmatch(name):
        return (
            f"{name!r} cannot be a parameter's name: write a letter, then up to 30 letters, "
            "digits or _ (no hyphen: a-b is a difference)" + (COMMA_HINT if ")" in name else "")
        )
    if name in _KEYWORDS:
        return f"no parameter can be called {name!r}: it is a word of the expressions"
    if name.lower() in ("k", "m", "g", "t"):
        return f"no parameter can be called {name!r}: it is a unit"
    try:
        parse_literal(f"1{name}")
    except InputError:
        return None
    return f"no parameter can be called {name!r}: it is a unit"


def unknown_parameter(name: str, known: tuple[str, ...]) -> str:
    """Return the message that there is no parameter of a name."""
    return f"there is no parameter {name!r}{nearest(name, known)} (there are: {listed(known)})"


class NameResolver:
    """Resolves the names of an expression, and refuses metrics.

    Args:
        kinds: the names that exist.

    Attributes:
        names: the names in the expression.
    """

    functions: tuple[str, ...] = ()

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.names: dict[str, None] = {}

    def use(self, name: str, offset: int) -> None:
        """See `Resolver`."""
        del offset
        if name in self.kinds.names:
            self.names[name] = None

    def unknown_name(self, name: str) -> str:
        """See `Resolver`."""
        return unknown_parameter(name, self.kinds.names)

    def metric(self, token: Token) -> NoReturn:
        """Refuse a metric, which nothing has before there is a result."""
        raise FormulaError(
            f"{token} is a metric, and here nothing has been measured yet", offset=offset_of(token)
        )

    def case_metric(self, syntax: Syntax) -> NoReturn:
        """Refuse a metric, likewise."""
        self.metric(syntax.children[0])

    def call(self, name: str, offset: int, arguments: list[Syntax], compiler: Compiler) -> None:
        """See `Resolver`; it has no function of its own."""


@dataclass(frozen=True, slots=True)
class NameScope:
    """The scope of an expression over names.

    Attributes:
        numbers: the numbers among the values, in bits and seconds.
        texts: the texts among them.
    """

    numbers: Mapping[str, Value]
    texts: Mapping[str, str] = field(default_factory=dict)

    def leaf(self, term: Any) -> Value:
        """Return the value of a name."""
        return self.numbers[term.name]

    def text(self, name: str) -> Text:
        """Return the value of a name that is a text."""
        return self.texts[name]


@dataclass(frozen=True, slots=True)
class Bindings:
    """The values of the names in one case.

    Attributes:
        numbers: those that are numbers, in bits and seconds, by name.
        texts: those that are texts.
        words: what a name alone is written as.
        shown: the same, for display.
    """

    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)

    @property
    def scope(self) -> NameScope:
        """Return the scope of expressions in this case."""
        return NameScope(self.numbers, self.texts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """A number or text that depends on names.

    Attributes:
        text: what was written.
        kind: what it is.
        names: the names in it.
        bare: it is one name and nothing else.
        term: how it is computed; a text is always bare.
    """

    text: str
    kind: Kind
    names: tuple[str, ...]
    bare: bool
    term: Term | TextRef

    def number(self, bindings: Bindings) -> float:
        """Return its value in bits and seconds.

        Raises:
            InputError: it has no value, as 1 / 0.
        """
        assert not isinstance(self.term, TextRef)
        value = evaluation.number(self.term, bindings.scope)
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
    resolver = NameResolver(kinds)
    term = Compiler(text, resolver).value(_parse(text))
    if isinstance(term, TextLiteral):
        raise FormulaError("a text needs no expression: write it as it is", offset=0)
    return Expression(
        text=" ".join(text.split()),
        kind=term.kind if isinstance(term, TextRef) else term.dimension,
        names=tuple(resolver.names),
        bare=isinstance(term, (NameRef, TextRef)),
        term=term,
    )


def parse_condition(text: str, kinds: Kinds) -> tuple[Condition, tuple[str, ...]]:
    """Parse a condition over names.

    Returns:
        The condition and the names in it.

    Raises:
        FormulaError: as `parse_expression`, or it is not true or false.
    """
    resolver = NameResolver(kinds)
    condition = Compiler(text, resolver).condition(_parse(text), "a condition is")
    return condition, tuple(resolver.names)


def holds(condition: Condition, bindings: Bindings) -> bool:
    """Return whether a condition holds; one that has no value does not."""
    return evaluation.holds(condition, bindings.scope)


def _parse(text: str) -> Syntax:
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"the expression has more than {MAX_LENGTH} characters", offset=0)
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
