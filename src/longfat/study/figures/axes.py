"""How the axes of a figure are shown: `log`, `range` and `labels`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from longfat.errors import InputError
from longfat.model.units import parse_literal
from longfat.study.claims.terms import BITS, DIMENSIONS, Number, Term
from longfat.study.figures.spec import Quantity
from longfat.study.node import Node

Ends = tuple[float | None, float | None]

# The axes that show numbers.
_AXES: Mapping[str, tuple[str, ...]] = {
    "lines": ("x", "y"),
    "points": ("x", "y"),
    "heat": ("colour",),
    "cdf": ("x",),
}


def read_log(
    fields: Mapping[str, Node],
    kind: str,
    over: Quantity | None,
    values: Callable[[Term], list[float]],
) -> frozenset[str]:
    """Read which axes are logarithmic.

    Args:
        fields: the figure's fields.
        kind: the word of its kind.
        over: its x axis.
        values: gives the values of an expression over names in all cases.

    Raises:
        InputError: there is no such axis, or it has no logarithm.
    """
    if "log" not in fields:
        return frozenset()
    node = fields["log"]
    items = node.sequence("a list of axes") if node.is_sequence else [node]
    found = set()
    for item in items:
        axis = item.line("an axis")
        if axis not in _AXES[kind]:
            raise item.expected(" or ".join(_AXES[kind]))
        if axis == "x" and kind == "lines" and over is not None:
            if over.term is None:
                raise item.error(f"{over.text!r} is a text, which has no logarithm")
            if min(values(over.term)) <= 0:
                raise item.error(
                    f"{over.text} is 0 or less in some cases, and a logarithmic axis has no "
                    f"place for them: leave them out by where: {over.text} > 0"
                )
        found.add(axis)
    return frozenset(found)


def read_ranges(
    fields: Mapping[str, Node], kind: str, what: Quantity, over: Quantity | None
) -> dict[str, Ends]:
    """Read where axes begin and end, in base units.

    Raises:
        InputError: there is no such axis, or an end is of another kind than what it shows.
    """
    if "range" not in fields:
        return {}
    shown = {"x": what if kind == "cdf" else over, "y": what, "colour": what}
    found = fields["range"].fields("axes with their ends", allowed=_AXES[kind])
    return {axis: _ends(node, shown[axis]) for axis, node in found.items()}


def _ends(node: Node, quantity: Quantity | None) -> Ends:
    form = "the two ends of an axis (such as [0, 100mbit], or [0, ~])"
    items = node.sequence(form)
    if len(items) != 2:
        raise node.expected(form)
    if quantity is None or quantity.term is None:
        raise node.error("an axis of texts has no ends")
    low, high = (None if item.is_null else _end(item, quantity) for item in items)
    if low is not None and high is not None and low >= high:
        raise node.error("the axis ends where it begins, or before")
    return low, high


def _end(node: Node, quantity: Quantity) -> float:
    try:
        literal = parse_literal(node.line("an end"))
    except InputError as error:
        raise node.error(error.message) from None
    number = Number.of(*literal)
    wanted = DIMENSIONS[quantity.unit]
    if number.dimension not in (None, wanted):
        raise node.error(f"the axis shows {wanted}, and this is {number.dimension}")
    return number.number / BITS.get(quantity.unit, 1.0)


def read_labels(fields: Mapping[str, Node], kind: str) -> dict[str, str]:
    """Read the labels of the axes.

    Raises:
        InputError: there is no such axis, or a label is no line.
    """
    if "labels" not in fields:
        return {}
    axes = ("x", "y", "colour") if kind == "heat" else ("x", "y")
    found = fields["labels"].fields("axes with their labels", allowed=axes)
    return {axis: node.line("a label") for axis, node in found.items()}
