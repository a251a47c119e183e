"""Many comparisons at once: which of the p-values still show a difference.

Of a hundred comparisons of nothing with nothing, five are below 5 %. The procedure of
Benjamini and Hochberg keeps the *false discovery rate* low: of what is called real, at most
the level is false in the mean. The alternative, Holm's, keeps the chance of a single false
one low; it requires p <= level / count of the first, which the few seeds that people run
can seldom give (6 on each side: p is at least 0.002, so 23 comparisons at most), and would
thus call nothing real in a grid in which everything is. A list of differences is read as a
whole, and a few false ones in a hundred do not spoil it. Where nothing differs at all, the
chance of any false one is at most the level with this procedure, too.

The proof requires that the tests are independent or positively dependent. A run's
metrics are dependent, and some negatively; tests/compare counts by simulation
that the rate keeps below the level with such metrics.

Sources:

* Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate: A Practical and
  Powerful Approach to Multiple Testing", Journal of the Royal Statistical Society
  B 57 (1), 1995.
* Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple
  Testing under Dependency", Annals of Statistics 29 (4), 2001: the dependence allowed.
* S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure", Scandinavian
  Journal of Statistics 6 (2), 1979.
"""

from __future__ import annotations

import numpy as np

from longfat.analysis.compare.ranktest import Floats

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
