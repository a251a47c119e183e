"""Figures of runs, for the page to draw.

They are those of `longfat plot`, with as many points as a screen can show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.output.report.curves import METRICS
from longfat.output.report.groups import group_runs
from longfat.output.report.panel_data import panel_data
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.execution.runs import Run

# Thinning keeps at most five points a column: 2000 in all.
_COLUMNS = 400


def panels_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the panels of runs as `PanelData` of the page's `charts/panelData.ts`.

    Runs that differ in their seeds only are one line, the median, with a band.

    Args:
        runs: the runs; at least one.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    series = Series(group_runs(runs))
    panels = [series.panel(metric) for metric in METRICS]
    return [panel_data(panel, columns=_COLUMNS) for panel in panels if panel is not None]
