"""Values of a study file that hold expressions: `limit $<buffer * rate * rtt>`.

`$<...>` was chosen because it has no other meaning: YAML takes it without quotes,
also between braces, where `${...}` ends the mapping; and no shell, tc or awk has
a meaning for it, while `${x}` and `$(...)` are the shell's own in a set-up line.
`$$<` is a literal `$<`.

A tree of values is read once into a `Template`; filling it for a case copies only what
contains an expression.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from longfat.errors import InputError
from longfat.study.document import Mapping, Raw, Scalar, Sequence
from longfat.study.expressions.compiler import Kinds
from longfat.study.expressions.names import (
    COMMA_HINT,
    Bindings,
    Expression,
    parse_expression,
    writable,
)
from longfat.study.expressions.parser import FormulaError
from longfat.study.node import Node

OPEN = "$<"
_PARTS = re.compile(r"\$?\$<")
_SHELL = re.compile(r"\$\{([A-Za-z][A-Za-z0-9_]*)")

Fill = Callable[[Bindings], Raw]
Places = dict[tuple[int, int], tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text with expressions in it.

    Attributes:
        node: its node in the file.
        parts: texts and expressions, in their order.
    """

    node: Node
    parts: tuple[str | Expression, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names in its expressions."""
        return tuple(
            name for part in self.parts if isinstance(part, Expression) for name in part.names
        )

    def fill(self, bindings: Bindings, *, shown: bool = False) -> str:
        """Return the text in one case.

        Args:
            bindings: the values of the names.
            shown: write numbers for display, not for a tool.

        Raises:
            InputError: an expression has no value.
        """
        try:
            return "".join(
                part
                if isinstance(part, str)
                else (part.shown(bindings) if shown else part.word(bindings))
                for part in self.parts
            )
        except InputError as error:
            raise self.node.error(error.message) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A value whose texts may hold expressions.

    Attributes:
        node: the value.
        places: the names in the expressions of each text, by its line and column.
    """

    node: Node
    places: Places
    _fill: Fill | None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names in its expressions; none if it is the same in all cases."""
        return tuple(dict.fromkeys(name for names in self.places.values() for name in names))

    def fill(self, bindings: Bindings) -> Node:
        """Return the value in one case.

        Raises:
            InputError: an expression has no value.
        """
        if self._fill is None:
            return self.node
        return replace(self.node, raw=self._fill(bindings))


def has_expression(text: str) -> bool:
    """Return whether a text holds `$<`."""
    return OPEN in text


def read_text(node: Node, kinds: Kinds) -> Text:
    """Read the expressions of a text.

    Args:
        node: the text.
        kinds: the names.

    Raises:
        InputError: an expression is wrong; with its place.
    """
    text = node.text()
    if (shell := _SHELL.search(text)) and shell[1] in kinds.names:
        raise InputError(
            f"${{{shell[1]}}} is a variable of the shell: the parameter is written $<{shell[1]}>",
            place=node.place_of(shell.start()),
        )
    parts: list[str | Expression] = []
    at = 0
    while opening := _PARTS.search(text, at):
        parts.append(text[at : opening.start()])
        start = opening.end()
        if opening[0].startswith("$$"):
            parts.append(OPEN)
            at = start
            continue
        end = text.find(">", start)
        if end < 0:
            raise InputError(
                f"{OPEN} begins an expression, and no > ends it (for {OPEN} itself write $$<)"
                + (COMMA_HINT if "(" in text[start:] else ""),
                place=node.place_of(opening.start()),
            )
        parts.append(_expression(text[start:end], start, node, kinds))
        at = end + 1
    parts.append(text[at:])
    return Text(node=node, parts=tuple(part for part in parts if part != ""))


def _expression(text: str, start: int, node: Node, kinds: Kinds) -> Expression:
    try:
        expression = parse_expression(text, kinds)
        if reason := writable(expression.kind):
            raise FormulaError(reason, offset=0)
    except FormulaError as error:
        raise InputError(error.message, place=node.place_of(start + error.offset)) from None
    return expression


def read_template(node: Node, kinds: Kinds) -> Template:
    """Read the expressions in a value and all that it holds.

    Raises:
        InputError: an expression is wrong, or in a key.
    """
    places: Places = {}
    fill = _compile(node, kinds, places)
    return Template(node=node, places=places, _fill=fill)


def _compile(node: Node, kinds: Kinds, places: Places) -> Fill | None:
    match node.raw:
        case Scalar():
            return _compile_text(node, kinds, places)
        case Sequence():
            return _compile_sequence(node, kinds, places)
        case Mapping():
            return _compile_mapping(node, kinds, places)


def _compile_text(node: Node, kinds: Kinds, places: Places) -> Fill | None:
    raw = node.raw
    assert isinstance(raw, Scalar)
    if OPEN not in raw.text and "${" not in raw.text:
        return None
    text = read_text(node, kinds)
    if text.parts == (raw.text,):
        return None
    places[raw.mark.line, raw.mark.column] = text.names
    # The result of an expression is never null, whatever its text.
    mark, block, weight = raw.mark, raw.block, raw.weight
    # Not by `replace`, which takes several times as long.
    return lambda bindings: Scalar(
        mark=mark, text=text.fill(bindings), plain=False, block=block, weight=weight
    )


def _compile_sequence(node: Node, kinds: Kinds, places: Places) -> Fill | None:
    raw = node.raw
    assert isinstance(raw, Sequence)
    items = node.sequence("a list")
    fills = [_compile(item, kinds, places) for item in items]
    if not any(fills):
        return None

    def fill(bindings: Bindings) -> Raw:
        filled = zip(fills, raw.items, strict=True)
        items = tuple(fill_item(bindings) if fill_item else item for fill_item, item in filled)
        return Sequence(mark=raw.mark, items=items, weight=raw.weight, depth=raw.depth)

    return fill


def _compile_mapping(node: Node, kinds: Kinds, places: Places) -> Fill | None:
    raw = node.raw
    assert isinstance(raw, Mapping)
    pairs = node.items("a mapping")
    for key, _ in pairs:
        if OPEN in key.text:
            raise InputError(
                f"{key.text!r} is a name, and names are the same in all cases of a grid: "
                f"{OPEN}...> goes into values",
                place=key.place,
            )
    fills = [_compile(value, kinds, places) for _, value in pairs]
    if not any(fills):
        return None

    def fill(bindings: Bindings) -> Raw:
        filled = zip(fills, raw.pairs, strict=True)
        pairs = tuple(
            (key, fill_value(bindings) if fill_value else value)
            for fill_value, (key, value) in filled
        )
        return Mapping(mark=raw.mark, pairs=pairs, weight=raw.weight, depth=raw.depth)

    return fill
