"""The texts of the comparison's tables and lists: all numbers are formatted here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from longfat.analysis.compare.compared import CORRECTION, TEST, Compared, Contrast
from longfat.analysis.compare.differences import Significance
from longfat.analysis.compare.false_discovery import LEVEL
from longfat.analysis.compare.ranktest import is_exact, least_p, seeds_needed
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, format_range

if TYPE_CHECKING:
    from longfat.analysis.compare.differences import Difference
    from longfat.analysis.compare.sides import Side
    from longfat.analysis.compare.tally import Tally
    from longfat.model.spread import Spread

MISSING = "-"
"""The text for a missing number."""

BAND = "5-95 %"
"""The head of a column of bands: in the unit of the median before it."""

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
_MOST_NAMED = 4


def side_line(side: Side) -> str:
    """Return what a side is made of, such as `2 cases, seeds 1-6, Linux 6.1.192`."""
    cases = counted(len(side.runs), "case")
    seeds = side.seeds
    which = f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {_ranges(seeds)}"
    releases = sorted({run.kernel["release"] for run in side.all_runs})
    return f"{cases}, {which}, Linux {' and '.join(releases)}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return increasing numbers in short form: `1-20, 25`."""
    in_a_row = groupby(enumerate(numbers), key=lambda one: one[1] - one[0])
    ends = [[number for _, number in of] for _, of in in_a_row]
    return ", ".join(f"{of[0]}-{of[-1]}" if len(of) > 1 else f"{of[0]}" for of in ends)


def counted(count: int, what: str) -> str:
    """Return a number of things in words, such as `1 case` or `2,000 cases`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def some(names: Sequence[str], *, most: int = _MOST_NAMED) -> str:
    """Return the first of many names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def median_text(spread: Spread | None, unit: Unit) -> str:
    """Return a median with its unit; a dash where there are no numbers."""
    return MISSING if spread is None else format_quantity(spread.median, unit)


def band_text(spread: Spread | None, unit: Unit) -> str:
    """Return the 5-95 % band of a spread, in the unit of its median."""
    if spread is None or spread.count < 2:
        return MISSING
    return format_range(spread.low, spread.high, unit, like=spread.median)


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
    cases = counted(tally.cases, "case")
    if tally.significance is Significance.ONE_SIDED:
        return f"on one side only, in {len(tally.moved):,} of {cases}"
    ways = [("up", tally.up), ("down", tally.down)]
    moved = ", ".join(f"{way} in {count:,}" for way, count in ways if count)
    most = change_text(largest.change, largest.relative, largest.unit)
    text = f"{moved} of {cases}, median {change}"
    return text if most == change else f"{text}, most {most} in {largest.case}"


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
        return f"byte-identical: all {counted(seeds, 'run')}" if seeds > 1 else "byte-identical"
    if not equal:
        return ""
    whole = [one.case for one in contrast.sameness if one.equal == one.seeds > 0]
    of_cases = f" (every common seed of {some(whole)})" if whole else ""
    return f"{equal:,} of {counted(seeds, 'run')} with a common seed are byte-identical{of_cases}"


def notes(compared: Compared) -> list[str]:
    """Return what the words of the column `real` mean, of those that occur."""
    significance = {one.significance for of in compared.contrasts for one in of.differences}
    found = []
    if compared.tests:
        comparisons = counted(compared.tests, "comparison")
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
