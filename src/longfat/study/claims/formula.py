"""From the text of a claim, or of another expression, to its terms.

lark parses by the LALR grammar in `claims.lark`, which takes no recursion; the tree's depth
is limited as it grows, so that walking it here is safe. Names are resolved while parsing,
and every error has the position of its character.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, ClassVar, NoReturn, cast

from lark import Lark, Token, Tree, UnexpectedInput, UnexpectedToken

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.metric import Metric
from longfat.model.units import parse_literal
from longfat.study.claims import terms
from longfat.study.claims.terms import Condition, Number, Reading, Term
from longfat.study.metrics import find_metric


class FormulaError(Exception):
    """What is wrong, and at which character of the text."""

    def __init__(self, message: str, *, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def parse_syntax(text: str, what: str) -> Syntax:
    """Parse a text.

    Args:
        text: the text.
        what: what it is, for messages, such as `the claim`.

    Raises:
        FormulaError: it is not of the language.
    """
    try:
        (child,) = _parser().parse(text).children
    except UnexpectedInput as error:
        raise _syntax_error(error, text, what) from None
    return child


@cache
def _parser() -> Lark:
    grammar = resources.files("longfat.study.claims").joinpath("claims.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", tree_class=_LimitedTree, propagate_positions=True)


class _LimitedTree(Tree[Token]):
    """A node of the syntax, which refuses to become too deep."""

    def __init__(self, data: str, children: list[Any], meta: Any = None) -> None:
        super().__init__(data, children, meta)
        inner = [child.depth for child in children if isinstance(child, _LimitedTree)]
        self.depth: int = 1 + max(inner, default=0)
        if self.depth > terms.DEEPEST_TERM:
            offset = offset_of(children[0]) if children else 0
            raise FormulaError(f"nested more than {terms.DEEPEST_TERM} deep", offset=offset)


Syntax = Any  # a _LimitedTree or Token; lark's own types do not distinguish them


def offset_of(syntax: Syntax) -> int:
    """Return at which character of the text it starts."""
    while not isinstance(syntax, Token):
        if not syntax.children:
            return 0
        syntax = syntax.children[0]
    return int(syntax.start_pos or 0)


def source_of(syntax: Syntax, text: str) -> str:
    """Return what was written, without needless spaces."""
    if isinstance(syntax, Token):
        return str(syntax)
    return " ".join(text[syntax.meta.start_pos : syntax.meta.end_pos].split())


def _syntax_error(error: UnexpectedInput, text: str, what: str) -> FormulaError:
    offset = error.pos_in_stream
    if (isinstance(error, UnexpectedToken) and error.token.type == "$END") or offset is None:
        return FormulaError(f"{what} ends too early", offset=len(text.rstrip()))
    rest = text[offset:].split(maxsplit=1)[0] if text[offset:].strip() else ""
    hint = ""
    if rest.startswith("="):
        hint = "; write == to compare"
    elif rest[:1].isalpha() and what == "the claim":
        hint = "; a metric is written CASE.FLOW.METRIC, and a unit right behind its number"
    elif text[offset - 1 : offset] == "." and what == "the claim":
        hint = "; a metric is written CASE.FLOW.METRIC"
    shown = rest if len(rest) <= 40 else f"{rest[:37]}..."
    return FormulaError(f"{what} cannot be read from {shown!r} on{hint}", offset=offset)


_ARGUMENTS = {
    "min": "two or more values",
    "max": "two or more values",
    "abs": "one value",
    "within": "three values",
}


_LEAVES = ("literal", "metric", "own", "name", "text")


class Builder:
    """Builds terms from syntax.

    Args:
        text: what was written.
        known: the metrics of each case by full name.
    """

    ARGUMENTS: ClassVar[Mapping[str, str]] = _ARGUMENTS
    """What each function takes, by its name."""

    CONDITIONS: ClassVar[tuple[type, ...]] = (terms.Comparison, terms.Within, terms.Logic)
    """What is true or false."""

    def __init__(self, text: str, known: Mapping[str, Mapping[str, Metric]]) -> None:
        self.cases: set[str] = set()
        self.text = text
        self._known = known

    def condition(self, syntax: Syntax, what: str) -> Condition:
        """Build what is true or false."""
        built = self.build(syntax)
        self.check(built, offset_of(syntax))
        if isinstance(built, self.CONDITIONS):
            return cast("Condition", built)
        kind = built.dimension or terms.PLAIN
        raise FormulaError(
            f"{what} true or false, and this is {kind}: compare it, as in x > 3gbit",
            offset=offset_of(syntax),
        )

    def term(self, syntax: Syntax) -> Term:
        """Build a number."""
        built = self.build(syntax)
        self.check(built, offset_of(syntax))
        if isinstance(built, self.CONDITIONS):
            raise FormulaError(
                "this is true or false, where a number is needed", offset=offset_of(syntax)
            )
        term: Term = built
        return term

    def check(self, built: Any, offset: int) -> None:
        """Refuse what is neither a number nor true or false; all that is built here is."""

    def build(self, syntax: Syntax) -> Any:
        """Build what is a number, or true or false."""
        parts = syntax.children
        at = parts[1] if len(parts) > 1 and isinstance(parts[1], Token) else syntax
        try:
            if syntax.data in _LEAVES:
                return self.leaf(syntax)
            match syntax.data:
                case "call":
                    return self.call(str(parts[0]), parts[0], parts[1:])
                case "negative":
                    return self.function("-", [self.term(parts[1])])
                case "sum":
                    return terms.total(*self._joined(parts))
                case "product":
                    return terms.product(*self._joined(parts))
                case "comparison":
                    compared = [self.term(part) for part in parts[::2]]
                    return terms.Comparison.of(compared, [str(sign) for sign in parts[1::2]])
                case word:  # or_, and_, not_
                    word = word.rstrip("_")
                    what = f"{word!r} takes what is"
                    return terms.Logic.of(word, [self.condition(part, what) for part in parts])
        except InputError as error:
            if error.place is not None:  # it speaks of another text
                raise
            raise FormulaError(error.message, offset=offset_of(at)) from None

    def _joined(self, parts: list[Syntax]) -> tuple[Term, list[tuple[str, Term]]]:
        first = self.term(parts[0])
        pairs = zip(parts[1::2], parts[2::2], strict=True)
        return first, [(str(sign), self.term(part)) for sign, part in pairs]

    def metric(self, token: Token) -> Reading:
        """Build the reading of a metric."""
        case, flow, name = token.split(".")
        start = int(token.start_pos or 0)
        if case not in self._known:
            self._unknown_case(case, flow, start)
        known = self._known[case]
        flows = dict.fromkeys(key.partition(".")[0] for key in known)
        start += len(case) + 1
        if flow not in flows:
            self.unknown(f"flow or probe in the case {case!r}", flow, flows, start, verb="called")
        full = find_metric(flow, name, known)
        if full is None:
            short = [m.short for key, m in known.items() if key == f"{flow}.{m.name}"]
            self.unknown(f"metric of {flow!r}", name, short, start + len(flow) + 1, verb="called")
        self.cases.add(case)
        return Reading(case, full, known[full].unit)

    def _unknown_case(self, case: str, flow: str, start: int) -> NoReturn:
        try:
            self.unknown("case", case, self._known, start)
        except FormulaError as error:
            # a.b-c.d is the metric d of b-c in the case a.
            hint = "; spaces make a hyphen a minus" if "-" in flow else ""
            raise FormulaError(error.message + hint, offset=start) from None

    def leaf(self, syntax: Syntax) -> Any:
        """Build a number, or what has a name."""
        match syntax.data:
            case "literal":
                return Number.of(*parse_literal(str(syntax.children[0])))
            case "metric":
                return self.metric(syntax.children[0])
        text = source_of(syntax, self.text)
        raise FormulaError(f"{text!r} has no meaning here", offset=offset_of(syntax))

    def unknown(self, what: str, name: str, known: Any, offset: int, *, verb: str = "") -> NoReturn:
        """Raise that there is nothing of a name."""
        called = f"{what} {verb} {name!r}" if verb else f"{what} {name!r}"
        raise FormulaError(
            f"there is no {called}{nearest(name, known)} (there are: {listed(known)})",
            offset=offset,
        )

    def call(self, name: str, token: Token, parts: list[Syntax]) -> Any:
        """Build what a function gives."""
        if name not in self.ARGUMENTS:
            self.unknown("function", name, self.ARGUMENTS, int(token.start_pos or 0))
        if parts[-1].data == "where":
            raise FormulaError(
                f"{name}() has no where: it is of one case", offset=offset_of(parts[-1])
            )
        arguments = [self.term(part) for part in parts]
        count = len(arguments)
        least, most = _COUNTS[self.ARGUMENTS[name]]
        if not least <= count <= most:
            raise InputError(f"{name}() takes {self.ARGUMENTS[name]}, and here are {count}")
        return self.function(name, arguments)

    def function(self, name: str, arguments: list[Term]) -> Any:
        """Build what a function gives."""
        match name:
            case "min" | "max":
                return terms.extreme(name, arguments)
            case "within":
                return terms.Within.of(*arguments)
            case _:
                return terms.Single.of(name, arguments[0], arguments[0].dimension)


_COUNTS: Mapping[str, tuple[float, float]] = {
    "one value": (1, 1),
    "two values": (2, 2),
    "two or more values": (2, math.inf),
    "three values": (3, 3),
}
