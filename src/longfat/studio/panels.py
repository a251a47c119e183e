"""Figures of runs, for the page to draw.

They are those of `longfat plot`, with as many points as a screen can show.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from longfat.model.metric import Unit
from longfat.output.plot.thin import thin_line
from longfat.output.report.curves import METRICS
from longfat.output.report.groups import group_runs
from longfat.output.report.series import Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.execution.runs import Run
    from longfat.output.plot import Floats, Line, Panel

# Thinning keeps at most five points a column: 2000 in all.
_COLUMNS = 400

_UNITS = {
    Unit.BPS: "bit/s",
    Unit.BYTES: "bytes",
    Unit.SECONDS: "s",
    Unit.FRACTION: "1",
    Unit.COUNT: "1",
}


def panels_of(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Return the panels of runs as `PanelData` of the page's `api/types.ts`.

    Runs that differ in their seeds only are one line, the median, with a band.

    Args:
        runs: the runs; at least one.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    series = Series(group_runs(runs))
    panels = [series.panel(metric) for metric in METRICS]
    return [_panel(panel) for panel in panels if panel is not None]


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "title": panel.title,
        "metric": panel.name,
        "unit": _UNITS[panel.unit],
        # A figure's only line is named by the title; on a screen, others may join it.
        "lines": [_line(line, title=panel.title) for line in panel.lines if not line.empty],
        "references": [{"label": one.label, "value": one.value} for one in panel.references],
    }


def _line(line: Line, *, title: str) -> dict[str, Any]:
    thin = thin_line(line, columns=_COLUMNS)
    return {
        "label": thin.label or title,
        "look": thin.look,
        "times_s": thin.times_s.tolist(),
        "values": _numbers(thin.values),
        "low": None if thin.low is None else _numbers(thin.low),
        "high": None if thin.high is None else _numbers(thin.high),
    }


def _numbers(values: Floats) -> list[float | None]:
    """Return values as JSON can hold them: what is no number is None."""
    return [value if math.isfinite(value) else None for value in values.tolist()]
