"""The report's files: which exist already, and which have to be made.

An up-to-date report is left as it is, and the code that makes one (`rendering`,
with matplotlib and the rest) is not even loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.extras import MissingExtraError, missing_modules
from longfat.errors import HostError, InputError
from longfat.output.report.embedded import HOW_TO_BUILD, NOT_BUILT, is_built
from longfat.output.report.record import PAGE, PAPER, Record, read_record, verdict_digest
from longfat.output.report.values import report_scope

if TYPE_CHECKING:
    from longfat.analysis.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What a report consists of.

    Attributes:
        page: the HTML page, which needs none of the others.
        figures: the figures, each in several forms.
        paper: the same as a PDF; None where it cannot be made here.
        notes: notes for the user, such as why there is no PDF.
    """

    page: Path
    figures: tuple[Path, ...]
    paper: Path | None = None
    notes: tuple[str, ...] = ()


def write_report(verdict: Verdict, folder: Path) -> ReportFiles:
    """Write `report.html`, `report.pdf`, and the figures, unless they are up to date.

    Figures over time are `plots/*.png` and `*.pdf`; the charts of a grid are `figures/*.pdf`,
    `*.png` and `*.svg`. Files of an earlier report that this one does not have are removed.

    Args:
        verdict: the study with its runs.
        folder: the destination folder; created if it does not exist.

    Raises:
        InputError: the folder cannot be created or written to, or a file of a
            run is missing or broken.
        MachineError: a tool's output cannot be read.
        HostError: what reads the series is not installed.
    """
    made_from = verdict_digest(verdict)
    record = read_record(folder)
    unavailable = _unavailable(record)
    paper = not unavailable.paper
    if paper != (PAPER in record.files) or not record.is_whole(made_from=made_from, folder=folder):
        # It loads all drawing libraries.
        from longfat.output.report.rendering import render  # noqa: PLC0415

        try:
            record = render(verdict, folder, before=record, made_from=made_from, paper=paper)
        except OSError as error:
            raise InputError(f"{folder}: the report cannot be written: {error.strerror}") from None
    return ReportFiles(
        page=folder / PAGE,
        figures=tuple(folder / name for name in record.files if name not in {PAGE, PAPER}),
        paper=folder / PAPER if paper else None,
        notes=(*report_scope(verdict).notes, *unavailable.notes),
    )


def report_page(verdict: Verdict) -> str:
    """Return the text of `report.html` alone, which needs no other file.

    Args:
        verdict: the study with its runs.

    Raises:
        InputError: a file of a run is missing or broken.
        MachineError: a tool's output cannot be read.
    """
    from longfat.output.report.rendering import page_text  # noqa: PLC0415

    return page_text(verdict)


@dataclass(frozen=True, slots=True)
class _Unavailable:
    """What cannot be made with this installation.

    Attributes:
        paper: there is no PDF.
        notes: the reasons, for the user.
    """

    paper: bool
    notes: tuple[str, ...]


def _unavailable(record: Record) -> _Unavailable:
    missing = missing_modules("report")
    notes: tuple[str, ...] = () if is_built() else (f"{NOT_BUILT}; hint: {HOW_TO_BUILD}",)
    if missing:
        notes += (str(MissingExtraError("report", missing)),)
        return _Unavailable(paper=True, notes=notes)
    if PAPER not in record.files:
        # Missing system libraries are detected only when it is loaded.
        from longfat.output.report.pdf import load_weasyprint  # noqa: PLC0415

        try:
            load_weasyprint()
        except HostError as error:
            return _Unavailable(paper=True, notes=(*notes, f"{error.message}; hint: {error.hint}"))
    return _Unavailable(paper=False, notes=notes)
