"""The values of a grid's parameter: a list, a range, or the name of a list.

A value is a quantity (`10ms`), a number (`8`), so many times something (`0.5 bdp`,
where `bdp` is another name of the grid), or a text (`cubic`), which may hold expressions
itself (`codel limit $<n>`). A parameter's values are of one kind, so that expressions over it
can be checked before there is a case.

Parameters that change together have a list of rows, with a value of each in a row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.kinds import percent_text, rate_text, time_text
from longfat.model.metric import Unit
from longfat.model.units import parse_literal
from longfat.study.expressions.names import COMMA_HINT, plain_word
from longfat.study.expressions.terms import Number
from longfat.study.grid.templates import has_expression
from longfat.study.node import Node

MAX_CASES = 100_000
"""How many combinations a grid may have, and so how many values a parameter."""

MAX_STEPS = 10_000
"""How many values a range may have."""

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,2})?) *([A-Za-z%µμ_][\w/%]*)?")
_FORMS = "a list of values, a range {from: ..., to: ..., steps: ...}, or the name of a list"
_RANGE = ("from", "to", "steps", "scale", "unit")
_VALUES = ("values", "unit")
_KINDS = {
    Unit.BPS: "a rate",
    Unit.BYTES: "a size",
    Unit.SECONDS: "a time",
    Unit.FRACTION: "a percentage",
    Unit.COUNT: "a plain number",
}

# The units of a kind, the step between them, and how many of the smallest are one base unit.
_SCALES: Mapping[Unit, tuple[tuple[str, ...], int, float]] = {
    Unit.BPS: (("bit", "kbit", "mbit", "gbit", "tbit"), 1000, 1.0),
    Unit.BYTES: (("B", "KB", "MB", "GB", "TB"), 1024, 1.0),
    Unit.SECONDS: (("ns", "us", "ms", "s"), 1000, 1e9),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """One value of a parameter.

    Attributes:
        text: the value as it was written, such as `0.5 bdp`.
        number: the value in its base unit, or how many times what `times` names;
            None for a text.
        unit: the kind of the number; None for a text.
        times: the name that the number counts, if it does.
        node: its node in the file, of a text that holds expressions.
    """

    text: str
    number: float | None = None
    unit: Unit | None = None
    times: str | None = None
    node: Node | None = field(default=None, compare=False, repr=False)

    @property
    def is_free(self) -> bool:
        """Whether it is a 0 without unit, which is of every kind."""
        return self.number == 0 and self.unit is Unit.COUNT and self.times is None

    def scaled(self) -> Number:
        """Return its number in bits and seconds, and its dimension."""
        assert self.number is not None
        assert self.unit is not None
        return Number.of(self.number, self.unit)

    def word(self) -> str:
        """Return it as tools read it; a number that counts something else has no such word."""
        number = self.number or 0.0
        match self.unit:
            case Unit.BPS:
                return rate_text(round(number))
            case Unit.BYTES:
                return str(round(number))
            case Unit.SECONDS:
                return time_text(round(number, 9))  # whole nanoseconds
            case Unit.FRACTION:
                return percent_text(number)
            case _:
                return self.text


def read_values(
    node: Node, *, lists: Mapping[str, Node], names: Collection[str]
) -> tuple[Value, ...]:
    """Read the values of a parameter.

    Args:
        node: the value of a field of `grid`, or of `lists`.
        lists: the lists that can be named.
        names: the names of parameters and derived values, which a number can count.

    Raises:
        InputError: it is of another form, empty, has a value twice, or values of
            several kinds.
    """
    if node.is_mapping:
        values = _read_mapping(node, names)
    elif node.is_sequence:
        items = node.sequence(_FORMS)
        values = [(_read_value(item, names), item) for item in items]
    else:
        return read_values(_named_list(node, lists), lists={}, names=names)
    _check_length(len(values), node)
    return _checked(values)


def read_rows(
    node: Node, columns: Sequence[str], *, lists: Mapping[str, Node], names: Collection[str]
) -> tuple[tuple[Value, ...], ...]:
    """Read the values of parameters that change together.

    Args:
        node: the value of a field of `grid`: a list of rows, or the name of such a list.
        columns: the names of the parameters.
        lists: the lists that can be named.
        names: the names of parameters and derived values, which a number can count.

    Returns:
        The values of each parameter, in the rows' order; they may repeat.

    Raises:
        InputError: it is of another form, empty, has a row twice, or values of several
            kinds in a column.
    """
    form = f"a list of rows, each with a value of {', '.join(columns)}"
    if not node.is_sequence and not node.is_mapping:
        return read_rows(_named_list(node, lists), columns, lists={}, names=names)
    rows = []
    for row in node.sequence(form):
        cells = row.sequence(f"a row (such as [{', '.join(columns)}])")
        if len(cells) != len(columns):
            raise row.error(
                f"the row has {len(cells)} values, and {', '.join(columns)} need {len(columns)}"
                + (COMMA_HINT if len(cells) > len(columns) else "")
            )
        rows.append([(_read_value(cell, names), cell) for cell in cells])
    _check_length(len(rows), node)
    values_by_column = tuple(
        _checked(list(column), repeats=True) for column in zip(*rows, strict=True)
    )
    seen: set[tuple[object, ...]] = set()
    for row, values in zip(node.sequence(form), zip(*values_by_column, strict=True), strict=True):
        key = tuple(_key(value) for value in values)
        if key in seen:
            raise row.error(f"the row {[value.text for value in values]} is here twice")
        seen.add(key)
    return values_by_column


def _named_list(node: Node, lists: Mapping[str, Node]) -> Node:
    name = node.line(_FORMS)
    if name not in lists:
        raise node.error(
            f"there is no list {name!r}{nearest(name, lists)} (there are: {listed(lists)}); "
            "a parameter has a list of values, and a single value belongs under let"
        )
    return lists[name]


def _check_length(count: int, node: Node) -> None:
    if not count:
        raise node.error("the list is empty, so the grid would have no case")
    if count > MAX_CASES:
        raise node.error(f"here are {count:,} values, and a grid has at most {MAX_CASES:,}")


def _key(value: Value) -> object:
    # As text, 6.10 is another kernel than 6.1.
    is_plain = value.unit in (None, Unit.COUNT) and not value.times
    return value.text if is_plain else (value.number, value.unit, value.times)


def _checked(values: list[tuple[Value, Node]], *, repeats: bool = False) -> tuple[Value, ...]:
    is_text = any(value.unit is None for value, _ in values)
    seen: dict[object, str] = {}
    kinds: dict[object, Value] = {}
    checked = []
    for written, node in values:
        # 6.1 beside 6.12-rc1 is as much a text as that.
        value = Value(text=written.text, node=written.node) if is_text else written
        key = _key(value)
        if key in seen and not repeats:
            raise node.error(f"{value.text!r} is here twice, first as {seen[key]!r}")
        seen[key] = value.text
        checked.append(value)
        if is_text or value.is_free or value.times:
            continue
        kinds.setdefault(value.unit, value)
        if len(kinds) > 1:
            first, other = kinds.values()
            raise node.error(
                f"{first.text!r} is {_kind(first)} and {other.text!r} is {_kind(other)}: the "
                "values of one parameter are of one kind"
            )
    return tuple(checked)


def _kind(value: Value) -> str:
    return _KINDS[value.unit] if value.unit else "a text"


def _read_value(node: Node, names: Collection[str], unit: str = "") -> Value:
    text = node.line("a value (such as 10ms, 8 or cubic)")
    if has_expression(text):
        return Value(text=text, node=node)
    match = _QUANTITY.fullmatch(text)
    if unit:
        if match is None or match[2]:
            raise node.error(f"{text!r} is not a bare number, and the unit {unit!r} is given below")
        known = unit in names
        text = f"{text} {unit}" if known or unit[0].isalpha() else f"{text}{unit}"
        match = _QUANTITY.fullmatch(text)
    if match is None:
        return Value(text=text)
    number, suffix = match.groups()
    if suffix in names:
        return Value(text=text, number=float(number), unit=Unit.COUNT, times=suffix)
    try:
        value, kind = parse_literal(text)
    except InputError as error:
        raise node.error(error.message + nearest(suffix or "", names)) from None
    return Value(text=text, number=value, unit=kind)


def _read_mapping(node: Node, names: Collection[str]) -> list[tuple[Value, Node]]:
    keys = [key.text for key, _ in node.items(_FORMS)]
    if "values" in keys:
        fields = node.fields("values with a unit", allowed=_VALUES)
        unit = fields["unit"].line("a unit") if "unit" in fields else ""
        items = fields["values"].sequence("a list of values")
        return [(_read_value(item, names, unit), item) for item in items]
    fields = node.fields(_FORMS, allowed=_RANGE)
    for name in _RANGE[:3]:
        if name not in fields:
            raise node.error(f"the range has no {name!r}: write {{from: 1ms, to: 300ms, steps: 6}}")
    return [(value, node) for value in _read_range(fields, names)]


def _read_range(fields: Mapping[str, Node], names: Collection[str]) -> list[Value]:
    unit = fields["unit"].line("a unit") if "unit" in fields else ""
    first, last = (_read_value(fields[name], names, unit) for name in ("from", "to"))
    steps = fields["steps"].integer(minimum=2, maximum=MAX_STEPS)
    scale = fields["scale"].line("log or linear") if "scale" in fields else "linear"
    if scale not in ("log", "linear"):
        raise fields["scale"].expected("log or linear")
    for value, name in ((first, "from"), (last, "to")):
        if value.number is None:
            raise fields[name].error(f"{value.text!r} is no number, and a range needs two")
    assert first.number is not None
    assert last.number is not None
    if (first.unit, first.times) != (last.unit, last.times) and not first.is_free:
        raise fields["to"].error(
            f"{first.text!r} and {last.text!r} are of two kinds, so there is nothing between them"
        )
    if first.number == last.number:
        raise fields["to"].error("the range ends where it begins")
    if scale == "log" and (first.number <= 0 or last.number <= 0):
        raise fields["from"].error("a log range has no 0: start it above")
    return _between(first, last, steps, log=scale == "log", node=fields["steps"])


def _between(first: Value, last: Value, steps: int, *, log: bool, node: Node) -> list[Value]:
    """Return the values of a range, rounded to as few digits as distinguish them, at least 3."""
    low, high = first.number or 0.0, last.number or 0.0
    exact = []
    for step in range(1, steps - 1):
        part = step / (steps - 1)
        exact.append(
            math.exp(math.log(low) + part * (math.log(high) - math.log(low)))
            if log
            else low + part * (high - low)
        )
    for digits in range(3, 13):
        between = _distinct(exact, last, digits, ends=(low, high))
        if between is not None:
            return [first, *between, last]
    raise node.error(f"the range has no {steps} values that differ")


def _distinct(
    exact: Sequence[float], like: Value, digits: int, *, ends: tuple[float, float]
) -> list[Value] | None:
    """Return values with so many digits, or None once two of them or an end are equal."""
    numbers: set[float | None] = set(ends)
    values = []
    for number in exact:
        value = _rounded(number, like, digits)
        if value.number in numbers:
            return None
        numbers.add(value.number)
        values.append(value)
    return values


def _rounded(number: float, like: Value, digits: int) -> Value:
    """Return a value with so many digits, of the kind of another."""
    unit, times = like.unit, like.times
    if unit is not None and unit in _SCALES and not times:
        names, base, smallest = _SCALES[unit]
        power = int(math.log(max(number * smallest, 1.0)) / math.log(base) + 1e-9)
        power = min(power, len(names) - 1)
        factor = base**power / smallest
        shown = _digits(number / factor, digits)
        text = f"{plain_word(shown)}{names[power]}"
        return Value(text=text, number=parse_literal(text).value, unit=unit)
    number = _digits(number, digits)
    text = plain_word(number) + (f" {times}" if times else "")
    if unit is Unit.FRACTION:
        text = percent_text(number)
    return Value(text=text, number=number, unit=unit, times=times)


def _digits(number: float, digits: int) -> float:
    return float(f"{number:.{digits}g}")
