"""The nodes of a drawn network: hosts, routers and switches, each with a shape of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.output.drawing.shapes import Box, TextLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network import Host, Network
    from longfat.output.drawing.shapes import Point, Shape

WIDTH_PX = 104
HEIGHT_PX = 44
CLEAR_PX = 18
"""The minimum gap between two nodes."""

_NAME_LETTER_PX = 7.9
_ADDRESS_LETTER_PX = 6.4
_PADDING_PX = 16


def node_widths(network: Network) -> dict[str, float]:
    """Return the width of each node: that of all others, unless its text is wider."""
    addresses = {host.name: host.address or "" for host in network.hosts}
    return {
        name: max(
            WIDTH_PX,
            len(name) * _NAME_LETTER_PX + _PADDING_PX,
            len(addresses.get(name, "")) * _ADDRESS_LETTER_PX + _PADDING_PX,
        )
        for name in network.node_names()
    }


def draw_host(centre: Point, host: Host, *, width: float, colour: str) -> Iterator[Shape]:
    """Yield the shapes of a host; a router has two lines around it."""
    if not host.forwards:
        below = host.address or "no address"
        yield from _node(centre, host.name, below, width=width, round_px=3, colour=colour)
        return
    yield _box(centre, width=width + 6, height=HEIGHT_PX + 6, round_px=8, colour=colour)
    below = host.address or "router"
    yield from _node(centre, host.name, below, width=width, round_px=6, colour=colour)


def draw_switch(centre: Point, name: str, *, width: float, colour: str) -> Iterator[Shape]:
    """Yield the shapes of a switch."""
    yield from _node(centre, name, "switch", width=width, round_px=22, colour=colour)


def _box(centre: Point, *, width: float, height: float, round_px: int, colour: str) -> Box:
    x, y = centre
    return Box(
        x=x - width / 2,
        y=y - height / 2,
        width=width,
        height=height,
        round_px=round_px,
        colour=colour,
    )


def _node(
    centre: Point, name: str, below: str, *, width: float, round_px: int, colour: str
) -> Iterator[Shape]:
    x, y = centre
    yield _box(centre, width=width, height=HEIGHT_PX, round_px=round_px, colour=colour)
    yield TextLine(at=(x, y - 2), text=name, role="name")
    yield TextLine(at=(x, y + 13), text=below, role="below")
