"""A picture as plain shapes, and as SVG: for pages, and for files of their own.

Each shape has a role, whose style is defined here once: as a style sheet in a standalone
SVG, and as values for the PNG and PDF output (`picture_file`). A page has a style sheet of
its own, which follows its colour scheme.

Hosts, routers and switches have shapes of their own. Along a link, the names of its interfaces
are above the line beside their nodes, the addresses of its ends below, and its properties below
its middle. All follow the line's slope, so none crosses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from markupsafe import Markup

from longfat.model.network import LinkImpairments

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from longfat.model.network import Host, Link, Network

Point = tuple[float, float]

FONT = "DejaVu Sans Mono"
GROUND = "#ffffff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """The style of the shapes of a role.

    Attributes:
        fill: the colour of letters, or of a box's inside; none, if empty.
        stroke: the colour of lines; none, if empty.
        width_px: the width of lines.
        dashes_px: the lengths of dash and gap; a solid line, if empty.
        size_px: the size of letters.
        bold: whether they are.
        anchor: which part of a text is at its position: start, middle or end; the text
            itself specifies it, if empty.
        halo: keep the background behind the letters clear.
        opacity: of the inside.
    """

    fill: str = ""
    stroke: str = ""
    width_px: float = 0.0
    dashes_px: tuple[float, ...] = ()
    size_px: float = 0.0
    bold: bool = False
    anchor: str = ""
    halo: bool = False
    opacity: float = 1.0


_INK, _MUTED, _ACCENT = "#1b1f24", "#56606a", "#0b5cad"

STYLES = {
    "node": Style(fill="#f5f7f9", stroke=_MUTED, width_px=1.2),
    "link": Style(stroke=_MUTED, width_px=1.5),
    "name": Style(fill=_INK, size_px=13, bold=True, anchor="middle"),
    "below": Style(fill=_MUTED, size_px=10.5, anchor="middle"),
    "interface": Style(fill=_INK, size_px=10.5, halo=True),
    "interface shaped": Style(fill=_ACCENT, size_px=10.5, bold=True, halo=True),
    "group": Style(fill=_MUTED, stroke=_MUTED, width_px=1.0, dashes_px=(6, 4), opacity=0.08),
    "group-name": Style(fill=_MUTED, size_px=12, bold=True),
    "note": Style(fill=_MUTED, stroke=_MUTED, width_px=1.0, opacity=0.14),
    "note-text": Style(fill=_INK, size_px=11),
}

COLOURS = {
    "red": "#b3261e",
    "orange": "#a34a00",
    "yellow": "#7a6000",
    "green": "#1b7340",
    "blue": "#1f5fbf",
    "purple": "#7a3fb0",
    "grey": "#596273",
}
"""The colours that a study's drawing may have, as the studio's page shows them on white."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stroke:
    """A line through points."""

    points: tuple[Point, ...]
    role: str = "link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle with round corners; `colour`, one of `COLOURS`, overrides the role's."""

    x: float
    y: float
    width: float
    height: float
    round_px: float
    role: str = "node"
    colour: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextLine:
    """A line of text.

    Attributes:
        at: its position: a point on its base line, before it is rotated.
        text: the text.
        role: its role.
        anchor: start, middle or end: which part of the text is at the position.
        slope: by how many degrees it is rotated, clockwise.
        pivot: the point about which it is rotated.
        colour: one of `COLOURS`, in place of the role's own.
    """

    at: Point
    text: str
    role: str
    anchor: str = "start"
    slope: float = 0.0
    pivot: Point = (0.0, 0.0)
    colour: str = ""


Shape: TypeAlias = Stroke | Box | TextLine


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """Shapes in the order in which they are drawn.

    Attributes:
        left: the left border, in pixels.
        top: the upper border.
        width: its width.
        height: its height.
        title: what it shows, as text.
        shapes: the shapes.
    """

    left: float = 0.0
    top: float = 0.0
    width: float
    height: float
    title: str
    shapes: tuple[Shape, ...]

    def svg(self, *, alone: bool = False, with_style: bool = False) -> Markup:
        """Return it as an `<svg>` element.

        Args:
            alone: for a standalone file, with a white background.
            with_style: include a style sheet with the colours of paper, for use where a
                page's style sheet does not apply.
        """
        head = Markup(
            '<svg {}class="network" role="img" viewBox="{:.0f} {:.0f} {:.0f} {:.0f}" '
            'width="{:.0f}" height="{:.0f}"><title>{}</title>'
        ).format(
            Markup('xmlns="http://www.w3.org/2000/svg" ') if alone else "",
            *(self.left, self.top, self.width, self.height),
            *(self.width, self.height, self.title),
        )
        ground = Markup('<rect x="{:.0f}" y="{:.0f}" width="{:.0f}" height="{:.0f}" fill="{}"/>')
        box = (self.left, self.top, self.width, self.height)
        between = Markup("\n" if alone else "")
        parts = [
            head,
            _STYLE if with_style or alone else Markup(""),
            ground.format(*box, GROUND) if alone else Markup(""),
            *map(_element, self.shapes),
            Markup("</svg>\n" if alone else "</svg>"),
        ]
        return between.join(part for part in parts if part)


def _element(shape: Shape) -> Markup:
    match shape:
        case Stroke(points=(start, end)):
            return Markup(
                '<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'
            ).format(shape.role, *start, *end)
        case Stroke():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            line = Markup('<polyline class="{}" fill="none" points="{}"/>')
            return line.format(shape.role, points)
        case Box():
            return Markup(
                '<rect class="{}"{} x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" '
                'rx="{:.0f}"/>'
            ).format(
                *(shape.role, _own(shape)),
                *(shape.x, shape.y, shape.width, shape.height, shape.round_px),
            )
    turn = Markup(' transform="rotate({:.2f} {:.1f} {:.1f})"').format(shape.slope, *shape.pivot)
    return Markup('<text class="{}"{} x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(
        *(shape.role, _own(shape), *shape.at),
        *(anchor_of(shape), turn if shape.slope else "", shape.text),
    )


def style_of(words: TextLine) -> Style:
    """Return the style of a text, except for its own colour."""
    return STYLES[words.role]


def anchor_of(words: TextLine) -> str:
    """Return which part of a text is at its position."""
    return STYLES[words.role].anchor or words.anchor


def _own(shape: Box | TextLine) -> Markup:
    """Return a `style` attribute for a shape's own colour; it overrides a style sheet."""
    if not shape.colour:
        return Markup("")
    colour = COLOURS[shape.colour]
    if isinstance(shape, TextLine):
        return Markup(' style="fill: {}"').format(colour)
    inside = "" if shape.role == "node" else f"; fill: {colour}"
    return Markup(' style="stroke: {}{}"').format(colour, inside)


def _rule(role: str, style: Style) -> str:
    selector = "." + role.replace(" ", ".")
    declarations = {
        "fill": style.fill or "none",
        "fill-opacity": style.opacity if style.opacity < 1 else None,
        "stroke": GROUND if style.halo else style.stroke,
        "stroke-width": 3 if style.halo else style.width_px,
        "stroke-dasharray": " ".join(map(str, style.dashes_px)),
        "paint-order": "stroke" if style.halo else "",
        "font-size": f"{style.size_px}px" if style.size_px else "",
        "font-weight": 700 if style.bold else None,
        "text-anchor": style.anchor,
    }
    rules = "; ".join(f"{name}: {value}" for name, value in declarations.items() if value)
    return f"{selector} {{ {rules} }}"


_STYLE = Markup("<style>text {{ font-family: '{}', monospace }}\n{}</style>").format(
    Markup(FONT), Markup("\n".join(_rule(role, style) for role, style in STYLES.items()))
)


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


ROW_PX = 13
LETTER_PX = 6.4
"""The width of a letter of a link's text."""

_GAP_PX = 8.0
_ABOVE_PX, _BELOW_PX = -5.0, 12.0


@dataclass(frozen=True, slots=True)
class End:
    """One end of a drawn link.

    Attributes:
        at: where text at this end begins: at the border of its node, or farther away.
        interface: the interface's name.
    """

    at: Point
    interface: str


def text_rows(link: Link) -> int:
    """Return the number of rows of text below a link."""
    return len(link.summary()) + _address_rows(link)


def text_width(link: Link, interfaces: tuple[str, str]) -> float:
    """Return how many pixels of a line the text along a link needs."""
    rows = [(link.a_address or "", link.b_address or ""), interfaces]
    pairs = [(len(a) + len(b)) * LETTER_PX + 3 * _GAP_PX for a, b in rows]
    properties = [len(words) * LETTER_PX + 2 * _GAP_PX for words in link.summary()]
    return max(*pairs, *properties)


def side_by_side(count: int, step: float) -> list[float]:
    """Return the distance of parallel lines from their middle."""
    return [(number - (count - 1) / 2) * step for number in range(count)]


def _address_rows(link: Link) -> int:
    return int(bool(link.a_address or link.b_address))


def link_words(link: Link, a: End, b: End, *, shaped: Collection[str]) -> Iterator[TextLine]:
    """Yield the text along a link.

    Args:
        link: the link.
        a: its first end.
        b: its other end.
        shaped: the interfaces to highlight, beside those with impairments.
    """
    for end, other, shape, address in (
        (a, b, link.a_to_b, link.a_address),
        (b, a, link.b_to_a, link.b_address),
    ):
        is_highlighted = end.interface in shaped or shape != LinkImpairments()
        yield _beside(end, other, end.interface, away=_ABOVE_PX, shaped=is_highlighted)
        if address is not None:
            yield _beside(end, other, address, away=_BELOW_PX)
    there, back = ("←", "→") if a.at > b.at else ("→", "←")
    middle = ((a.at[0] + b.at[0]) / 2, (a.at[1] + b.at[1]) / 2)
    for row, words in enumerate(link.summary(there=there, back=back), _address_rows(link)):
        yield _text(middle, _slope(a, b), words, away=_BELOW_PX + ROW_PX * row, anchor="middle")


def _beside(end: End, other: End, words: str, *, away: float, shaped: bool = False) -> TextLine:
    (x, y), (far_x, far_y) = end.at, other.at
    along = min(0.45, _GAP_PX / (math.hypot(far_x - x, far_y - y) or 1.0))
    at = (x + along * (far_x - x), y + along * (far_y - y))
    anchor = "start" if end.at <= other.at else "end"
    return _text(at, _slope(end, other), words, away=away, anchor=anchor, shaped=shaped)


def _slope(a: End, b: End) -> float:
    """Return the angle of a line in degrees, such that words along it read from the left."""
    (x, y), (far_x, far_y) = sorted((a.at, b.at))
    return math.degrees(math.atan2(far_y - y, far_x - x))


def _text(
    at: Point, slope: float, words: str, *, away: float, anchor: str, shaped: bool = False
) -> TextLine:
    role = "interface shaped" if shaped else "interface"
    place = (at[0], at[1] + away)
    return TextLine(at=place, text=words, role=role, anchor=anchor, slope=slope, pivot=at)
