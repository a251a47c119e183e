"""Write the report's files, each whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

from longfat.errors import InputError, SurroundingsError
from longfat.plot import PAGE_WIDTH_IN, draw_chart, figure_style, saved, write_whole
from longfat.report.captions import chart_key
from longfat.report.case_table import case_table
from longfat.report.charts import ChartData
from longfat.report.embedded import embed
from longfat.report.exhibits import Exhibit, galleries
from longfat.report.figures import write_charts, write_exhibits
from longfat.report.grid_page import GridPage
from longfat.report.gridcharts import charts_of
from longfat.report.page import Page
from longfat.report.pdf import pdf_bytes
from longfat.report.scope import Scope, report_scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from longfat.plot import Chart
    from longfat.verdict import Verdict

PAGE = "report.html"
PAPER = "report.pdf"


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What a report consists of.

    Attributes:
        page: the HTML page, which needs none of the others.
        figures: the figures, each in several forms.
        paper: the same as a PDF; None where it cannot be made here.
        notes: what a person should know, such as why there is no PDF.
    """

    page: Path
    figures: tuple[Path, ...]
    paper: Path | None = None
    notes: tuple[str, ...] = ()


def write_report(verdict: Verdict, folder: Path) -> ReportFiles:
    """Write `report.html`, `report.pdf`, and the figures.

    Those over time are `plots/*.png` and `*.pdf`; the charts of a grid are `figures/*.pdf`,
    `*.png` and `*.svg`. Files of an earlier report that this one does not have are removed.

    Args:
        verdict: the study with its runs.
        folder: the folder that takes them; made if it is not there.

    Raises:
        InputError: the folder cannot be made or written to, or a file of a
            run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    drawn = _draw(verdict)
    paper, notes = _paper(drawn.page)
    try:
        figures = write_exhibits(drawn.exhibits, folder, title=verdict.study.title)
        figures += write_charts(drawn.charts, folder)
        write_whole(folder / PAGE, drawn.content.encode())
        if paper is None:
            (folder / PAPER).unlink(missing_ok=True)
        else:
            write_whole(folder / PAPER, paper)
    except OSError as error:
        raise InputError(f"{folder}: the report cannot be written: {error.strerror}") from None
    return ReportFiles(
        page=folder / PAGE,
        figures=figures,
        paper=None if paper is None else folder / PAPER,
        notes=(*drawn.scope.notes, *notes),
    )


def report_page(verdict: Verdict) -> str:
    """Return the text of `report.html` alone, which needs no other file.

    Args:
        verdict: the study with its runs.

    Raises:
        InputError: a file of a run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    return _draw(verdict).content


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A report: what it shows, its figures, the page's maker, and the page for the screen."""

    scope: Scope
    exhibits: list[Exhibit]
    charts: tuple[Chart, ...]
    page: Page | GridPage
    content: str


def _draw(verdict: Verdict) -> _Drawn:
    scope = report_scope(verdict)
    shown = galleries(verdict) if scope.over_time else ()
    charts = charts_of(verdict)
    data = ChartData()
    exhibits = [exhibit for gallery in shown for exhibit in gallery.exhibits]
    for exhibit in exhibits:
        exhibit.chart(data)
    svgs = {one.name: _exhibit_svg(one) for one in exhibits}
    for chart in charts:
        data.add_chart(chart_key(chart), chart)
        svgs[chart_key(chart)] = _chart_svg(chart)
    told = data.to_json() if exhibits or charts else None
    if not scope.grid:
        page = Page(verdict, galleries=shown, charts=charts, svgs=svgs)
        content = page.for_screen(embed(told) if told else None)
        return _Drawn(scope, exhibits, charts, page, content)
    table = case_table(verdict)
    whole = GridPage(verdict, table=table, charts=charts, galleries=shown, svgs=svgs)
    content = whole.for_screen(embed(told, cases=table.to_json()))
    return _Drawn(scope, exhibits, charts, whole, content)


def _paper(page: Page | GridPage) -> tuple[bytes | None, tuple[str, ...]]:
    try:
        return pdf_bytes(page.for_paper()), ()
    except SurroundingsError as error:
        return None, ("; to mend it: ".join(filter(None, (error.message, error.mend))),)


def _exhibit_svg(exhibit: Exhibit) -> str:
    return _svg(exhibit.name, lambda: exhibit.draw(PAGE_WIDTH_IN, ""))


def _chart_svg(chart: Chart) -> str:
    return _svg(chart_key(chart), lambda: draw_chart(chart, title=""))


def _svg(name: str, draw: Callable[[], Figure]) -> str:
    # Text stays text: smaller, quicker to read for a printer, and to be found in the PDF.
    with figure_style(salt=name), matplotlib.rc_context({"svg.fonttype": "none"}):
        return saved(draw(), "svg", transparent=True).decode()
