"""The style of figures: colours, lines and marks that differ in grey and to the colour-blind.

The colours are those of Okabe and Ito (2008), without yellow, which is invisible on
white. Dash patterns and marks differ too, so that no line is identified by its
colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib.style

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
    """Return the look of the line with this number, from 0."""
    return LineStyle(
        colour=_COLOURS[index % len(_COLOURS)],
        dash=_DASHES[index % len(_DASHES)],
        mark=_MARKS[index % len(_MARKS)],
    )


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
