"""Charts from a study's figures and its runs: the values that `longfat.output.plot` draws.

An expression is computed for each run. Where a point represents several runs (seeds, and the
cases of `median`), it is their median, with the band from the 5th to the 95th percentile. A
case that was not run leaves a gap, which the note mentions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.spread import Spread, spread_of
from longfat.model.traffic import Bulk
from longfat.model.units import parse_size_bytes
from longfat.output.plot.chart import Axis, Chart, ChartKind, Facet, Mark, Series
from longfat.output.plot.line import Trace, scale_groups, thin_out
from longfat.output.report.case_values import CaseValues
from longfat.study.claims.aggregates import measure
from longfat.study.claims.rows import Samples
from longfat.study.figures.cases import CASE
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
    from collections.abc import Iterable, Iterator, Sequence

    from longfat.analysis.verdict import Verdict
    from longfat.output.plot.line import Floats
    from longfat.study.claims.rows import Indices
    from longfat.study.figures.spec import Quantity

_KINDS = {
    FigureKind.LINES: ChartKind.LINES,
    FigureKind.POINTS: ChartKind.POINTS,
    FigureKind.HEAT: ChartKind.HEAT,
    FigureKind.CDF: ChartKind.CDF,
    FigureKind.BARS: ChartKind.BARS,
    FigureKind.TIME: ChartKind.TIME,
}
_TIME = "virtual time since the first flow's start"

# Finer steps of a CDF, and of a line over time, are not visible.
_MAX_STEPS = 1000
_TIME_COLUMNS = 500


def charts_of(verdict: Verdict) -> tuple[Chart, ...]:
    """Return the charts of a study's figures.

    Args:
        verdict: the study with its runs, of all cases or some.

    Returns:
        One chart for each figure that has anything to show, in the study's order.
    """
    if not verdict.runs:
        return ()
    charts = (_Maker(verdict, spec).chart() for spec in verdict.study.figures)
    return tuple(chart for chart in charts if not chart.empty)


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
        # A style belongs to the same values in all facets.
        self._keys = [group.key for group in grouped(self._rows, spec.at, spec.by)]

    def chart(self) -> Chart:
        spec = self._spec
        groups = grouped(self._rows, spec.at, spec.each)
        match spec.kind:
            case FigureKind.BARS:
                facets = tuple(facet for group in groups for facet in self._bars(group))
            case FigureKind.TIME:
                facets = self._over_time(groups)
            case _:
                facets = tuple(self._facet(group) for group in groups)
        x, y, colour = self._axes()
        if spec.kind is FigureKind.BARS and len(x.ticks or ()) == 1:
            # Of a single case each quantity is a row.
            facets = tuple(map(_turned, facets))
            x = replace(x, ticks=tuple(one.label for one in spec.shown))
        return Chart(
            name=spec.name,
            title=spec.title,
            kind=_KINDS[spec.kind],
            x=x,
            y=y,
            facets=facets,
            colour=colour,
            by=", ".join(name for name in spec.by if name != CASE),
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
        if spec.kind is FigureKind.TIME:
            low, high = spec.ranges.get("x", (0.0, None))
            label = spec.labels.get("x", _TIME)
            time = Axis(label=label, unit=Unit.SECONDS, low=low, high=high)
            return time, self._axis("y", spec.what), None
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
        title = self._title(group)
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

    def _title(self, group: Group) -> str:
        pairs = zip(self._spec.each, group.key, strict=True)
        return ", ".join(text if name == CASE else f"{name}: {text}" for name, text in pairs)

    def _bars(self, group: Group) -> list[Facet]:
        """Return a facet for the quantities of each axis: of those of one unit and scale."""
        spec = self._spec
        bars = {one: _series_of(self._along(group.at, one), label=one.label) for one in spec.shown}
        facets = []
        for label, quantities in self._axes_of_bars(bars):
            unit = quantities[0].unit
            marks = [self._mark(mark, group.at, None) for mark in spec.marks_of(unit)]
            facets.append(
                Facet(
                    title=self._title(group),
                    series=tuple(
                        replace(bars[one], style_index=style_index)
                        for style_index, one in enumerate(quantities)
                    ),
                    marks=tuple(mark for mark in marks if np.isfinite(mark.at)),
                    y=Axis(label=label, unit=unit, low=0.0),
                )
            )
        return facets

    def _axes_of_bars(
        self, bars: Mapping[Quantity, Series]
    ) -> Iterator[tuple[str, list[Quantity]]]:
        """Return the axes of bars: their labels, and what they show."""
        spec = self._spec
        common = spec.labels.get("x", "")
        for axis, unit in dict.fromkeys((one.axis, one.unit) for one in spec.shown):
            quantities = [one for one in spec.shown if (one.axis, one.unit) == (axis, unit)]
            if axis:
                yield axis, quantities
                continue
            tops = {one.label: _largest(bars[one].y) for one in quantities}
            parts = [
                [one for one in quantities if one.label in labels] for labels in scale_groups(tops)
            ]
            for part in sorted(parts, key=lambda part: quantities.index(part[0])):
                alone = len(part) == 1 and not (common and len(spec.shown) == 1)
                yield part[0].label if alone else common, part

    def _over_time(self, groups: Sequence[Group]) -> tuple[Facet, ...]:
        """Return a facet for each group, with axes of their own if their scales differ."""
        spec = self._spec
        facets = []
        for group in groups:
            series = []
            for one in grouped(self._rows, group.at, spec.by):
                style_index = self._keys.index(one.key) * len(spec.shown)
                for place, quantity in enumerate(spec.shown):
                    label = [*one.key, *([quantity.label] if len(spec.shown) > 1 else [])]
                    trace = self._trace(quantity, int(one.at[0]))
                    series.append(
                        Series(
                            label=", ".join(label),
                            x=trace.times_s,
                            y=trace.values,
                            style_index=style_index + place,
                        )
                    )
            marks = [self._mark(mark, group.at, None) for mark in spec.marks]
            facets.append(
                Facet(
                    title=self._title(group),
                    series=tuple(one for one in series if len(one.x)),
                    marks=tuple(mark for mark in marks if np.isfinite(mark.at)),
                )
            )
        facets = [facet for facet in facets if not facet.empty]
        tops = {
            str(place): max(_largest(one.y) for one in facet.series)
            for place, facet in enumerate(facets)
        }
        if len(scale_groups(tops)) > 1 and "y" not in spec.ranges:
            own = self._axis("y", spec.what)
            facets = [replace(facet, y=own) for facet in facets]
        return tuple(facets)

    def _trace(self, quantity: Quantity, row: int) -> Trace:
        """Return the samples of a case's first run over time; those of several streams are one."""
        nothing = Trace(np.empty(0), np.empty(0))
        run = self._values.run(row, 0)
        if run is None:
            return nothing
        assert isinstance(quantity.term, Samples)
        curves = self._values.curves(run, quantity.term)
        if not curves:
            return nothing
        names = [one.term.flow for one in self._spec.shown if isinstance(one.term, Samples)]
        flows = [flow for flow in run.case.flows if flow.name in names]
        flows = flows or [flow for flow in run.case.flows if isinstance(flow, Bulk)]
        start_s = min((run.flow_times[flow.name].start_s for flow in flows), default=0.0)
        trace = Trace(curves[0].times_s - start_s, curves[0].values).cut(0.0, np.inf)
        low, high = self._spec.ranges.get("x", (None, None))
        trace = trace.cut(low or 0.0, np.inf if high is None else high)
        return thin_out(trace, columns=_TIME_COLUMNS)

    def _series(self, group: Group) -> Series:
        label, style_index = ", ".join(group.key), self._keys.index(group.key)
        match self._spec.kind:
            case FigureKind.CDF:
                x, y = _steps(self._pooled(group.at))
                return Series(label=label, x=x, y=y, style_index=style_index)
            case FigureKind.POINTS:
                points = self._scattered(group.at)
            case _:
                points = self._along(group.at, self._spec.what)
        return _series_of(points, label=label, style_index=style_index)

    def _along(self, at: Indices, quantity: Quantity) -> _Points:
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
            spreads=[self._spread(quantity, rows) for _, rows in parts],
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

    def _curve(self, curve: Theory, group: Group, style_index: int) -> Series:
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
            style_index=style_index,
            formula=True,
        )

    def _mark(self, mark: Theory, at: Indices, style_index: int | None) -> Mark:
        spec = self._spec
        shown = spec.shown_along(mark)
        value = fixed_values(self._rows, at[:1], mark.term)[0]
        at_value = measure(value, shown.unit)
        return Mark(
            label=mark.label, at=at_value, upright=mark.axis == "x", style_index=style_index
        )

    # Notes.

    def _note(self) -> str:
        spec = self._spec
        runs = self._verdict.runs
        names = [self._rows.cases[row] for row in spec.at.tolist()]
        counts = {len(runs[name]) for name in names if name in runs}
        notes = []
        if counts and spec.kind is FigureKind.CDF:
            notes.append(f"All {_seeds_text(counts)} together." if max(counts) > 1 else "")
        elif counts and max(counts) > 1 and spec.kind is FigureKind.TIME:
            notes.append("Of the first seed.")
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
        if self._spec.kind is FigureKind.BARS:
            return 0  # a row without a bar shows it
        quantities = [one for one in (self._spec.what, self._spec.over) if one is not None]
        keys = {
            metric.key
            for quantity in quantities
            for metric in quantity.metrics
            if metric.beside is None
        }
        spreads: Mapping[str, Mapping[str, Spread]] = self._verdict.spreads
        return sum(not keys <= spreads[name].keys() for name in names)


def _series_of(points: _Points, *, label: str, style_index: int = 0) -> Series:
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
        style_index=style_index,
        names=tuple(points.names),
    )


def _turned(facet: Facet) -> Facet:
    """Return bars of one row as a row for each series."""

    def joined(values: Iterable[Floats | None]) -> Floats | None:
        known = [each for each in values if each is not None]
        return np.concatenate(known) if len(known) == len(facet.series) else None

    heights = joined(one.y for one in facet.series)
    assert heights is not None
    series = Series(
        label="",
        x=np.arange(len(heights), dtype=float),
        y=heights,
        low=joined(one.low for one in facet.series),
        high=joined(one.high for one in facet.series),
    )
    return replace(facet, series=(series,))


def _largest(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max()) if len(finite) else 0.0


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
