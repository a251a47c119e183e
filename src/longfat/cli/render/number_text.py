"""Numbers and times in a readable form."""

from __future__ import annotations

import re

from longfat.errors import InputError
from longfat.model.units import parse_time_s

_DAY_S = 86400.0
_LONG_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(d|w)")
_DAYS = {"d": 1.0, "w": 7.0}


def format_count(number: int, what: str) -> str:
    """Return a number of things, such as `5,000 cases`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def format_time(time_s: float) -> str:
    """Return a time in seconds in a readable form, such as `3 min 20 s`."""
    if time_s < 10:
        return f"{time_s:.1f} s"
    if time_s < 100:
        return f"{time_s:.0f} s"
    minutes, seconds = divmod(round(time_s), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min"
    return f"{hours // 24:,} days {hours % 24} h"


def format_age(age_s: float) -> str:
    """Return an age in seconds by its largest unit, such as `3 days`."""
    for unit, unit_s in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if age_s >= unit_s:
            return format_count(int(age_s // unit_s), unit)
    return format_count(max(0, int(age_s)), "second")


def parse_age_s(text: str, *, option: str) -> float:
    """Return an age in seconds, which may be in days or weeks: `30d`.

    Args:
        text: the age.
        option: the option that it was given to, for the message.

    Raises:
        InputError: it is none.
    """
    if found := _LONG_TIME.fullmatch(text.strip()):
        return float(found[1]) * _DAYS[found[2]] * _DAY_S
    try:
        return parse_time_s(text)
    except InputError:
        raise InputError(
            f"{option} {text}: not a time; one is written such as 30d, 2w, 12h or 90min"
        ) from None
