"""Expressions over the parameters of a grid: `buffer * rate * rtt`, `cc != bbr or rtt < 100ms`.

The language is that of claims, with names in place of metrics, texts that can
be compared, and a few functions more. As there, each number has a dimension, so
`10gbit * 20ms` is a size; the dimensions are checked before there is any case.

A number leaves an expression as the tools read it: a size in whole bytes, a
rate as `10gbit`, a time as `20ms`, anything else as a plain number.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar

from lark import Token

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.kinds import rate_text, time_text
from longfat.model.metric import Metric, Unit
from longfat.model.units import format_quantity, parse_literal
from longfat.study.claims import columns, terms
from longfat.study.claims.columns import Value, number
from longfat.study.claims.formula import (
    Builder,
    FormulaError,
    Syntax,
    offset_of,
    parse_syntax,
    source_of,
)
from longfat.study.claims.models import MODELS, jain
from longfat.study.claims.terms import DIMENSIONS, PLAIN, Condition, Dimension, Term, same_dimension

LONGEST_EXPRESSION = 500

_SIZE = DIMENSIONS[Unit.BYTES]
_RATE = DIMENSIONS[Unit.BPS]
_TIME = DIMENSIONS[Unit.SECONDS]


def _round(value: float) -> float:
    return float(round(value))


# The functions of one plain number.
_ROUNDING: Mapping[str, Callable[[float], float]] = {
    "round": _round,
    "floor": math.floor,
    "ceil": math.ceil,
}


@dataclass(frozen=True, slots=True)
class Texts:
    """The kind of a name whose values are texts.

    Attributes:
        values: the texts that it can be; empty where that is not known.
    """

    values: tuple[str, ...] = ()


Kind = Dimension | Texts | None
"""What a name refers to: texts, or numbers of a dimension (None: a 0, which fits any)."""


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


@cache
def text_code(text: str) -> float:
    """Return the number that represents a text in comparisons."""
    return float(int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big"))


COMMA_HINT = "; between braces or brackets, a text with a comma must be quoted"

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,30}")


def name_problem(name: str) -> str | None:
    """Return why no parameter can be called so; None if one can."""
    if not _NAME.fullmatch(name):
        return (
            f"{name!r} cannot be a parameter's name: write a letter, then up to 30 letters, "
            "digits or _ (no hyphen: a-b is a difference)" + (COMMA_HINT if ")" in name else "")
        )
    if name in ("and", "or", "not", "where", *_OWN_WORDS):
        return f"no parameter can be called {name!r}: it is a word of the expressions"
    if name.lower() in ("k", "m", "g", "t"):
        return f"no parameter can be called {name!r}: it is a unit"
    try:
        parse_literal(f"1{name}")
    except InputError:
        return None
    return f"no parameter can be called {name!r}: it is a unit"


@dataclass(frozen=True, slots=True)
class Named:
    """A name whose value is a number."""

    name: str
    dimension: Dimension | None
    depth: int = 1


@dataclass(frozen=True, slots=True)
class Word:
    """A text: the value of a name, or a literal.

    A bare word may turn out to be no name at all; then `kind` is None.
    """

    word: str
    kind: Texts | None
    named: bool
    depth: int = 1
    dimension: Dimension | None = None


@dataclass(frozen=True, slots=True)
class NameScope:
    """Where an expression over names finds their values.

    Attributes:
        values: the values of the names, in bits and seconds; of a text, its code.
    """

    values: Mapping[str, Value]

    def leaf(self, term: Any) -> Value:
        """Return the value of a name or text."""
        if isinstance(term, Word) and not term.named:
            return text_code(term.word)
        return self.values[term.word if isinstance(term, Word) else term.name]


class NameBuilder(Builder):
    """Builds expressions over names from syntax.

    Args:
        text: what was written.
        kinds: the names.
        known: the metrics of each case, for a language that has some.
    """

    ARGUMENTS: ClassVar[Mapping[str, str]] = {
        **Builder.ARGUMENTS,
        **dict.fromkeys(("sqrt", *_ROUNDING), "one value"),
        "jain": "two or more values",
        **{name: model.count for name, model in MODELS.items()},
    }

    def __init__(
        self, text: str, kinds: Kinds, known: Mapping[str, Mapping[str, Metric]] | None = None
    ) -> None:
        super().__init__(text, known or {})
        self.names: dict[str, None] = {}
        self.kinds = kinds

    def build(self, syntax: Syntax) -> Any:
        """Build what is a number or a text, or true or false."""
        if syntax.data == "comparison":
            return self._comparison(syntax)
        return super().build(syntax)

    def leaf(self, syntax: Syntax) -> Any:
        """Build a name or a text."""
        match syntax.data:
            case "name":
                return self._name(str(syntax.children[0]))
            case "text":
                return Word(str(syntax.children[0])[1:-1], Texts(), named=False)
            case "own":
                return self.metric(syntax.children[0])
        return super().leaf(syntax)

    def metric(self, token: Token) -> Any:
        """Refuse a metric, which nothing has before there is a result."""
        raise FormulaError(
            f"{token} is a metric, and here nothing has been measured yet", offset=offset_of(token)
        )

    def check(self, built: Any, offset: int) -> None:
        """Refuse a text where a number is needed."""
        if isinstance(built, Word):
            self._refuse(built, offset)

    def _refuse(self, word: Word, offset: int) -> None:
        if word.kind is None:
            known = self.kinds.names
            raise FormulaError(
                f"there is no parameter {word.word!r}{nearest(word.word, known)} "
                f"(there are: {listed(known)})",
                offset=offset,
            )
        raise FormulaError(
            f"{word.word!r} is a text, and only == and != go with texts", offset=offset
        )

    def _name(self, name: str) -> Any:
        if name not in self.kinds.names:
            return Word(name, None, named=False)
        self.names[name] = None
        kind = self.kinds.kind(name)
        if isinstance(kind, Texts):
            return Word(name, kind, named=True)
        return Named(name, kind)

    def _comparison(self, syntax: Syntax) -> Any:
        parts = syntax.children
        named = self._named_text(parts[::2])
        if named is None:
            return super().build(syntax)  # which refuses words
        sides = [self._side(part, named) for part in parts[::2]]
        for side, part in zip(sides, parts[::2], strict=True):
            if not isinstance(side, Word):
                raise FormulaError(
                    f"{named.word!r} is a text, and this is a number", offset=offset_of(part)
                )
            possible = named.kind.values if named.kind else ()
            if not side.named and possible and side.word not in possible:
                raise FormulaError(
                    f"{named.word!r} is never {side.word!r}{nearest(side.word, possible)} "
                    f"(its values: {listed(possible)})",
                    offset=offset_of(part),
                )
        for sign in parts[1::2]:
            if str(sign) not in ("==", "!="):
                raise FormulaError(
                    f"{named.word!r} is a text, and only == and != go with texts",
                    offset=offset_of(sign),
                )
        signs = tuple(str(sign) for sign in parts[1::2])
        return terms.Comparison(tuple(sides), signs, terms.checked_depth(*sides))

    def _named_text(self, parts: list[Syntax]) -> Word | None:
        """Return the side of a comparison that is a name of texts."""
        for part in parts:
            if part.data == "name" and part.children[0] in self.kinds.names:
                built = self._name(str(part.children[0]))
                if isinstance(built, Word):
                    return built
        return None

    def _side(self, part: Syntax, named: Word) -> Any:
        # A text with hyphens looks like a difference.
        text = source_of(part, self.text)
        if part.data != "name" and named.kind and text in named.kind.values:
            return Word(text, Texts(), named=False)
        return self.build(part)

    def function(self, name: str, arguments: list[Term]) -> Any:
        """Build what a function gives."""
        if name in MODELS:
            return MODELS[name].term(name, arguments)
        if name == "jain":
            same_dimension("jain() compares", *arguments)
            return terms.Called.of(jain, arguments, PLAIN)
        term = arguments[0]
        dimension = term.dimension or PLAIN
        if name in _ROUNDING:
            if dimension != PLAIN:
                raise InputError(
                    f"{name}() is of a plain number, and this is {dimension}: divide it by a "
                    f"unit, as in {name}(rtt / 1ms)"
                )
            return terms.Called.of(_ROUNDING[name], [term], PLAIN)
        if name == "sqrt":
            if dimension.data % 2 or dimension.time % 2:
                raise InputError(f"there is no square root of {dimension}")
            half = Dimension(dimension.data // 2, dimension.time // 2)
            return terms.Single.of("sqrt", term, half)
        return super().function(name, arguments)


# What no parameter can be called; `bdp`, `cubic` and `mathis` can, for nothing follows them there.
_OWN_WORDS = tuple(name for name in NameBuilder.ARGUMENTS if name not in MODELS)


class Kinds:
    """The names, and what each refers to.

    Attributes:
        names: the names.
    """

    names: tuple[str, ...] = ()

    def kind(self, name: str) -> Kind:
        """Return what a name refers to.

        Raises:
            InputError: its own text is wrong; with the place.
        """
        raise NotImplementedError


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
