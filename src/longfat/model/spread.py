"""The spread of a number over seeds: what one run cannot show.

Seeds decide where losses fall and how competing flows march, so a single run
of such a case is one draw from many. A spread is what tables, claims and plots
show in its place: the middle, and the band that nine of ten runs fall in.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOW = 0.05
HIGH = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How a number is spread over the seeds of a case.

    The percentiles are interpolated linearly between order statistics: the
    p-quantile of n values lies at rank 1 + (n - 1) p. Source: R. J. Hyndman and
    Y. Fan, "Sample Quantiles in Statistical Packages", The American
    Statistician 50 (4), 1996, definition 7, which R, NumPy and spreadsheets
    take by default. With few seeds the band is near the least and the largest
    value, and shows little of what more seeds would give.

    Attributes:
        median: the middle value, or the mean of the two in the middle.
        low: the 5th percentile.
        high: the 95th percentile.
        count: how many values there are.
    """

    median: float
    low: float
    high: float
    count: int

    def contains(self, value: float) -> bool:
        """Return whether a value lies in the band, its edges included."""
        return self.low <= value <= self.high


def spread_of(values: Iterable[float]) -> Spread:
    """Return the spread of values.

    Args:
        values: the values, in any order and unit.

    Returns:
        The spread; of one value, that value three times.

    Raises:
        ValueError: there are none.
    """
    ordered = sorted(values)
    if not ordered:
        raise ValueError("no values have no spread")
    return Spread(
        median=statistics.median(ordered),
        low=quantile(ordered, LOW),
        high=quantile(ordered, HIGH),
        count=len(ordered),
    )


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return a quantile by linear interpolation: definition 7 of Hyndman and Fan (1996).

    Args:
        ordered: the values, from the least to the largest; at least one.
        part: which one, 0 to 1.
    """
    # statistics.quantiles computes the same, but gives 0.020000000000000004 for
    # values that are all 0.02, which would put 0.02 out of the band.
    rank = (len(ordered) - 1) * part
    index = int(rank)
    below = ordered[index]
    above = ordered[min(index + 1, len(ordered) - 1)]
    return below + (above - below) * (rank - index)
