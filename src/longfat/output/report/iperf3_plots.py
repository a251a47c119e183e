"""The figures of any iperf3 reports, one file for each quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.output.report.figure_files import (
    PlotFiles,
    PlotRequest,
    chosen_metrics,
    figures_over_time,
    joined_names,
    write_figures,
)
from longfat.output.report.foreign import FOREIGN_METRICS, foreign_panels, read_reports

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.model.traffic.iperf3_any import AnyReport


def plot_reports(paths: Sequence[Path], request: PlotRequest, *, out: Path) -> PlotFiles:
    """Draw figures of any iperf3 reports.

    Args:
        paths: the files that `iperf3 -J` wrote; at least one.
        request: what to draw; there are no flows.
        out: the folder that takes the files.

    Raises:
        InputError: a file is no such report, there is no such metric, a
            requested metric is in none of them, or the files cannot be written. Nothing is
            written then.
    """
    chosen_metrics(request.metrics, FOREIGN_METRICS)  # before anything is read
    return draw_reports(read_reports(paths), request, out=out)


def draw_reports(reports: Sequence[AnyReport], request: PlotRequest, *, out: Path) -> PlotFiles:
    """Draw figures of reports that have been read; see `plot_reports`."""
    metrics = chosen_metrics(request.metrics, FOREIGN_METRICS)
    panels = foreign_panels(reports, metrics, constants=request.constants)
    present = [panel.name for panel in panels]
    if request.metrics and (missing := [name for name in metrics if name not in present]):
        available = [panel.name for panel in foreign_panels(reports)]
        raise InputError(
            f"no {', '.join(missing)} in these reports; they have {', '.join(available)}"
        )
    title = (
        joined_names(report.path.name for report in reports)
        if request.title is None
        else request.title
    )
    figures, _ = figures_over_time(panels, request, title, "time since the test's start (s)")
    notes = tuple(f"{one.path}: the test broke off: {one.broken}" for one in reports if one.broken)
    return PlotFiles(write_figures(figures, out, request), notes)
