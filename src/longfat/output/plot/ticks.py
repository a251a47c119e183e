"""The ticks of an axis: as many as there is space for, at round numbers, with short texts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from matplotlib.ticker import MaxNLocator

from longfat.model.metric import Unit
from longfat.model.scales import Scale, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Ticks: TypeAlias = tuple[tuple[float, str], ...]
"""The positions of ticks, in their order, and their texts."""

LONGEST_TEXT = 28
"""The maximum length of a tick's text that is not a number."""

_LETTER_IN = 0.075  # on average
_LINE_IN = 0.17  # the height of a text, with a margin
_AIR_IN = 0.12  # between two texts side by side
_EVEN_IN = 0.34  # between even ticks above each other
_MOST_STOPS = 12

# Positions of ticks in a decade, the densest first; steps of more decades follow.
_DECADE: tuple[tuple[int, ...], ...] = (
    (1, 2, 3, 4, 5, 6, 7, 8, 9),
    (1, 2, 3, 5, 7),
    (1, 2, 3, 5),
    (1, 2, 5),
    (1, 3),
)
_DECADES = (1, 2, 3, 4, 6, 8, 12)
_DOUBLINGS = (1, 2, 4, 5, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The extent of an axis that ticks are on.

    Attributes:
        low: its start, in the drawn unit.
        high: its end.
        log: whether it is logarithmic.
        room_in: how long it is, in inches.
        upright: whether its texts are above each other.
    """

    low: float
    high: float
    log: bool
    room_in: float
    upright: bool

    @property
    def most(self) -> int:
        """Return the number of ticks that are enough."""
        return 7 if self.upright else 9

    def inside(self, places: Iterable[float]) -> list[float]:
        """Return those positions that are on it, the ends included."""
        slack = 1e-9
        low = self.low * (1 - slack) if self.log else self.low - slack * (self.high - self.low)
        high = self.high * (1 + slack) if self.log else self.high + slack * (self.high - self.low)
        return [float(place) for place in places if low <= place <= high]

    def fits(self, ticks: Sequence[tuple[float, str]]) -> bool:
        """Return whether no text is too near to the next."""
        low, high = self._way(self.low), self._way(self.high)
        for (left, left_text), (right, right_text) in pairwise(ticks):
            apart_in = (self._way(right) - self._way(left)) / (high - low) * self.room_in
            letters = (len(left_text) + len(right_text)) / 2
            if apart_in < (_LINE_IN if self.upright else letters * _LETTER_IN + _AIR_IN):
                return False
        return True

    def _way(self, at: float) -> float:
        return math.log10(at) if self.log else at


def short_text(text: str, most: int = LONGEST_TEXT) -> str:
    """Return a text, truncated if it is too long."""
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def number_text(value: float) -> str:
    """Return a number as the text of a tick, in as few digits as identify it."""
    if value and not 1e-6 <= abs(value) < 1e9:
        return f"{value:.3g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    whole = f"{float(f'{value:.6g}'):,.10f}"
    return whole.rstrip("0").rstrip(".")


def even_ticks(span: Span) -> Ticks:
    """Return ticks at even distances."""
    widest = max(len(number_text(float(f"{end:.2g}"))) for end in (span.low, span.high))
    each_in = _EVEN_IN if span.upright else widest * _LETTER_IN + 3 * _AIR_IN
    count = max(2, min(span.most, int(span.room_in / each_in)))
    places = MaxNLocator(nbins=count, steps=[1, 2, 2.5, 5, 10]).tick_values(span.low, span.high)
    return tuple((place, number_text(round(place, 12))) for place in span.inside(places))


def log_ticks(span: Span) -> Ticks:
    """Return ticks at 1, 2, 5 or similar of each decade, or at some of the decades."""
    powers = range(math.floor(math.log10(span.low)), math.ceil(math.log10(span.high)) + 1)
    choices = [[digit * 10.0**power for power in powers for digit in one] for one in _DECADE]
    choices += [[10.0**power for power in powers if power % step == 0] for step in _DECADES]
    return _first_that_fits(
        [[(place, number_text(place)) for place in span.inside(one)] for one in choices], span
    )


def size_ticks(span: Span, own: Scale | None) -> Ticks:
    """Return ticks of sizes at powers of two.

    Args:
        span: the extent of the axis.
        own: the drawn scale, where each tick includes its unit; otherwise None.
    """
    powers = range(math.floor(math.log2(span.low)), math.ceil(math.log2(span.high)) + 1)
    choices = [[2.0**power for power in powers if power % step == 0] for step in _DOUBLINGS]
    return _first_that_fits(
        [[(place, _text(place, own)) for place in span.inside(one)] for one in choices], span
    )


def stop_ticks(span: Span, stops: Iterable[float], own: Scale | None) -> Ticks | None:
    """Return ticks at the values of a parameter; None where they are too many.

    Args:
        span: the extent of the axis.
        stops: the values, in the drawn unit.
        own: see `size_ticks`.
    """
    places = span.inside(sorted({float(f"{stop:.6g}") for stop in stops}))
    ticks = tuple((place, _text(place, own)) for place in places)
    return ticks if 2 <= len(ticks) <= _MOST_STOPS and span.fits(ticks) else None


def _text(value: float, own: Scale | None) -> str:
    """Return a number, or a size with a unit of its own."""
    if own is None:
        return number_text(float(f"{value:.4g}"))
    size_bytes = value / own.factor
    found = scale_for(Unit.BYTES, size_bytes)
    return f"{number_text(float(f'{size_bytes * found.factor:.4g}'))} {found.unit}"


def _first_that_fits(choices: Sequence[Sequence[tuple[float, str]]], span: Span) -> Ticks:
    for ticks in choices:
        if 2 <= len(ticks) <= span.most and span.fits(ticks):
            return tuple(ticks)
    # An extent of less than a decade, or one with hardly any space.
    there = [ticks for ticks in choices if ticks]
    return tuple(there[-1][:1]) if there else ()
