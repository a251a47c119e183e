"""Sums on paper: a label, the terms, the result, and lines of text made of them.

A line reads `label  terms = number unit remark`. The terms of all sections end
at one column and the numbers of a section are aligned, within 80 columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LABEL = 18
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Sum:
    """One line of a sum.

    Attributes:
        label: what it gives.
        terms: the sum with its numbers.
        result: the number and its unit, such as `62,500,000 B`.
        remark: what it means, or nothing.
    """

    label: str
    terms: str
    result: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """Some lines under one title.

    Attributes:
        title: the title.
        lines: sums, and verbatim texts.
    """

    title: str
    lines: tuple[Sum | str, ...]


def text(found: tuple[Section, ...]) -> Iterator[tuple[str, bool]]:
    """Lay sections out as lines of text.

    Args:
        found: the sections.

    Yields:
        Each line, and whether it is a title.
    """
    sums_end = max(_terms_width(section) for section in found)
    for index, section in enumerate(found):
        if index:
            yield "", False
        yield section.title, True
        own_end = _terms_width(section)
        number_width = max(len(line.result.partition(" ")[0]) for line in _sums(section))
        # If long numbers need the room, a section loses its alignment, bit by bit.
        for layout in (
            _Layout(sums_end, number_width),
            _Layout(own_end, number_width),
            _Layout(own_end, 0),
            _Layout(own_end, 0, remarks=False),
        ):
            lines = [layout.line(line) for line in section.lines]
            if all(len(line) <= _WIDTH for line in lines):
                break
        for line in lines:
            yield line, False


@dataclass(frozen=True, slots=True)
class _Layout:
    terms_width: int
    number_width: int
    remarks: bool = True

    def line(self, line: Sum | str) -> str:
        if isinstance(line, str):
            return f"  {line}"
        number, _, unit = line.result.partition(" ")
        start = f"  {line.label:<{_LABEL}}{line.terms:>{self.terms_width}}"
        remark = line.remark if self.remarks else ""
        return f"{start} = {number:>{self.number_width}} {unit} {remark}".rstrip()


def _sums(section: Section) -> list[Sum]:
    return [line for line in section.lines if isinstance(line, Sum)]


def _terms_width(section: Section) -> int:
    return max(len(line.terms) for line in _sums(section))
