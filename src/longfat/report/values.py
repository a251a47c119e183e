"""What the terminal and the page both show, as plain text in rows.

Here numbers become text, once: the two outputs cannot differ in a digit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.metric import Unit
from longfat.study.metrics import find_metric, known_metrics
from longfat.units import format_quantity

if TYPE_CHECKING:
    from longfat.verdict import Comparison, JudgedClaim, Verdict

MISSING = "-"
"""What stands where there is no number."""

_METRIC = re.compile(r"(?<![\w.-])([A-Za-z][\w-]*)\.([A-Za-z][\w-]*)\.([a-z]\w*)")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: what it is about, and a text for each column."""

    label: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table whose columns are alike, such as one for each case."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


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
        text: the claim's words.
        expression: what was checked; empty where the words are the same.
        readings: the metrics that it speaks of, with the measured values.
    """

    verdict: str
    text: str
    expression: str
    readings: tuple[tuple[str, str], ...]


_VERDICTS = {True: "holds", False: "FAILS", None: "not judged"}


def comparison_groups(verdict: Verdict) -> tuple[Group, ...]:
    """Return the published figures beside ours: published, measured, ratio; by case."""
    groups: dict[str, list[Row]] = {}
    for comparison in verdict.published:
        groups.setdefault(comparison.figure.case, []).append(_comparison_row(comparison))
    return tuple(
        Group(name, verdict.study.cases[name].title, tuple(rows)) for name, rows in groups.items()
    )


def _comparison_row(comparison: Comparison) -> Row:
    figure, measured = comparison.figure, comparison.measured
    if measured is None:
        ratio = MISSING
    elif comparison.ratio is not None:
        ratio = f"{comparison.ratio:.2f}"
    else:
        ratio = "equal" if measured == figure.value else MISSING
    cells = (
        format_quantity(figure.value, figure.unit),
        MISSING if measured is None else format_quantity(measured, figure.unit),
        ratio,
    )
    return Row(figure.title, cells)


def metric_grid(verdict: Verdict) -> Grid | None:
    """Return all metrics of the cases that nothing was published of: metrics down, cases across.

    Returns:
        The table; None where every case that was run has published figures.
    """
    told = {comparison.figure.case for comparison in verdict.published}
    names = tuple(name for name in verdict.runs if name not in told)
    measured = {key for name in names for key in verdict.runs[name].metrics}
    rows = {
        key: (f"{key.partition('.')[0]} {metric.title}", metric.unit)
        for name in names
        for key, metric in known_metrics(verdict.study.cases[name].case).items()
        if key in measured
    }
    if not rows:
        return None
    return Grid(
        columns=names,
        rows=tuple(
            Row(
                title,
                tuple(_measured(verdict.runs[name].metrics.get(key), unit) for name in names),
            )
            for key, (title, unit) in rows.items()
        ),
    )


def _measured(value: float | None, unit: Unit) -> str:
    return MISSING if value is None else format_quantity(value, unit)


def claim_rows(verdict: Verdict) -> tuple[ClaimRow, ...]:
    """Return the claims with their verdicts."""
    return tuple(_claim_row(judged, verdict) for judged in verdict.claims)


def _claim_row(judged: JudgedClaim, verdict: Verdict) -> ClaimRow:
    claim = judged.claim
    readings: dict[str, str] = {}
    for case, flow, metric in _METRIC.findall(claim.expression):
        if case in verdict.runs:
            known = known_metrics(verdict.study.cases[case].case)
            key = find_metric(flow, metric, known)
            value = verdict.runs[case].metrics.get(key) if key else None
            unit = known[key].unit if key else Unit.COUNT
            text = "nothing measured" if value is None else format_quantity(value, unit)
            readings[f"{case}.{flow}.{metric}"] = text
    return ClaimRow(
        verdict=_VERDICTS[judged.holds],
        text=claim.text,
        expression="" if claim.text == claim.expression else claim.expression,
        readings=tuple(readings.items()),
    )


def claims_summary(verdict: Verdict) -> str:
    """Return how many claims hold, fail and were not judged."""
    count = dict.fromkeys(_VERDICTS, 0)
    for judged in verdict.claims:
        count[judged.holds] += 1
    parts = [f"{count[True]} of {len(verdict.claims)} hold"]
    parts += [f"{count[False]} FAIL"] if count[False] else []
    parts += [f"{count[None]} not judged"] if count[None] else []
    return ", ".join(parts)


def run_summary(verdict: Verdict) -> str:
    """Return in one line what was run, on what, and how long it took."""
    runs = verdict.runs.values()
    if not runs:
        return "no case was run"
    kernels = ", ".join(sorted({run.kernel["release"] for run in runs}))
    seeds = ", ".join(str(seed) for seed in sorted({run.seed for run in runs}))
    virtual_s = sum(run.virtual_s for run in runs)
    wall_s = sum(run.wall_s for run in runs)
    return (
        f"{len(runs)} of {len(verdict.study.cases)} cases, Linux {kernels}, seed {seeds}, "
        f"{virtual_s:.1f} virtual s in {wall_s:.1f} s"
    )
