"""Python's own operators, functions and methods, as far as scripts that draw networks use them.

Each takes known values and gives one, or `Unknown`. None runs code of the script's,
and none makes anything large: see `limits`.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence

from longfat.study.formats.mininet.limits import MOST_BITS, MOST_CHARACTERS, MOST_ITEMS
from longfat.study.formats.mininet.values import NodeRef, Unknown, Value, is_key, is_scalar

_WIDE = re.compile(r"[0-9]{4}|\*")  # a width that would make a long text
_REPLACED = re.compile(r"\{([A-Za-z0-9_]*)(![rsa])?(:[^{}]*)?\}|\{\{|\}\}|[{}]")

_ERRORS = (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError)


def unary(sign: ast.unaryop, value: Value) -> Value:
    """Return what a unary operator makes of a value."""
    if isinstance(sign, ast.Not):
        truth = truth_of(value)
        return Unknown("not") if truth is None else not truth
    if not isinstance(value, int | float):
        return Unknown("operator")
    match sign:
        case ast.USub():
            return -value
        case ast.UAdd():
            return value
    return Unknown("operator")


_NUMERIC: Mapping[type[ast.operator], Callable[[Value, Value], Value]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[Value, Value], Value]] = {
    ast.Eq: operator.eq,
    ast.Is: operator.eq,
    ast.NotEq: operator.ne,
    ast.IsNot: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def binary(sign: ast.operator, left: Value, right: Value) -> Value:
    """Return what an operator makes of two values."""
    if isinstance(sign, ast.Mod) and isinstance(left, str):
        return _percent(left, right)
    try:
        found = _binary(sign, left, right)
    except _ERRORS:
        return Unknown("operator")
    if isinstance(found, int) and found.bit_length() > MOST_BITS:
        return Unknown("operator")
    if isinstance(found, str) and len(found) > MOST_CHARACTERS:
        return Unknown("operator")
    return found


def _binary(sign: ast.operator, left: Value, right: Value) -> Value:
    if isinstance(left, int | float) and isinstance(right, int | float):
        if isinstance(sign, ast.Pow) and isinstance(left, int) and right in range(MOST_BITS):
            return left**right
        return _NUMERIC[type(sign)](left, right)
    if isinstance(left, str | list | tuple):
        if isinstance(sign, ast.Add) and type(left) is type(right):
            return operator.add(left, right)
        if isinstance(sign, ast.Mult) and isinstance(right, int):
            return left * right if len(left) * right <= MOST_ITEMS else Unknown("*")
    return Unknown("operator")


def compare(sign: ast.cmpop, left: Value, right: Value) -> Value:
    """Return what a comparison of two values says."""
    if isinstance(sign, ast.Is | ast.IsNot) and right is None:
        return left if isinstance(left, Unknown) else (left is None) == isinstance(sign, ast.Is)
    if isinstance(sign, ast.In | ast.NotIn):
        return _contains(right, left, wanted=isinstance(sign, ast.In))
    if not is_key(left) or not is_key(right):
        return Unknown("comparison")
    try:
        return bool(_ORDER[type(sign)](left, right))
    except TypeError:
        return Unknown("comparison")


def _contains(row: Value, one: Value, *, wanted: bool) -> Value:
    if not isinstance(row, dict | list | tuple | str) or not is_key(one):
        return Unknown("in")
    if not all(is_key(item) for item in row):
        return Unknown("in")
    try:
        return (one in row) == wanted
    except TypeError:
        return Unknown("in")


def truth_of(value: Value) -> bool | None:
    """Return whether a value counts as true; None if that is not known."""
    if is_scalar(value) or isinstance(value, list | tuple | dict):
        return bool(value)
    return None if isinstance(value, Unknown) else True


def subscript(value: Value, index: Value) -> Value:
    """Return an item of a list, a text or a dictionary."""
    if isinstance(value, list | tuple | str | dict) and (isinstance(index, slice) or is_key(index)):
        try:
            return value[index]
        except _ERRORS:
            pass
    return Unknown("item")


def shown(value: Value, spec: str = "") -> Value:
    """Return a value as a text, as `format` and f-strings write it."""
    if isinstance(value, NodeRef):
        value = value.name
    if not is_scalar(value) or _WIDE.search(spec):
        return Unknown("text")
    try:
        return format(value, spec)
    except _ERRORS:
        return Unknown("text")


def _percent(text: str, value: Value) -> Value:
    values = value if isinstance(value, tuple) else (value,)
    plain = tuple(one.name if isinstance(one, NodeRef) else one for one in values)
    if not all(is_scalar(one) for one in plain) or _WIDE.search(text):
        return Unknown("text")
    try:
        found = text % plain
    except _ERRORS:
        return Unknown("text")
    return found if len(found) <= MOST_CHARACTERS else Unknown("text")


def _format(text: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Do `str.format` with plain fields; one that looks into an object is not followed."""
    parts: list[str] = []
    end = count = 0
    for found in _REPLACED.finditer(text):
        parts.append(text[end : found.start()])
        end = found.end()
        if found[0] in {"{{", "}}"}:
            parts.append(found[0][0])
            continue
        if found[0] in {"{", "}"}:
            return Unknown("text")
        name = found[1] or str(count)
        count += 1
        if name.isdigit():
            value = args[int(name)] if int(name) < len(args) else Unknown(name)
        else:
            value = named.get(name, Unknown(name))
        part = shown(value, (found[3] or ":")[1:])
        if not isinstance(part, str):
            return part
        parts.append(part)
    return "".join([*parts, text[end:]])


def _range(*args: Value) -> Value:
    numbers = range(*args)
    return list(numbers) if len(numbers) <= MOST_ITEMS else Unknown("range")


def _irange(start: int, end: int) -> Value:
    """Do Mininet's own `irange`, which counts to the end itself."""
    return _range(start, end + 1)


def _sorted(row: Value) -> Value:
    return sorted(row) if all(is_key(one) for one in row) else Unknown("sorted")


def _numbers(args: Sequence[Value]) -> list[float]:
    row = args[0] if len(args) == 1 else args
    if not all(isinstance(one, int | float) for one in row):
        raise TypeError
    return list(row)


def _dict(row: Value = (), **named: Value) -> Value:
    pairs = row.items() if isinstance(row, dict) else row
    return {**{key: value for key, value in pairs if is_key(key)}, **named}


def _text(value: Value = "") -> Value:
    return shown(value)


def _enumerate(row: Value, start: int = 0) -> Value:
    return [(number, one) for number, one in enumerate(row, start)]


FUNCTIONS: Mapping[str, Callable[..., Value]] = {
    "abs": abs,
    "dict": _dict,
    "enumerate": _enumerate,
    "float": float,
    "int": int,
    "irange": _irange,
    "len": len,
    "list": list,
    "max": lambda *args: max(*_numbers(args)),
    "min": lambda *args: min(*_numbers(args)),
    "range": _range,
    "reversed": lambda row: list(reversed(row)),
    "round": round,
    "sorted": _sorted,
    "str": _text,
    "sum": lambda row: sum(_numbers([row])),
    "tuple": tuple,
    "xrange": _range,
    "zip": lambda *rows: list(zip(*rows, strict=False)),
}
"""Functions that have no effect, by name."""

_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        ("capitalize", "endswith", "find", "isdigit", "lower", "lstrip", "rstrip", "split")
    )
    | frozenset(("splitlines", "startswith", "strip", "upper", "partition", "rpartition")),
    list: frozenset(("append", "copy", "count", "extend", "index", "insert", "pop", "reverse")),
    dict: frozenset(("copy", "get", "items", "keys", "pop", "setdefault", "update", "values")),
    tuple: frozenset(("count", "index")),
}


def call_function(name: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    """Call one of `FUNCTIONS`."""
    if any(isinstance(one, Unknown) for one in (*args, *named.values())):
        return Unknown(f"{name}()")
    try:
        return FUNCTIONS[name](*args, **named)
    except _ERRORS:
        return Unknown(f"{name}()")


def call_method(
    value: Value, name: str, args: Sequence[Value], named: Mapping[str, Value]
) -> Value:
    """Call a method of a text, a list, a tuple or a dictionary."""
    own = {"format": _format, "join": _join, "replace": _replace}.get(name)
    try:
        if isinstance(value, str) and own is not None:
            return own(value, args, named)
        for kind, names in _METHODS.items():
            if isinstance(value, kind) and name in names and _safe(value, name, args):
                found = getattr(value, name)(*args, **named)
                views = kind is dict and name in {"items", "keys", "values"}
                return list(found) if views else found
    except _ERRORS:
        pass
    return Unknown(f"{name}()")


def _safe(value: Value, name: str, args: Sequence[Value]) -> bool:
    """Return whether a method compares or hashes plain values only."""
    if name in {"index", "count"} and isinstance(value, list | tuple):
        return all(is_key(one) for one in value)
    return not isinstance(value, dict) or name == "update" or not args or is_key(args[0])


def _join(glue: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    (parts,) = args
    if named or not all(isinstance(part, str) for part in parts):
        return Unknown("join")
    if sum(len(part) + len(glue) for part in parts) > MOST_CHARACTERS:
        return Unknown("join")
    return glue.join(parts)


def _replace(text: str, args: Sequence[Value], named: Mapping[str, Value]) -> Value:
    old, new = args
    long = len(text) * (len(new) + 1) > MOST_CHARACTERS
    return Unknown("replace") if long or named else text.replace(old, new)
