"""Labels beside the data: at the ends of lines, and beside points.

Those of lines are moved apart where the ends are close together. Those of points are shown where
points are few, each where it covers nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.output.plot.style import MUTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from longfat.output.plot.style import LineStyle

_FONT_PT = 8.5
_LINE_PT = 12.0
_LETTER_IN = 0.077  # of the bold font, on average
_GAP_IN = 0.3


def reserve_room(figure: Figure, labels: Sequence[str], *, width_in: float) -> float:
    """Reserve space for labels at the right of a figure.

    Args:
        figure: the figure, with constrained layout.
        labels: the labels.
        width_in: the figure's width, in inches.

    Returns:
        The width of that space, in inches.
    """
    room_in = _GAP_IN + max(map(len, labels)) * _LETTER_IN
    figure.set_layout_engine("constrained", rect=(0, 0, 1 - room_in / width_in, 1))
    return room_in


def label_ends(
    axes: Any,
    labels: Sequence[str],
    ends: Sequence[tuple[float, float] | None],
    styles: Sequence[LineStyle],
    *,
    height_in: float,
) -> None:
    """Write each line's label to the right of the axes, at the height of its end.

    Args:
        axes: the axes, with their limits set.
        labels: the labels.
        ends: the last point of each line in the axes' units; None where there
            is no line, and then no label.
        styles: the style of each line.
        height_in: about how high the axes are, in inches.
    """
    bottom, top = axes.get_ylim()
    there = [(index, end) for index, end in enumerate(ends) if end is not None]
    wanted = [(end[1] - bottom) / (top - bottom) for _, end in there]
    placed = spread(wanted, minimum=_LINE_PT / (72 * height_in))
    for (index, end), height in zip(there, placed, strict=True):
        note = axes.annotate(
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
        # The space is reserved already; the layout would shrink the panels for it once more.
        note.set_in_layout(False)


def spread(wanted: Sequence[float], *, minimum: float) -> list[float]:
    """Move heights apart, as little as needed, and keep them from 0 to 1 where they fit.

    Heights that come too close form a block around their mean; a block that
    touches another joins it.

    Args:
        wanted: the heights, in any order, from 0 to 1.
        minimum: the least distance of two.

    Returns:
        The heights in the same order, at least that far apart.
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[int]] = []
    for index in order:
        block = [index]
        while (
            blocks and _bottom(block, wanted, minimum) < _top(blocks[-1], wanted, minimum) + minimum
        ):
            block = blocks.pop() + block
        blocks.append(block)
    placed = [0.0] * len(wanted)
    for block in blocks:
        for rank, index in enumerate(block):
            placed[index] = _bottom(block, wanted, minimum) + rank * minimum
    return placed


def _bottom(block: Sequence[int], wanted: Sequence[float], minimum: float) -> float:
    tall = (len(block) - 1) * minimum
    lowest = sum(wanted[index] for index in block) / len(block) - tall / 2
    return max(0.0, min(lowest, 1 - tall))


def _top(block: Sequence[int], wanted: Sequence[float], minimum: float) -> float:
    return _bottom(block, wanted, minimum) + (len(block) - 1) * minimum


_POINT_FONT_PT = 7.0
_MAX_LABEL_LENGTH = 26
_MARK_PT = 5.0  # half of a point's size, with a margin
# Positions of a label relative to its point, the best first: right, left, above, below.
_POSITIONS: tuple[tuple[float, float, str, str], ...] = (
    (1, 0, "left", "center"),
    (-1, 0, "right", "center"),
    (0, 1, "center", "bottom"),
    (0, -1, "center", "top"),
    (0.7, 0.7, "left", "bottom"),
    (0.7, -0.7, "left", "top"),
    (-0.7, 0.7, "right", "bottom"),
    (-0.7, -0.7, "right", "top"),
)


def name_points(axes: Any, points: Sequence[tuple[float, float, str]]) -> None:
    """Write labels beside points; one without free space, or too long, is omitted.

    Args:
        axes: the axes, in their final position, with their limits set.
        points: the position of each in the axes' units, and its label.
    """
    if any(len(name) > _MAX_LABEL_LENGTH for _, _, name in points):
        return
    figure = axes.figure
    renderer = figure.canvas.get_renderer()
    half = _MARK_PT * figure.dpi / 72
    inside = axes.get_window_extent(renderer)
    centres = [axes.transData.transform((x, y)) for x, y, _ in points]
    taken = [(x - half, y - half, x + half, y + half) for x, y in centres]
    for rank, (x, y, name) in enumerate(points):
        others = taken[:rank] + taken[rank + 1 :]
        for right, up, side, height in _POSITIONS:
            note = axes.annotate(
                name,
                (x, y),
                xytext=(right * _MARK_PT, up * _MARK_PT),
                textcoords="offset points",
                ha=side,
                va=height,
                fontsize=_POINT_FONT_PT,
                color=MUTED,
            )
            box = note.get_window_extent(renderer).extents
            if _within(box, inside.extents) and not any(_touch(box, one) for one in others):
                taken.append(tuple(box))
                break
            note.remove()


def _within(box: Any, whole: Any) -> bool:
    return bool(
        box[0] >= whole[0] and box[1] >= whole[1] and box[2] <= whole[2] and box[3] <= whole[3]
    )


def _touch(one: Any, other: Any) -> bool:
    return bool(one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3])
