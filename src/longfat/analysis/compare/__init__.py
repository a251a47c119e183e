"""Comparison: what differs between two sets of runs, and which of it is real.

sides          the runs of each side, and which cases are compared
changes        what differs in the cases, and in kernel, tools and longfat
ranktest       whether numbers of some seeds differ, and how many such findings are false
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
