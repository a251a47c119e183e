"""The values of expressions in the runs of a study's cases, for its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.timeseries.curves import RunCurves
from longfat.errors import LongfatError
from longfat.study.claims.aggregates import measure
from longfat.study.claims.rows import CaseMetric, Samples, factor
from longfat.study.expressions.evaluation import Column, column
from longfat.study.expressions.terms import NameRef

if TYPE_CHECKING:
    from longfat.analysis.timeseries.curves import Curve
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.study.claims.rows import Rows
    from longfat.study.expressions.terms import Term
    from longfat.study.figures.spec import Quantity

# The quantities of `RunCurves` by their names in a study.
_CURVES: Mapping[str, str] = {
    "replies": "rtt",
    "rates": "throughput",
    "rtts": "rtt",
    "cwnds": "cwnd",
    "backlogs": "queue",
}


class CaseValues:
    """The values of expressions in the runs of each case.

    Args:
        verdict: the study with its runs.
        rows: the study's cases.
    """

    def __init__(self, verdict: Verdict, rows: Rows) -> None:
        self._verdict = verdict
        self.rows = rows
        self.unreadable = 0

    def of(self, quantity: Quantity, row: int) -> list[Column]:
        """Return the values of an expression in a case, by seed, in the quantity's unit.

        Args:
            quantity: the expression.
            row: the case.

        Returns:
            For each run one value, or many where a run has many; NaN where it has none. Nothing
            if the case was not run.
        """
        assert quantity.term is not None
        runs = self._verdict.runs.get(self.rows.cases[row], ())
        columns: list[Column] = []
        for seed in range(len(runs)):
            values = column(quantity.term, _RunScope(self, row, seed))
            columns.append(np.atleast_1d(measure(values, quantity.unit)))  # type: ignore[arg-type]
        return columns

    def run(self, row: int, seed: int) -> Run | None:
        """Return a run of a case; None where there is none."""
        runs = self._verdict.runs.get(self.rows.cases[row], ())
        return runs[seed] if seed < len(runs) else None

    def curves(self, run: Run, samples: Samples) -> list[Curve]:
        """Return the curves that samples are of; none if the run cannot be read."""
        try:
            curves = RunCurves(run).curves(_CURVES[samples.name])
        except LongfatError:
            # One unreadable run must not spoil a figure of a thousand; the note mentions it.
            self.unreadable += 1
            return []
        names = {samples.flow}
        for probe in run.case.probes:
            if probe.name == samples.flow:
                names |= set(probe.targets)
        return [curve for curve in curves if curve.name in names]


class _RunScope:
    """The scope of an expression in one run."""

    def __init__(self, values: CaseValues, row: int, seed: int) -> None:
        self._values = values
        self._row = row
        self._seed = seed

    def leaf(self, term: Term) -> Column:
        rows = self._values.rows
        match term:
            case CaseMetric():
                (other,) = term.rows(np.array([self._row], dtype=np.intp)).tolist()
                run = self._values.run(other, self._seed) if other >= 0 else None
                value = np.nan if run is None else run.metrics.get(term.key, np.nan)
                return np.array(value * factor(term.unit))
            case NameRef():
                return np.array(rows.numbers(term.name)[self._row])
            case Samples():
                return self._samples(term) * factor(term.unit)
        return np.array(np.nan)

    def text(self, name: str) -> str:
        text: str = self._values.rows.texts(name)[self._row]
        return text

    def _samples(self, term: Samples) -> Column:
        run = self._values.run(self._row, self._seed)
        assert run is not None
        reader = RunCurves(run)
        values = [reader.even_values(curve) for curve in self._values.curves(run, term)]
        return np.concatenate(values) if values else np.array([np.nan])
