"""A drawn network as the bytes of a file: SVG as text, PNG and PDF by matplotlib."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from longfat.output.drawing.shapes import (
    COLOURS,
    FONT,
    GROUND,
    STYLES,
    Box,
    Stroke,
    TextLine,
    anchor_of,
    style_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from longfat.output.drawing.shapes import Picture, Shape

_PX_PER_IN = 96.0
_PT_PER_PX = 72.0 / _PX_PER_IN
_DPI = 2 * _PX_PER_IN
_MAX_PIXELS = 6e7
"""The maximum size of a PNG: larger ones take gigabytes of memory to draw."""

_ANCHORS = {"start": "left", "middle": "center", "end": "right"}


def picture_bytes(picture: Picture, form: str) -> bytes:
    """Return a picture as a file's bytes: equal bytes for equal pictures.

    Args:
        picture: the picture.
        form: one of `longfat.output.plot.FORMS`.
    """
    if form == "svg":
        return str(picture.svg(alone=True)).encode()
    # matplotlib takes half a second to load, and SVG does not need it.
    from longfat.output.plot import figure_style, saved  # noqa: PLC0415

    figure = _figure(picture)
    with figure_style(dpi=figure.dpi):
        return saved(figure, form)


def _figure(picture: Picture) -> Figure:
    from matplotlib.figure import Figure  # noqa: PLC0415

    wide, high = picture.width / _PX_PER_IN, picture.height / _PX_PER_IN
    dpi = min(_DPI, math.sqrt(_MAX_PIXELS / (wide * high)))
    figure = Figure(figsize=(wide, high), dpi=dpi, facecolor=GROUND)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_xlim(picture.left, picture.left + picture.width)
    axes.set_ylim(picture.top + picture.height, picture.top)
    for level, shape in enumerate(picture.shapes, start=1):
        _draw(axes, shape, level)
    return figure


def _draw(axes: Axes, shape: Shape, level: int) -> None:
    match shape:
        case Stroke():
            style = STYLES[shape.role]
            xs, ys = zip(*shape.points, strict=True)
            width = style.width_px * _PT_PER_PX
            axes.plot(xs, ys, color=style.stroke, linewidth=width, marker="", zorder=level)
        case Box():
            _draw_box(axes, shape, level)
        case TextLine():
            _draw_words(axes, shape, level)


def _draw_box(axes: Axes, box: Box, level: int) -> None:
    from matplotlib.colors import to_rgba  # noqa: PLC0415
    from matplotlib.patches import FancyBboxPatch  # noqa: PLC0415

    style = STYLES[box.role]
    own = COLOURS.get(box.colour)
    fill = own if own and box.role != "node" else style.fill
    width = style.width_px * _PT_PER_PX
    dashes = [length / style.width_px for length in style.dashes_px]
    corner = f"round,pad=0,rounding_size={box.round_px}"
    axes.add_patch(
        FancyBboxPatch(
            (box.x, box.y),
            box.width,
            box.height,
            boxstyle=corner,
            facecolor=to_rgba(fill, style.opacity),
            edgecolor=own or style.stroke,
            linewidth=width,
            linestyle=(0, dashes) if dashes else "solid",
            zorder=level,
        )
    )


def _draw_words(axes: Axes, words: TextLine, level: int) -> None:
    from matplotlib.patheffects import withStroke  # noqa: PLC0415

    style = style_of(words)
    turn = math.radians(words.slope)
    (px, py), (x, y) = words.pivot, words.at
    across, down = x - px, y - py
    halo = [withStroke(linewidth=3 * _PT_PER_PX, foreground=GROUND)] if style.halo else []
    axes.text(
        px + across * math.cos(turn) - down * math.sin(turn),
        py + across * math.sin(turn) + down * math.cos(turn),
        words.text,
        color=COLOURS.get(words.colour, style.fill),
        family=FONT,
        fontsize=style.size_px * _PT_PER_PX,
        fontweight="bold" if style.bold else "normal",
        horizontalalignment=_ANCHORS[anchor_of(words)],
        verticalalignment="baseline",
        rotation=-words.slope,
        rotation_mode="anchor",
        parse_math=False,
        path_effects=halo,
        zorder=level,
    )
