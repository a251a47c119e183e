"""What a report shows of a study: each case, or all of them together.

A page with the figures of more than a few dozen cases would take minutes to draw and would be
unreadable. So a grid, and any study of very many cases, has a page of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict

MOST_CASES = 40
"""Up to this many cases have a page with the figures, windows and commands of each."""

_MOST_OVER_TIME = 12  # cases of a grid whose figures over time its page has too


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
    if verdict.study.grid is None and count <= MOST_CASES:
        return Scope(grid=False, over_time=True)
    if count <= _MOST_OVER_TIME:
        return Scope(grid=True, over_time=True)
    note = (
        f"the report has no figures over time of its {count:,} cases: `longfat plot RUN...` draws "
        "them of the runs that you name"
    )
    return Scope(grid=True, over_time=False, notes=(note,))
