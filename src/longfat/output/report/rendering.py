"""Make the report's files, each whole or not at all, and only those that are not up to date."""

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
from longfat.output.report.case_table import case_table
from longfat.output.report.charts import ChartData
from longfat.output.report.embedded import embed
from longfat.output.report.figures import FigureGroup, ReportFigure, figure_groups
from longfat.output.report.grid_charts import charts_of
from longfat.output.report.grid_page import GridPage
from longfat.output.report.page import Page
from longfat.output.report.page_parts import chart_key
from longfat.output.report.pdf import pdf_bytes
from longfat.output.report.record import PAGE, PAPER, FileRecord, Record, drawing_digest
from longfat.output.report.values import report_scope

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from matplotlib.figure import Figure

    from longfat.analysis.verdict import Verdict
    from longfat.output.plot import Chart

PLOTS = "plots"
FIGURES = "figures"

_PLOT_FORMS = ("png", "pdf")

# The names of the page's figures in plots/; with the name of a case where each has its own.
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
    """Make the files that are not up to date, and remove obsolete ones.

    Args:
        verdict: the study with its runs.
        folder: the destination folder; created if it does not exist.
        before: the record of the existing files.
        made_from: the digest of what the report is made from.
        paper: whether there is to be a PDF.

    Returns:
        The record of the files afterwards.

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
    # The page and the PDF have to be complete before the old files are removed.
    contents = {
        output.name: output.make()
        for output in outputs
        if output.name in (PAGE, PAPER) and output.name not in kept
    }
    folder.mkdir(parents=True, exist_ok=True)
    # The names are recorded first, so that an interruption leaves no unrecorded file.
    names = dict.fromkeys((*(output.name for output in outputs), *before.files))
    Record(files={name: kept.get(name, FileRecord()) for name in names}).write(folder)
    made = {}
    for output in outputs:
        if output.name not in kept:
            content = contents.get(output.name) or output.make()
            (folder / output.name).parent.mkdir(exist_ok=True)
            write_whole(folder / output.name, content)
            found = FileSum(size_bytes=len(content), sha256=hashlib.sha256(content).hexdigest())
            made[output.name] = FileRecord(made_from=output.made_from, content=found)
    files = {output.name: kept.get(output.name) or made[output.name] for output in outputs}
    _remove(folder, wanted=files, before=before)
    record = Record(made_from=made_from, files=files)
    record.write(folder)
    return record


def page_text(verdict: Verdict) -> str:
    """Return the text of the page."""
    return _Drawn(verdict).screen().decode()


class _Drawn:
    """A report's figures, and its page; each is drawn on first use."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self._scope = report_scope(verdict)
        self.title = verdict.study.title
        self.figure_groups: tuple[FigureGroup, ...] = (
            figure_groups(verdict) if self._scope.over_time else ()
        )
        self.figures = [figure for one in self.figure_groups for figure in one.figures]
        self.charts = charts_of(verdict)

    def screen(self) -> bytes:
        """Return the page for a browser."""
        charts = self.figures or self.charts
        cases = case_table(self._verdict).to_json() if self._scope.grid else None
        page = self._page
        tables = page.folded_tables if isinstance(page, Page) else None
        embedded = embed(self._chart_data if charts else None, cases=cases, tables=tables or None)
        return page.for_screen(embedded).encode()

    def paper(self) -> bytes:
        """Return the PDF."""
        return pdf_bytes(self._page.for_paper())

    @cached_property
    def _page(self) -> Page | GridPage:
        svgs = {one.name: _figure_svg(one) for one in self.figures if one.draw is not None}
        svgs |= {chart_key(chart): _chart_svg(chart) for chart in self.charts}
        verdict, shown, charts = self._verdict, self.figure_groups, self.charts
        if not self._scope.grid:
            return Page(verdict, figure_groups=shown, charts=charts, svgs=svgs)
        table = case_table(verdict)
        return GridPage(verdict, table=table, charts=charts, figure_groups=shown, svgs=svgs)

    @property
    def _chart_data(self) -> Mapping[str, object]:
        data = ChartData()
        for figure in self.figures:
            if figure.chart is not None:
                figure.chart(data)
        for chart in (one for one in self.charts if one.zoomable):
            data.add_chart(chart_key(chart), chart)
        return data.to_json()


def _plots(drawn: _Drawn) -> Iterator[_Output]:
    for figure in drawn.figures:
        if figure.draw is not None and _FILED.fullmatch(figure.name):
            heading = f"{drawn.title}: {figure.case}" if figure.case else drawn.title
            draw = partial(figure.draw, PAGE_WIDTH_IN, heading)
            made_from = drawing_digest(figure.name, heading, figure.shown)
            for form in _PLOT_FORMS:
                make = partial(_saved, draw, form)
                yield _Output(f"{PLOTS}/{figure.name}.{form}", made_from, make)


def _charts(drawn: _Drawn) -> Iterator[_Output]:
    for chart in drawn.charts:
        draw = partial(draw_chart, chart)
        made_from = drawing_digest(chart)
        for form in FORMS:
            make = partial(_saved, draw, form, salt=chart.name)
            yield _Output(f"{FIGURES}/{file_stem(chart.name)}.{form}", made_from, make)


def _saved(draw: Callable[[], Figure], form: str, *, salt: str = "longfat") -> bytes:
    # A figure is laid out when it is saved, and a second format of it would start from there:
    # its bytes would depend on whether the first one was made.
    with figure_style(salt=salt):
        return saved(draw(), form)


def _figure_svg(figure: ReportFigure) -> str:
    draw = figure.draw
    assert draw is not None
    return _svg(figure.name, lambda: draw(PAGE_WIDTH_IN, ""))


def _chart_svg(chart: Chart) -> str:
    return _svg(chart_key(chart), lambda: draw_chart(chart, title=""))


def _svg(name: str, draw: Callable[[], Figure]) -> str:
    # Text stays text: smaller, faster to print, and searchable in the PDF.
    with figure_style(salt=name), matplotlib.rc_context({"svg.fonttype": "none"}):
        return saved(draw(), "svg", transparent=True).decode()


def file_stem(name: str) -> str:
    """Return a name that is valid as a file name everywhere."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "figure"


def _remove(folder: Path, *, wanted: Mapping[str, object], before: Record) -> None:
    """Remove files of an earlier report, and figures over time that are in no record."""
    names = {name for name in before.files if name.startswith((f"{PLOTS}/", f"{FIGURES}/"))}
    plots = folder / PLOTS
    names |= {
        f"{PLOTS}/{path.name}"
        for path in (plots.iterdir() if plots.is_dir() else ())
        if path.suffix.removeprefix(".") in _PLOT_FORMS and _FILED.fullmatch(path.stem)
    }
    for name in (names | {PAPER}) - wanted.keys():
        (folder / name).unlink(missing_ok=True)
