"""Make the report's files, each whole or not at all, and only those that are not there already."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING

import matplotlib

from longfat.common.atomic import write_whole
from longfat.common.checksum import FileSum
from longfat.output.plot import FORMS, PAGE_WIDTH_IN, draw_chart, figure_style, saved
from longfat.output.report.captions import chart_key
from longfat.output.report.case_table import case_table
from longfat.output.report.charts import ChartData
from longfat.output.report.embedded import embed
from longfat.output.report.figures import FigureGroup, ReportFigure, galleries
from longfat.output.report.grid_page import GridPage
from longfat.output.report.gridcharts import charts_of
from longfat.output.report.origin import drawing_digest
from longfat.output.report.page import Page
from longfat.output.report.pdf import pdf_bytes
from longfat.output.report.record import PAGE, PAPER, Made, Record
from longfat.output.report.scope import report_scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from longfat.analysis.verdict import Verdict
    from longfat.output.plot import Chart

PLOTS = "plots"
FIGURES = "figures"

_PLOT_FORMS = ("png", "pdf")

# What plots/ has of the page's figures; with the name of a case where each has its own.
_FILED = re.compile(r"(traffic|ping|completion)(-.*)?")


@dataclass(frozen=True, slots=True)
class _Output:
    """A file of the report: its name, what it is made from, and how."""

    name: str
    made_from: str
    make: Callable[[], bytes]


def render(
    verdict: Verdict, folder: Path, *, before: Record, made_from: str, paper: bool
) -> Record:
    """Make the files that are not there already, and remove those that are not wanted any more.

    Args:
        verdict: the study with its runs.
        folder: the folder that takes them; made if it is not there.
        before: what is there.
        made_from: the digest of what the report is made from.
        paper: whether there is to be a PDF.

    Returns:
        What is there then.

    Raises:
        InputError: a file of a run is missing or broken.
        MachineError: a tool's output cannot be read.
        OSError: the files cannot be written.
    """
    drawn = _Drawn(verdict)
    outputs = [*_plots(drawn), *_charts(drawn), _Output(PAGE, made_from, drawn.screen)]
    if paper:
        outputs.append(_Output(PAPER, made_from, drawn.paper))
    kept = {
        output.name: before.files[output.name]
        for output in outputs
        if before.has(output.name, made_from=output.made_from, folder=folder)
    }
    # What a person gave the page and the PDF for has to be there before the old files go.
    contents = {
        output.name: output.make()
        for output in outputs
        if output.name in (PAGE, PAPER) and output.name not in kept
    }
    folder.mkdir(parents=True, exist_ok=True)
    # First the names: who is interrupted leaves no file that nobody knows of.
    names = dict.fromkeys((*(output.name for output in outputs), *before.files))
    Record(files={name: kept.get(name, Made()) for name in names}).write(folder)
    made = {}
    for output in outputs:
        if output.name not in kept:
            content = contents.get(output.name) or output.make()
            (folder / output.name).parent.mkdir(exist_ok=True)
            write_whole(folder / output.name, content)
            found = FileSum(size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            made[output.name] = Made(made_from=output.made_from, content=found)
    files = {output.name: kept.get(output.name) or made[output.name] for output in outputs}
    _remove(folder, wanted=files, before=before)
    record = Record(made_from=made_from, files=files)
    record.write(folder)
    return record


def page_text(verdict: Verdict) -> str:
    """Return the text of the page."""
    return _Drawn(verdict).screen().decode()


class _Drawn:
    """A report's figures, and its page; each is drawn when it is asked for."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._scope = report_scope(verdict)
        self.title = verdict.study.title
        self.galleries: tuple[FigureGroup, ...] = (
            galleries(verdict) if self._scope.over_time else ()
        )
        self.exhibits = [exhibit for one in self.galleries for exhibit in one.exhibits]
        self.charts = charts_of(verdict)

    def screen(self) -> bytes:
        """Return the page for a browser."""
        charts = self.exhibits or self.charts
        cases = case_table(self._verdict).to_json() if self._scope.grid else None
        page = self._page
        tables = page.folded_tables if isinstance(page, Page) else None
        embedded = embed(self._told if charts else None, cases=cases, tables=tables or None)
        return page.for_screen(embedded).encode()

    def paper(self) -> bytes:
        """Return the PDF."""
        return pdf_bytes(self._page.for_paper())

    @cached_property
    def _page(self) -> Page | GridPage:
        svgs = {one.name: _exhibit_svg(one) for one in self.exhibits}
        svgs |= {chart_key(chart): _chart_svg(chart) for chart in self.charts}
        verdict, shown, charts = self._verdict, self.galleries, self.charts
        if not self._scope.grid:
            return Page(verdict, galleries=shown, charts=charts, svgs=svgs)
        table = case_table(verdict)
        return GridPage(verdict, table=table, charts=charts, galleries=shown, svgs=svgs)

    @property
    def _told(self) -> Mapping[str, object]:
        data = ChartData()
        for exhibit in self.exhibits:
            exhibit.chart(data)
        for chart in self.charts:
            data.add_chart(chart_key(chart), chart)
        return data.to_json()


def _plots(drawn: _Drawn) -> Iterator[_Output]:
    for exhibit in drawn.exhibits:
        if _FILED.fullmatch(exhibit.name):
            heading = f"{drawn.title}: {exhibit.case}" if exhibit.case else drawn.title
            draw = partial(exhibit.draw, PAGE_WIDTH_IN, heading)
            made_from = drawing_digest(exhibit.name, heading, exhibit.shown)
            for form in _PLOT_FORMS:
                make = partial(_saved, draw, form)
                yield _Output(f"{PLOTS}/{exhibit.name}.{form}", made_from, make)


def _charts(drawn: _Drawn) -> Iterator[_Output]:
    for chart in drawn.charts:
        draw = partial(draw_chart, chart)
        made_from = drawing_digest(chart)
        for form in FORMS:
            make = partial(_saved, draw, form, salt=chart.name)
            yield _Output(f"{FIGURES}/{file_stem(chart.name)}.{form}", made_from, make)


def _saved(draw: Callable[[], Figure], form: str, *, salt: str = "longfat") -> bytes:
    # A figure is laid out when it is saved, and a second form of it would be laid out from there:
    # its bytes would depend on whether the first one was made.
    with figure_style(salt=salt):
        return saved(draw(), form)


def _exhibit_svg(exhibit: ReportFigure) -> str:
    return _svg(exhibit.name, lambda: exhibit.draw(PAGE_WIDTH_IN, ""))


def _chart_svg(chart: Chart) -> str:
    return _svg(chart_key(chart), lambda: draw_chart(chart, title=""))


def _svg(name: str, draw: Callable[[], Figure]) -> str:
    # Text stays text: smaller, quicker to read for a printer, and to be found in the PDF.
    with figure_style(salt=name), matplotlib.rc_context({"svg.fonttype": "none"}):
        return saved(draw(), "svg", transparent=True).decode()


def file_stem(name: str) -> str:
    """Return a name as a file can have it anywhere."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "figure"


def _remove(folder: Path, *, wanted: Mapping[str, object], before: Record) -> None:
    """Remove what an earlier report had, and figures over time that no record knows of."""
    names = {name for name in before.files if name.startswith((f"{PLOTS}/", f"{FIGURES}/"))}
    plots = folder / PLOTS
    names |= {
        f"{PLOTS}/{path.name}"
        for path in (plots.iterdir() if plots.is_dir() else ())
        if path.suffix.removeprefix(".") in _PLOT_FORMS and _FILED.fullmatch(path.stem)
    }
    for name in (names | {PAPER}) - wanted.keys():
        (folder / name).unlink(missing_ok=True)
