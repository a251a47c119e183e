"""The style of figures, and the text around the data: titles, labels of lines, and the legend.

Lines and marks differ in grey and to the colour-blind. The colours are those of Okabe and Ito
(2008), without yellow, which is invisible on white. Dash patterns and marks differ too, so that
no line is identified by its colour alone. Lines are labelled beside their ends where there is
space, otherwise in a legend below the panels; either way nothing covers the data.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.style
from matplotlib.lines import Line2D

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

INK = "#1b1f24"
MUTED = "#5c6670"
RULE = "#d4d9de"

# Darkened where the original has less than 3:1 on white.
_COLOURS = ("#0072b2", "#c75000", "#007a5a", "#a8467f", "#1f1f1f", "#9a6a00", "#6a3d9a")
# The same hues for a dark ground, in the same order.
_DARK_COLOURS = ("#56b4e9", "#ff8a4c", "#2fbf94", "#e08fbf", "#e6e6e6", "#e6a82e", "#b9a3e3")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (6, 1.5, 1.2, 1.5)), (0, (1.2, 1.4)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")

DARK = {INK: "#e8eaed", MUTED: "#a3adb8", RULE: "#3a424b"} | dict(
    zip(_COLOURS, _DARK_COLOURS, strict=True)
)
"""Maps every colour of a figure to its counterpart on a dark background."""


@dataclass(frozen=True, slots=True)
class LineStyle:
    """What identifies a line: colour, dashes and mark."""

    colour: str
    dash: Any
    mark: str


def line_style(index: int) -> LineStyle:
    """Return the style of the line with this number, from 0."""
    return LineStyle(
        colour=_COLOURS[index % len(_COLOURS)],
        dash=_DASHES[index % len(_DASHES)],
        mark=_MARKS[index % len(_MARKS)],
    )


MAX_ENTRIES = 6
"""The maximum number of lines over time that can be distinguished in a figure."""

OTHERS = LineStyle(colour="#9aa3ab", dash="-", mark=".")
"""The style of all lines beyond."""

MOMENT_DASHES = (0, (1, 2))
"""The dashes of what happened at a time."""

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.labelsize": 9.0,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.7,
    "lines.markersize": 4.5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "pdf.fonttype": 42,
    "svg.fonttype": "path",
}


@contextmanager
def figure_style(
    *, salt: str = "longfat", dpi: float = 200.0, font_subsets: bool = True
) -> Iterator[None]:
    """Draw and save in longfat's style, regardless of a user's matplotlibrc.

    Args:
        salt: what the identifiers inside an SVG are made from; figures that
            share a page need different ones.
        dpi: how many pixels an inch of a PNG has.
        font_subsets: a PDF contains the used part of the font (Type 42). If not, it contains
            the outlines of the used characters (Type 3), which takes less than half the time.
    """
    settings = {**_SETTINGS, "svg.hashsalt": salt, "savefig.dpi": dpi}
    if not font_subsets:
        settings["pdf.fonttype"] = 3
    with matplotlib.style.context(settings, after_reset=True):
        yield


PAGE_WIDTH_IN = 7.5
NARROW_WIDTH_IN = 3.9

_LEGEND_ROW_IN = 0.19
_MAX_END_LABEL_LENGTH = 24

REFERENCE_DASHES: tuple[Any, ...] = ((0, (4, 3)), (0, (1, 2)), (0, (7, 2, 1, 2)), (0, (9, 3)))
_REFERENCE_SIGNS = ("- - -", "· · · ·", "- · -", "— —")

_NOTE_PT = 8.0
_LETTER_IN = 0.066  # of a note, on average
_BOLD_IN = 0.09  # of a panel's title


def figure_title(figure: Figure, title: str, *, width_in: float) -> None:
    """Write the title above all panels; nothing where it is empty."""
    if title:
        lines = textwrap.wrap(title, width=int(width_in * 11))
        figure.suptitle("\n".join(lines), fontsize=10.5, fontweight="bold", color=INK)


def panel_title(axes: Any, title: str, references: Sequence[str], *, axes_width_in: float) -> None:
    """Write a panel's title, and the labels of its reference lines, to the right or below it.

    Args:
        axes: the axes.
        title: the title.
        references: a text for each reference line; one that is empty is left out.
        axes_width_in: about how wide the axes are, in inches.
    """
    title = "\n".join(textwrap.wrap(title, width=max(20, int(axes_width_in / _BOLD_IN))))
    texts = [
        f"{_REFERENCE_SIGNS[rank % len(_REFERENCE_SIGNS)]}  {text}"
        for rank, text in enumerate(references)
        if text
    ]
    if not texts:
        axes.set_title(title)
        return
    words = "     ".join(texts)
    if len(words) * _LETTER_IN + len(title) * _BOLD_IN + 0.2 <= axes_width_in:
        axes.set_title(title)
        side, below = "right", words
    else:
        rows = _rows(texts, axes_width_in)
        axes.set_title(title + "\n" * len(rows))
        side, below = "left", "\n".join(rows)
    # A left title cannot have two fonts, so the text uses the centre title.
    if side == "right":
        axes.set_title(below, loc="right", fontsize=_NOTE_PT, fontweight="normal", color=MUTED)
        return
    note = axes.set_title(below, loc="center", fontsize=_NOTE_PT, fontweight="normal", color=MUTED)
    note.set_x(0)
    note.set_horizontalalignment("left")


def _rows(texts: Sequence[str], width_in: float) -> list[str]:
    rows: list[str] = []
    for text in texts:
        longer = f"{rows[-1]}     {text}" if rows else text
        if rows and len(longer) * _LETTER_IN <= width_in:
            rows[-1] = longer
        else:
            rows.append(text)
    return rows


def fits_beside(labels: Sequence[str], *, width_in: float) -> bool:
    """Return whether lines can be labelled beside their ends."""
    return (
        width_in > NARROW_WIDTH_IN
        and len(labels) <= MAX_ENTRIES
        and max(map(len, labels), default=0) <= _MAX_END_LABEL_LENGTH
    )


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a legend: its label, its style, and whether it is of dots only."""

    label: str
    style: LineStyle
    dots: bool


def add_legend(
    figure: Figure,
    entries: Sequence[Entry],
    *,
    width_in: float,
    outside: bool = True,
) -> None:
    """Put a legend below the panels, and increase the figure's height accordingly.

    Args:
        figure: the figure.
        entries: the entries of the legend, by line.
        width_in: the figure's width, in inches.
        outside: the figure has a layout, which keeps the space free.
    """
    handles = [
        Line2D(
            [],
            [],
            color=entry.style.colour,
            linestyle="none" if entry.dots else entry.style.dash,
            marker=entry.style.mark,
            markerfacecolor="none" if entry.dots else entry.style.colour,
        )
        for entry in entries
    ]
    longest = max(len(entry.label) for entry in entries)
    across = min(len(entries), max(1, int(width_in / (0.75 + 0.08 * longest))))
    rows = math.ceil(len(entries) / across)
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * (rows + 0.4))
    figure.legend(
        handles,
        [entry.label for entry in entries],
        loc="outside lower left" if outside else "lower left",
        ncols=across,
        handlelength=3.2,
    )
