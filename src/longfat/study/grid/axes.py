"""The fields `grid`, `lists`, `let` and `where`: parameters, and the combinations that are cases.

    grid:
      cc: [cubic, bbr]
      rtt: {from: 1ms, to: 300ms, steps: 6, scale: log}
      buffer: {values: [0.5, 1, 2], unit: bdp}
      [aqm, line]: [[drop-tail, pfifo limit 100], [codel, codel limit 100]]
    let: {bdp: 1gbit * rtt}
    where: [cc == cubic or rtt > 10ms]

An axis is one parameter, or several that change together (`[aqm, line]`). All names are
known before any text is read, so the order of fields makes no
difference. Names are resolved on first use.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from longfat.common.suggest import nearest
from longfat.errors import InputError, Place
from longfat.model.metric import Unit
from longfat.model.parameter import ParameterValue
from longfat.study.expansion import check_work
from longfat.study.expressions.compiler import Kinds
from longfat.study.expressions.names import (
    Bindings,
    Expression,
    holds,
    name_problem,
    number_shown,
    number_word,
    parse_condition,
    parse_expression,
    writable,
)
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import DIMENSIONS, Condition, Dimension, Kind, Texts
from longfat.study.grid.templates import Text, has_expression, read_text
from longfat.study.grid.values import MAX_CASES, Value, read_rows, read_values
from longfat.study.node import Node

GRID_FIELDS = ("grid", "lists", "let", "where", "case_title")
"""The fields of a study that only a grid has."""

MAX_NAMES = 64
"""How many parameters and derived values a grid may have."""

Combination = tuple[int, ...]
"""One value of each parameter, by its place among the values."""

_UNITS = {
    DIMENSIONS[Unit.BYTES]: Unit.BYTES,
    DIMENSIONS[Unit.BPS]: Unit.BPS,
    DIMENSIONS[Unit.SECONDS]: Unit.SECONDS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GridRow:
    """What a case of a grid is, before it is run.

    Attributes:
        combination: the place of each parameter's value.
        numbers: the parameters and derived values that are numbers, in bits and seconds.
        texts: those that are texts.
        settings: the parameters, for display.
    """

    combination: Combination
    numbers: Mapping[str, float]
    texts: Mapping[str, str]
    settings: Mapping[str, ParameterValue]


@dataclass(frozen=True, slots=True)
class _Filter:
    condition: Condition
    names: tuple[str, ...]


class Axes(Kinds):
    """The names of a grid: parameters with their values, and what is derived from them.

    Args:
        fields: the fields of the study.

    Raises:
        InputError: something in them is wrong, or there are too many combinations.
    """

    def __init__(self, fields: Mapping[str, Node]) -> None:
        given = fields["grid"].items("a grid (such as {cc: [cubic, bbr], rtt: [10ms, 50ms]})")
        derived = fields["let"].items("names with expressions") if "let" in fields else []
        lists = fields["lists"].named("lists by name") if "lists" in fields else {}
        self._nodes: dict[str, Node] = {}
        for key, node in given:
            for name in key.names:
                self._check_name(name, key.place)
                self._nodes[name] = node
        for key, node in derived:
            self._check_name(key.text, key.place)
            self._nodes[key.text] = node
        if not given:
            raise fields["grid"].error("the grid has no parameter, so there is no case")
        if len(self._nodes) > MAX_NAMES:
            raise fields["grid"].error(
                f"here are {len(self._nodes)} parameters and derived values, and a grid has at "
                f"most {MAX_NAMES}"
            )
        self.names = tuple(self._nodes)
        self.axes = tuple(key.names for key, _ in given)
        self.values: dict[str, tuple[Value, ...]] = {}
        for key, node in given:
            if len(key.names) == 1 and key.text == key.names[0]:
                self.values[key.text] = read_values(node, lists=lists, names=self.names)
            else:
                rows = read_rows(node, key.names, lists=lists, names=self.names)
                self.values |= zip(key.names, rows, strict=True)
            if self._count_values() > MAX_CASES:
                self._check_product(fields["grid"])
        self._templates: dict[tuple[str, int], Text] = {}
        self._check_lists(lists, [node for _, node in given])
        self._check_product(fields["grid"])
        self._kinds: dict[str, Kind] = {}
        self.derived: dict[str, Expression | Text] = {}
        self._needs: dict[str, tuple[str, ...]] = {}
        self._open: list[str] = []
        for name in self.names:
            self.kind(name)
        self._filters = self._read_filters(fields["where"]) if "where" in fields else []
        self._where = fields.get("where")
        check_work(fields["grid"], self.product, len(self.names) + len(self._filters))

    @property
    def product(self) -> int:
        """Return how many combinations there are of the values that were read."""
        axes = (names for names in self.axes if names[0] in self.values)
        return math.prod(len(self.values[names[0]]) for names in axes)

    @property
    def has_filters(self) -> bool:
        """Whether conditions may leave combinations out."""
        return bool(self._filters)

    @property
    def order(self) -> tuple[str, ...]:
        """Return the names, each after those that it needs."""
        return tuple(self._kinds)

    @property
    def quiet(self) -> tuple[str, ...]:
        """Return the parameters that name no case: others of their rows distinguish the rows."""
        quiet: list[str] = []
        for names in self.axes:
            rows = list(zip(*(self.values[name] for name in names), strict=True))
            widths = range(1, len(names) + 1)
            width = next(k for k in widths if len({row[:k] for row in rows}) == len(rows))
            quiet += names[width:]
        return tuple(quiet)

    def _check_name(self, name: str, place: Place) -> None:
        if reason := name_problem(name):
            raise InputError(reason, place=place)
        if name in self._nodes:
            line = self._nodes[name].place.line
            raise InputError(f"the name {name!r} is taken already, in line {line}", place=place)

    def _check_lists(self, lists: Mapping[str, Node], given: list[Node]) -> None:
        used = [node.text() for node in given if not node.is_sequence and not node.is_mapping]
        for name, node in lists.items():
            if name not in used:
                raise node.error(
                    f"the list {name!r} is no parameter's: name it in grid, as in x: {name}"
                )

    def _count_values(self) -> int:
        return sum(len(self.values[names[0]]) for names in self.axes if names[0] in self.values)

    def _check_product(self, node: Node) -> None:
        if self.product <= MAX_CASES:
            return
        axes = [names[0] for names in self.axes if names[0] in self.values]
        counts = [f"{name} has {len(self.values[name]):,}" for name in axes]
        raise node.error(
            f"the grid has {self.product:,} combinations ({', '.join(counts)} values), and at most "
            f"{MAX_CASES:,} are possible, before where leaves any out"
        )

    # Resolved names.

    def kind(self, name: str) -> Kind:
        """Return what a name refers to."""
        if name in self._kinds:
            return self._kinds[name]
        node = self._nodes[name]
        if name in self._open:
            circle = " -> ".join([*self._open[self._open.index(name) :], name])
            raise node.error(f"{name!r} is derived from itself: {circle}")
        self._open.append(name)
        if name in self.values:
            kind, needs = self._kind_of_values(name, node)
        else:
            kind, needs = self._read_derived(name, node)
        self._open.pop()
        # In this order, what a name needs comes before it.
        self._kinds[name] = kind
        self._needs[name] = needs
        return kind

    def _kind_of_values(self, name: str, node: Node) -> tuple[Kind, tuple[str, ...]]:
        values = self.values[name]
        if values[0].unit is None:
            return self._kind_of_texts(name, values)
        kind: Dimension | None = None
        for value in values:
            dimension = self._dimension(value, node)
            if kind is not None and dimension is not None and dimension != kind:
                raise node.error(
                    f"{values[0].text!r} is {kind} and {value.text!r} is {dimension}: the values "
                    "of one parameter are of one kind"
                )
            kind = kind if kind is not None else dimension
        if reason := writable(kind):
            raise node.error(reason)
        return kind, tuple(dict.fromkeys(value.times for value in values if value.times))

    def _kind_of_texts(self, name: str, values: tuple[Value, ...]) -> tuple[Kind, tuple[str, ...]]:
        needs: dict[str, None] = {}
        for index, value in enumerate(values):
            if value.node is not None:
                text = read_text(value.node, self)
                self._templates[name, index] = text
                needs |= dict.fromkeys(text.names)
        # What an expression will give is not known yet.
        known = () if needs else tuple(dict.fromkeys(value.text for value in values))
        return Texts(known), tuple(needs)

    def _dimension(self, value: Value, node: Node) -> Dimension | None:
        if value.times is None:
            return value.scaled().dimension
        kind = self.kind(value.times)
        if isinstance(kind, Texts):
            raise node.error(f"{value.text!r}: {value.times!r} is a text, which cannot be counted")
        return kind

    def _read_derived(self, name: str, node: Node) -> tuple[Kind, tuple[str, ...]]:
        text = node.line("an expression (such as rate * rtt)")
        if has_expression(text):
            template = read_text(node, self)
            self.derived[name] = template
            return Texts(), template.names
        start = node.text().find(text)
        try:
            expression = parse_expression(text, self)
        except FormulaError as error:
            raise InputError(error.message, place=node.place_of(start + error.offset)) from None
        self.derived[name] = expression
        return expression.kind, expression.names

    def _read_filters(self, node: Node) -> list[_Filter]:
        conditions = node.sequence("a list of conditions") if node.is_sequence else [node]
        filters = []
        for part in conditions:
            text = part.text("a condition (such as cc == cubic or rtt > 10ms)")
            try:
                condition, names = parse_condition(text, self)
            except FormulaError as error:
                raise InputError(error.message, place=part.place_of(error.offset)) from None
            if not any(self.parameters_of([name]) for name in names):
                raise part.error(
                    "the condition names no parameter, so it is the same for all cases"
                )
            filters.append(_Filter(condition, names))
        return filters

    def parameters_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parameters on which names depend, in the parameters' order."""
        needed = self._closure(names)
        return tuple(name for name in self.values if name in needed)

    def _closure(self, names: Sequence[str]) -> set[str]:
        needed: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self._needs[name]
        return needed

    def check_parameters(self, names: Sequence[str]) -> None:
        """Check that each axis makes a difference to the cases.

        Args:
            names: the names in the expressions of the cases.

        Raises:
            InputError: one does not.
        """
        used = self._closure(names)
        for axis in self.axes:
            if used.isdisjoint(axis):
                what = f"the parameter {axis[0]!r} is"
                if len(axis) > 1:
                    what = f"the parameters {', '.join(axis)} are"
                raise self._nodes[axis[0]].error(
                    f"{what} used nowhere, so nothing varies with it: write $<{axis[-1]}> where "
                    "it belongs"
                )

    def check_used(self, names: Sequence[str]) -> None:
        """Check that each derived value, and each column of a row but the first, is of use.

        Args:
            names: the names in all expressions of the study.

        Raises:
            InputError: one is used nowhere.
        """
        used = self._closure(
            [*names, *(name for condition in self._filters for name in condition.names)]
        )
        labels = {axis[0] for axis in self.axes}
        for name, node in self._nodes.items():
            if name not in used and name not in labels:
                raise node.error(
                    f"{name!r} is used nowhere{nearest(name, sorted(used))}: write $<{name}> where "
                    "it belongs, or leave it out"
                )

    # Combinations.

    def combinations(
        self, *, on_case: Callable[[], None]
    ) -> Iterator[tuple[Combination, Bindings]]:
        """Return the combinations that no condition leaves out, the last parameter fastest.

        Args:
            on_case: called before the values of each combination are computed.

        Raises:
            InputError: a value cannot be computed, or nothing is left.
        """
        is_any_left = False
        counts = [range(len(self.values[names[0]])) for names in self.axes]
        widths = [len(names) for names in self.axes]
        for chosen in itertools.product(*counts):
            on_case()
            pairs = zip(chosen, widths, strict=True)
            combination = tuple(index for index, width in pairs for _ in range(width))
            bindings = self._bind(combination)
            if all(holds(condition.condition, bindings) for condition in self._filters):
                is_any_left = True
                yield combination, bindings
        if not is_any_left:
            assert self._where is not None
            raise self._where.error(
                f"the conditions leave nothing of the grid's {self.product:,} combinations"
            )

    def _bind(self, combination: Combination) -> Bindings:
        bindings = Bindings()
        chosen = dict(zip(self.values, combination, strict=True))
        for name in self._kinds:
            try:
                if (name, chosen.get(name)) in self._templates:
                    self._bind_text(name, self._templates[name, chosen[name]], bindings)
                elif name in chosen:
                    self._bind_value(name, self.values[name][chosen[name]], bindings)
                else:
                    self._bind_derived(name, bindings)
            except InputError as error:
                if error.place is not None:
                    raise
                where = self.values_text(combination, self.parameters_of([name]))
                raise self._nodes[name].error(f"{where}{error.message}") from None
        return bindings

    def _bind_value(self, name: str, value: Value, bindings: Bindings) -> None:
        bindings.shown[name] = value.text
        if value.unit is None:
            bindings.texts[name] = bindings.words[name] = value.text
        elif value.times is None:
            bindings.numbers[name] = value.scaled().number
            bindings.words[name] = value.word()
        else:
            assert value.number is not None
            number = value.number * bindings.numbers[value.times]
            bindings.numbers[name] = number
            bindings.words[name] = number_word(number, self._kinds[name])

    def _bind_text(self, name: str, template: Text, bindings: Bindings) -> None:
        text = template.fill(bindings)
        bindings.texts[name] = bindings.words[name] = bindings.shown[name] = text

    def _bind_derived(self, name: str, bindings: Bindings) -> None:
        derived = self.derived[name]
        if isinstance(derived, Text):
            self._bind_text(name, derived, bindings)
            return
        if derived.bare:
            (other,) = derived.names
            for values in (bindings.words, bindings.shown):
                values[name] = values[other]
            if isinstance(derived.kind, Texts):
                bindings.texts[name] = bindings.texts[other]
            else:
                bindings.numbers[name] = bindings.numbers[other]
            return
        number = derived.number(bindings)
        bindings.numbers[name] = number
        kind = self._kinds[name]
        if writable(kind) is None:
            bindings.words[name] = number_word(number, kind)
            bindings.shown[name] = number_shown(number, kind)

    def values_text(self, combination: Combination, names: tuple[str, ...]) -> str:
        """Return the values of some parameters as a message begins with them."""
        if not names:
            return ""
        pairs = zip(self.values.items(), combination, strict=True)
        values_text = [f"{name}: {values[i].text}" for (name, values), i in pairs if name in names]
        return f"with {', '.join(values_text)}: "

    def settings(self, combination: Combination, bindings: Bindings) -> dict[str, ParameterValue]:
        """Return what each parameter is in a combination."""
        settings = {}
        for (name, values), index in zip(self.values.items(), combination, strict=True):
            value = values[index]
            if value.unit is None:
                settings[name] = ParameterValue(text=bindings.shown[name])
            elif value.times is None:
                settings[name] = ParameterValue(
                    text=value.text, number=value.number, unit=value.unit
                )
            else:
                kind = self._kinds[name]
                unit = _UNITS.get(kind, Unit.COUNT) if isinstance(kind, Dimension) else Unit.COUNT
                number = bindings.numbers[name] / (8.0 if unit is Unit.BYTES else 1.0)
                settings[name] = ParameterValue(text=value.text, number=number, unit=unit)
        return settings
