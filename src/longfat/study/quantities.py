"""Quantities as a study writes them: short, and exactly the value that is read back."""

from __future__ import annotations

from decimal import Decimal

from longfat.model.network.shape import percent_word, rate_word
from longfat.model.units import parse_time_s

_TIMES = (("s", 0), ("ms", 3), ("us", 6), ("ns", 9))
_SIZES = (("TB", 4), ("GB", 3), ("MB", 2), ("KB", 1))


def rate_text(rate_bps: int) -> str:
    """Return a rate, such as `10gbit`."""
    return rate_word(rate_bps)


def size_text(size_bytes: int) -> str:
    """Return a size, such as `25MB` (powers of 1024), or as a number of bytes."""
    for unit, power in _SIZES:
        if size_bytes and size_bytes % 1024**power == 0:
            return f"{size_bytes // 1024**power}{unit}"
    return str(size_bytes)


def time_text(time_s: float) -> str:
    """Return a time in the unit in which it is shortest, such as `20ms`."""
    exact = Decimal(repr(float(time_s)))
    texts = [format(exact.scaleb(power).normalize(), "f") + unit for unit, power in _TIMES]
    # People write 200ms and not 0.2s, but 1.5s and not 1500ms.
    found = min(texts, key=lambda text: len(text) + 2 * ("." in text))
    return found if parse_time_s(found) == time_s else f"{time_s!r}s"


def fraction_text(fraction: float) -> str:
    """Return a share as a percentage, such as `0.01%`."""
    return percent_word(fraction)
