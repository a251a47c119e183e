"""From the text of an expression to its syntax.

lark parses by the LALR grammar in `grammar.lark`, which takes no recursion; the tree's depth
is limited as it grows, so that walking it is safe.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput, UnexpectedToken

from longfat.study.expressions.terms import MAX_DEPTH


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
    grammar = resources.files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return Lark(grammar, parser="lalr", tree_class=_LimitedTree, propagate_positions=True)


class _LimitedTree(Tree[Token]):
    """A node of the syntax, which refuses to become too deep."""

    def __init__(self, data: str, children: list[Any], meta: Any = None) -> None:
        super().__init__(data, children, meta)
        inner = [child.depth for child in children if isinstance(child, _LimitedTree)]
        self.depth: int = 1 + max(inner, default=0)
        if self.depth > MAX_DEPTH:
            offset = offset_of(children[0]) if children else 0
            raise FormulaError(f"nested more than {MAX_DEPTH} deep", offset=offset)


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
