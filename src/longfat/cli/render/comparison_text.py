"""The texts of a comparison's tables and lists: all of its numbers are formatted here.

The differences of many cases are summarised by metric (`tallies`): if a whole grid changed
alike, a line for each case shows less than one for all.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.compare.compared import CORRECTION, TEST, Compared, Contrast
from longfat.analysis.compare.differences import Difference, Significance
from longfat.analysis.compare.ranktest import LEVEL, is_exact, least_p, seeds_needed
from longfat.cli.render.number_text import format_count
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.output.report.values import MISSING, number_ranges

if TYPE_CHECKING:
    from longfat.analysis.compare.sides import Side
    from longfat.model.spread import Spread


SIGNIFICANCE_TEXTS = {
    Significance.REAL: "yes",
    Significance.STEADY: "steady",
    Significance.EXACT: "exact",
    Significance.FEW: "few",
    Significance.UNPROVEN: "no",
    Significance.SAME: "same",
    Significance.ONE_SIDED: "one side",
}
"""The texts of the column `real`."""

_MANY_TIMES = 10
_MAX_NAMED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The differences of one metric with the same significance.

    Attributes:
        title: what tables call the metric.
        unit: its base unit.
        significance: that of the differences.
        moved: the differences, the largest first.
        cases: how many cases have the metric.
    """

    title: str
    unit: Unit
    significance: Significance
    moved: tuple[Difference, ...]
    cases: int

    @property
    def up(self) -> int:
        """Return in how many cases B has more."""
        return sum(one.up for one in self.moved)

    @property
    def down(self) -> int:
        """Return in how many cases B has less."""
        return len(self.moved) - self.up

    @property
    def relative(self) -> float | None:
        """Return the median of the changes as parts of A's medians; None where one has none."""
        parts = [one.relative for one in self.moved]
        known = [part for part in parts if part is not None]
        return statistics.median(known) if len(known) == len(parts) else None

    @property
    def change(self) -> float:
        """Return the median of the changes, in the base unit."""
        return statistics.median(one.change or 0.0 for one in self.moved)

    @property
    def size(self) -> float:
        """Return how large it is among others: the median size times the share of cases moved."""
        return statistics.median(one.size for one in self.moved) * len(self.moved) / self.cases


def tallies(
    differences: Sequence[Difference], significances: Iterable[Significance]
) -> list[Tally]:
    """Count the differences by metric.

    Args:
        differences: those of all cases.
        significances: those to report, in the order of the report.

    Returns:
        For each significance in turn the metrics, the largest change first.
    """
    cases = Counter(one.metric for one in differences)
    groups: dict[tuple[Significance, str], list[Difference]] = {}
    for one in differences:
        groups.setdefault((one.significance, one.metric), []).append(one)
    found = []
    for significance in significances:
        with_this = [
            Tally(
                title=moved[0].title,
                unit=moved[0].unit,
                significance=significance,
                moved=tuple(sorted(moved, key=lambda one: -one.size)),
                cases=cases[metric],
            )
            for (found_significance, metric), moved in groups.items()
            if found_significance is significance
        ]
        found += sorted(with_this, key=lambda one: -one.size)
    return found


def side_line(side: Side) -> str:
    """Return what a side is made of, such as `2 cases, seeds 1-6, Linux 6.1.192`."""
    cases = format_count(len(side.runs), "case")
    seeds = side.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {number_ranges(seeds)}"
    releases = sorted({run.kernel["release"] for run in side.all_runs})
    return f"{cases}, {which}, Linux {' and '.join(releases)}"


def some(names: Sequence[str], *, maximum: int = _MAX_NAMED) -> str:
    """Return the first of many names, and how many more there are."""
    shown = ", ".join(names[:maximum])
    return shown if len(names) <= maximum else f"{shown} and {len(names) - maximum:,} more"


def median_text(spread: Spread | None, unit: Unit) -> str:
    """Return a median with its unit; a dash where there are no numbers."""
    return MISSING if spread is None else format_quantity(spread.median, unit)


def change_text(change: float | None, relative: float | None, unit: Unit) -> str:
    """Return a change: in per cent, as a factor where it is manifold, or in its unit."""
    if change is None:
        return MISSING
    if change == 0:
        return "0"
    sign = "+" if change > 0 else ""
    if relative is None:
        if unit is Unit.FRACTION:
            return f"{sign}{change * 100:.3g} pp"
        return f"{sign}{format_quantity(change, unit)}"
    if relative + 1 >= _MANY_TIMES:
        return f"x {relative + 1:.3g}"
    part = abs(relative) * 100
    digits = f"{part:.0f}" if part >= 9.95 else f"{part:.2g}"
    return f"{'+' if change > 0 else '-'}{digits} %"


def p_text(p: float | None) -> str:
    """Return a p-value with two digits."""
    if p is None:
        return MISSING
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"


def superiority_text(share: float | None) -> str:
    """Return how often B is more than A, in per cent."""
    return MISSING if share is None else f"{share * 100:.0f} %"


def tally_text(tally: Tally, *, alone: bool) -> str:
    """Return what became of a metric: of one case its numbers, of many how many moved.

    Args:
        tally: the metric.
        alone: there is one case only, which needs no name.
    """
    largest = tally.moved[0]
    if len(tally.moved) == 1:
        text = _numbers(largest)
        return text if alone else f"{text} in {largest.case}"
    change = change_text(tally.change, tally.relative, tally.unit)
    cases = format_count(tally.cases, "case")
    if tally.significance is Significance.ONE_SIDED:
        return f"on one side only, in {len(tally.moved):,} of {cases}"
    ways = [("up", tally.up), ("down", tally.down)]
    moved = ", ".join(f"{way} in {count:,}" for way, count in ways if count)
    maximum = change_text(largest.change, largest.relative, largest.unit)
    text = f"{moved} of {cases}, median {change}"
    return text if maximum == change else f"{text}, most {maximum} in {largest.case}"


def _numbers(difference: Difference) -> str:
    before, after = (
        median_text(spread, difference.unit) for spread in (difference.a, difference.b)
    )
    if difference.a is None or difference.b is None:
        return f"{before} -> {after}"
    change = change_text(difference.change, difference.relative, difference.unit)
    return f"{before} -> {after}, {change}"


def sameness_text(contrast: Contrast) -> str:
    """Return how many runs are byte-identical; empty where no seed is on both sides."""
    seeds = sum(one.seeds for one in contrast.sameness)
    equal = sum(one.equal for one in contrast.sameness)
    if not seeds:
        return ""
    if contrast.identical:
        return (
            f"byte-identical: all {format_count(seeds, 'run')}" if seeds > 1 else "byte-identical"
        )
    if not equal:
        return ""
    whole = [one.case for one in contrast.sameness if one.equal == one.seeds > 0]
    of_cases = f" (every common seed of {some(whole)})" if whole else ""
    return (
        f"{equal:,} of {format_count(seeds, 'run')} with a common seed are byte-identical{of_cases}"
    )


def notes(compared: Compared) -> list[str]:
    """Return what the words of the column `real` mean, of those that occur."""
    significance = {one.significance for of in compared.contrasts for one in of.differences}
    found = []
    if compared.tests:
        comparisons = format_count(compared.tests, "comparison")
        found.append(
            f"real: {TEST}, {_exactly(compared)}; of those called real at most "
            f"{compared.level * 100:.0f} % are false in the mean ({CORRECTION}, {comparisons})."
        )
    if Significance.STEADY in significance:
        found.append(
            "steady: every seed of one side gives one value and every seed of the other another; "
            "it is not tested, or the seeds are too few for the test to be sure."
        )
    if Significance.EXACT in significance:
        found.append(
            "one seed: a machine is deterministic, so with one seed on each side a difference is "
            "exact for that seed, and not valid for other seeds: run both with --seeds 8."
        )
    return found + _few_notes(compared, significance)


def _exactly(compared: Compared) -> str:
    sizes = {(len(p.a), len(p.b)) for of in compared.contrasts for p in of.matching.pairs}
    if all(is_exact(a, b) for a, b in sizes):
        return "exact"
    return "exact for few seeds and by the normal distribution for many"


def _few_notes(compared: Compared, significance: Iterable[Significance]) -> list[str]:
    sizes = sorted({(len(p.a), len(p.b)) for of in compared.contrasts for p in of.matching.pairs})
    few = [(a, b) for a, b in sizes if (a, b) != (1, 1) and least_p(a, b) > LEVEL]
    if Significance.FEW in significance and few:
        a, b = few[0]
        return [
            f"few: {a} seeds against {b} give no p below {least_p(a, b):.2g}, whatever they "
            f"measure; {seeds_needed(LEVEL)} on each side are the least, and 8 are better."
        ]
    # With few seeds and many comparisons a lone difference cannot pass the correction.
    tested = [(a, b) for a, b in sizes if least_p(a, b) <= LEVEL]
    if compared.tests and tested and Significance.UNPROVEN in significance:
        lone = LEVEL / compared.tests
        a, b = tested[0]
        if least_p(a, b) > lone:
            return [
                f"{a} seeds against {b} give no p below {least_p(a, b):.2g}: enough where many "
                f"metrics differ; a lone one among {compared.tests:,} is real with "
                f"{seeds_needed(lone)} seeds on each side."
            ]
    return []
