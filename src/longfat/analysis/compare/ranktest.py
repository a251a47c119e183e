"""The Mann-Whitney test, and its correction for many tests at once.

The test is whether two sets of numbers can be draws from one distribution.

For many small sets at once: a grid's comparison has thousands of them, of some
seeds each. Only the order of the numbers counts, so no shape of the
distribution is assumed, which throughputs under loss would not have.

The test is exact, ties included: given the numbers of both sides together, each choice of
which of them are A's is as likely as any other if nothing differs. Equal numbers share the
mean of their ranks, and how many choices give which sum of ranks is counted by the shift
algorithm rather than by trying each choice. Only for many seeds, where counting would take
long, the normal distribution replaces the count.

The numbers of one seed on both sides are not taken as a pair. A seed fixes the
random numbers that the kernel draws, but who draws them, and for what, changes
at the first packet that is sent at another time; from there on the two runs
have as little in common as any two. A test of pairs would gain nothing, and for
its least p it needs 6 seeds where this one needs 4. If runs of one seed do have
something in common (they do have the starts that `start_spread` draws), this
test finds a difference less often than it may, never more often.

Of a hundred comparisons of nothing with nothing, five are below 5 %. The procedure of
Benjamini and Hochberg keeps the *false discovery rate* low: of what is called real, at most
the level is false in the mean. The alternative, Holm's, keeps the chance of a single false
one low; it requires p <= level / count of the first, which the few seeds that people run
can seldom give (6 on each side: p is at least 0.002, so 23 comparisons at most), and would
thus call nothing real in a grid in which everything is. A list of differences is read as a
whole, and a few false ones in a hundred do not spoil it. Where nothing differs at all, the
chance of any false one is at most the level with this procedure, too.

The proof requires that the tests are independent or positively dependent. A run's
metrics are dependent, and some negatively; tests/analysis/compare counts by simulation
that the rate keeps below the level with such metrics.

Sources:

* H. B. Mann, D. R. Whitney, "On a Test of Whether one of Two Random Variables is
  Stochastically Larger than the Other", Annals of Mathematical Statistics 18 (1), 1947.
* B. Streitberg, J. Roehmel, "Exact Distributions for Permutation and Rank Tests:
  An Introduction to Some Recently Published Algorithms", Statistical Software
  Newsletter 12 (1), 1986: the shift algorithm.
* E. L. Lehmann, "Nonparametrics: Statistical Methods Based on Ranks", 1975,
  section 1.4: mid-ranks, and the normal approximation with ties.
* Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate: A Practical and
  Powerful Approach to Multiple Testing", Journal of the Royal Statistical Society
  B 57 (1), 1995.
* Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple
  Testing under Dependency", Annals of Statistics 29 (4), 2001: the dependence allowed.
* S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
  Journal of Statistics 6 (2), 1979.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]

# Steps of counting, beyond which the normal distribution is used: some milliseconds for a
# pattern of ties, of which there may be thousands; some seconds for the one without ties.
_MAX_STEPS_WITH_TIES = 2_000_000
_MAX_STEPS = 200_000_000


def two_sided_p(a: Floats, b: Floats) -> Floats:
    """Return how likely so large a difference is if A and B are draws from one distribution.

    Args:
        a: the numbers of A: a row for each comparison, a column for each seed.
        b: the numbers of B, with as many rows.

    Returns:
        Of each row the p-value: twice the probability of the tail that the sum of
        the ranks lies in, at most 1.
    """
    if a.shape[1] > b.shape[1]:
        a, b = b, a  # the count is that of the smaller side
    rows, few = a.shape
    if rows == 0:
        return np.empty(0)
    ranks = _doubled_ranks(np.concatenate([a, b], axis=1))
    sums = ranks[:, :few].sum(axis=1)
    # Rows with the same ties have the same distribution.
    patterns, which = np.unique(np.sort(ranks, axis=1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(len(patterns) + 1))
    found = np.empty(rows)
    for index, pattern in enumerate(patterns):
        of_pattern = order[ends[index] : ends[index + 1]]
        found[of_pattern] = _p_values(pattern, few, sums[of_pattern])
    return found


def superiority(a: Floats, b: Floats) -> Floats:
    """Return how likely a draw of B is more than one of A, equal ones counted half.

    Source: A. Vargha, H. D. Delaney, "A Critique and Improvement of the CL Common
    Language Effect Size Statistics of McGraw and Wong", Journal of Educational and
    Behavioral Statistics 25 (2), 2000. It is the Mann-Whitney statistic over the
    number of pairs.

    Args:
        a: the numbers of A, a row for each comparison.
        b: the numbers of B, with as many rows.

    Returns:
        Of each row a number from 0 (all of A's are more) to 1 (all of B's are).
    """
    count = b.shape[1]
    ranks = _doubled_ranks(np.concatenate([a, b], axis=1))
    won = ranks[:, a.shape[1] :].sum(axis=1) / 2 - count * (count + 1) / 2
    found: Floats = won / (a.shape[1] * count)
    return found


def shift(a: Floats, b: Floats) -> Floats:
    """Return by how much B is more than A: the median of all differences between the two.

    Source: J. L. Hodges, E. L. Lehmann, "Estimates of Location Based on Rank
    Tests", Annals of Mathematical Statistics 34 (2), 1963: the estimate that
    belongs to this test. One strange seed hardly moves it.

    Args:
        a: the numbers of A, a row for each comparison.
        b: the numbers of B, with as many rows.

    Returns:
        Of each row the shift, in the numbers' unit.
    """
    pairs = a.shape[1] * b.shape[1]
    found = np.empty(len(a))
    step = max(1, 4_000_000 // pairs)
    for first in range(0, len(a), step):
        rows = slice(first, first + step)
        differences = b[rows, None, :] - a[rows, :, None]
        found[rows] = np.median(differences.reshape(len(differences), -1), axis=1)
    return found


def least_p(a: int, b: int) -> float:
    """Return the least p-value that so many seeds can give: all of one side above the other's.

    Args:
        a: the number of A's seeds.
        b: the number of B's.
    """
    return min(1.0, 2 / math.comb(a + b, a))


def seeds_needed(level: float) -> int:
    """Return the least number of seeds, on each side, with which p can be as small as a level.

    Args:
        level: the level, such as 0.05 (4 seeds).
    """
    count = 2
    while least_p(count, count) > level:
        count += 1
    return count


def is_exact(a: int, b: int) -> bool:
    """Return whether so many seeds are few enough for an exact test, whatever ties there are.

    Args:
        a: the number of A's seeds.
        b: the number of B's.
    """
    return _count_steps(a + b, min(a, b), ties=True) <= _MAX_STEPS_WITH_TIES


def _doubled_ranks(values: Floats) -> Integers:
    """Return twice the rank of each number in its row, which is whole with ties, too."""
    size = values.shape[1]
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    places = np.broadcast_to(np.arange(size), values.shape)
    begins = np.ones(values.shape, dtype=bool)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    first = np.maximum.accumulate(np.where(begins, places, 0), axis=1)
    stops = np.ones(values.shape, dtype=bool)
    stops[:, :-1] = begins[:, 1:]
    last = np.minimum.accumulate(np.where(stops, places, size)[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, first + last + 2, axis=1)
    return ranks


def _p_values(pattern: Integers, few: int, sums: Integers) -> Floats:
    """Return the p-values of rank sums of `few` of the ranks of a pattern."""
    steps, maximum = _steps(pattern, few)
    if steps > maximum:
        return _normal_p(pattern, few, sums)
    minimum, step, below = _distribution(pattern.tobytes(), few)
    index = (sums - minimum) // step
    down = below[index + 1]
    up = below[-1] - below[index]
    found: Floats = np.minimum(1.0, 2 * np.minimum(down, up) / below[-1])
    return found


def _steps(pattern: Integers, few: int) -> tuple[int, int]:
    """Return how many steps counting takes, and how many are allowed."""
    ties = len(np.unique(pattern)) < len(pattern)
    steps = _count_steps(len(pattern), few, ties=ties)
    return steps, _MAX_STEPS_WITH_TIES if ties else _MAX_STEPS


def _count_steps(size: int, few: int, *, ties: bool) -> int:
    """Return how many steps it takes to count the choices of `few` of `size` ranks."""
    sums = few * (size - few) * (2 if ties else 1)  # with ties, ranks may be halves
    return size * few * sums


@lru_cache(maxsize=50_000)
def _distribution(pattern: bytes, few: int) -> tuple[int, int, Floats]:
    """Count the choices of some of the ranks by their sum.

    Returns:
        The least sum, the step between two sums, and how many choices have less
        than each sum, from none to all.
    """
    ranks = np.frombuffer(pattern, dtype=np.int64)
    base = int(ranks[0])
    step = int(np.gcd.reduce(ranks - base)) or 1
    steps = (ranks - base) // step
    # Sums of the `few` largest; a sum beyond cannot be.
    top = int(steps[-few:].sum())
    counts = np.zeros((few + 1, top + 1))
    counts[0, 0] = 1
    for rank in steps.tolist():
        # Each choice of one less, with this rank added: the shift.
        counts[1:, rank:] += counts[:-1, : top + 1 - rank].copy()
    return base * few, step, np.concatenate([[0.0], np.cumsum(counts[few])])


def _normal_p(pattern: Integers, few: int, sums: Integers) -> Floats:
    """Return the p-values by the normal distribution, with ties, and corrected for steps."""
    size = len(pattern)
    many = size - few
    ties = np.unique(pattern, return_counts=True)[1].astype(np.float64)
    spread = few * many / 12 * (size + 1 - (ties**3 - ties).sum() / (size * (size - 1)))
    if spread <= 0:
        return np.ones(len(sums))
    away = np.abs(sums / 2 - few * (size + 1) / 2) - 0.5
    scores = np.maximum(0.0, away) / math.sqrt(spread)
    return np.array([math.erfc(score / math.sqrt(2)) for score in scores.tolist()])


LEVEL = 0.05
"""The share of false ones that is allowed among the differences that are called real."""


def adjusted(p_values: Floats) -> Floats:
    """Return the p-values, adjusted by Benjamini and Hochberg.

    Args:
        p_values: the p-values of all comparisons that are made.

    Returns:
        In the same order, the least level at which the comparison is a discovery.
    """
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    stepped = p_values[order] * count / np.arange(1, count + 1)
    found = np.empty(count)
    found[order] = np.minimum(1.0, np.minimum.accumulate(stepped[::-1])[::-1])
    return found
