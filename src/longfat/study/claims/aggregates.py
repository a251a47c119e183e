"""Terms over the cases of a study: `all(bulk.receiver > 0.9 * rate where loss == 0)`.

The expression in parentheses is evaluated once for each case, with its own metrics,
parameters and derived values. `all` and `any` give true or false, `share` the fraction of
cases in which a condition holds, `min`, `max`, `mean` and `median` a number. `where`
excludes cases.

If a case has not been run, what depends on it is unknown; if a case was run and lacks a
number, conditions on that number are false. A `Tally` says how a term came out: in how many cases
it holds, its value, and where it does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.extras import lazy
from longfat.model.metric import Unit
from longfat.model.parameter import ParameterValue
from longfat.study.claims.rows import CaseMetric, Indices, Rows, RowScope, Table
from longfat.study.expressions import terms
from longfat.study.expressions.evaluation import Column, column, truth
from longfat.study.expressions.terms import (
    DIMENSIONS,
    PLAIN,
    Condition,
    Dimension,
    Part,
    Results,
    Term,
)

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

CONDITION_WORDS = ("all", "any", "share")
"""The words that take a condition."""

NUMBER_WORDS = ("min", "max", "mean", "median")
"""The words that take a number."""


MAX_EXAMPLES = 5
"""How many cases a tally lists."""

_UNITS = {
    DIMENSIONS[Unit.BYTES]: Unit.BYTES,
    DIMENSIONS[Unit.BPS]: Unit.BPS,
    DIMENSIONS[Unit.SECONDS]: Unit.SECONDS,
    PLAIN: Unit.COUNT,
}


def unit_of(term: Term) -> Unit | None:
    """Return the unit in which a term's values are shown; None if no unit is of its dimension."""
    own: Unit | None = getattr(term, "unit", None)
    if own is not None:
        return own
    return _UNITS.get(term.dimension or PLAIN)


def measure(value: float, unit: Unit | None) -> float:
    """Return a number of bits and seconds in a base unit."""
    return value if unit is None else value / terms.BITS.get(unit, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A case that decides a claim.

    Attributes:
        case: its name.
        settings: its parameters.
        readings: what was measured, by case and metric: value (None where there is
            none) and unit.
    """

    case: str
    settings: Mapping[str, ParameterValue]
    readings: Mapping[str, tuple[float | None, Unit]]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "case": self.case,
            "parameters": {name: value.text for name, value in self.settings.items()},
            "readings": {name: value for name, (value, _) in self.readings.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one term over many cases came to, on the medians over seeds.

    Attributes:
        text: the term, as it was written.
        count: how many cases fit and were run.
        holding: in how many of them its condition holds; None where it has none.
        missing: how many cases were not run.
        value: its value in the base unit, of a share or another number; None if there is none.
        unit: the value's unit; None if no unit is of its dimension.
        examples: of `all` and `share` the first cases in which the condition does not hold;
            of `min` and `max` the case that has it; of other numbers those that have none.
    """

    text: str
    count: int
    holding: int | None
    missing: int
    value: float | None
    unit: Unit | None
    examples: tuple[Example, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "expression": self.text,
            "cases": self.count,
            "holding": self.holding,
            "not_run": self.missing,
            "value": self.value,
            "unit": None if self.unit is None else self.unit.value,
            "examples": [example.to_json() for example in self.examples],
        }


class NotRunError(Exception):
    """The result depends on cases that were not run."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Over:
    """What the words over cases have in common.

    Attributes:
        word: which of them.
        text: what was written.
        what: what is computed for each case.
        where: which cases; None where that was decided when the study was read.
        metrics: the metrics in it.
        rows: all cases of the study.
        names: the parameters and derived values in it.
        at: the cases that it speaks of.
    """

    word: str
    text: str
    what: Any
    where: Condition | None
    metrics: tuple[CaseMetric, ...]
    names: tuple[str, ...]
    rows: Rows
    at: Indices
    depth: int

    def cases(self) -> frozenset[str]:
        """Return the names of the cases that it speaks of, those beside them included."""
        rows = set(self.at.tolist())
        for metric in self.metrics:
            rows |= set(metric.rows(self.at).tolist())
        return frozenset(self.rows.cases[row] for row in rows)

    def _scope(self, results: Results) -> tuple[RowScope, int]:
        """Return the cases that were run and fit, and how many were not run."""
        table = Table.of(results, self.rows)
        ran = table.ran[self.at]
        for metric in self.metrics:
            ran = ran & table.ran[metric.rows(self.at)]
        scope = RowScope(self.rows, self.at[ran], table)
        if self.where is not None:
            fit = np.broadcast_to(truth(self.where, scope), scope.at.shape)
            scope = RowScope(self.rows, scope.at[fit], table)
        return scope, int(np.count_nonzero(~ran))

    def _holding(self, scope: RowScope) -> Any:
        return np.broadcast_to(truth(self.what, scope), scope.at.shape)

    def _values(self, scope: RowScope) -> Column:
        return np.broadcast_to(column(self.what, scope), scope.at.shape)

    def tally(self, results: Results) -> Tally:
        """Return in how many cases it holds, or its value, and examples."""
        scope, missing = self._scope(results)
        if self.word in CONDITION_WORDS:
            holding = self._holding(scope)
            count = int(np.count_nonzero(holding))
            share = count / len(holding) if self.word == "share" and len(holding) else None
            failing = np.array([], dtype=np.intp) if self.word == "any" else scope.at[~holding]
            return Tally(
                text=self.text,
                count=len(holding),
                holding=count,
                missing=missing,
                value=share,
                unit=None if share is None else Unit.FRACTION,
                examples=self._examples(scope, failing),
            )
        values = self._values(scope)
        value, at = self._number(values)
        extremes = self.word in ("min", "max") and at is not None
        unknown = scope.at[~np.isfinite(values)]
        examples = scope.at[at : at + 1] if at is not None and extremes else unknown
        unit = unit_of(self.what)
        return Tally(
            text=self.text,
            count=len(values),
            holding=None,
            missing=missing,
            value=None if value is None else measure(value, unit),
            unit=unit,
            examples=self._examples(scope, examples),
        )

    def _number(self, values: Column) -> tuple[float | None, int | None]:
        """Return the number, and which case has it; None where there is none."""
        if not len(values) or not np.isfinite(values).all():
            return None, None
        match self.word:
            case "min":
                at = int(np.argmin(values))
                return float(values[at]), at
            case "max":
                at = int(np.argmax(values))
                return float(values[at]), at
            case "mean":
                return float(np.mean(values)), None
            case _:
                return float(np.median(values)), None

    def _examples(self, scope: RowScope, at: Indices) -> tuple[Example, ...]:
        return tuple(self._example(scope.table, row) for row in at[:MAX_EXAMPLES].tolist())

    def _example(self, table: Table, row: int) -> Example:
        at = np.array([row], dtype=np.intp)
        readings: dict[str, tuple[float | None, Unit]] = {}
        for metric in self.metrics:
            case = self.rows.cases[int(metric.rows(at)[0])]
            value = table[case].get(metric.key)
            readings[f"{case}.{metric.key}"] = (value, metric.unit)
        settings = self.rows.grid[row].settings if self.rows.grid else {}
        return Example(case=self.rows.cases[row], settings=settings, readings=readings)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quantified(_Over, Condition):
    """`all(...)` or `any(...)`: a condition."""

    def value(self, results: Results) -> float:
        """Return 1 if it is true, 0 if not; NaN where no case fits.

        Raises:
            NotRunError: that depends on cases that were not run.
        """
        scope, missing = self._scope(results)
        holding = self._holding(scope)
        if self.word == "all" and not holding.all():
            return 0.0
        if self.word == "any" and holding.any():
            return 1.0
        if missing:
            raise NotRunError
        return float(self.word == "all") if len(holding) else np.nan


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Aggregate(_Over):
    """`share(...)`, `median(...)` and the like: a number."""

    @property
    def dimension(self) -> Dimension | None:
        """Return its dimension: that of what it is over, and of a share none."""
        if self.word == "share":
            return PLAIN
        dimension: Dimension | None = self.what.dimension
        return dimension

    def value(self, results: Results) -> float:
        """Return the number; NaN where no case fits, or one has none.

        Raises:
            NotRunError: a case was not run.
        """
        scope, missing = self._scope(results)
        if missing:
            raise NotRunError
        if self.word == "share":
            holding = self._holding(scope)
            return float(np.mean(holding)) if len(holding) else np.nan
        value, _ = self._number(self._values(scope))
        return np.nan if value is None else value


OverCases = Quantified | Aggregate


def depth_of(*parts: Part | None) -> int:
    """Return the depth of what is made of these parts."""
    return terms.checked_depth(*(part for part in parts if part is not None))
