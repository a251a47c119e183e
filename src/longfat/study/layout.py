"""The `layout` field: positions of a network's nodes in a drawing.

It decides no result and is no part of a case. Pixels count from the drawing's upper
left corner, to the right and down.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.study.node import Node

LARGEST_PX = 1_000_000
"""The largest coordinate of a node, in pixels."""

_NUMBER = re.compile(r"-?[0-9]{1,16}(\.[0-9]{0,20})?([eE][+-]?[0-9]{1,3})?")
_PLACE = "a place as two numbers of pixels (such as [120, 80])"


def read_layout(node: Node, names: Collection[str]) -> dict[str, tuple[float, float]]:
    """Read the positions of nodes.

    Args:
        node: the value of `layout`: a mapping of nodes to pairs of numbers.
        names: the nodes that there are, in any case.

    Returns:
        Places in pixels, to the right and down; of some nodes or all.

    Raises:
        InputError: there is no such node, or its place is none.
    """
    places = {}
    for key, value in node.items("a mapping of nodes to places (such as {h1: [120, 80]})"):
        if key.text not in names:
            raise InputError(
                f"there is no node {key.text!r}{nearest(key.text, names)} "
                f"(there are: {listed(names)})",
                place=key.place,
            )
        places[key.text] = read_place(value)
    return places


def read_place(node: Node) -> tuple[float, float]:
    """Read two numbers of pixels, to the right and down.

    Raises:
        InputError: it is something else.
    """
    pair = node.sequence(_PLACE)
    if len(pair) != 2:
        raise node.error(f"found {len(pair)} values, expected {_PLACE}")
    x, y = (_pixels(one) for one in pair)
    return x, y


def _pixels(node: Node) -> float:
    text = node.line("a number of pixels")
    if not _NUMBER.fullmatch(text):
        raise node.expected("a number of pixels")
    value = float(text)
    if abs(value) > LARGEST_PX:
        raise node.error(f"{text} is outside of what is allowed: -{LARGEST_PX} to {LARGEST_PX}")
    return value
