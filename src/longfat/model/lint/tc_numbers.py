"""Numbers as tc reads them, and as longfat prints them for tc.

`longfat.model.units` refuses what tc and people read differently; here is what tc makes of it.

Source: get_rate64, get_size, get_time and get_percent in tc/tc_util.c and lib/utils.c of
iproute2; tests/belief/test_lint.py compares them with `tc qdisc show`.
"""

from __future__ import annotations

import re

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]{1,2})?|\.[0-9]+)(.*)", re.DOTALL)

_PREFIXES = ("", "k", "m", "g", "t")
_RATES: dict[str, float] = {"": 1.0}
for _power, _prefix in enumerate(_PREFIXES):
    _RATES |= {f"{_prefix}bit": 1e3**_power, f"{_prefix}bps": 8 * 1e3**_power}
    if _prefix:
        _RATES |= {f"{_prefix}ibit": 1024.0**_power, f"{_prefix}ibps": 8 * 1024.0**_power}
_SIZES: dict[str, float] = {"": 1.0, "b": 1.0}
for _power, _prefix in enumerate(_PREFIXES[:4]):
    if _prefix:
        _SIZES |= dict.fromkeys((_prefix, f"{_prefix}b"), 1024.0**_power)
        _SIZES |= {f"{_prefix}bit": 1024.0**_power / 8}
_TIMES: dict[str, float] = {
    "": 1e-6,
    **dict.fromkeys(("s", "sec", "secs"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs"), 1e-3),
    **dict.fromkeys(("us", "usec", "usecs"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1e-9),
}
_SHARES: dict[str, float] = {"": 0.01, "%": 0.01}


def split_number(word: str | None) -> tuple[float, str] | None:
    """Return a word's number and its unit in small letters; None if it begins with none."""
    match = _NUMBER.fullmatch(word or "")
    if match is None:
        return None
    try:
        return float(match[1]), match[2].lower()
    except ValueError:
        return None


def _read(word: str | None, units: dict[str, float]) -> float | None:
    split = split_number(word)
    if split is None or split[1] not in units:
        return None
    return split[0] * units[split[1]]


def tc_rate_bps(word: str | None) -> float | None:
    """Return a rate in bit/s; None if tc refuses it."""
    return _read(word, _RATES)


def tc_size_bytes(word: str | None) -> float | None:
    """Return a size in bytes; None if tc refuses it."""
    return _read(word, _SIZES)


def tc_time_s(word: str | None) -> float | None:
    """Return a time in seconds; None if tc refuses it."""
    return _read(word, _TIMES)


def tc_share(word: str | None) -> float | None:
    """Return a percentage as a fraction; None if tc refuses it."""
    return _read(word, _SHARES)


def rate_word(rate_bps: float) -> str:
    """Return a rate as tc takes it, such as `80gbit`."""
    for power in (4, 3, 2, 1):
        value = rate_bps / 1e3**power
        if value >= 1 and round(value, 3) == value:
            return f"{value:g}{_PREFIXES[power]}bit"
    return f"{rate_bps:g}bit"
