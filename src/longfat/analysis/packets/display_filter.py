"""Display filters, as Wireshark writes them, over the fields that a packet table has.

A filter that names other fields, or uses more of Wireshark's language, is evaluated by
tshark where that decodes. What both support means the same: a field without a comparison
tests whether it is present, and where a packet has a field twice (`ip.addr`), `!=` holds if
all of its values differ.

Source: wireshark-filter(4).
"""

from __future__ import annotations

import functools
import ipaddress
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from lark import Lark
from lark.exceptions import LarkError
from numpy.typing import NDArray

from longfat.analysis.packets.columns import COLUMNS, MARKS, Form
from longfat.analysis.packets.table import ABSENT, PacketTable
from longfat.common.suggest import listed
from longfat.errors import InputError

Mask = NDArray[np.bool_]

MAX_CHARACTERS = 1000
_MAX_NESTED = 40

_GRAMMAR = r"""
?start: either
?either: both (("||" | "or"i) both)*
?both: one (("&&" | "and"i) one)*
?one: ("!" | "not"i) one -> negated
    | "(" either ")"
    | FIELD OPERATOR VALUE -> compared
    | FIELD "in"i "{" VALUE ((",")? VALUE)* "}" -> among
    | FIELD -> present
OPERATOR: "==" | "!=" | ">=" | "<=" | ">" | "<"
    | "eq" | "ne" | "gt" | "lt" | "ge" | "le" | "contains"
FIELD: /[a-z_][a-z0-9_]*(\.[a-z0-9_]+)*/
VALUE.-1: /"[^"]*"/ | /[A-Za-z0-9_.:\/-]+/
%ignore /\s+/
"""

_WORDS = {"eq": "==", "ne": "!=", "gt": ">", "lt": "<", "ge": ">=", "le": "<="}
_FLAGS = {"fin": 1, "syn": 2, "reset": 4, "push": 8, "ack": 16, "urg": 32, "ece": 64, "cwr": 128}
_PROTOCOLS = ("tcp", "udp", "icmp", "icmpv6", "arp", "ip", "ipv6", "sctp")


class UnknownFieldError(InputError):
    """A filter uses more than a packet table has; tshark may support it."""


def passing(table: PacketTable, text: str, *, epoch_ns: int = 0) -> Mask:
    """Return which packets pass a display filter.

    Args:
        table: the packets.
        text: the filter; all pass an empty one.
        epoch_ns: the time stamp from which `frame.time_relative` counts.

    Raises:
        UnknownFieldError: it names a field that a table has not.
        InputError: it is no filter.
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"the filter has {len(text)} characters: at most {MAX_CHARACTERS}")
    if not text.strip():
        return np.ones(len(table), dtype=np.bool_)
    if text.count("(") + text.count("!") + text.lower().count("not") > _MAX_NESTED:
        raise InputError(f"the filter has more than {_MAX_NESTED} brackets and negations")
    try:
        tree = _parser().parse(text)
    except LarkError as error:
        column = getattr(error, "column", None)
        where = f" at character {column}" if isinstance(column, int) and column > 0 else ""
        raise UnknownFieldError(
            f"the filter cannot be read{where}: {text}; such as tcp.stream == 0 && tcp.len > 0,"
            " ip.addr == 10.0.0.1, tcp.analysis.retransmission"
        ) from None
    return _Evaluation(table, epoch_ns).mask(tree)


@functools.cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="earley", lexer="dynamic", ambiguity="resolve")


class _Evaluation:
    """Evaluates a filter over a table."""

    def __init__(self, table: PacketTable, epoch_ns: int) -> None:
        self._table = table
        self._epoch_ns = epoch_ns

    def mask(self, tree: Any) -> Mask:
        parts = tree.children
        match tree.data:
            case "either":
                return functools.reduce(np.logical_or, map(self.mask, parts))
            case "both":
                return functools.reduce(np.logical_and, map(self.mask, parts))
            case "negated":
                return ~self.mask(parts[0])
            case "compared":
                return self._compared(*map(str, parts))
            case "among":
                field, *values = map(str, parts)
                return functools.reduce(
                    np.logical_or, [self._compared(field, "==", value) for value in values]
                )
        return self._present(str(parts[0]))

    def _present(self, field: str) -> Mask:
        if field in _PROTOCOLS:
            return self._protocol(field)
        if field in _TEXT_FIELDS:
            return np.ones(len(self._table), dtype=np.bool_)
        if field.startswith("tcp.flags."):
            return self._protocol("tcp")
        values = self._numbers(field)
        marks = {one.name for one in MARKS}
        found = [one > 0 if field in marks else one != ABSENT for one in values]
        return functools.reduce(np.logical_or, found)

    def _protocol(self, name: str) -> Mask:
        table = self._table
        if name in ("tcp", "udp"):
            return cast(Mask, table.wholes[f"{name}_stream"] != ABSENT)
        if name in ("ip", "ipv6"):
            return cast(Mask, table.wholes["ecn" if name == "ip" else "ecn6"] != ABSENT)
        return np.array([one.lower() == name for one in table.texts["protocol"]], dtype=np.bool_)

    def _compared(self, field: str, operator: str, value: str) -> Mask:
        operator = _WORDS.get(operator, operator)
        value = value.strip('"')
        if field in _TEXT_FIELDS:
            return self._text(field, operator, value)
        if operator == "contains":
            raise InputError(f"`contains` is for texts, and {field} is a number")
        wanted = _number(field, value)
        masks = [
            (values != ABSENT) & _COMPARISONS[operator](values, wanted)
            for values in self._numbers(field)
        ]
        merge = np.logical_and if operator == "!=" else np.logical_or
        return functools.reduce(merge, masks)

    def _text(self, field: str, operator: str, value: str) -> Mask:
        columns = [self._table.texts[key] for key in _TEXT_FIELDS[field]]
        if field.startswith(("ip.", "ipv6.")) and operator != "contains":
            matches = _address_test(field, value)
        elif operator == "contains":
            matches = functools.partial(_contains, value)
        else:
            matches = value.__eq__
        if operator not in ("==", "!=", "contains"):
            raise InputError(f"{field} can be compared by == and !=, and not by {operator}")
        masks = [np.fromiter(map(matches, column), np.bool_, len(column)) for column in columns]
        found = functools.reduce(np.logical_or, masks)
        return ~found if operator == "!=" else found

    def _numbers(self, field: str) -> list[NDArray[Any]]:
        wholes = self._table.wholes
        if field.startswith("tcp.flags."):
            bit = _FLAGS.get(field.removeprefix("tcp.flags."))
            if bit is not None:
                flags = wholes["flags"]
                return [np.where(flags == ABSENT, ABSENT, (flags & bit) > 0)]
        if field == "frame.time_relative":
            return [(wholes["time"] - self._epoch_ns) / 1e9]
        if field == "tcp.analysis.ack_rtt":
            rtts = wholes["ack_rtt"]
            return [np.where(rtts == ABSENT, ABSENT, rtts / 1e9)]
        if field == "tcp.options.sack":
            return [
                np.array([1 if i in self._table.sacks else ABSENT for i in range(len(self._table))])
            ]
        if field == "tcp.analysis.flags":
            return [functools.reduce(np.logical_or, [wholes[one.key] > 0 for one in MARKS]) * 2 - 1]
        if field not in _NUMBER_FIELDS:
            raise UnknownFieldError(_unknown(field))
        return [wholes[key] for key in _NUMBER_FIELDS[field]]


_NUMBER_FIELDS: dict[str, tuple[str, ...]] = {
    **{one.name: (one.key,) for one in COLUMNS if one.form in (Form.WHOLE, Form.PRESENT)},
    "tcp.port": ("tcp_source_port", "tcp_target_port"),
    "udp.port": ("udp_source_port", "udp_target_port"),
}
_TEXT_FIELDS: dict[str, tuple[str, ...]] = {
    "ip.src": ("source",),
    "ip.dst": ("target",),
    "ip.addr": ("source", "target"),
    "ipv6.src": ("source",),
    "ipv6.dst": ("target",),
    "ipv6.addr": ("source", "target"),
    "_ws.col.info": ("info",),
    "_ws.col.protocol": ("protocol",),
}
_COMPARISONS: dict[str, Callable[[Any, float], Any]] = {
    "==": lambda values, wanted: values == wanted,
    "!=": lambda values, wanted: values != wanted,
    ">": lambda values, wanted: values > wanted,
    "<": lambda values, wanted: values < wanted,
    ">=": lambda values, wanted: values >= wanted,
    "<=": lambda values, wanted: values <= wanted,
}


def _unknown(field: str) -> str:
    some = listed(["ip.addr", "tcp.stream", "tcp.port", "tcp.len", "tcp.flags.syn"])
    return f"the decoder dpkt has no field {field}: it has {some}, tcp.analysis.… and others"


def _number(field: str, value: str) -> float:
    words = {"true": 1.0, "false": 0.0}
    if value.lower() in words:
        return words[value.lower()]
    try:
        number = float(int(value, 0)) if not any(c in value for c in ".eE") else float(value)
    except (ValueError, OverflowError):
        try:
            number = float(int(value, 0))
        except (ValueError, OverflowError):
            raise InputError(f"{field} is a number, and {value!r} is none") from None
    if not abs(number) <= 1e18:
        raise InputError(f"{field}: {value} is no number that it can have")
    return number


def _contains(wanted: str, text: str) -> bool:
    return wanted in text


def _address_test(field: str, value: str) -> Callable[[str], bool]:
    """Return a test whether an address equals an address or is in a network."""
    try:
        network = ipaddress.ip_network(value, strict=False)
    except ValueError:
        raise InputError(f"{field}: {value!r} is no address and no network") from None

    @functools.cache
    def matches(text: str) -> bool:
        try:
            return ipaddress.ip_address(text) in network
        except ValueError:
            return False

    return matches
