"""Numbers in texts that may come from runs, and have no comment with an expression.

In the text of a study these are the numbers with units, and those alone in the cells of tables,
in the sections of results; on other pages those with units everywhere. Numbers in code, those
that the study's file has itself, and published figures in columns of such are left out. What is
left is a list for an author to look through: a number may be arithmetic, or of another source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.study import STUDY_FILE, Study
from longfat.study.text import FIGURE

_NUMBER = r"(?<![\w.,])\d[\d,\u00a0\u202f]*(?:\.\d+)?"
_UNITS = {
    "Gbit/s": "gbit",
    "Mbit/s": "mbit",
    "kbit/s": "kbit",
    "µs": "us",
    "ms": "ms",
    "s": "s",
    "%": "%",
    "GB": "gb",
    "MB": "mb",
    "KB": "kb",
    "B": "b",
    "bytes": "b",
}
_WITH_UNIT = re.compile(
    rf"(?P<number>{_NUMBER})[ \u00a0](?P<unit>{'|'.join(_UNITS)}|packets|segments|"
    r"retransmissions|drops|losses|times)(?![\w/])"
)
_ALONE = re.compile(rf"-?(?P<number>{_NUMBER})")
_PARAMETER = re.compile(
    r"(?P<number>\d[\d_]*(?:\.\d+)?) *(?P<unit>[kmg]bit|us|ms|s|%|[kmg]?b)\b", re.I
)
_HEADING = re.compile(r"(?P<level>#+) (?P<title>.*)")
_CODE = re.compile(r"`[^`]*`")
_OPENED, _CLOSED = "<details><summary>Results", "</details>"

_FACTORS = {
    Unit.BPS: (1e9, 1e6, 1e3, 1),
    Unit.SECONDS: (1, 1e-3, 1e-6),
    Unit.BYTES: (1 << 30, 1 << 20, 1 << 10, 1e9, 1e6, 1e3, 1),
    Unit.FRACTION: (0.01, 1),
    Unit.COUNT: (1,),
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a text.

    Attributes:
        number: counted from 1.
        text: the line.
        is_result: it is in a section of results.
        cells: those of the row of a table; empty for any other line.
        published: the indices of the cells in columns of published figures.
    """

    number: int
    text: str
    is_result: bool
    cells: tuple[str, ...]
    published: tuple[int, ...]


def unannotated(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the numbers of a text that may come from runs and are not annotated.

    Args:
        file: the text.

    Yields:
        The line, counted from 1, and the number with its unit.

    Raises:
        InputError: the study file cannot be read.
    """
    is_of_study = (file.parent / STUDY_FILE).is_file()
    parameters = _parameters(file.parent / STUDY_FILE) if is_of_study else set()
    for line in _lines(file, everything=not is_of_study):
        if not line.is_result:
            continue
        text = FIGURE.sub("", _CODE.sub("", line.text))
        if line.cells:
            cells = [
                FIGURE.sub("", cell)
                for index, cell in enumerate(line.cells)
                if index not in line.published
            ]
            text = " | ".join(cells[1:])  # the first is a label
            if is_of_study:
                yield from ((line.number, cell) for cell in cells[1:] if _ALONE.fullmatch(cell))
        for match in _WITH_UNIT.finditer(text):
            unit = _UNITS.get(match["unit"], match["unit"])
            if (_plain(match["number"]), unit) not in parameters:
                yield line.number, match[0]


def unpublished(file: Path, study: Study) -> Iterator[tuple[int, str]]:
    """Yield the numbers in columns of published figures that the study does not have.

    Args:
        file: the text.
        study: its study.

    Yields:
        The line, counted from 1, and the number. Annotated ones are left out.
    """
    for line in _lines(file, everything=True):
        for index in line.published:
            for match in _ALONE.finditer(FIGURE.sub("", line.cells[index])):
                if not _is_published(match["number"], study):
                    yield line.number, match["number"]


def _is_published(written: str, study: Study) -> bool:
    """Return whether a number, in any unit, is a published figure as rounded by its writer."""
    decimals = len(written.partition(".")[2])
    value = float(_plain(written))
    return study.published is not None and any(
        round(figure.value / factor, decimals) == value
        for figure in study.published.figures
        for factor in _FACTORS[figure.unit]
    )


def _lines(file: Path, *, everything: bool) -> Iterator[_Line]:
    """Yield the lines of a text outside of blocks of code, but for the headers of tables."""
    in_code = False
    level = 0  # of the heading of the results; 0 elsewhere
    is_folded = in_table = False
    published: tuple[int, ...] = ()
    for number, text in enumerate(file.read_text("utf-8").splitlines(), start=1):
        if text.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            if heading := _HEADING.match(text):
                if heading["title"].startswith("Results"):
                    level = len(heading["level"])
                elif len(heading["level"]) <= level:
                    level = 0
            is_folded = text.startswith(_OPENED) or (is_folded and text != _CLOSED)
            cells: tuple[str, ...] = ()
            if not text.startswith("|"):
                in_table = False
                published = ()
            elif in_table:
                cells = tuple(cell.strip() for cell in text.strip()[1:].split("|"))
            else:
                in_table = True
                titles = (cell.strip() for cell in text[1:].split("|"))
                published = tuple(i for i, cell in enumerate(titles) if cell == "published")
                continue
            yield _Line(number, text, everything or level > 0 or is_folded, cells, published)


def _parameters(file: Path) -> set[tuple[str, str]]:
    """Return the numbers with units that a study file has.

    Raises:
        InputError: it cannot be read.
    """
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    return {(_plain(match["number"]), match["unit"].lower()) for match in _PARAMETER.finditer(text)}


def _plain(number: str) -> str:
    return re.sub(r"[,_\u00a0\u202f]", "", number)
