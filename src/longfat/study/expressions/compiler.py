"""From the syntax of an expression to its terms.

A `Compiler` handles what all expressions have in common: arithmetic, comparisons, logic and
functions. A `Resolver` handles what depends on where the expression is written: its names and
metrics, and additional functions. Names are resolved while compiling, and every error has the
position of its character.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, Protocol

from lark import Token

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.units import parse_literal
from longfat.study.expressions import terms
from longfat.study.expressions.functions import ARGUMENTS, call_function
from longfat.study.expressions.parser import FormulaError, Syntax, offset_of, source_of
from longfat.study.expressions.terms import (
    Comparison,
    Condition,
    Kind,
    NameRef,
    Number,
    Term,
    TextLiteral,
    TextRef,
    Texts,
)

_LEAVES = ("literal", "text", "name", "metric", "case_metric")


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


class Resolver(Protocol):
    """Resolves the names and metrics of an expression.

    Attributes:
        kinds: the names.
        functions: the names of the functions that it has in addition to `ARGUMENTS`.
    """

    kinds: Kinds
    functions: tuple[str, ...]

    def use(self, name: str, offset: int) -> None:
        """Record that a name, or an unquoted text, is used.

        Raises:
            FormulaError: it cannot be used here.
        """

    def unknown_name(self, name: str) -> str:
        """Return the message for a name that does not exist."""

    def metric(self, token: Token) -> Term:
        """Return the metric of a case that is named: `CASE.FLOW.METRIC`.

        Raises:
            FormulaError: there is none.
        """

    def case_metric(self, syntax: Syntax) -> Term:
        """Return the metric of each case: `FLOW.METRIC`, with or without filters.

        Raises:
            FormulaError: there is none.
        """

    def call(
        self, name: str, offset: int, arguments: list[Syntax], compiler: Compiler
    ) -> Term | Condition | None:
        """Return the call of one of its own functions; None if it is another function.

        Raises:
            FormulaError: the arguments are wrong.
        """


class Compiler:
    """Compiles one expression.

    Args:
        text: what was written.
        resolver: resolves its names and metrics.
    """

    def __init__(self, text: str, resolver: Resolver) -> None:
        self.text = text
        self._resolver = resolver
        self._kinds = resolver.kinds

    def condition(self, syntax: Syntax, what: str) -> Condition:
        """Compile a condition.

        Args:
            syntax: its syntax.
            what: how a message about something else begins, such as `a claim is`.

        Raises:
            FormulaError: it is wrong, or neither true nor false.
        """
        built = self.build(syntax)
        if isinstance(built, Condition):
            return built
        term = self._number(built, offset_of(syntax))
        kind = term.dimension or terms.PLAIN
        raise FormulaError(
            f"{what} true or false, and this is {kind}: compare it, as in x > 3gbit",
            offset=offset_of(syntax),
        )

    def term(self, syntax: Syntax) -> Term:
        """Compile a number.

        Raises:
            FormulaError: it is wrong, or no number.
        """
        return self._number(self.value(syntax), offset_of(syntax))

    def value(self, syntax: Syntax) -> Term | TextRef | TextLiteral:
        """Compile a number or a text.

        Raises:
            FormulaError: it is wrong, or neither.
        """
        built = self.build(syntax)
        if isinstance(built, Condition):
            raise FormulaError(
                "this is true or false, where a number is needed", offset=offset_of(syntax)
            )
        return built

    def build(self, syntax: Syntax) -> Term | Condition | TextRef | TextLiteral:
        """Compile a number, a condition or a text.

        Raises:
            FormulaError: it is wrong.
        """
        parts = syntax.children
        at = parts[1] if len(parts) > 1 and isinstance(parts[1], Token) else syntax
        try:
            return self._leaf(syntax) if syntax.data in _LEAVES else self._build(syntax, parts)
        except InputError as error:
            if error.place is not None:  # it is an error of another text
                raise
            raise FormulaError(error.message, offset=offset_of(at)) from None

    def _leaf(self, syntax: Syntax) -> Term | TextRef | TextLiteral:
        (token, *_) = syntax.children
        match syntax.data:
            case "literal":
                return Number.of(*parse_literal(str(token)))
            case "text":
                return TextLiteral(str(token)[1:-1])
            case "metric":
                return self._resolver.metric(token)
            case "case_metric":
                return self._resolver.case_metric(syntax)
        return self._name(token)

    def _build(self, syntax: Syntax, parts: list[Any]) -> Term | Condition:
        match syntax.data:
            case "call":
                return self._call(str(parts[0]), offset_of(parts[0]), parts[1:])
            case "negative":
                term = self.term(parts[1])
                return terms.UnaryCall.of("-", term, term.dimension)
            case "sum":
                return terms.total(*self._operands(parts))
            case "product":
                return terms.product(*self._operands(parts))
            case "comparison":
                return self._comparison(parts[::2], parts[1::2])
            case word:  # or_, and_, not_
                word = word.rstrip("_")
                what = f"{word!r} takes what is"
                return terms.Logic.of(word, [self.condition(part, what) for part in parts])

    def _operands(self, parts: list[Syntax]) -> tuple[Term, list[tuple[str, Term]]]:
        first = self.term(parts[0])
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        return first, [(str(sign), self.term(part)) for sign, part in pairs]

    # Names and texts.

    def _name(self, token: Token) -> NameRef | TextRef:
        name, offset = str(token), offset_of(token)
        self._resolver.use(name, offset)
        if name not in self._kinds.names:
            raise FormulaError(self._resolver.unknown_name(name), offset=offset)
        kind = self._kinds.kind(name)
        return TextRef(name, kind) if isinstance(kind, Texts) else NameRef(name, kind)

    def _number(self, value: Term | TextRef | TextLiteral, offset: int) -> Term:
        if isinstance(value, (TextRef, TextLiteral)):
            raise FormulaError(
                f"{str(value)!r} is a text, and only == and != go with texts", offset=offset
            )
        return value

    # Comparisons.

    def _comparison(self, sides: list[Syntax], signs: list[Token]) -> Comparison:
        name = self._text_name(sides)
        if name is None:
            return Comparison.of([self.term(side) for side in sides], [str(sign) for sign in signs])
        texts = []
        for side, text in [(side, self._text(side, name)) for side in sides]:
            if not isinstance(text, (TextRef, TextLiteral)):
                raise FormulaError(
                    f"{name.name!r} is a text, and this is a number", offset=offset_of(side)
                )
            possible = name.kind.values
            if isinstance(text, TextLiteral) and possible and text.text not in possible:
                raise FormulaError(
                    f"{name.name!r} is never {text.text!r}{nearest(text.text, possible)} "
                    f"(its values: {listed(possible)})",
                    offset=offset_of(side),
                )
            texts.append(text)
        for sign in signs:
            if str(sign) not in ("==", "!="):
                raise FormulaError(
                    f"{name.name!r} is a text, and only == and != go with texts",
                    offset=offset_of(sign),
                )
        return Comparison.of_texts(texts, [str(sign) for sign in signs])

    def _text_name(self, sides: list[Syntax]) -> TextRef | None:
        """Return the first side of a comparison that is a name of texts."""
        for side in sides:
            name = str(side.children[0]) if side.data == "name" else ""
            if name in self._kinds.names:
                kind = self._kinds.kind(name)
                if isinstance(kind, Texts):
                    return TextRef(name, kind)
        return None

    def _text(self, side: Syntax, name: TextRef) -> Term | Condition | TextRef | TextLiteral:
        """Return a side of a comparison with a name of texts: a word there need not be quoted."""
        source = source_of(side, self.text)
        if side.data == "name" and source not in self._kinds.names:
            self._resolver.use(source, offset_of(side))
            return TextLiteral(source)
        if side.data != "name" and source in name.kind.values:
            return TextLiteral(source)  # a text with hyphens looks like a difference
        return self.build(side)

    # Functions.

    def _call(self, name: str, offset: int, parts: list[Syntax]) -> Term | Condition:
        own = self._resolver.call(name, offset, parts, self)
        if own is not None:
            return own
        if name not in ARGUMENTS:
            unknown("function", name, (*ARGUMENTS, *self._resolver.functions), offset)
        if parts[-1].data == "where":
            raise FormulaError(
                f"{name}() has no where: it is of one case", offset=offset_of(parts[-1])
            )
        return call_function(name, [self.term(part) for part in parts])


def unknown(what: str, name: str, known: Iterable[str], offset: int, *, verb: str = "") -> NoReturn:
    """Raise the error that nothing of a kind has a name.

    Args:
        what: the kind.
        name: the name.
        known: the names that exist.
        offset: where it is written.
        verb: how the message connects kind and name, such as `called`.

    Raises:
        FormulaError: always.
    """
    subject = f"{what} {verb} {name!r}" if verb else f"{what} {name!r}"
    known = list(known)
    raise FormulaError(
        f"there is no {subject}{nearest(name, known)} (there are: {listed(known)})", offset=offset
    )
