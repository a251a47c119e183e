"""Numbers as people say them."""

from __future__ import annotations


def format_count(number: int, what: str) -> str:
    """Return a number of things, such as `5,000 cases`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def format_time(time_s: float) -> str:
    """Return a time in seconds as people say it, such as `3 min 20 s`."""
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
