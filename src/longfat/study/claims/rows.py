"""The cases of a study as the rows of a table: what claims and figures over many cases read.

A row has the values of its parameters and derived values, which are known before anything
is run. Its metrics come with the results. `CaseMetric` and `Samples` are the terms of an expression
that are a result of each case, and the scopes find their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.model.metric import Metric, Unit
from longfat.study.expressions.compiler import Kinds
from longfat.study.expressions.evaluation import Text, TextColumn, Value
from longfat.study.expressions.terms import (
    BITS,
    DIMENSIONS,
    Dimension,
    Kind,
    MetricRef,
    NameRef,
    Results,
)
from longfat.study.grid.axes import Axes, Combination, GridRow
from longfat.study.metrics import find_metric

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = lazy("numpy")

Indices: TypeAlias = "npt.NDArray[np.intp]"
Mask: TypeAlias = "npt.NDArray[np.bool_]"

NO_ROW = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMetric:
    """A metric that some cases have.

    Attributes:
        key: its full name, such as `bulk.receiver_bps`.
        unit: its unit.
        present: which cases have it.
    """

    key: str
    unit: Unit
    present: Mask


class Rows(Kinds):
    """The cases of a study.

    Args:
        known: the metrics of each case, as `known_metrics` returns them.
        axes: the grid's names; None for cases that were written one by one.
        grid: of a grid, what each case is.
    """

    def __init__(
        self,
        known: Mapping[str, Mapping[str, Metric]],
        axes: Axes | None = None,
        grid: Mapping[str, GridRow] | None = None,
    ) -> None:
        self.cases = tuple(known)
        self.index = {name: row for row, name in enumerate(self.cases)}
        self.axes = axes
        self.names = axes.names if axes is not None else ()
        self.grid = tuple((grid or {}).values())
        self._numbers: dict[str, npt.NDArray[np.float64]] = {}
        self._texts: dict[str, TextColumn] = {}
        self._at = {row.combination: index for index, row in enumerate(self.grid)}
        # Cases that measure the same are evaluated once.
        alike: dict[tuple[str, ...], list[int]] = {}
        for row, metrics in enumerate(known.values()):
            alike.setdefault(tuple(metrics), []).append(row)
        self._alike = [(known[self.cases[rows[0]]], rows) for rows in alike.values()]

    def __len__(self) -> int:
        return len(self.cases)

    def kind(self, name: str) -> Kind:
        """Return what a parameter or derived value is."""
        assert self.axes is not None
        return self.axes.kind(name)

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return a parameter or derived value in each case, in bits and seconds."""
        if name not in self._numbers:
            # A derived value that has none here was refused when its case was made.
            self._numbers[name] = np.array([row.numbers[name] for row in self.grid])
        return self._numbers[name]

    def texts(self, name: str) -> TextColumn:
        """Return a parameter or derived value that is a text in each case."""
        if name not in self._texts:
            # As objects: one long text must not make the whole column as wide.
            self._texts[name] = np.array([row.texts[name] for row in self.grid], dtype=object)
        return self._texts[name]

    def metric(self, flow: str, name: str) -> KnownMetric | None:
        """Find a metric by its name, with its unit's ending or without; None if no case has it."""
        metric: KnownMetric | None = None
        for metrics, rows in self._alike:
            key = find_metric(flow, name, metrics)
            if key is None or (metric is not None and metric.key != key):
                continue
            if metric is None:
                present = np.zeros(len(self), dtype=bool)
                metric = KnownMetric(key=key, unit=metrics[key].unit, present=present)
            metric.present[rows] = True
        return metric

    def measured(self) -> dict[str, Metric]:
        """Return the metrics that any case has, by their full names."""
        return {key: metric for metrics, _ in self._alike for key, metric in metrics.items()}

    def parameters_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the parameters on which names depend."""
        return () if self.axes is None else self.axes.parameters_of(tuple(names))

    def beside(self, chosen: Mapping[int, int]) -> Indices:
        """Return for each case the one that differs from it in some axes alone.

        Args:
            chosen: by the place of a parameter, the place of its value.

        Returns:
            The rows; `NO_ROW` where the grid has no such case.
        """
        rows = np.full(len(self), NO_ROW, dtype=np.intp)
        for row, case in enumerate(self.grid):
            wanted = tuple(chosen.get(at, index) for at, index in enumerate(case.combination))
            rows[row] = self._at.get(wanted, NO_ROW)
        return rows

    def first_of_each(self, rows: Indices, without: frozenset[int]) -> Indices:
        """Return of cases that differ only in some parameters the first, in the cases' order.

        Args:
            rows: the cases.
            without: the places of those parameters.
        """
        if not without:
            return rows
        seen: dict[Combination, int] = {}
        for row in rows.tolist():
            combination = self.grid[row].combination
            key = tuple(index for at, index in enumerate(combination) if at not in without)
            seen.setdefault(key, row)
        return np.array(list(seen.values()), dtype=np.intp)


@dataclass(slots=True, eq=False)
class Table(Mapping[str, Mapping[str, float]]):
    """Results as columns: metrics by case, and each metric over all cases.

    Attributes:
        results: metrics by full name, in base units, by the case's name.
        cases: the cases' names, in the rows' order.
    """

    results: Results
    cases: Sequence[str]
    _columns: dict[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    _ran: Mask | None = None

    @classmethod
    def of(cls, results: Results, rows: Rows) -> Table:
        """Return results as a table; a table as it is."""
        return results if isinstance(results, Table) else cls(results, rows.cases)

    def __getitem__(self, case: str) -> Mapping[str, float]:
        return self.results[case]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def ran(self) -> Mask:
        """Which cases have results."""
        if self._ran is None:
            self._ran = np.array([case in self.results for case in self.cases], dtype=bool)
        return self._ran

    def column(self, key: str) -> npt.NDArray[np.float64]:
        """Return a metric of each case, in its base unit; NaN where there is none."""
        if key not in self._columns:
            nothing: Mapping[str, float] = {}
            self._columns[key] = np.array(
                [self.results.get(case, nothing).get(key, np.nan) for case in self.cases],
                dtype=float,
            )
        return self._columns[key]


# Terms that are a result of each case.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Samples:
    """The samples of a run, such as the replies of a ping.

    Attributes:
        flow: the flow or probe.
        name: their name.
        unit: their unit.
    """

    flow: str
    name: str
    unit: Unit
    depth: int = 1

    @property
    def text(self) -> str:
        """Return the samples as they are written."""
        return f"{self.flow}.{self.name}"

    @property
    def dimension(self) -> Dimension:
        """Return the dimension of their unit."""
        return DIMENSIONS[self.unit]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CaseMetric:
    """A metric of the current case, or of its neighbour.

    Attributes:
        text: what was written.
        key: its full name, such as `bulk.receiver_bps`.
        unit: its unit.
        present: which cases have it.
        beside: for each case the case that is meant; None for the case itself.
        filtered: the places of the parameters that the filters set in that case.
    """

    text: str
    key: str
    unit: Unit
    present: Mask
    beside: Indices | None = None
    filtered: frozenset[int] = frozenset()
    depth: int = 1

    @property
    def dimension(self) -> Dimension:
        """Return the dimension of its unit."""
        return DIMENSIONS[self.unit]

    def rows(self, at: Indices) -> Indices:
        """Return the cases whose metric it is, for some cases."""
        return at if self.beside is None else self.beside[at]

    def has(self, at: Indices) -> Any:
        """Return, for some cases, whether each exists and whether it has the metric."""
        rows = self.rows(at)
        return (rows != NO_ROW) & self.present[rows]


@dataclass(frozen=True, slots=True)
class ResultScope:
    """The scope of an expression about cases that are named.

    Attributes:
        results: metrics by case.
    """

    results: Results

    def leaf(self, term: Any) -> Value:
        """Return a metric of a case, or an aggregate over many.

        Raises:
            InputError: the results do not have it.
            NotRunError: it depends on cases that were not run.
        """
        if not isinstance(term, MetricRef):
            return float(term.value(self.results))
        try:
            value = self.results[term.case][term.metric]
        except KeyError:
            raise InputError(
                f"there is no result {term.case}.{term.metric}: the case was not run, "
                "or its tool did not report it"
            ) from None
        return value * factor(term.unit)

    def text(self, name: str) -> Text:
        """Never called: without a grid's row there are no names."""
        raise AssertionError(name)


@dataclass(frozen=True, slots=True, eq=False)
class RowScope:
    """The scope of an expression over cases.

    Attributes:
        rows: all cases.
        at: the cases to evaluate.
        table: their results.
    """

    rows: Rows
    at: Indices
    table: Table

    def leaf(self, term: Any) -> Value:
        """Return the values of a name or metric, one for each case; NaN where there is none."""
        match term:
            case CaseMetric():
                return self.table.column(term.key)[term.rows(self.at)] * factor(term.unit)
            case NameRef():
                return self.rows.numbers(term.name)[self.at]
        try:
            return ResultScope(self.table).leaf(term)
        except InputError:
            return np.nan

    def text(self, name: str) -> Text:
        """Return the texts of a name, one for each case."""
        return self.rows.texts(name)[self.at]


def factor(unit: Unit) -> float:
    """Return how many bits or seconds one of a base unit is."""
    return BITS.get(unit, 1.0)
