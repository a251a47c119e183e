"""The figure of `plot_q.sh`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longfat.model.metric import Unit
from longfat.output.plot import Line, Panel
from longfat.output.report.figure_files import PlotRequest, figures_over_time, write_figures

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.output.programs.queue_reader import Sample


def write_figure(
    samples: Sequence[Sample], *, name: str, interface: str, out: Path
) -> tuple[Path, ...]:
    """Draw the backlog over time.

    Args:
        samples: the samples; at least one.
        name: the name of the files, without a suffix.
        interface: the interface's name.
        out: the folder that takes the files.

    Raises:
        InputError: the files cannot be written.
    """
    line = Line(
        label="",
        times_s=np.array([sample.time_s for sample in samples]),
        values=np.array([float(sample.backlog_bytes) for sample in samples]),
        unit=Unit.BYTES,
    )
    panel = Panel(name=name, title="Queue: bytes that wait", lines=(line,))
    # A single sample has a place on the axis, too.
    request = PlotRequest(
        forms=("png", "pdf"), font_subsets=False, end_s=max(samples[-1].time_s, 0.1)
    )
    title = f"{interface} ({samples[-1].qdisc})"
    time_label = "virtual time since the start of plot_q.sh (s)"
    figures, _ = figures_over_time([panel], request, title, time_label)
    return write_figures(figures, out, request)
