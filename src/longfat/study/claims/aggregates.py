"""Terms over the cases of a study: `all(bulk.receiver > 0.9 * rate where loss == 0)`.

The expression in parentheses is evaluated once for each case, with its own metrics,
parameters and derived values. `all` and `any` give true or false, `share` the fraction of
cases in which a condition holds, `min`, `max`, `mean` and `median` a number. `where`
excludes cases.

If a case has not been run, what depends on it is unknown; if a case was run and lacks a
number, conditions on that number are false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.extras import lazy
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.study.claims import terms
from longfat.study.claims.columns import Column, Value, column, truth
from longfat.study.claims.rows import NO_ROW, Indices, Mask, Rows, Table
from longfat.study.claims.tally import MOST_EXAMPLES, Example, Tally, measure, unit_of
from longfat.study.claims.terms import Condition, Dimension, Results, Term
from longfat.study.grid.language import Named, Word, text_code

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy("numpy")

CONDITION_WORDS = ("all", "any", "share")
"""The words that take a condition."""

NUMBER_WORDS = ("min", "max", "mean", "median")
"""The words that take a number."""


class NotRunError(Exception):
    """The result depends on cases that were not run."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CaseMetric:
    """A metric of the current case, or of its neighbour.

    Attributes:
        text: what was written.
        key: its full name, such as `bulk.receiver_bps`.
        unit: its unit.
        there: which cases have it.
        beside: for each case the one that is meant; None for the case itself.
        pinned: the places of the parameters in which that one differs.
    """

    text: str
    key: str
    unit: Unit
    there: Mask
    beside: Indices | None = None
    pinned: frozenset[int] = frozenset()
    depth: int = 1

    @property
    def dimension(self) -> Dimension:
        """Return the dimension of its unit."""
        return terms.DIMENSIONS[self.unit]

    def rows(self, at: Indices) -> Indices:
        """Return the cases whose metric it is, for some cases."""
        return at if self.beside is None else self.beside[at]

    def has(self, at: Indices) -> Any:
        """Return, for some cases, whether each exists and whether it has the metric."""
        rows = self.rows(at)
        return (rows != NO_ROW) & self.there[rows]


@dataclass(frozen=True, slots=True)
class ResultScope:
    """Where an expression about cases that are named finds its values.

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
        if not isinstance(term, terms.Reading):
            return float(term.value(self.results))
        try:
            value = self.results[term.case][term.metric]
        except KeyError:
            raise InputError(
                f"there is no result {term.case}.{term.metric}: the case was not run, "
                "or its tool did not report it"
            ) from None
        return value * factor(term.unit)


@dataclass(frozen=True, slots=True, eq=False)
class RowScope:
    """Where an expression over cases finds its values.

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
            case Named():
                return self.rows.numbers(term.name)[self.at]
            case Word():
                if term.named:
                    return self.rows.numbers(term.word)[self.at]
                return text_code(term.word)
        try:
            return ResultScope(self.table).leaf(term)
        except InputError:
            return np.nan


def factor(unit: Unit) -> float:
    """Return how many bits or seconds one of a base unit is."""
    return terms.BITS.get(unit, 1.0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Over:
    """What the words over cases have in common.

    Attributes:
        word: which of them.
        text: what was written.
        what: what is computed for each case.
        where: which cases; None where that was decided when the study was read.
        owns: the metrics in it.
        rows: all cases of the study.
        names: the parameters and derived values in it.
        at: the cases that it speaks of.
    """

    word: str
    text: str
    what: Any
    where: Condition | None
    owns: tuple[CaseMetric, ...]
    names: tuple[str, ...]
    rows: Rows
    at: Indices
    depth: int

    def cases(self) -> frozenset[str]:
        """Return the names of the cases that it speaks of, those beside them included."""
        found = set(self.at.tolist())
        for own in self.owns:
            found |= set(own.rows(self.at).tolist())
        return frozenset(self.rows.cases[row] for row in found)

    def _scope(self, results: Results) -> tuple[RowScope, int]:
        """Return the cases that were run and fit, and how many were not run."""
        table = Table.of(results, self.rows)
        ran = table.ran[self.at]
        for own in self.owns:
            ran = ran & table.ran[own.rows(self.at)]
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
        return tuple(self._example(scope.table, row) for row in at[:MOST_EXAMPLES].tolist())

    def _example(self, table: Table, row: int) -> Example:
        one = np.array([row], dtype=np.intp)
        readings: dict[str, tuple[float | None, Unit]] = {}
        for own in self.owns:
            case = self.rows.cases[int(own.rows(one)[0])]
            value = table[case].get(own.key)
            readings[f"{case}.{own.key}"] = (value, own.unit)
        settings = self.rows.grid[row].settings if self.rows.grid else {}
        return Example(case=self.rows.cases[row], settings=settings, readings=readings)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Quantified(_Over):
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
            return terms.PLAIN
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


def depth_of(*parts: Term | Condition | None) -> int:
    """Return the depth of what is made of these parts."""
    return terms.checked_depth(*(part for part in parts if part is not None))
