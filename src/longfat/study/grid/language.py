"""The language of expressions over names: what a name can be, and how syntax becomes terms.

It is that of claims, with names in place of metrics, texts that can be compared,
and a few functions more. The names are a grid's parameters or, where claims use it,
those of a row.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from lark import Token

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.metric import Metric
from longfat.model.units import parse_literal
from longfat.study.claims import terms
from longfat.study.claims.columns import Value
from longfat.study.claims.formula import Builder, FormulaError, Syntax, offset_of, source_of
from longfat.study.claims.models import MODELS, jain
from longfat.study.claims.terms import PLAIN, Dimension, Term, same_dimension


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
