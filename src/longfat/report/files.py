"""Write the report's files, each whole or not at all."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.report.figures import (
    NARROW_WIDTH_IN,
    PAGE_WIDTH_IN,
    References,
    draw_pings,
    draw_traffic,
)
from longfat.report.page import EmbeddedFigure, render_page
from longfat.report.series import ping_series, traffic_series
from longfat.report.style import figure_style
from longfat.report.windows import flow_windows

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from longfat.verdict import Verdict

PAGE = "report.html"
PLOTS = "plots"

# A date would make two reports of the same runs differ, and a version two installations.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None, "Format": None, "Type": None},
}


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What a report consists of.

    Attributes:
        page: the HTML page, which needs none of the others.
        figures: the figures, each as PNG and as PDF.
    """

    page: Path
    figures: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Drawing:
    """A figure that can be drawn in any width, with and without its title."""

    name: str
    heading: str
    words: str
    draw: Callable[[float, str], Figure]


def write_report(verdict: Verdict, folder: Path) -> ReportFiles:
    """Write `report.html` and `plots/*.png` and `*.pdf`.

    Figures of an earlier report that this one does not have are removed.

    Args:
        verdict: the study with its runs.
        folder: the folder that takes them; made if it is not there.

    Raises:
        InputError: the folder cannot be made or written to.
        MachineError: a tool's output cannot be read.
    """
    drawings = _drawings(verdict)
    plots = folder / PLOTS
    files = []
    try:
        plots.mkdir(parents=True, exist_ok=True)
        for drawing in drawings:
            with figure_style():
                figure = drawing.draw(PAGE_WIDTH_IN, verdict.study.title)
                for form in ("png", "pdf"):
                    path = plots / f"{drawing.name}.{form}"
                    _write(path, _saved(figure, form))
                    files.append(path)
        for name in ("traffic", "ping"):
            for form in ("png", "pdf"):
                if (stale := plots / f"{name}.{form}") not in files:
                    stale.unlink(missing_ok=True)
        page = folder / PAGE
        embedded = [_embedded(drawing) for drawing in drawings]
        _write(page, render_page(verdict, figures=embedded).encode())
    except OSError as error:
        raise InputError(f"{folder}: the report cannot be written: {error.strerror}") from None
    return ReportFiles(page=page, figures=tuple(files))


def _drawings(verdict: Verdict) -> list[_Drawing]:
    drawings = []
    traffic = [one for one in traffic_series(verdict) if one.throughput.main]
    if traffic:
        references = _references(verdict)
        names = ", ".join(one.label for one in traffic)
        drawings.append(
            _Drawing(
                name="traffic",
                heading="Traffic over time",
                words=(
                    f"Throughput, congestion window and round-trip time over virtual time of "
                    f"{names}; the numbers stand in the iperf3 tables."
                ),
                draw=lambda width_in, title: draw_traffic(
                    traffic, title=title, references=references, width_in=width_in
                ),
            )
        )
    pings = ping_series(verdict)
    if pings:
        names = ", ".join(one.label for one in pings)
        drawings.append(
            _Drawing(
                name="ping",
                heading="Round-trip time of each ping",
                words=f"Round-trip time of each echo request of {names}.",
                draw=lambda width_in, title: draw_pings(pings, title=title, width_in=width_in),
            )
        )
    return drawings


def _references(verdict: Verdict) -> References:
    """Return what the paths of all flows have in common."""
    windows, _ = flow_windows(verdict)
    with_path = {(w.case, w.flow) for w in windows}
    flows = sum(len(one_run) for one_run in _bulk_flows(verdict))
    if len(with_path) != flows:
        return References()
    rates = {w.path.rate_bps for w in windows}
    products = {w.bdp_bytes for w in windows}
    times = {w.path.rtt_s for w in windows}
    return References(
        rate_bps=rates.pop() if len(rates) == 1 else None,
        bdp_bytes=products.pop() if len(products) == 1 else None,
        rtt_s=times.pop() if len(times) == 1 else None,
    )


def _bulk_flows(verdict: Verdict) -> list[list[str]]:
    return [
        [flow.name for flow in verdict.study.cases[name].case.flows if flow.tool == "iperf3"]
        for name in verdict.runs
    ]


def _embedded(drawing: _Drawing) -> EmbeddedFigure:
    wide, narrow = (
        _drawn_svg(drawing, width_in, salt)
        for width_in, salt in ((PAGE_WIDTH_IN, "wide"), (NARROW_WIDTH_IN, "narrow"))
    )
    return EmbeddedFigure(
        heading=drawing.heading, words=drawing.words, wide_svg=wide, narrow_svg=narrow
    )


def _drawn_svg(drawing: _Drawing, width_in: float, salt: str) -> str:
    with figure_style(salt=f"{drawing.name}-{salt}"):
        return _saved(drawing.draw(width_in, ""), "svg").decode()


def _saved(figure: Figure, form: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=form, metadata=_METADATA[form], transparent=form == "svg")
    return stream.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Write a file under a hidden name first: it appears whole, or not at all."""
    hidden = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        hidden.write_bytes(content)
        hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)
