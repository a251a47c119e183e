"""Names beside the ends of lines, moved apart where the ends lie together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from longfat.report.style import LineStyle

_FONT_PT = 8.5
_LINE_PT = 12.0


def label_ends(
    figure: Figure,
    axes: Any,
    labels: Sequence[str],
    ends: Sequence[tuple[float, float] | None],
    styles: Sequence[LineStyle],
) -> None:
    """Write each line's name to the right of the axes, at the height of its end.

    Args:
        figure: the figure.
        axes: the axes, with their limits set.
        labels: the names.
        ends: the last point of each line in the axes' units; None where there
            is no line, and then no name.
        styles: the look of each line.
    """
    bottom, top = axes.get_ylim()
    figure.draw_without_rendering()
    height_pt = axes.get_window_extent().height * 72 / figure.dpi
    there = [(index, end) for index, end in enumerate(ends) if end is not None]
    wanted = [(end[1] - bottom) / (top - bottom) for _, end in there]
    placed = spread(wanted, least=_LINE_PT / height_pt)
    for (index, end), height in zip(there, placed, strict=True):
        axes.annotate(
            labels[index],
            end,
            xycoords="data",
            xytext=(1.035, height),
            textcoords="axes fraction",
            va="center",
            fontsize=_FONT_PT,
            fontweight="bold",
            color=styles[index].colour,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": styles[index].colour,
                "linewidth": 0.6,
                "alpha": 0.7,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Sequence[float], *, least: float) -> list[float]:
    """Move heights apart, as little as needed.

    Heights that come too close form a block around their mean; a block that
    touches another joins it.

    Args:
        wanted: the heights, in any order.
        least: the least distance of two.

    Returns:
        The heights in the same order, at least that far apart.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[int]] = []
    for index in order:
        block = [index]
        while blocks and _bottom(block, wanted, least) < _top(blocks[-1], wanted, least) + least:
            block = blocks.pop() + block
        blocks.append(block)
    placed = [0.0] * len(wanted)
    for block in blocks:
        for rank, index in enumerate(block):
            placed[index] = _bottom(block, wanted, least) + rank * least
    return placed


def _bottom(block: Sequence[int], wanted: Sequence[float], least: float) -> float:
    return sum(wanted[index] for index in block) / len(block) - (len(block) - 1) * least / 2


def _top(block: Sequence[int], wanted: Sequence[float], least: float) -> float:
    return _bottom(block, wanted, least) + (len(block) - 1) * least
