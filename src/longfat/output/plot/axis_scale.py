"""The scale of an axis: its unit, its ends and its ticks.

It is computed once from the values and the available space, and is then the same in all
small multiples, on paper and on the screen. There are as many ticks as there is space for, at
round numbers, with short texts. Where few values of a parameter were measured, the ticks are
these values; a 0 among them has a position of its own on a logarithmic axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from matplotlib.ticker import MaxNLocator

from longfat.model.metric import Unit
from longfat.model.scales import Scale, count_scale, scale_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longfat.output.plot.chart import Axis
    from longfat.output.plot.line import Floats

Ticks: TypeAlias = tuple[tuple[float, str], ...]
"""The positions of ticks, in their order, and their texts."""

MAX_TEXT_LENGTH = 28
"""The maximum length of a tick's text that is not a number."""

_LETTER_IN = 0.075  # on average
_LINE_IN = 0.17  # the height of a text, with a margin
_AIR_IN = 0.12  # between two texts side by side
_EVEN_IN = 0.34  # between even ticks above each other
_MAX_STOPS = 12

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
    def maximum(self) -> int:
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
        low, high = self._axis_position(self.low), self._axis_position(self.high)
        for (left, left_text), (right, right_text) in pairwise(ticks):
            apart_in = (
                (self._axis_position(right) - self._axis_position(left))
                / (high - low)
                * self.room_in
            )
            letters = (len(left_text) + len(right_text)) / 2
            if apart_in < (_LINE_IN if self.upright else letters * _LETTER_IN + _AIR_IN):
                return False
        return True

    def _axis_position(self, at: float) -> float:
        return math.log10(at) if self.log else at


def short_text(text: str, maximum: int = MAX_TEXT_LENGTH) -> str:
    """Return a text, truncated if it is too long."""
    return text if len(text) <= maximum else f"{text[: maximum - 1].rstrip()}…"


def number_text(value: float) -> str:
    """Return a number as the text of a tick, in as few digits as identify it.

    From a million on it has an SI prefix (`4 M`); a tiny one is a power of ten (`2·10⁻⁷`).
    """
    if value and abs(value) < 1e-6:
        digits, _, power = f"{value:.3g}".partition("e")
        return f"{digits}·10{str(int(power or 0)).translate(_RAISED)}"
    scale = count_scale(abs(value))
    whole = f"{float(f'{value * scale.factor:.6g}'):,.10f}".rstrip("0").rstrip(".")
    return f"{whole} {scale.unit}".rstrip()


def even_ticks(span: Span) -> Ticks:
    """Return ticks at even distances."""
    widest = max(len(number_text(float(f"{end:.2g}"))) for end in (span.low, span.high))
    each_in = _EVEN_IN if span.upright else widest * _LETTER_IN + 3 * _AIR_IN
    count = max(2, min(span.maximum, int(span.room_in / each_in)))
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
    return ticks if 2 <= len(ticks) <= _MAX_STOPS and span.fits(ticks) else None


def typed_ticks(axis: Axis, factor: float, ticks: Ticks, unit: str) -> Ticks | None:
    """Return ticks with the texts that the study has for them.

    Args:
        axis: the axis.
        factor: converts a value in the base unit into a drawn one.
        ticks: the ticks at the values of its parameter.
        unit: the drawn unit.

    Returns:
        The ticks; None where one has no such text, or where numbers in the drawn unit are the
        same texts.
    """
    texts = {float(f"{value * factor:.6g}"): text for value, text in axis.typed}
    if not all(at in texts or at == 0 for at, _ in ticks):
        return None
    if all(texts.get(at, "0").removesuffix(unit).strip() == text for at, text in ticks):
        return None
    return tuple((at, texts.get(at, "0")) for at, _ in ticks)


def _text(value: float, own: Scale | None) -> str:
    """Return a number, or a size with a unit of its own."""
    if own is None:
        return number_text(float(f"{value:.4g}"))
    size_bytes = value / own.factor
    found = scale_for(Unit.BYTES, size_bytes)
    return f"{number_text(float(f'{size_bytes * found.factor:.4g}'))} {found.unit}"


def _first_that_fits(choices: Sequence[Sequence[tuple[float, str]]], span: Span) -> Ticks:
    for ticks in choices:
        if 2 <= len(ticks) <= span.maximum and span.fits(ticks):
            return tuple(ticks)
    # An extent of less than a decade, or one with hardly any space.
    there = [ticks for ticks in choices if ticks]
    return tuple(there[-1][:1]) if there else ()


_WHOLE = 0.85  # shares near 100 % are shown on an axis up to 100 %
_ABOVE_WHOLE = 1.03  # otherwise half of a line at 100 % would be cut off
_MARGIN = 0.05  # of the axis, on both sides of the data
_ROOM_ABOVE = 1.08
_ZERO_APART = 0.16  # of a logarithmic axis: the distance of 0 from the first value
_ZERO_ROOM = 0.12  # which no other tick may enter
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_WIDE_SIZES = 256.0  # sizes so far apart have no unit in common

_PREFIXES: dict[Unit, tuple[Scale, ...]] = {
    Unit.BPS: tuple(
        Scale(1000.0**-power, name)
        for power, name in enumerate(("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))
    ),
    Unit.BYTES: tuple(
        Scale(1024.0**-power, name) for power, name in enumerate(("B", "KB", "MB", "GB", "TB"))
    ),
    Unit.SECONDS: tuple(
        Scale(10.0**power, name) for power, name in ((9, "ns"), (6, "µs"), (3, "ms"), (0, "s"))
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisScale:
    """The scale of an axis as it is drawn.

    Attributes:
        title: the axis label, with the unit.
        unit: the unit of the drawn values; empty where there is none.
        factor: converts a value in the base unit into a drawn one.
        low: its start, in the drawn unit.
        high: its end.
        log: whether it is logarithmic.
        texts: whether it is categorical: its ticks are texts and not numbers.
        ticks: the positions and texts of its ticks.
        zero: of a logarithmic axis, the position of 0, apart from the scale; None if there is none.
    """

    title: str
    unit: str = ""
    factor: float = 1.0
    low: float
    high: float
    log: bool = False
    texts: bool = False
    ticks: Ticks
    zero: float | None = None

    @property
    def longest(self) -> int:
        """Return the length of the longest tick in letters."""
        return max((len(text) for _, text in self.ticks), default=0)

    @property
    def fence(self) -> float | None:
        """Return the line that separates the position of 0 from the scale; None without one."""
        if self.zero is None:
            return None
        after = [at for at, _ in self.ticks if at > self.zero]
        return math.sqrt(self.zero * min(after, default=self.high))

    def places(self, values: Floats) -> Floats:
        """Return the positions of values in the base unit, in the drawn unit."""
        found: Floats = values * self.factor
        return found if self.zero is None else np.where(values == 0, self.zero, found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """The space available to an axis.

    Attributes:
        long_in: its approximate length, in inches.
        upright: whether it is the vertical one, on which texts are above each other.
        from_zero: the axis starts at 0 if the minimum is at most this part of the maximum.
    """

    long_in: float
    upright: bool = False
    from_zero: float = 0.75

    def span(self, low: float, high: float, *, log: bool) -> Span:
        """Return the span between two ends."""
        return Span(low=low, high=high, log=log, room_in=self.long_in, upright=self.upright)


def axis_scale(
    axis: Axis, values: Floats, room: Room, *, stops: Sequence[float] = (), share: bool = False
) -> AxisScale:
    """Return the scale of an axis.

    Args:
        axis: the axis.
        values: all values on it, in the base unit; those that are not finite are ignored.
        room: the available space.
        stops: values of a parameter, which are the ticks where they are few and fit.
        share: its values are parts from 0 to 1 that are shown as such, as in a CDF.
    """
    if axis.ticks is not None:
        return text_scale(axis.label, axis.ticks)
    known = values[np.isfinite(values)]
    if axis.log:
        known = known[known > 0]
    ends = [end for end in (axis.low, axis.high) if end is not None and (end > 0 or not axis.log)]
    known = np.concatenate((known, ends))
    if not len(known):
        known = np.array([0.1, 1.0])
    minimum, maximum = float(known.min()), float(known.max())
    if axis.log:
        return _logarithmic_scale(axis, minimum, maximum, room, stops=stops)
    return _linear_scale(axis, minimum, maximum, room, stops=stops, share=share)


def text_scale(label: str, texts: Sequence[str], *, step: int = 1) -> AxisScale:
    """Return the scale of a categorical axis.

    Args:
        label: the axis label.
        texts: the texts of its positions.
        step: every which position has its text shown.
    """
    ticks = tuple((float(place), short_text(text)) for place, text in enumerate(texts))
    high = max(len(texts), 1) - 0.5
    return AxisScale(title=label, low=-0.5, high=high, texts=True, ticks=ticks[::step])


def _titled(label: str, unit: str) -> str:
    return f"{label} ({unit})" if unit and label else label or unit


def _linear_scale(
    axis: Axis, minimum: float, maximum: float, room: Room, *, stops: Sequence[float], share: bool
) -> AxisScale:
    scale = Scale(1.0, "") if share else scale_for(axis.unit, max(abs(minimum), abs(maximum)))
    low, high = _linear_ends(minimum * scale.factor, maximum * scale.factor, room)
    whole = scale.factor  # a share of 1
    near_whole = _WHOLE < maximum <= 1 + 1e-9
    if axis.unit is Unit.FRACTION and near_whole:
        high = whole * _ABOVE_WHOLE
    low = low if axis.low is None else axis.low * scale.factor
    high = high if axis.high is None else axis.high * scale.factor
    if share:
        low, high = 0.0, _ABOVE_WHOLE
    if low >= high:
        high = low + 1.0
    span = room.span(low, high, log=False)
    at_stops = stop_ticks(span, [stop * scale.factor for stop in stops], None)
    typed = typed_ticks(axis, scale.factor, at_stops, scale.unit) if at_stops else None
    if typed and not span.fits(typed):
        typed = None
    ticks = typed or at_stops or even_ticks(span)
    return AxisScale(
        title=axis.label if typed else _titled(axis.label, scale.unit),
        unit=scale.unit,
        factor=scale.factor,
        low=low,
        high=high,
        ticks=ticks,
    )


def _linear_ends(minimum: float, maximum: float, room: Room) -> tuple[float, float]:
    if maximum == 0 or 0 <= minimum <= room.from_zero * maximum:
        high = (maximum or 1.0) * _ROOM_ABOVE
        # A parameter's first value may be 0, and then needs space for its mark.
        return (-_MARGIN * high / 2 if minimum == 0 and not room.upright else 0.0), high
    margin = _MARGIN * (maximum - minimum or abs(maximum))
    return minimum - margin, maximum + margin


def _logarithmic_scale(
    axis: Axis, minimum: float, maximum: float, room: Room, *, stops: Sequence[float]
) -> AxisScale:
    scale = _log_scale(axis.unit, minimum, maximum)
    minimum, maximum = minimum * scale.factor, maximum * scale.factor
    own = scale if axis.unit is Unit.BYTES and maximum / minimum >= _WIDE_SIZES else None
    zero = None
    if 0 in stops:
        minimum = zero = minimum / max((maximum / minimum) ** _ZERO_APART, 2.0)
    around = max((maximum / minimum) ** _MARGIN, 1.06)
    low = minimum / around if axis.low is None or axis.low <= 0 else axis.low * scale.factor
    high = maximum * around if axis.high is None or axis.high <= 0 else axis.high * scale.factor
    span = room.span(low, high, log=True)
    ticks = stop_ticks(span, [stop * scale.factor for stop in stops if stop > 0], own)
    typed = typed_ticks(axis, scale.factor, ticks, scale.unit) if ticks else None
    if typed and span.fits(typed):
        ticks = typed
    else:
        typed = None
    if ticks is None:
        ticks = size_ticks(span, own) if axis.unit is Unit.BYTES else log_ticks(span)
    if zero is not None:
        first = zero * (maximum / zero) ** _ZERO_ROOM
        ticks = ((zero, "0"), *(tick for tick in ticks if tick[0] > first))
    return AxisScale(
        title=axis.label if own is not None or typed else _titled(axis.label, scale.unit),
        unit=scale.unit,
        factor=scale.factor,
        low=low,
        high=high,
        log=True,
        ticks=ticks,
        zero=zero,
    )


def _log_scale(unit: Unit, minimum: float, maximum: float) -> Scale:
    """Return the scale in which both ends of an axis are short numbers, best without a point."""
    scales = _PREFIXES.get(unit)
    if unit is Unit.COUNT:
        return Scale(1.0, "")  # the ticks have prefixes of their own
    if scales is None:
        return scale_for(unit, maximum)

    def length(scale: Scale) -> tuple[int, float]:
        first, last = math.log10(minimum * scale.factor), math.log10(maximum * scale.factor)
        before = math.floor(last) + 1 if last >= 0 else 1
        after = max(0, math.ceil(-first))
        return before + after + (after > 0), abs(first + last)

    return min(scales, key=length)
