"""The cases of a study as the rows of a table: what claims and figures over many cases read.

A row has the numbers of its parameters and derived values, which are known before anything
is run. Its metrics come with the results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from longfat.common.extras import lazy
from longfat.model.metric import Metric, Unit
from longfat.model.parameter import ParameterValue
from longfat.study.claims.terms import Results
from longfat.study.grid.grid import Axes, Combination
from longfat.study.grid.language import Kind, Kinds
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
class GridRow:
    """What a case of a grid is, before it is run.

    Attributes:
        combination: the place of each parameter's value.
        numbers: parameters and derived values, in bits and seconds; of a text, its code.
        settings: the parameters, for display.
    """

    combination: Combination
    numbers: Mapping[str, float]
    settings: Mapping[str, ParameterValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A metric that many cases have.

    Attributes:
        key: its full name, such as `bulk.receiver_bps`.
        unit: its unit.
        there: which cases have it.
    """

    key: str
    unit: Unit
    there: Mask


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
        self._at = {row.combination: index for index, row in enumerate(self.grid)}
        # Cases that measure the same are evaluated once.
        alike: dict[tuple[str, ...], list[int]] = {}
        for row, metrics in enumerate(known.values()):
            alike.setdefault(tuple(metrics), []).append(row)
        self._alike = [(known[self.cases[rows[0]]], rows) for rows in alike.values()]

    def __len__(self) -> int:
        return len(self.cases)

    def kind(self, name: str) -> Kind:
        """Return the value of a parameter or derived value."""
        assert self.axes is not None
        return self.axes.kind(name)

    def numbers(self, name: str) -> npt.NDArray[np.float64]:
        """Return a parameter or derived value in each case, in bits and seconds."""
        if name not in self._numbers:
            # A derived value that has none here was refused when its case was made.
            self._numbers[name] = np.array([row.numbers[name] for row in self.grid])
        return self._numbers[name]

    def metric(self, flow: str, name: str) -> Found | None:
        """Find a metric by its name, with its unit's ending or without; None if no case has it."""
        found: Found | None = None
        for metrics, rows in self._alike:
            key = find_metric(flow, name, metrics)
            if key is None or (found is not None and found.key != key):
                continue
            if found is None:
                there = np.zeros(len(self), dtype=bool)
                found = Found(key=key, unit=metrics[key].unit, there=there)
            found.there[rows] = True
        return found

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
        found = np.full(len(self), NO_ROW, dtype=np.intp)
        for row, one in enumerate(self.grid):
            wanted = tuple(chosen.get(at, index) for at, index in enumerate(one.combination))
            found[row] = self._at.get(wanted, NO_ROW)
        return found

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
