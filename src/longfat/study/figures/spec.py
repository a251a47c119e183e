"""A figure that a study declares: read by `figures` and drawn by the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from longfat.model.metric import Unit
from longfat.study.claims.aggregates import CaseMetric
from longfat.study.claims.rows import Indices, Rows
from longfat.study.claims.terms import DIMENSIONS, Dimension, Term


class FigureKind(Enum):
    """What kind of figure it is, by the word in the study file."""

    LINES = "lines"
    POINTS = "points"
    HEAT = "heat"
    CDF = "cdf"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sampled:
    """What a run has many of, such as the replies of a ping.

    Attributes:
        flow: the flow or probe.
        name: what it has many of.
        unit: the unit.
    """

    flow: str
    name: str
    unit: Unit
    depth: int = 1

    @property
    def text(self) -> str:
        """Return it as it is written."""
        return f"{self.flow}.{self.name}"

    @property
    def dimension(self) -> Dimension:
        """Return the dimension of its unit."""
        return DIMENSIONS[self.unit]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quantity:
    """What an axis or a colour shows.

    Attributes:
        text: the expression.
        label: the label of the axis.
        unit: the base unit in which it is shown.
        term: how it is computed; None for a parameter whose values are texts or steps.
        owns: the metrics in it.
        names: the parameters and derived values in it.
        parameter: the parameter that it is, if it is one and nothing else.
        sampled: what a run has many of, if that is in it.
    """

    text: str
    label: str
    unit: Unit
    term: Term | None
    owns: tuple[CaseMetric, ...] = ()
    names: tuple[str, ...] = ()
    parameter: str | None = None
    sampled: str | None = None


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
    """A figure of a grid.

    Attributes:
        name: what its files are called; unique in the study.
        title: its title.
        kind: its kind.
        what: what it shows: the y axis of lines and points, the colours of a heat map, the x
            axis of a CDF.
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
    what: Quantity
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
    def names(self) -> tuple[str, ...]:
        """Return the parameters and derived values in its expressions."""
        found: list[Quantity | Theory] = [self.what, *self.curves, *self.marks]
        found += [] if self.over is None else [self.over]
        return tuple(name for one in found for name in one.names)
