"""What a caller may write for a quantity: a number in base units, or a text with a unit."""

from __future__ import annotations

from longfat.errors import InputError
from longfat.model.units import parse_fraction, parse_rate_bps, parse_size_bytes, parse_time_s

Duration = float | str
"""Seconds, or a text such as "20ms"."""

Rate = float | str
"""bit/s, or a text such as "10gbit"."""

Size = int | str
"""Bytes, or a text such as "25MB"."""

Share = float | str
"""A share from 0 to 1, or a text such as "0.01%"."""


def seconds(value: Duration, *, what: str = "a time") -> float:
    """Return a time in seconds.

    Raises:
        InputError: it is none.
    """
    found = parse_time_s(value, bare_seconds=True) if isinstance(value, str) else float(value)
    if found < 0:
        raise InputError(f"{what} cannot be negative, and here is {value!r}")
    return found


def bits_per_second(value: Rate) -> int:
    """Return a rate in bit/s.

    Raises:
        InputError: it is none.
    """
    return parse_rate_bps(value) if isinstance(value, str) else round(value)


def size_bytes(value: Size) -> int:
    """Return a size in bytes.

    Raises:
        InputError: it is none.
    """
    return parse_size_bytes(value) if isinstance(value, str) else round(value)


def share(value: Share, *, what: str = "a share") -> float:
    """Return a share, 0 to 1.

    Raises:
        InputError: it is none.
    """
    found = parse_fraction(value) if isinstance(value, str) else float(value)
    if not 0 <= found <= 1:
        raise InputError(f"{what} is from 0 to 1, or 0% to 100%, and here is {value!r}")
    return found
