"""A link of the drawn network: its line, and what is written along it.

The names of its interfaces stand above the line beside their nodes, the
addresses that it gives its ends below, and its properties below its middle. All
follow the line's slope, so none crosses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from longfat.model.network import LinkImpairments

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.model.network import Link

Point = tuple[float, float]

ROW_PX = 13
_ABOVE_PX, _BELOW_PX = -5.0, 12.0


@dataclass(frozen=True, slots=True)
class End:
    """One end of a drawn link.

    Attributes:
        centre: the middle of its node.
        clear_px: how far from there, across, words find room.
        interface: the interface's name.
    """

    centre: Point
    clear_px: float
    interface: str


def text_rows(link: Link) -> int:
    """Return how many rows of text stand below a link."""
    return len(link.summary()) + _address_rows(link)


def _address_rows(link: Link) -> int:
    return int(bool(link.a_address or link.b_address))


def draw_link(link: Link, a: End, b: End, *, shaped: Collection[str]) -> Markup:
    """Draw a link.

    Args:
        link: the link.
        a: its first end.
        b: its other end.
        shaped: the interfaces to make stand out, beside those that the link shapes.

    Returns:
        Elements of an SVG.
    """
    parts = [
        Markup('<line class="link" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
            *a.centre, *b.centre
        )
    ]
    for end, other, shape, address in (
        (a, b, link.a_to_b, link.a_address),
        (b, a, link.b_to_a, link.b_address),
    ):
        stands_out = end.interface in shaped or shape != LinkImpairments()
        parts.append(_beside(end, other, end.interface, away=_ABOVE_PX, shaped=stands_out))
        if address is not None:
            parts.append(_beside(end, other, address, away=_BELOW_PX))
    leftwards = (a.centre[0], a.centre[1]) > (b.centre[0], b.centre[1])
    there, back = ("←", "→") if leftwards else ("→", "←")
    middle = ((a.centre[0] + b.centre[0]) / 2, (a.centre[1] + b.centre[1]) / 2)
    for row, words in enumerate(link.summary(there=there, back=back), _address_rows(link)):
        away = _BELOW_PX + ROW_PX * row
        parts.append(_text(middle, _slope(a, b), words, away=away, anchor="middle"))
    return Markup("").join(parts)


def _beside(end: End, other: End, words: str, *, away: float, shaped: bool = False) -> Markup:
    (x, y), (far_x, far_y) = end.centre, other.centre
    across, down = far_x - x, far_y - y
    length = abs(across) or abs(down)
    along = min(0.45, end.clear_px / length) if length else 0.0
    at = (x + along * across, y + along * down)
    starts = across > 0 or (across == 0 and down > 0)
    anchor = "start" if starts else "end"
    return _text(at, _slope(end, other), words, away=away, anchor=anchor, shaped=shaped)


def _slope(a: End, b: End) -> float:
    """Return the angle of a line in degrees, such that words along it read from the left."""
    (x, y), (far_x, far_y) = sorted((a.centre, b.centre))
    return math.degrees(math.atan2(far_y - y, far_x - x))


def _text(
    at: Point, slope: float, words: str, *, away: float, anchor: str, shaped: bool = False
) -> Markup:
    turn = Markup(' transform="rotate({:.2f} {:.1f} {:.1f})"').format(slope, *at) if slope else ""
    return Markup('<text class="{}" x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>').format(
        "interface shaped" if shaped else "interface", at[0], at[1] + away, anchor, turn, words
    )
