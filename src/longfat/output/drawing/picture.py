"""A network as a picture: hosts, routers and switches, links, addresses, and interfaces.

Nodes are at the positions that a study gives, spread out as far as the text along
links needs it. Without positions, a network without cycles is drawn as a tree from left to
right, with links level where their text is; one with cycles by `mesh_layout`, with straight links.
Hosts, routers and switches have different shapes; interfaces that `tc` and other commands
name are highlighted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.output.drawing.annotations import drawn_groups, drawn_notes, extent
from longfat.output.drawing.free import draw_straight, spread_out, with_the_rest
from longfat.output.drawing.mesh_layout import spread_nodes
from longfat.output.drawing.nodes import draw_host, draw_switch, node_widths
from longfat.output.drawing.shapes import Picture, Shape, Stroke
from longfat.output.drawing.tree import draw_tree
from longfat.output.drawing.tree_layout import has_circle
from longfat.study.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from markupsafe import Markup

    from longfat.model.network import Network
    from longfat.output.drawing.shapes import Point

_MARGIN_PX = 8

MOST_NODES = 60
"""The largest network that is readable as a drawing on a page."""


LARGEST_NODES = 500
"""The largest network that is drawn at all."""


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
        InputError: it has more than `LARGEST_NODES` nodes.
    """
    if (nodes := len(network.node_names())) > LARGEST_NODES:
        raise InputError(
            f"a network of {nodes} nodes is too large to draw: the maximum is {LARGEST_NODES}"
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
