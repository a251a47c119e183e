"""From a study with a grid to its cases, and their names.

Each field is read once for each combination of the parameters in it,
not once for each case: a thousand cases of ten networks read ten networks.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longfat.errors import InputError, Place
from longfat.model.metric import Unit
from longfat.study.expand import SETTINGS, Settings, plan_case, read_settings
from longfat.study.expansion import Expansion, ExpansionLimits
from longfat.study.expressions.names import Bindings
from longfat.study.file_reader import FileReader
from longfat.study.grid.axes import GRID_FIELDS, Axes, Combination, GridRow
from longfat.study.grid.templates import Text, has_expression, read_template, read_text
from longfat.study.grid.values import Value
from longfat.study.model import Grid, Parameter, Planned
from longfat.study.node import ErrorList, Node
from longfat.study.published import OWN_FIELDS

MAX_NAME = 64
"""The number of characters that a case's name may have."""

_DIGEST = 6
_ODD = re.compile(r"[^A-Za-z0-9_-]+")

_TRIED = 200
"""The number of cases that are searched for errors; fewer, if a field has many values."""

# What each field is among the settings; a network's links name traces beside the study.
_ATTRIBUTES: Mapping[str, tuple[str, ...]] = {
    **{name: (name,) for name in SETTINGS},
    "memory": ("memory_bytes",),
    "network": ("network", "addressing", "network_setup", "traces"),
    "packages": ("packages", "packages_places"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGrid:
    """A grid that was read.

    Attributes:
        grid: its parameters.
        cases: the cases by name; the last parameter changes fastest.
        axes: its names.
        rows: what each case is, by its name.
        used: the names that the cases' fields use.
    """

    grid: Grid
    cases: dict[str, Planned]
    axes: Axes
    rows: dict[str, GridRow]
    used: tuple[str, ...]


def read_grid(
    root: Node,
    fields: Mapping[str, Node],
    *,
    only: str,
    beside: FileReader,
    limits: ExpansionLimits,
) -> ReadGrid:
    """Read a study's grid and make its cases.

    Args:
        root: the whole study.
        fields: its fields, `grid` among them.
        only: the name of the case where there is only one.
        beside: reads the files beside the study.
        limits: how far it may expand.

    Raises:
        InputError: something is wrong in the grid, in a field, or in a field of some cases; or
            there are too many cases.
    """
    if "cases" in fields:
        raise fields["cases"].error(
            "the study has a grid, which makes the cases: leave out one of the two"
        )
    if "title" in fields and has_expression(fields["title"].text()):
        raise fields["title"].error(
            "the title is that of the whole study: what varies belongs into case_title"
        )
    axes = Axes(fields)
    parts = [_Part(name, fields[name], axes, beside=beside) for name in SETTINGS if name in fields]
    title = read_text(fields["case_title"], axes) if "case_title" in fields else None
    used = tuple(name for part in parts for name in part.names)
    axes.check_parameters(used)
    weight = sum(fields[name].raw.weight for name in ("case_title", *SETTINGS) if name in fields)
    expansion = Expansion(fields["grid"], limits)
    if not axes.has_filters:
        expansion.check(axes.product, values=weight)
    combinations = list(axes.combinations(on_case=limits.on_case))
    expansion.check(len(combinations), values=weight)
    names = case_names(
        axes.values, (combination for combination, _ in combinations), only=only, quiet=axes.quiet
    )
    maker = _Maker(axes=axes, parts=parts, title=title, root=root)
    cases, rows = {}, {}
    for name, (combination, bindings) in zip(names, combinations, strict=True):
        expansion.begin_case()
        planned = maker.make(name, combination, bindings)
        expansion.add(weight, planned.case)
        cases[name] = planned
        rows[name] = GridRow(
            combination=combination,
            numbers=bindings.numbers,
            texts=bindings.texts,
            settings=planned.parameters,
        )
    together = {name: axis for axis in axes.axes for name in axis}
    grid = Grid(
        parameters=tuple(
            Parameter(
                name=name,
                values=tuple(dict.fromkeys(value.text for value in values)),
                together=tuple(other for other in together[name] if other != name),
            )
            for name, values in axes.values.items()
        ),
        product=axes.product,
    )
    return ReadGrid(grid=grid, cases=cases, axes=axes, rows=rows, used=used)


def further_errors(
    root: Node,
    fields: Mapping[str, Node],
    *,
    only: str,
    beside: FileReader,
    limits: ExpansionLimits,
) -> Iterator[InputError]:
    """Find further errors in a study's fields, after `read_grid` has raised one.

    Each field is read separately, as in a study without a grid; constraints between fields
    are not checked. If the grid's own fields are wrong, the values of the others are
    unknown, and nothing is found.

    Args:
        root: the whole study.
        fields: its fields, `grid` among them.
        only: the name of the case where there is only one.
        beside: reads the files beside the study.
        limits: how far it may expand.

    Returns:
        The errors, each with its location; an error of several cases is repeated.
    """
    try:
        axes = Axes(fields)
        # The grid may be too large: that is the first error then.
        possible = axes.combinations(on_case=limits.on_case)
        combinations = list(itertools.islice(possible, limits.max_cases))
        names = case_names(
            axes.values,
            (combination for combination, _ in combinations),
            only=only,
            quiet=axes.quiet,
        )
    except InputError:
        return
    for field in SETTINGS:
        if field not in fields:
            continue
        try:
            part = _Part(field, fields[field], axes, beside=beside)
        except InputError as error:
            yield error
            continue
        maker = _Maker(axes=axes, parts=[part], title=None, root=root)
        tried = max(1, min(_TRIED, limits.max_values // (10 * fields[field].raw.weight)))
        for name, (combination, bindings) in list(zip(names, combinations, strict=True))[:tried]:
            limits.on_case()
            for problem in part.errors(combination, bindings):
                yield maker.in_case(name, combination, problem, part.parameters)


def check_no_grid(fields: Mapping[str, Node]) -> None:
    """Check that a study without a grid has no field of one.

    Raises:
        InputError: it has.
    """
    for name in GRID_FIELDS:
        if name in fields:
            raise fields[name].error(f"{name} belongs to a grid, and the study has no field grid")


class _Part:
    """A field that the cases share as far as its parameters are the same."""

    def __init__(self, name: str, node: Node, axes: Axes, *, beside: FileReader) -> None:
        self._beside = beside
        self._name = name
        self._template = read_template(node, axes)
        self.names = self._template.names
        self.parameters = axes.parameters_of(self.names)
        self._at = tuple(
            i for i, parameter in enumerate(axes.values) if parameter in self.parameters
        )
        self._read: dict[Combination, Mapping[str, Any]] = {}
        self._tried: set[Combination] = set()

    def names_at(self, place: Place | None) -> tuple[str, ...]:
        """Return the names in the expressions of the text at a place."""
        return () if place is None else self._template.places.get((place.line, place.column), ())

    def errors(self, combination: Combination, bindings: Bindings) -> Sequence[InputError]:
        """Return all that is wrong with the field in a combination; nothing for one seen before."""
        key = tuple(combination[i] for i in self._at)
        if key in self._tried:
            return ()
        self._tried.add(key)
        errors = ErrorList()
        try:
            node = replace(self._template.fill(bindings), errors=errors)
            read_settings({self._name: node}, Settings(), beside=self._beside)
            errors.check()
        except InputError as error:
            return error.mistakes
        return ()

    def read(self, combination: Combination, bindings: Bindings) -> Mapping[str, Any]:
        """Return what the field is in a combination, by the attributes of the settings."""
        key = tuple(combination[i] for i in self._at)
        if key not in self._read:
            node = self._template.fill(bindings)
            settings = read_settings({self._name: node}, Settings(), beside=self._beside)
            self._read[key] = {name: getattr(settings, name) for name in _ATTRIBUTES[self._name]}
        return self._read[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Maker:
    """Makes the cases of a grid."""

    axes: Axes
    parts: list[_Part]
    title: Text | None
    root: Node

    def make(self, name: str, combination: Combination, bindings: Bindings) -> Planned:
        values: dict[str, Any] = {}
        concerned: tuple[str, ...] = ()
        try:
            for part in self.parts:
                concerned = part.parameters
                values |= part.read(combination, bindings)
            concerned = tuple(dict.fromkeys(p for part in self.parts for p in part.parameters))
            title = name if self.title is None else self.title.fill(bindings, shown=True)
            planned = plan_case(name, Settings(**values), title=title, node=self.root)
        except InputError as error:
            raise self.in_case(name, combination, error, concerned) from None
        return replace(planned, parameters=self.axes.settings(combination, bindings))

    def in_case(
        self, name: str, combination: Combination, error: InputError, concerned: tuple[str, ...]
    ) -> InputError:
        """Return an error with the case that it is in, where parameters have to do with it."""
        concerned = self._concerned(error.place, concerned)
        if not concerned:
            return error
        where = f"in the case {name!r}, {self.axes.values_text(combination, concerned)}"
        return InputError(f"{where}{error.message}", place=error.place)

    def _concerned(self, place: Place | None, otherwise: tuple[str, ...]) -> tuple[str, ...]:
        """Return the parameters at a place, if there are any."""
        for part in self.parts:
            names = part.names_at(place)
            if names:
                return self.axes.parameters_of(names)
        return otherwise


# Names of cases.


def case_names(
    values: Mapping[str, Sequence[Value]],
    combinations: Iterable[tuple[int, ...]],
    *,
    only: str,
    quiet: Collection[str] = (),
) -> list[str]:
    """Return the names of cases, which all differ: `cubic-0_5bdp-10ms-flows8`.

    A name is made of the values that vary, so that it stays when other values are added, and of
    letters that names of cases, folders and claims have. A point is written `_`, a per cent sign
    `pct`; a plain number or a percentage is called after its parameter.

    Args:
        values: the values of each parameter.
        combinations: for each case, the place of each parameter's value.
        only: the name where nothing varies.
        quiet: the parameters whose values are left out.
    """
    named = [name for name, own in values.items() if len(own) > 1 and name not in quiet]
    labels = [
        [_label(name, value) for value in own] if name in named else None
        for name, own in values.items()
    ]
    first = named[0] if named else ""
    combinations = list(combinations)
    whole = [
        "-".join(label[i] for label, i in zip(labels, combination, strict=True) if label)
        for combination in combinations
    ]
    whole = [_led(name, first) if name else only for name in whole]
    counts = Counter(whole)
    return [
        name
        if counts[name] == 1 and len(name) <= MAX_NAME
        else _with_digest(name, _texts(values, combination))
        for name, combination in zip(whole, combinations, strict=True)
    ]


def _led(name: str, parameter: str) -> str:
    """Return a name that begins with a letter and is no word of the study file."""
    return name if name[0].isalpha() and name not in OWN_FIELDS else f"{parameter}{name}"


def _label(parameter: str, value: Value) -> str:
    text = value.text.replace(" ", "").replace("%", "pct").replace(".", "_").replace("µ", "u")
    label = _ODD.sub("-", text.replace("μ", "u")).strip("-") or "x"
    bare = value.unit in (Unit.COUNT, Unit.FRACTION) and not value.times
    return f"{parameter}{label}" if bare else label


def _texts(values: Mapping[str, Sequence[Value]], combination: tuple[int, ...]) -> str:
    return repr([v[i].text for v, i in zip(values.values(), combination, strict=True)])


def _with_digest(name: str, texts: str) -> str:
    digest = hashlib.sha256(texts.encode()).hexdigest()[:_DIGEST]
    return f"{name[: MAX_NAME - _DIGEST - 1].rstrip('-')}-{digest}"
