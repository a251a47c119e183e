"""Summary of the differences of many cases: a line for each metric that changed.

If a whole grid changed alike, a line for each case shows less than one for all.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.compare.differences import Difference, Significance

if TYPE_CHECKING:
    from longfat.model.metric import Unit


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
