"""Figures of runs, for the page to draw.

They are those of `longfat plot`, with as many points as a screen can show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.curves import METRICS
from longfat.analysis.timeseries.groups import group_runs
from longfat.output.report.panel_data import panel_data
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.timeseries.groups import Group
    from longfat.execution.runs import Run

# Thinning keeps at most five points a column: 2000 in all.
_COLUMNS = 400


def panels_of(runs: Sequence[Run], cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the panels of runs as `PanelData` of the page's `charts/panelData.ts`.

    Runs that differ in their seeds only are one line, the median, with a band.

    Args:
        runs: the runs; at least one.
        cases: all cases of their study, chosen or not, in its order: so that each has the same
            colour whichever others are chosen.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    groups = group_runs(runs)
    series = Series(groups, looks=_looks(groups, cases))
    panels = [series.panel(metric) for metric in METRICS]
    return [panel_data(panel, columns=_COLUMNS) for panel in panels if panel is not None]


def _looks(groups: Sequence[Group], cases: Sequence[str]) -> dict[str, int] | None:
    """Return the looks of groups that are cases of one study; None where they are others."""
    known = {name: place for place, name in enumerate(cases)}
    if len(groups) < 2 or not all(group.label in known for group in groups):
        return None
    return known
