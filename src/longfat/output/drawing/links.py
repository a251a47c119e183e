"""A link of the drawn network: its line, and the text along it.

The names of its interfaces are above the line beside their nodes, the
addresses of its ends below, and its properties below its middle. All
follow the line's slope, so none crosses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.network import LinkImpairments
from longfat.output.drawing.shapes import TextLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from longfat.model.network import Link
    from longfat.output.drawing.shapes import Point

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
