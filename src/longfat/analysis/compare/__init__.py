"""Comparison: what differs between two sets of runs, and which of it is real.

sides          the runs of one side, by case
find           a side, from what a person wrote
match          which case of one corresponds to which of the other
changes        what differs in the cases
environment    what differs in kernel, tools and longfat
ranktest       whether numbers of some seeds differ, discoveries among many such
differences    what differs in the results, and how much it is worth
compared       all of it as a value
moments        of two runs, when their series part
"""

from longfat.analysis.compare.compared import Compared, Contrast, compare_sides, compare_verdicts
from longfat.analysis.compare.differences import Difference, Significance
from longfat.analysis.compare.sides import Side, make_side

__all__ = [
    "Compared",
    "Contrast",
    "Difference",
    "Side",
    "Significance",
    "compare_sides",
    "compare_verdicts",
    "make_side",
]
