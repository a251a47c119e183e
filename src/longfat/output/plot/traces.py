"""How the lines of a panel over time are drawn on axes, in a large panel and in a small one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from longfat.output.plot.line import thin_line
from longfat.output.plot.style import MUTED, REFERENCE_DASHES, LineStyle, line_style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.model.scales import Scale
    from longfat.output.plot.line import Line, Reference, Trace

DENSE = 150
"""Dashes would be lost in the zigzag of more points than this."""

_COLUMNS_AN_INCH = 144  # finer than a screen's pixels; more cannot be seen on paper
_FEW_POINTS = 40  # each gets a mark
_SOME_MARKS = 12  # a line of more points gets this many
_SMALL_MARKS = 3  # on small axes
_FAR_REFERENCE = 4.0  # times the data; a farther one would compress the data


def draw_lines(
    axes: Any,
    lines: Sequence[Line],
    scale: Scale,
    *,
    axes_width_in: float,
    styles: Mapping[str, LineStyle] | None = None,
    small: bool = False,
) -> float:
    """Draw lines with their bands, parts and missing values.

    Args:
        axes: the axes.
        lines: the lines, of one unit.
        scale: the scale of the vertical axis.
        axes_width_in: about how wide the axes are, in inches.
        styles: the styles of some lines, by label; the others have that of their style index.
        small: the axes are small: lines are thin, with few marks.

    Returns:
        The lowest position that was drawn, in the drawn unit: below 0 where values are missing.
    """
    columns = max(50, int(axes_width_in * _COLUMNS_AN_INCH))
    top = max((line.largest for line in lines), default=0.0) * scale.factor
    rank_below = 0
    floor = 0.0
    for rank, whole in enumerate(lines):
        if whole.empty:
            continue  # an empty line would take space at the figure's corner
        line = thin_line(whole, columns=columns)
        style = (styles or {}).get(line.label) or line_style(line.style_index)
        for part in line.parts:
            _draw_part(axes, part, scale, style, steps=line.steps)
        if line.low is not None and line.high is not None:
            axes.fill_between(
                line.times_s,
                line.low * scale.factor,
                line.high * scale.factor,
                step="post" if line.steps else None,
                color=style.colour,
                alpha=0.2,
                linewidth=0,
                zorder=1.8,
            )
        _draw_main(axes, line, scale, style, below=len(lines) - 1 - rank, small=small)
        if line.missing_s is not None and len(line.missing_s):
            rank_below += 1  # a row for each line that misses any
            floor = -0.1 * (top or 1.0) * rank_below
            axes.plot(
                line.missing_s,
                [floor] * len(line.missing_s),
                "x",
                color=style.colour,
                markersize=3 if small else 5,
                clip_on=False,
            )
    return floor


def draw_references(
    axes: Any, references: Sequence[Reference], scale: Scale, *, data_top: float
) -> list[bool]:
    """Draw the references near the data, and return which those are.

    Args:
        axes: the axes.
        references: the references.
        scale: the scale of the vertical axis.
        data_top: the largest value that is drawn, in the drawn unit.
    """
    near = [one.value * scale.factor <= _FAR_REFERENCE * data_top for one in references]
    for rank, (reference, is_near) in enumerate(zip(references, near, strict=True)):
        if is_near:
            dash = REFERENCE_DASHES[rank % len(REFERENCE_DASHES)]
            height = reference.value * scale.factor
            axes.axhline(height, color=MUTED, linewidth=1.0, linestyle=dash, zorder=1.5)
    return near


def _draw_part(axes: Any, part: Trace, scale: Scale, style: LineStyle, *, steps: bool) -> None:
    dense = len(part.times_s) > DENSE
    axes.plot(
        part.times_s,
        part.values * scale.factor,
        color=style.colour,
        linewidth=0.45 if dense else 0.7,
        alpha=0.3 if dense else 0.45,
        drawstyle="steps-post" if steps else "default",
    )


def _draw_main(
    axes: Any, line: Line, scale: Scale, style: LineStyle, *, below: int, small: bool
) -> None:
    points = len(line.times_s)
    if not points:
        return
    dense = points > DENSE
    # Equal dots overlap: where there are few, the lower ones are larger.
    size = 4.5 + 2.2 * min(below, 4) if line.dots and points <= _FEW_POINTS else 4.5
    many_dots = line.dots and dense
    size = 2.0 if many_dots else size
    marks: Any = None if line.dots else _marked(line, style_index=line.style_index)
    if small:
        size *= 0.6
        marks = (
            marks if line.dots else _marked(line, style_index=line.style_index, count=_SMALL_MARKS)
        )
    axes.plot(
        line.times_s,
        line.values * scale.factor,
        color=style.colour,
        linestyle="none" if line.dots else "-" if dense else style.dash,
        linewidth=0.9 if small else 1.1 if dense else 1.7,
        drawstyle="steps-post" if line.steps else "default",
        marker=style.mark,
        markersize=size,
        markerfacecolor="none" if line.dots and not many_dots else style.colour,
        markeredgecolor=style.colour,
        markeredgewidth=0.5 if small else 0.8,
        markevery=marks,
        clip_on=dense and not line.dots,
        zorder=3,
    )


def _marked(line: Line, *, style_index: int, count: int = _SOME_MARKS) -> list[int]:
    """Return which points get a mark: all if they are few, otherwise evenly spread ones.

    Lines of different styles get them at different times, so that none is hidden.
    """
    points = len(line.times_s)
    if points <= (_FEW_POINTS if count == _SOME_MARKS else count):
        return list(range(points))
    start_s, end_s = line.times_s[0], line.times_s[-1]
    shift = (style_index % 4) / 4 + 0.125
    wanted = start_s + (np.arange(count) + shift) * (end_s - start_s) / count
    places = np.searchsorted(line.times_s, wanted)
    return sorted({int(place) for place in places if place < points})


def top_of(lines: Sequence[Line], scale: Scale) -> float:
    """Return the largest value of lines in the drawn unit; infinity where there is no value.

    Without any value a reference is all that the axis can show.
    """
    if not any(np.isfinite(line.values).any() for line in lines):
        return math.inf
    return max(line.largest for line in lines) * scale.factor
