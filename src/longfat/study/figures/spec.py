"""A figure that a study declares, as a value, and which of its cases belong together.

It is read by `read` and drawn by the report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from longfat.common.extras import lazy
from longfat.model.metric import Unit
from longfat.study.claims.rows import CaseMetric, Indices, Rows, RowScope, Table
from longfat.study.expressions.evaluation import column
from longfat.study.expressions.terms import DIMENSIONS, Term

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")


class FigureKind(Enum):
    """What kind of figure it is, by the word in the study file."""

    LINES = "lines"
    POINTS = "points"
    HEAT = "heat"
    CDF = "cdf"
    BARS = "bars"
    TIME = "time"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quantity:
    """What an axis or a colour shows.

    Attributes:
        text: the expression.
        label: the label of the axis.
        unit: the base unit in which it is shown.
        term: how it is computed; None for a parameter whose values are texts or steps.
        metrics: the metrics in it.
        names: the parameters and derived values in it.
        parameter: the parameter that it is, if it is one and nothing else.
        samples: the samples in it, as they are written, if there are any.
        axis: of bars, the label of an axis that it shares with others; empty if the study names
            none.
    """

    text: str
    label: str
    unit: Unit
    term: Term | None
    metrics: tuple[CaseMetric, ...] = ()
    names: tuple[str, ...] = ()
    parameter: str | None = None
    samples: str | None = None
    axis: str = ""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Theory:
    """A formula that is drawn beside the results: a curve, or a mark on an axis.

    Attributes:
        label: what the legend calls it.
        term: the formula.
        names: the parameters and derived values in it.
        axis: of a mark, the axis: `x` or `y`; empty for a curve.
        each_series: it differs from series to series.
    """

    label: str
    term: Term
    names: tuple[str, ...]
    axis: str = ""
    each_series: bool = False


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FigureSpec:
    """A figure of the results of a study.

    Attributes:
        name: what its files are called; unique in the study.
        title: its title.
        kind: its kind.
        shown: what it shows: the y axis of lines and points, the colours of a heat map, the x
            axis of a CDF; of bars and lines over time one or several.
        over: the x axis; None for a CDF.
        up: the parameter that is the y axis of a heat map; else None.
        by: the parameters that distinguish series.
        each: the parameters that distinguish small multiples.
        median: the parameters over which it takes the median.
        log: the logarithmic axes: `x`, `y`, `colour`.
        ranges: where axes begin and end, in base units; None to fit the values.
        curves: formulas over the x axis.
        marks: straight lines at a formula's value.
        at: the cases.
        rows: all cases of the study.
    """

    name: str
    title: str
    kind: FigureKind
    shown: tuple[Quantity, ...]
    over: Quantity | None
    up: str | None
    by: tuple[str, ...]
    each: tuple[str, ...]
    median: tuple[str, ...]
    log: frozenset[str]
    ranges: Mapping[str, tuple[float | None, float | None]]
    curves: tuple[Theory, ...]
    marks: tuple[Theory, ...]
    at: Indices = field(repr=False)
    rows: Rows = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def what(self) -> Quantity:
        """Return what it shows, or the first of several."""
        return self.shown[0]

    def marks_of(self, unit: Unit) -> list[Theory]:
        """Return the marks that an axis of a unit has a place for."""
        fitting = (None, DIMENSIONS[unit])
        return [mark for mark in self.marks if mark.term.dimension in fitting]

    def shown_along(self, mark: Theory) -> Quantity:
        """Return what the axis of a mark shows."""
        if mark.axis == "x" and self.kind in (FigureKind.LINES, FigureKind.POINTS):
            assert self.over is not None
            return self.over
        fitting = (one for one in self.shown if mark.term.dimension == DIMENSIONS[one.unit])
        return next(fitting, self.what)

    @property
    def names(self) -> tuple[str, ...]:
        """Return the parameters and derived values in its expressions."""
        parts: list[Quantity | Theory] = [*self.shown, *self.curves, *self.marks]
        parts += [] if self.over is None else [self.over]
        return tuple(name for part in parts for name in part.names)


# Which cases belong together: in one small multiple, one series, at one point.

Key = tuple[str, ...]
"""The values of some parameters, for display."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Cases that have some values in common.

    Attributes:
        key: the values.
        at: the cases.
    """

    key: Key
    at: Indices


def grouped(rows: Rows, at: Indices, names: Sequence[str]) -> list[Group]:
    """Return cases by their values of some parameters, in the order of the values in the grid."""
    assert rows.axes is not None
    places = [list(rows.axes.values).index(name) for name in names]
    groups: dict[Key, list[int]] = {}
    order: dict[Key, tuple[int, ...]] = {}
    for row in at.tolist():
        case = rows.grid[row]
        key = tuple(case.settings[name].text for name in names)
        groups.setdefault(key, []).append(row)
        order.setdefault(key, tuple(case.combination[place] for place in places))
    keys = sorted(groups, key=lambda key: order[key])
    return [Group(key, np.array(groups[key], dtype=np.intp)) for key in keys]


def fixed_values(rows: Rows, at: Indices, term: Term) -> list[float]:
    """Return the values of an expression over names in some cases, in bits and seconds."""
    scope = RowScope(rows, at, Table({}, rows.cases))
    values: list[float] = np.broadcast_to(column(term, scope), at.shape).tolist()
    return values


def by_number(rows: Rows, at: Indices, term: Term) -> list[tuple[float, Indices]]:
    """Return cases by their value of an expression, in ascending order."""
    groups: dict[float, list[int]] = {}
    for row, value in zip(at.tolist(), fixed_values(rows, at, term), strict=True):
        # What is computed in two ways may differ in its last digits.
        groups.setdefault(float(f"{value:.12g}"), []).append(row)
    return [(value, np.array(groups[value], dtype=np.intp)) for value in sorted(groups)]


def differing(rows: Rows, at: Indices) -> list[str]:
    """Return the parameters that are not the same in all of some cases."""
    assert rows.axes is not None
    return [
        name
        for name in rows.axes.values
        if len({rows.grid[row].settings[name].text for row in at.tolist()}) > 1
    ]
