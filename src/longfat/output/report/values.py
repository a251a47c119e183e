"""The content of a report that the terminal and the page both show, as plain text in rows.

Numbers become text here, once: the two outputs cannot differ in a digit. `report_scope` decides
what is shown. A page with the figures of more than a few dozen cases would take minutes to draw
and would be unreadable; so a grid, and any study of very many cases, has a page of another kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.metric import Unit
from longfat.model.units import format_quantity, format_range
from longfat.study.metrics import find_metric, known_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.analysis.verdict import ClaimResult, Comparison, Verdict
    from longfat.model.spread import Spread
    from longfat.study import Figure
    from longfat.study.claims.aggregates import Example, Tally

MISSING = "-"
"""The text for a missing number."""

BAND = "5-95 %"
"""The header of a column of bands: in the unit of the median in the previous column."""

MAX_CASES = 40
"""Up to this many cases have a page with the figures, windows and commands of each."""

MANY_FLOWS = 4
"""From so many flows that are alike on, a table has a row for each of them."""

_MAX_OVER_TIME = 12  # cases of a grid whose figures over time its page has too
_METRIC = re.compile(r"(?<![\w.-])([A-Za-z][\w-]*)\.([A-Za-z][\w-]*)\.([a-z]\w*)")
_VERDICTS = {True: "holds", False: "FAILS", None: "not judged"}
_INSIDE = {True: "yes", False: "no", None: MISSING}


@dataclass(frozen=True, slots=True)
class Scope:
    """What a report shows.

    Attributes:
        grid: the page is that of all cases together: parameters, charts, a table.
        over_time: it has the figures over time of each case.
        notes: notes for the user on what it does not show.
    """

    grid: bool
    over_time: bool
    notes: tuple[str, ...] = ()


def report_scope(verdict: Verdict) -> Scope:
    """Return what a report shows of a study with its runs."""
    count = len(verdict.runs)
    if verdict.study.grid is None and count <= MAX_CASES:
        return Scope(grid=False, over_time=True)
    if count <= _MAX_OVER_TIME:
        return Scope(grid=True, over_time=True)
    note = (
        f"the report has no figures over time of its {count:,} cases: `longfat plot RUN...` draws "
        "them of the runs that you name"
    )
    return Scope(grid=True, over_time=False, notes=(note,))


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: what it is about, and a text for each column."""

    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table whose columns are alike, such as one for each case.

    Attributes:
        columns: the heads of the columns.
        rows: the rows.
        together: so many adjacent columns belong together, such as a median
            and its band, and are not to be separated.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    together: int = 1


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that belong to one case."""

    case: str
    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """A claim as it is shown.

    Attributes:
        verdict: `holds`, `FAILS` or `not judged`.
        text: the claim's text.
        expression: what was checked; empty where the text is the same.
        readings: the metrics in it, with the measured values.
        seeds: in how many of the seeds it holds, such as `3 of 5 seeds`; empty for single runs.
        failing: the seeds in which it does not, such as `2, 4-5`; empty for none.
        tallies: its results over many cases, and of each line whether it is about a
            case in which it does not hold.
    """

    verdict: str
    text: str
    expression: str
    readings: tuple[tuple[str, str], ...]
    seeds: str = ""
    failing: str = ""
    tallies: tuple[tuple[str, bool], ...] = ()


def comparison_columns(verdict: Verdict) -> tuple[str, ...]:
    """Return the heads of the columns of `comparison_groups`."""
    if verdict.many_seeds:
        return ("published", "median", BAND, "ratio", "inside")
    return ("published", "measured", "ratio")


def comparison_groups(verdict: Verdict) -> tuple[Group, ...]:
    """Return the published figures and the measured ones, by case, in `comparison_columns`."""
    groups: dict[str, list[Row]] = {}
    for comparison in verdict.published:
        row = _comparison_row(comparison, many_seeds=verdict.many_seeds)
        groups.setdefault(comparison.figure.case, []).append(row)
    return tuple(
        Group(name, verdict.study.cases[name].title, tuple(rows)) for name, rows in groups.items()
    )


def _comparison_row(comparison: Comparison, *, many_seeds: bool) -> Row:
    figure, measured = comparison.figure, comparison.measured
    if measured is None:
        ratio = MISSING
    elif comparison.ratio is not None:
        ratio = f"{comparison.ratio:.2f}"
    else:
        ratio = "equal" if measured == figure.value else MISSING
    published = published_text(figure)
    shown = _measured(measured, figure.unit)
    if not many_seeds:
        return Row(figure.title, (published, shown, ratio))
    band = band_text(comparison.spread, figure.unit)
    return Row(figure.title, (published, shown, band, ratio, _INSIDE[comparison.inside_band]))


def published_text(figure: Figure) -> str:
    """Return a published figure, with the band of the source's runs if it published several.

    Args:
        figure: the figure.

    Returns:
        A text such as `645 Mbit/s` or `645 Mbit/s (622-647, 10 runs)`.
    """
    text = format_quantity(figure.value, figure.unit)
    if (spread := figure.spread) is None:
        return text
    band = format_range(spread.low, spread.high, figure.unit, like=figure.value)
    runs = f", {spread.count} runs" if spread.count else ""
    return f"{text} ({band}{runs})"


def band_text(spread: Spread | None, unit: Unit) -> str:
    """Return the 5-95 % band of a spread in the unit of its median, such as `3.20-3.31`."""
    if spread is None or spread.count < 2:
        return MISSING
    return format_range(spread.low, spread.high, unit, like=spread.median)


@dataclass(frozen=True, slots=True)
class FlowTable:
    """Values of flows that are alike, such as many of one tool: a row for each flow.

    Attributes:
        case: the case that it is of; empty for several.
        columns: the heads of the columns.
        rows: the flows with their values.
    """

    case: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def flow_tables(verdict: Verdict) -> tuple[FlowTable, ...]:
    """Return the metrics of flows that are alike, where they are so many that a row for each helps.

    Args:
        verdict: the study with its runs; of several seeds it is the median.
    """
    names = _unpublished(verdict)
    return tuple(
        FlowTable(
            case=name,
            columns=titles,
            rows=tuple(
                Row(
                    flow,
                    tuple(
                        _cells(verdict.spreads[name].get(key), unit, band=False)[0]
                        for key, unit in keys
                    ),
                )
                for flow, keys in flows.items()
                if any(key in verdict.spreads[name] for key, _ in keys)
            ),
        )
        for name in names
        for titles, flows in _alike(verdict, names).items()
    )


def _unpublished(verdict: Verdict) -> tuple[str, ...]:
    """Return the cases without published figures."""
    published_cases = {comparison.figure.case for comparison in verdict.published}
    return tuple(name for name in verdict.runs if name not in published_cases)


def _alike(
    verdict: Verdict, names: Iterable[str]
) -> dict[tuple[str, ...], dict[str, list[tuple[str, Unit]]]]:
    """Return flows by the titles of their metrics, where many have the same ones."""
    metrics: dict[str, dict[str, tuple[str, Unit]]] = {}
    for name in names:
        for key, metric in known_metrics(verdict.study.cases[name].case).items():
            if key in verdict.spreads[name]:
                metrics.setdefault(key.partition(".")[0], {})[key] = (metric.title, metric.unit)
    groups: dict[tuple[str, ...], dict[str, list[tuple[str, Unit]]]] = {}
    for flow, own in metrics.items():
        titles = tuple(title for title, _ in own.values())
        groups.setdefault(titles, {})[flow] = [(key, unit) for key, (_, unit) in own.items()]
    return {titles: flows for titles, flows in groups.items() if len(flows) >= MANY_FLOWS}


def metric_grid(
    verdict: Verdict, *, claimed_only: bool = False, flows_apart: bool = False
) -> Grid | None:
    """Return all metrics of the cases without published figures: metrics down, cases across.

    A case has one column, and a second one for the band where there are several
    seeds.

    Args:
        verdict: the study with its runs.
        claimed_only: leave out metrics that no claim reads; none, if no claim reads any of these
            cases' metrics.
        flows_apart: leave out the flows of `flow_tables`.

    Returns:
        The table; None where nothing is left, as where every case that was run has published
        figures.
    """
    names = _unpublished(verdict)
    apart = {
        key
        for flows in (_alike(verdict, names).values() if flows_apart else ())
        for keys in flows.values()
        for key, _ in keys
    }
    measured = {key for name in names for key in verdict.spreads[name]} - apart
    rows = {
        key: (f"{key.partition('.')[0]} {metric.title}", metric.unit)
        for name in names
        for key, metric in known_metrics(verdict.study.cases[name].case).items()
        if key in measured
    }
    if claimed_only:
        claimed = _claimed_metrics(verdict)
        rows = {key: row for key, row in rows.items() if key in claimed} or rows
    if not rows:
        return None
    several = any(len(verdict.runs[name]) > 1 for name in names)
    return Grid(
        columns=tuple(head for name in names for head in ((name, BAND) if several else (name,))),
        rows=tuple(
            Row(
                title,
                tuple(
                    cell
                    for name in names
                    for cell in _cells(verdict.spreads[name].get(key), unit, band=several)
                ),
            )
            for key, (title, unit) in rows.items()
        ),
        together=2 if several else 1,
    )


def _cells(spread: Spread | None, unit: Unit, *, band: bool) -> tuple[str, ...]:
    median = _measured(None if spread is None else spread.median, unit)
    return (median, band_text(spread, unit)) if band else (median,)


def _measured(value: float | None, unit: Unit) -> str:
    return MISSING if value is None else format_quantity(value, unit)


def claim_rows(verdict: Verdict) -> tuple[ClaimRow, ...]:
    """Return the claims with their verdicts."""
    return tuple(_claim_row(judged, verdict) for judged in verdict.claims)


def _claim_row(judged: ClaimResult, verdict: Verdict) -> ClaimRow:
    claim = judged.claim
    seeds = judged.seeds
    readings: dict[str, str] = {}
    for case, flow, metric in _METRIC.findall(claim.expression):
        if case in verdict.runs:
            known = known_metrics(verdict.study.cases[case].case)
            key = find_metric(flow, metric, known)
            spread = verdict.spreads[case].get(key) if key else None
            unit = known[key].unit if key else Unit.COUNT
            readings[f"{case}.{flow}.{metric}"] = _reading(spread, unit)
    return ClaimRow(
        verdict=_VERDICTS[judged.passed],
        text=claim.text,
        expression="" if claim.text == claim.expression else claim.expression,
        readings=tuple(readings.items()),
        seeds="" if seeds is None else f"{seeds.holding} of {seeds.count} seeds",
        failing="" if seeds is None else number_ranges(seeds.failing),
        tallies=tuple(tally_lines(judged)),
    )


def _claimed_metrics(verdict: Verdict) -> frozenset[str | None]:
    """Return the metrics that any claim reads, of any case."""
    return frozenset(
        find_metric(flow, metric, known_metrics(verdict.study.cases[case].case))
        for judged in verdict.claims
        for case, flow, metric in _METRIC.findall(judged.claim.expression)
        if case in verdict.runs
    )


def _reading(spread: Spread | None, unit: Unit) -> str:
    if spread is None:
        return "nothing measured"
    text = format_quantity(spread.median, unit)
    return text if spread.count < 2 else f"{text} ({BAND}: {band_text(spread, unit)})"


def claims_summary(verdict: Verdict) -> str:
    """Return how many claims hold, fail and were not judged."""
    count = dict.fromkeys(_VERDICTS, 0)
    for judged in verdict.claims:
        count[judged.passed] += 1
    parts = [f"{count[True]} of {len(verdict.claims)} hold"]
    parts += [f"{count[False]} FAIL"] if count[False] else []
    parts += [f"{count[None]} not judged"] if count[None] else []
    return ", ".join(parts)


def run_summary(verdict: Verdict) -> str:
    """Return in one line what was run, on which kernels, and how long it took."""
    runs = [run for of_case in verdict.runs.values() for run in of_case]
    if not runs:
        return "no case was run"
    kernels = ", ".join(sorted({run.kernel["release"] for run in runs}))
    numbers = sorted({run.seed for run in runs})
    if verdict.many_seeds:
        seeds = f"{len(runs)} runs with the seeds {number_ranges(numbers)}"
    else:
        seeds = f"seed {', '.join(map(str, numbers))}"
    virtual_s = sum(run.virtual_s for run in runs)
    wall_s = sum(run.wall_s for run in runs)
    took = f"{virtual_s:.1f} virtual s in {wall_s:.1f} s"
    if not any(run.case.flows for run in runs):
        took = "no flows: nothing to measure"
    return (
        f"{len(verdict.runs)} of {len(verdict.study.cases)} cases, Linux {kernels}, {seeds}, {took}"
    )


def number_ranges(numbers: Iterable[int]) -> str:
    """Return ascending numbers as short ranges: `1-20, 25`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][-1] + 1:
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    return ", ".join("-".join(map(str, ends)) for ends in ranges)


def tally_lines(judged: ClaimResult) -> list[tuple[str, bool]]:
    """Return the lines below a claim over many cases.

    Returns:
        Lines, and of each whether it is about a case in which the claim does not hold.
    """
    found: list[tuple[str, bool]] = []
    several = len(judged.tallies) > 1
    for tally in judged.tallies:
        found.append((_tally_text(tally, named=several), False))
        if judged.passed is False:
            found += [(_example(one), True) for one in tally.examples]
            more = _more(tally)
            if more > 0:
                found.append((f"and {more:,} more", True))
    return found


def _tally_text(tally: Tally, *, named: bool) -> str:
    before = f"{tally.text}: " if named else ""
    missing = f", {tally.missing:,} not run" if tally.missing else ""
    cases = f"{tally.count:,} case{'s' if tally.count != 1 else ''}"
    if tally.unit is Unit.FRACTION and tally.holding is not None and tally.value is not None:
        share = format_quantity(tally.value, Unit.FRACTION)
        return f"{before}{share}, {tally.holding:,} of {cases}{missing}"
    if tally.holding is not None:
        return f"{before}holds in {tally.holding:,} of {cases}{missing}"
    if tally.value is None:
        return f"{before}no value over {cases}{missing}"
    value = f"{tally.value:.3g}" if tally.unit is None else format_quantity(tally.value, tally.unit)
    return f"{before}{value}, over {cases}{missing}"


def _example(example: Example) -> str:
    readings = [
        f"{name.removeprefix(f'{example.case}.')} = "
        + ("nothing measured" if value is None else format_quantity(value, unit))
        for name, (value, unit) in example.readings.items()
    ]
    return f"{example.case}: {', '.join(readings)}" if readings else example.case


def _more(tally: Tally) -> int:
    if tally.holding is None or not tally.examples:
        return 0
    return tally.count - tally.holding - len(tally.examples)
