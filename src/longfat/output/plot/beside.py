"""Labels beside points, where few points are shown: each where it covers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.output.plot.style import MUTED

if TYPE_CHECKING:
    from collections.abc import Sequence

_FONT_PT = 7.0
_LONGEST = 26
_MARK_PT = 5.0  # half of a point's size, with a margin
# Positions of a label relative to its point, the best first: right, left, above, below.
_PLACES: tuple[tuple[float, float, str, str], ...] = (
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
    if any(len(name) > _LONGEST for _, _, name in points):
        return
    figure = axes.figure
    renderer = figure.canvas.get_renderer()
    half = _MARK_PT * figure.dpi / 72
    inside = axes.get_window_extent(renderer)
    centres = [axes.transData.transform((x, y)) for x, y, _ in points]
    taken = [(x - half, y - half, x + half, y + half) for x, y in centres]
    for rank, (x, y, name) in enumerate(points):
        others = taken[:rank] + taken[rank + 1 :]
        for right, up, side, height in _PLACES:
            note = axes.annotate(
                name,
                (x, y),
                xytext=(right * _MARK_PT, up * _MARK_PT),
                textcoords="offset points",
                ha=side,
                va=height,
                fontsize=_FONT_PT,
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
