"""A network as an inline SVG: hosts, switches, links, and the names of interfaces.

The switches and routers stand from left to right as a tree; hosts of the first
stand to its left, all others to the right of theirs. Hosts, routers and switches
have different shapes. Below a link stand its properties and the addresses that
it gives its ends; interfaces that lines of `tc` and others speak of stand out.
Colours come from the page's style sheet, so the drawing follows the colour scheme.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from longfat.output.report.link_drawing import ROW_PX, End, Point, draw_link, text_rows

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from longfat.model.network import Host, Network

_LANE = 74
_WIDTH = 104
_HEIGHT = 44
_MARGIN = 8
_LETTER = 6.4  # the width of a letter of an interface's name
_GAP = 6

_STYLE = Markup(
    "<style>text { fill: #1b1f24; font-family: 'DejaVu Sans Mono', monospace }"
    " .name, .below { text-anchor: middle }"
    " .node { fill: #f5f7f9; stroke: #56606a; stroke-width: 1.2 }"
    " .link { stroke: #56606a; stroke-width: 1.5 }"
    " .name { font-size: 13px; font-weight: 700 } .below { font-size: 10.5px; fill: #56606a }"
    " .interface { font-size: 10.5px }"
    " .shaped { font-weight: 700; fill: #0b5cad }</style>"
)

MOST_NODES = 60
"""What is larger cannot be read as a drawing."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a node stands: its column, and its lane, which may be between two."""

    column: int
    lane: float


def draw_network(
    network: Network, *, shaped: Collection[str] = (), with_style: bool = False
) -> Markup:
    """Draw a network.

    Args:
        network: the network.
        shaped: the interfaces to make stand out.
        with_style: put the looks into the drawing, in the colours of paper,
            for where a page's style sheet does not reach it.

    Returns:
        An `<svg>` element for an HTML page.
    """
    interfaces = network.interfaces()
    longest = max((len(name) for names in interfaces for name in names), default=0)
    lines = [line for link in network.links for line in link.summary()]
    widest = max(2 * longest, max(map(len, lines), default=0))
    rows = max(map(text_rows, network.links), default=0)
    lane = _LANE + 2 * ROW_PX * rows
    # Lines that leave a node side by side need some way until words fit between.
    fanned = (1 + min(rows, 1)) * ROW_PX / lane
    pitch = (_WIDTH + 4 * _GAP + _LETTER * widest) / (1 - fanned if rows else 1)
    positions = place_nodes(network)
    centres = {
        name: (
            _MARGIN + _WIDTH / 2 + place.column * pitch,
            _MARGIN + _HEIGHT / 2 + place.lane * lane,
        )
        for name, place in positions.items()
    }
    width = max((x for x, _ in centres.values()), default=0) + _WIDTH / 2 + _MARGIN
    height = max((y for _, y in centres.values()), default=0) + _HEIGHT / 2 + _MARGIN
    parts = [
        Markup(
            '<svg class="network" role="img" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" '
            'height="{1:.0f}"><title>{2}</title>'
        ).format(width, height, _in_words(network)),
        _STYLE if with_style else Markup(""),
    ]
    crowds = _crowds(centres, network)

    def end(node: str, other: str, interface: str) -> End:
        crowd = crowds[node, centres[other][0] > centres[node][0]]
        clear = max(_WIDTH / 2 + _GAP, fanned * pitch if crowd > 1 else 0.0)
        return End(centre=centres[node], clear_px=clear, interface=interface)

    for link, (at_a, at_b) in zip(network.links, interfaces, strict=True):
        a, b = end(link.a, link.b, at_a), end(link.b, link.a, at_b)
        parts.append(draw_link(link, a, b, shaped=shaped))
    for host in network.hosts:
        parts.append(_host(centres[host.name], host))
    for switch in network.switches:
        parts.append(_node(centres[switch.name], name=switch.name, below="switch", round_px=22))
    return Markup("").join([*parts, Markup("</svg>")])


def place_nodes(network: Network) -> dict[str, Position]:
    """Return where each node stands; no two nodes stand in one place."""
    near: dict[str, dict[str, None]] = {}
    for link in network.links:
        near.setdefault(link.a, {})[link.b] = None
        near.setdefault(link.b, {})[link.a] = None
    switches = [switch.name for switch in network.switches]
    switches += [host.name for host in network.hosts if host.forwards]
    # A tree is begun at one of its ends.
    switches.sort(key=lambda name: sum(n in switches for n in near.get(name, ())) > 1)
    placed: dict[str, Position] = {}
    top = 0.0
    for root in [*switches, *(host.name for host in network.hosts)]:
        if root not in placed:
            top += _place_tree(root, near, frozenset(switches), placed, top)
    leftmost = min((place.column for place in placed.values()), default=0)
    return {name: Position(p.column - leftmost, p.lane) for name, p in placed.items()}


def _place_tree(
    root: str,
    near: Mapping[str, Mapping[str, None]],
    switches: frozenset[str],
    placed: dict[str, Position],
    top: float,
) -> int:
    """Place what is connected with a node, from a lane on; return the number of lanes."""
    hosts = [name for name in near.get(root, ()) if name not in switches and name not in placed]
    goes_on = any(name in switches and name not in placed for name in near.get(root, ()))
    left: list[str] = []
    if root in switches:
        # The hosts of a single switch stand on both sides of it.
        left = hosts if goes_on else hosts[: (len(hosts) + 1) // 2]
    seen = {*placed, *left}
    right: dict[str, Position] = {}
    leaves = 0

    def walk(name: str, column: int) -> float:
        nonlocal leaves
        seen.add(name)
        lanes = [walk(n, column + 1) for n in near.get(name, ()) if n not in seen]
        if not lanes:
            lanes = [float(leaves)]
            leaves += 1
        lane = (min(lanes) + max(lanes)) / 2
        right[name] = Position(column, lane)
        return lane

    walk(root, 0)
    tall = max(leaves, len(left))
    for name, place in right.items():
        placed[name] = Position(place.column, top + place.lane + (tall - leaves) / 2)
    for index, name in enumerate(left):
        placed[name] = Position(-1, top + index + (tall - len(left)) / 2)
    return tall


def _node(centre: Point, *, name: str, below: str, round_px: int) -> Markup:
    x, y = centre
    return Markup(
        '<rect class="node" x="{:.1f}" y="{:.1f}" width="{}" height="{}" rx="{}"/>'
        '<text class="name" x="{:.1f}" y="{:.1f}">{}</text>'
        '<text class="below" x="{:.1f}" y="{:.1f}">{}</text>'
    ).format(
        x - _WIDTH / 2, y - _HEIGHT / 2, _WIDTH, _HEIGHT, round_px, x, y - 2, name, x, y + 13, below
    )


def _host(centre: Point, host: Host) -> Markup:
    if not host.forwards:
        return _node(centre, name=host.name, below=host.address or "no address", round_px=3)
    x, y = centre
    inner = Markup(
        '<rect class="node" x="{:.1f}" y="{:.1f}" width="{}" height="{}" rx="8"/>'
    ).format(x - _WIDTH / 2 - 3, y - _HEIGHT / 2 - 3, _WIDTH + 6, _HEIGHT + 6)
    return inner + _node(centre, name=host.name, below=host.address or "router", round_px=6)


def _crowds(centres: Mapping[str, Point], network: Network) -> Counter[tuple[str, bool]]:
    """Count the links that leave a node to its right (True) or not."""
    ends = [pair for link in network.links for pair in ((link.a, link.b), (link.b, link.a))]
    return Counter((node, centres[other][0] > centres[node][0]) for node, other in ends)


def _in_words(network: Network) -> str:
    pairs = ", ".join(
        f"{link.a} ({ends[0]}) to {link.b} ({ends[1]})"
        + "".join(f", {line}" for line in link.summary())
        for link, ends in zip(network.links, network.interfaces(), strict=True)
    )
    return f"{len(network.hosts)} hosts, {len(network.switches)} switches; links: {pairs}"
