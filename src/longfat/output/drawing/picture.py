"""A network as a picture: hosts, routers and switches, links, addresses, and interfaces.

Nodes are at the positions that a study gives, spread out as far as the text along
links needs it. Without positions, a network without cycles is drawn as a tree from left to
right, with links level where their text is; one with cycles by `layouts`, with straight links.
Hosts, routers and switches have different shapes; interfaces that `tc` and other commands
name are highlighted. A study's annotations are frames around nodes, and notes.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.output.drawing.free import draw_straight, spread_out, with_the_rest
from longfat.output.drawing.layouts import has_circle, spread_nodes
from longfat.output.drawing.shapes import (
    HEIGHT_PX,
    Box,
    Picture,
    Shape,
    Stroke,
    TextLine,
    anchor_of,
    draw_host,
    draw_switch,
    node_widths,
    style_of,
)
from longfat.output.drawing.tree import draw_tree
from longfat.study.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from markupsafe import Markup

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point
    from longfat.study.drawing import Note

MAX_NODES = 60
"""The largest network that is readable as a drawing on a page."""

MAX_FILE_NODES = 500
"""The largest network that is drawn at all."""

_MARGIN_PX = 8
_FRAME_PX = 16
_FRAME_NAME_PX = 18
_NOTE_ROW_PX = 16
_NOTE_LETTER_PX = 6.7
_LETTER = 0.61
"""The width of a letter relative to its size."""


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """Return the words of command lines, names of interfaces among them."""
    return frozenset(word for line in lines for word in re.split(r"[^\w-]+", line))


def draw_network(
    network: Network, *, shaped: Collection[str] = (), with_style: bool = False
) -> Markup:
    """Draw a network for a page.

    Args:
        network: the network.
        shaped: the interfaces to highlight.
        with_style: include a style sheet with the colours of paper,
            for use where a page's style sheet does not apply.

    Returns:
        An `<svg>` element for an HTML page.
    """
    return network_picture(network, shaped=shaped).svg(with_style=with_style)


def network_picture(
    network: Network,
    *,
    shaped: Collection[str] = (),
    places: Mapping[str, Point] | None = None,
    drawing: Drawing | None = None,
) -> Picture:
    """Draw a network.

    Args:
        network: the network.
        shaped: the interfaces to highlight.
        places: positions in the study's drawing, in pixels; other nodes are placed below.
        drawing: the annotations in it.

    Raises:
        InputError: it has more than `MAX_FILE_NODES` nodes.
    """
    if (nodes := len(network.node_names())) > MAX_FILE_NODES:
        raise InputError(
            f"a network of {nodes} nodes is too large to draw: the maximum is {MAX_FILE_NODES}"
        )
    drawing = drawing or Drawing()
    widths = node_widths(network)
    stretch: Point | None = None
    if places:
        centres, stretch = spread_out(network, with_the_rest(network, places), widths)
        links = draw_straight(network, centres, widths, shaped=shaped)
    elif has_circle(network):
        centres, _ = spread_out(network, spread_nodes(network), widths, given=False)
        links = draw_straight(network, centres, widths, shaped=shaped)
    else:
        centres, links = draw_tree(network, widths, shaped=shaped)
    symbols: list[Shape] = []
    for host in network.hosts:
        colour = drawing.colours.get(host.name, "")
        symbols += draw_host(centres[host.name], host, width=widths[host.name], colour=colour)
    for name in (switch.name for switch in network.switches):
        colour = drawing.colours.get(name, "")
        symbols += draw_switch(centres[name], name, width=widths[name], colour=colour)
    lines = [shape for shape in links if isinstance(shape, Stroke)]
    words = [shape for shape in links if not isinstance(shape, Stroke)]
    shapes = [*drawn_groups(drawing, centres, widths), *lines, *symbols, *words]
    shapes += drawn_notes(drawing, stretch, below=extent(shapes))
    left, top, right, bottom = extent(shapes)
    return Picture(
        left=left - _MARGIN_PX,
        top=top - _MARGIN_PX,
        width=right - left + 2 * _MARGIN_PX,
        height=bottom - top + 2 * _MARGIN_PX,
        title=_in_words(network),
        shapes=tuple(shapes),
    )


def _in_words(network: Network) -> str:
    pairs = ", ".join(
        f"{link.a} ({ends[0]}) to {link.b} ({ends[1]})"
        + "".join(f", {line}" for line in link.summary())
        for link, ends in zip(network.links, network.interfaces(), strict=True)
    )
    return f"{len(network.hosts)} hosts, {len(network.switches)} switches; links: {pairs}"


Extent = tuple[float, float, float, float]


def drawn_groups(
    drawing: Drawing, centres: Mapping[str, Point], widths: Mapping[str, float]
) -> Iterator[Shape]:
    """Yield the frames around groups of nodes, and their names."""
    for group in drawing.groups:
        inside = [(*centres[name], widths[name]) for name in group.nodes if name in centres]
        if not inside:
            continue
        left = min(x - width / 2 for x, _, width in inside) - _FRAME_PX
        right = max(x + width / 2 for x, _, width in inside) + _FRAME_PX
        top = min(y for _, y, _ in inside) - HEIGHT_PX / 2 - _FRAME_PX - _FRAME_NAME_PX
        bottom = max(y for _, y, _ in inside) + HEIGHT_PX / 2 + _FRAME_PX
        yield Box(
            x=left,
            y=top,
            width=right - left,
            height=bottom - top,
            round_px=10,
            role="group",
            colour=group.colour,
        )
        at = (left + 10, top + _FRAME_NAME_PX)
        yield TextLine(at=at, text=group.name, role="group-name", colour=group.colour)


def drawn_notes(drawing: Drawing, stretch: Point | None, *, below: Extent) -> Iterator[Shape]:
    """Yield the notes: where the study has them, or in a column below all.

    Args:
        drawing: the drawing with the notes.
        stretch: the factor by which positions were spread out; None if they are not the study's.
        below: the extent of everything else that is drawn.
    """
    left, _, _, y = below
    for note in drawing.notes:
        if stretch is not None:
            yield from _note(note, (note.at[0] * stretch[0], note.at[1] * stretch[1]))
            continue
        y += _NOTE_ROW_PX
        shapes = list(_note(note, (left, y)))
        yield from shapes
        y = extent(shapes)[3]


def _note(note: Note, at: Point) -> Iterator[Shape]:
    lines = note.text.splitlines() or [""]
    yield Box(
        x=at[0],
        y=at[1],
        width=max(map(len, lines)) * _NOTE_LETTER_PX + 18,
        height=len(lines) * _NOTE_ROW_PX + 12,
        round_px=4,
        role="note",
        colour=note.colour,
    )
    for row, line in enumerate(lines):
        place = (at[0] + 9, at[1] + 18 + row * _NOTE_ROW_PX)
        yield TextLine(at=place, text=line, role="note-text")


def extent(shapes: Sequence[Shape]) -> Extent:
    """Return the least and greatest coordinates of shapes: left, top, right, bottom."""
    points = [point for shape in shapes for point in _corners(shape)] or [(0.0, 0.0)]
    xs, ys = zip(*points, strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def _corners(shape: Shape) -> Iterator[Point]:
    match shape:
        case Stroke():
            yield from shape.points
        case Box():
            yield (shape.x, shape.y)
            yield (shape.x + shape.width, shape.y + shape.height)
        case TextLine():
            size = style_of(shape).size_px
            width = len(shape.text) * size * _LETTER
            begin = {"start": 0.0, "middle": -width / 2, "end": -width}[anchor_of(shape)]
            turn = math.radians(shape.slope)
            (px, py), (x, y) = shape.pivot, shape.at
            for dx in (begin, begin + width):
                for dy in (-size, 0.3 * size):
                    across, down = x + dx - px, y + dy - py
                    yield (
                        px + across * math.cos(turn) - down * math.sin(turn),
                        py + across * math.sin(turn) + down * math.cos(turn),
                    )
