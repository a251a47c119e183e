"""Write the report's files, each whole or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib

from longfat.errors import InputError, SurroundingsError
from longfat.plot import PAGE_WIDTH_IN, figure_style, saved, write_whole
from longfat.report.charts import ChartData
from longfat.report.embedded import embed
from longfat.report.exhibits import Exhibit, galleries
from longfat.report.page import Page
from longfat.report.pdf import pdf_bytes

if TYPE_CHECKING:
    from longfat.verdict import Verdict

PAGE = "report.html"
PAPER = "report.pdf"
PLOTS = "plots"

_FORMS = ("png", "pdf")

# What plots/ has of the page's figures; with the name of a case where each has its own.
_FILED = re.compile(r"(traffic|ping)(-.*)?")


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What a report consists of.

    Attributes:
        page: the HTML page, which needs none of the others.
        figures: the figures, each as PNG and as PDF.
        paper: the same as a PDF; None where it cannot be made here.
        notes: what a person should know, such as why there is no PDF.
    """

    page: Path
    figures: tuple[Path, ...]
    paper: Path | None = None
    notes: tuple[str, ...] = ()


def write_report(verdict: Verdict, folder: Path) -> ReportFiles:
    """Write `report.html`, `report.pdf`, and `plots/*.png` and `*.pdf`.

    Files of an earlier report that this one does not have are removed.

    Args:
        verdict: the study with its runs.
        folder: the folder that takes them; made if it is not there.

    Raises:
        InputError: the folder cannot be made or written to, or a file of a
            run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    drawn = _draw(verdict)
    page = drawn.page
    paper, notes = _paper(page)
    try:
        figures = _write_figures(drawn.exhibits, folder / PLOTS, title=verdict.study.title)
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
        notes=notes,
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
    """A report: its figures, the page's maker, and the page for the screen."""

    exhibits: list[Exhibit]
    page: Page
    content: str


def _draw(verdict: Verdict) -> _Drawn:
    shown = galleries(verdict)
    data = ChartData()
    exhibits = [exhibit for gallery in shown for exhibit in gallery.exhibits]
    for exhibit in exhibits:
        exhibit.chart(data)
    page = Page(verdict, galleries=shown, svgs={one.name: _svg(one) for one in exhibits})
    content = page.for_screen(embed(data.to_json()) if exhibits else None)
    return _Drawn(exhibits, page, content)


def _paper(page: Page) -> tuple[bytes | None, tuple[str, ...]]:
    try:
        return pdf_bytes(page.for_paper()), ()
    except SurroundingsError as error:
        return None, ("; to mend it: ".join(filter(None, (error.message, error.mend))),)


def _write_figures(exhibits: list[Exhibit], folder: Path, *, title: str) -> tuple[Path, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for one in exhibits:
        if _FILED.fullmatch(one.name):
            with figure_style():
                heading = f"{title}: {one.case}" if one.case else title
                figure = one.draw(PAGE_WIDTH_IN, heading)
                for form in _FORMS:
                    path = folder / f"{one.name}.{form}"
                    write_whole(path, saved(figure, form))
                    files.append(path)
    for old in folder.iterdir():
        ours = old.suffix.removeprefix(".") in _FORMS and _FILED.fullmatch(old.stem)
        if ours and old not in files:
            old.unlink()
    return tuple(files)


def _svg(exhibit: Exhibit) -> str:
    # Text stays text: smaller, quicker to read for a printer, and to be found in the PDF.
    with figure_style(salt=exhibit.name), matplotlib.rc_context({"svg.fonttype": "none"}):
        figure = exhibit.draw(PAGE_WIDTH_IN, "")
        return saved(figure, "svg", transparent=True).decode()
