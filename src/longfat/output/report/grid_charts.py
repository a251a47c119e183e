"""Charts from a study's figures and its runs: the values that `longfat.output.plot` draws.

An expression is computed for each run. Where a point represents several runs (seeds, and the
cases of `median`), it is their median, with the band from the 5th to the 95th percentile. A
case that was not run leaves a gap, which the note mentions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from longfat.analysis.timeseries.curves import RunCurves
from longfat.errors import InputError, LongfatError
from longfat.model.metric import Unit
from longfat.model.spread import Spread, spread_of
from longfat.model.units import parse_size_bytes
from longfat.output.plot.chart import Axis, Chart, ChartKind, Facet, Mark, Series
from longfat.study.claims.aggregates import measure
from longfat.study.claims.rows import CaseMetric, Samples, factor
from longfat.study.expressions.evaluation import Column, column
from longfat.study.expressions.terms import NameRef
from longfat.study.figures.spec import (
    FigureKind,
    FigureSpec,
    Group,
    Theory,
    by_number,
    fixed_values,
    grouped,
)
from longfat.study.figures.theory import curve_points

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.output.plot.line import Floats
    from longfat.study.claims.rows import Indices, Rows
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
        found = []
        for seed in range(len(runs)):
            values = column(quantity.term, _RunScope(self, row, seed))
            found.append(np.atleast_1d(measure(values, quantity.unit)))  # type: ignore[arg-type]
        return found

    def run(self, row: int, seed: int) -> Run | None:
        """Return a run of a case; None where there is none."""
        runs = self._verdict.runs.get(self.rows.cases[row], ())
        return runs[seed] if seed < len(runs) else None


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
        try:
            reader = RunCurves(run)
            curves = reader.curves(_CURVES[term.name])
        except LongfatError:
            # One unreadable run must not spoil a figure of a thousand; the note mentions it.
            self._values.unreadable += 1
            return np.array([np.nan])
        names = {term.flow}
        for probe in run.case.probes:
            if probe.name == term.flow:
                names |= set(probe.targets)
        found = [reader.even_values(curve) for curve in curves if curve.name in names]
        return np.concatenate(found) if found else np.array([np.nan])


_KINDS = {
    FigureKind.LINES: ChartKind.LINES,
    FigureKind.POINTS: ChartKind.POINTS,
    FigureKind.HEAT: ChartKind.HEAT,
    FigureKind.CDF: ChartKind.CDF,
}

# A finer step of a CDF is not visible.
_MAX_STEPS = 1000


def charts_of(verdict: Verdict) -> tuple[Chart, ...]:
    """Return the charts of a study's figures.

    Args:
        verdict: the study with its runs, of all cases or some.

    Returns:
        One chart for each figure, in the study's order; none where no case was run.
    """
    if not verdict.runs:
        return ()
    return tuple(_Maker(verdict, spec).chart() for spec in verdict.study.figures)


@dataclass(frozen=True, slots=True, eq=False)
class _Points:
    """Points of a series."""

    x: list[float]
    spreads: list[Spread | None]
    names: list[str]


class _Maker:
    """Makes the chart of one figure."""

    def __init__(self, verdict: Verdict, spec: FigureSpec) -> None:
        self._verdict = verdict
        self._spec = spec
        self._rows = spec.rows
        self._values = CaseValues(verdict, spec.rows)
        # A look belongs to the same values in all facets.
        self._keys = [group.key for group in grouped(self._rows, spec.at, spec.by)]

    def chart(self) -> Chart:
        spec = self._spec
        groups = grouped(self._rows, spec.at, spec.each)
        facets = tuple(self._facet(group) for group in groups)
        x, y, colour = self._axes()
        return Chart(
            name=spec.name,
            title=spec.title,
            kind=_KINDS[spec.kind],
            x=x,
            y=y,
            facets=facets,
            colour=colour,
            by=", ".join(spec.by),
            note=self._note(),
        )

    # Axes.

    def _axes(self) -> tuple[Axis, Axis, Axis | None]:
        spec = self._spec
        if spec.kind is FigureKind.HEAT:
            assert spec.over is not None
            assert spec.over.parameter is not None
            assert spec.up is not None
            x = self._steps("x", spec.over.parameter)
            y = self._steps("y", spec.up)
            return x, y, self._axis("colour", spec.what)
        if spec.kind is FigureKind.CDF:
            part = Axis(
                label=spec.labels.get("y", "share at most so much"),
                unit=Unit.FRACTION,
                low=0.0,
                high=1.0,
            )
            return self._axis("x", spec.what), part, None
        assert spec.over is not None
        if spec.over.term is None:
            assert spec.over.parameter is not None
            return self._steps("x", spec.over.parameter), self._axis("y", spec.what), None
        return self._axis("x", spec.over), self._axis("y", spec.what), None

    def _axis(self, name: str, quantity: Quantity) -> Axis:
        low, high = self._spec.ranges.get(name, (None, None))
        return Axis(
            label=self._spec.labels.get(name, quantity.label),
            unit=quantity.unit,
            log=name in self._spec.log,
            low=low,
            high=high,
            typed=self._typed_sizes(quantity),
        )

    def _typed_sizes(self, quantity: Quantity) -> tuple[tuple[float, str], ...]:
        """Return the sizes of an axis of a parameter as they are in the study."""
        name = quantity.parameter
        if name is None or quantity.unit is not Unit.BYTES:
            return ()
        values = {self._rows.grid[row].settings[name] for row in self._spec.at.tolist()}
        return tuple(
            (value.number, value.text)
            for value in values
            if value.number is not None and _is_size(value.text, value.number)
        )

    def _steps(self, name: str, parameter: str) -> Axis:
        return Axis(
            label=self._spec.labels.get(name, parameter),
            unit=Unit.COUNT,
            ticks=tuple(self._ticks(parameter)),
        )

    def _ticks(self, parameter: str) -> list[str]:
        return [group.key[0] for group in grouped(self._rows, self._spec.at, [parameter])]

    # Facets.

    def _facet(self, group: Group) -> Facet:
        spec = self._spec
        title = ", ".join(
            f"{name}: {text}" for name, text in zip(spec.each, group.key, strict=True)
        )
        if spec.kind is FigureKind.HEAT:
            return Facet(title=title, cells=self._cells(group.at))
        groups = grouped(self._rows, group.at, spec.by)
        series = [self._series(one) for one in groups]
        for number, curve in enumerate(spec.curves):
            if curve.each_series:
                series += [self._curve(curve, one, self._keys.index(one.key)) for one in groups]
            else:
                whole = Group((), group.at)
                series.append(self._curve(curve, whole, len(self._keys) + number))
        marks: list[Mark] = []
        for mark in spec.marks:
            if mark.each_series:
                marks += [self._mark(mark, one.at, self._keys.index(one.key)) for one in groups]
            else:
                marks.append(self._mark(mark, group.at, None))
        return Facet(
            title=title,
            series=tuple(one for one in series if len(one.x)),
            marks=tuple(one for one in marks if np.isfinite(one.at)),
        )

    def _series(self, group: Group) -> Series:
        label, look = ", ".join(group.key), self._keys.index(group.key)
        match self._spec.kind:
            case FigureKind.CDF:
                x, y = _steps(self._pooled(group.at))
                return Series(label=label, x=x, y=y, look=look)
            case FigureKind.POINTS:
                points = self._scattered(group.at)
            case _:
                points = self._along(group.at)
        y = np.array([np.nan if one is None else one.median for one in points.spreads])
        low = high = None
        if any(one is not None and one.count > 1 for one in points.spreads):
            low = np.array([np.nan if one is None else one.low for one in points.spreads])
            high = np.array([np.nan if one is None else one.high for one in points.spreads])
        return Series(
            label=label,
            x=np.array(points.x, dtype=float),
            y=y,
            low=low,
            high=high,
            look=look,
            names=tuple(points.names),
        )

    def _along(self, at: Indices) -> _Points:
        """Return the points of a line: one for each value of the x axis."""
        over = self._spec.over
        assert over is not None
        if over.term is None:
            assert over.parameter is not None
            ticks = self._ticks(over.parameter)
            parts = [
                (float(ticks.index(group.key[0])), group.at)
                for group in grouped(self._rows, at, [over.parameter])
            ]
        else:
            numbers = by_number(self._rows, at, over.term)
            parts = [(measure(number, over.unit), rows) for number, rows in numbers]
        return _Points(
            x=[x for x, _ in parts],
            spreads=[self._spread(self._spec.what, rows) for _, rows in parts],
            names=[self._named(rows) for _, rows in parts],
        )

    def _scattered(self, at: Indices) -> _Points:
        """Return a point for each case that was run."""
        assert self._spec.over is not None
        points = _Points([], [], [])
        for row in at.tolist():
            one = np.array([row], dtype=np.intp)
            x = self._spread(self._spec.over, one)
            points.x.append(np.nan if x is None else x.median)
            points.spreads.append(self._spread(self._spec.what, one))
            points.names.append(self._rows.cases[row])
        return points

    def _named(self, at: Indices) -> str:
        first = self._rows.cases[int(at[0])]
        return first if len(at) == 1 else f"{first} and {len(at) - 1} more"

    def _spread(self, quantity: Quantity, at: Indices) -> Spread | None:
        """Return the spread over the runs of some cases; None where none has a value."""
        values = [v for row in at.tolist() for v in self._values.of(quantity, row)]
        finite = [float(one) for value in values for one in value if np.isfinite(one)]
        return spread_of(finite) if finite else None

    def _pooled(self, at: Indices) -> Floats:
        values = [v for row in at.tolist() for v in self._values.of(self._spec.what, row)]
        pooled = np.concatenate(values) if values else np.empty(0)
        return np.sort(pooled[np.isfinite(pooled)])

    def _cells(self, at: Indices) -> Floats:
        spec = self._spec
        assert spec.over is not None
        assert spec.over.parameter is not None
        assert spec.up is not None
        columns, lines = self._ticks(spec.over.parameter), self._ticks(spec.up)
        cells = np.full((len(lines), len(columns)), np.nan)
        for group in grouped(self._rows, at, [spec.over.parameter, spec.up]):
            spread = self._spread(spec.what, group.at)
            if spread is not None:
                cells[lines.index(group.key[1]), columns.index(group.key[0])] = spread.median
        return cells

    # Theory.

    def _curve(self, curve: Theory, group: Group, look: int) -> Series:
        over = self._spec.over
        assert over is not None
        x, y = curve_points(self._spec, curve, group.at)
        there = np.isfinite(x) & np.isfinite(y)
        order = np.argsort(x[there], kind="stable")
        label = ", ".join((curve.label, *group.key))
        return Series(
            label=label,
            x=measure(x[there][order], over.unit),  # type: ignore[arg-type]
            y=measure(y[there][order], self._spec.what.unit),  # type: ignore[arg-type]
            look=look,
            formula=True,
        )

    def _mark(self, mark: Theory, at: Indices, look: int | None) -> Mark:
        spec = self._spec
        shown = spec.over if mark.axis == "x" and spec.kind is not FigureKind.CDF else spec.what
        assert shown is not None
        value = fixed_values(self._rows, at[:1], mark.term)[0]
        at_value = measure(value, shown.unit)
        return Mark(label=mark.label, at=at_value, upright=mark.axis == "x", look=look)

    # Notes.

    def _note(self) -> str:
        spec = self._spec
        runs = self._verdict.runs
        names = [self._rows.cases[row] for row in spec.at.tolist()]
        counts = {len(runs[name]) for name in names if name in runs}
        notes = []
        if counts and spec.kind is FigureKind.CDF:
            notes.append(f"All {_seeds_text(counts)} together." if max(counts) > 1 else "")
        elif counts and max(counts) > 1:
            band = "" if spec.kind is FigureKind.HEAT else ", 5-95 %"
            notes.append(f"Median of {_seeds_text(counts)}{band}.")
        if spec.median:
            notes.append(f"Median over {', '.join(spec.median)}.")
        missing = [name for name in names if name not in runs]
        if missing:
            notes.append(f"{len(missing)} of {len(names)} cases not run.")
        silent = self._silent(name for name in names if name in runs)
        if silent:
            notes.append(f"{silent} of {len(names)} cases have no such number.")
        if self._values.unreadable:
            notes.append(f"{self._values.unreadable} runs cannot be read.")
        return " ".join(note for note in notes if note)

    def _silent(self, names: Iterable[str]) -> int:
        """Return how many cases were run and have not all metrics that the figure needs."""
        quantities = [one for one in (self._spec.what, self._spec.over) if one is not None]
        keys = {
            metric.key
            for quantity in quantities
            for metric in quantity.metrics
            if metric.beside is None
        }
        spreads: Mapping[str, Mapping[str, Spread]] = self._verdict.spreads
        return sum(not keys <= spreads[name].keys() for name in names)


def _is_size(text: str, size_bytes: float) -> bool:
    """Return whether a text is that size, and not so many times something, such as `0.5 bdp`."""
    try:
        return parse_size_bytes(text) == size_bytes
    except InputError:
        return False


def _seeds_text(counts: set[int]) -> str:
    minimum, maximum = min(counts), max(counts)
    return f"{maximum} seeds" if minimum == maximum else f"{minimum} to {maximum} seeds"


def _steps(values: Floats) -> tuple[Floats, Floats]:
    """Return the steps of a CDF of sorted values: values, and the part up to each."""
    parts = np.arange(1, len(values) + 1) / max(len(values), 1)
    if len(values) <= _MAX_STEPS:
        return values, parts
    chosen = np.unique(np.linspace(0, len(values) - 1, _MAX_STEPS).round().astype(int))
    return values[chosen], parts[chosen]
