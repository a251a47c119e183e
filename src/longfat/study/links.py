"""The links of a network: two ends, and what the link does to packets on their way.

Properties hold for both directions; under `to`, the name of an end has those of
the direction towards it, which replace them one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from longfat.common.suggest import listed, nearest
from longfat.model.fields import fields_of, read_fields
from longfat.model.network import Link, LinkImpairments
from longfat.study.addresses import read_address

if TYPE_CHECKING:
    from longfat.study.node import Node
    from longfat.study.traces import Traces

_SHAPE = fields_of(LinkImpairments)
_FIELDS = (*_SHAPE, *fields_of(Link), "addresses", "to")

_LINK = "a link as [NODE, NODE]"


def read_link(node: Node, names: Iterable[str], *, traces: Traces) -> Link:
    """Read a link.

    Args:
        node: `[NODE, NODE]` or `[NODE, NODE, {PROPERTIES}]`.
        names: the nodes that there are.
        traces: reads the traces that it follows.

    Raises:
        InputError: an end does not exist, or a property is wrong.
    """
    parts = node.sequence(_LINK)
    if len(parts) == 3 and not parts[2].is_mapping:
        raise parts[2].expected("a mapping of the link's properties (such as {rate: 1gbit})")
    if len(parts) not in {2, 3}:
        raise node.error(f"a link has two ends, and here are {len(parts)}: write [NODE, NODE]")
    names = list(names)
    a, b = (end.line("a node's name") for end in parts[:2])
    for end, name in zip(parts, (a, b), strict=False):
        if name not in names:
            end.note(
                end.error(
                    f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
                )
            )
    if a == b:
        raise node.error(f"the link leads from {a} to itself")
    if len(parts) == 2:
        return Link(a=a, b=b)
    fields = parts[2].fields("a link's properties", allowed=_FIELDS, goes_on=True)
    a_to_b, b_to_a = read_ways(fields, (a, b), traces=traces)
    given = fields.get("addresses")
    addresses = _read_ends(given, (a, b), "addresses by end") if given is not None else {}
    return Link(
        a=a,
        b=b,
        a_to_b=LinkImpairments(**a_to_b),
        b_to_a=LinkImpairments(**b_to_a),
        a_address=read_address(addresses[a]) if a in addresses else None,
        b_address=read_address(addresses[b]) if b in addresses else None,
        **read_fields(Link, fields),
    )


def read_ways(
    fields: Mapping[str, Node], ends: tuple[str, str], *, traces: Traces | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the properties of both directions of a link.

    Args:
        fields: the link's fields; those that are no properties are left alone.
        ends: its nodes, a and b.
        traces: reads the traces that it follows; None where it cannot follow any.

    Returns:
        The values that were written for packets from a to b, and from b to a, by attribute;
        None for one that was written without a value.

    Raises:
        InputError: a property is wrong, or is one towards another node.
    """
    both = _read_shape(fields, traces)
    to = _read_ends(fields["to"], ends, "properties by end") if "to" in fields else {}
    towards = {
        end: _read_shape(value.fields("properties of one direction", allowed=_SHAPE), traces)
        for end, value in to.items()
    }
    a, b = ends
    return {**both, **towards.get(b, {})}, {**both, **towards.get(a, {})}


def _read_ends(node: Node, ends: tuple[str, str], what: str) -> dict[str, Node]:
    found = {}
    for key, value in node.items(what):
        if key.text not in ends:
            raise value.error(f"{key.text!r} is no end of this link: write {ends[0]} or {ends[1]}")
        found[key.text] = value
    return found


def _read_shape(fields: Mapping[str, Node], traces: Traces | None) -> dict[str, Any]:
    """Read the properties of one direction, or of both; one with no value is taken back."""
    given = {key: node for key, node in fields.items() if not node.is_null}
    taken_back = {_SHAPE[key].name: None for key in fields if key in _SHAPE and key not in given}
    found = {**taken_back, **read_fields(LinkImpairments, given)}
    if "trace" in given:
        if traces is None:
            raise given["trace"].error(
                "a trace begins with the traffic: give it to the link itself, and not to an event"
            )
        found["trace"] = traces.path(given["trace"])
    return found
