"""The unit of an axis: one that keeps its numbers short, by the largest value to show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit, and what turns a value in the base unit into it."""

    factor: float
    unit: str


def rate_scale(largest_bps: float) -> Scale:
    """Return the scale of a rate, given the largest in bit/s."""
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if largest_bps >= size:
            return Scale(1 / size, unit)
    return Scale(1.0, "bit/s")


def size_scale(largest_bytes: float) -> Scale:
    """Return the scale of a size, given the largest in bytes."""
    for power, unit in ((3, "GB"), (2, "MB"), (1, "KB")):
        if largest_bytes >= 1024**power:
            return Scale(1024.0**-power, unit)
    return Scale(1.0, "B")


def time_scale(largest_s: float) -> Scale:
    """Return the scale of a time, given the largest in seconds."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if largest_s >= size:
            return Scale(1 / size, unit)
    return Scale(1e3, "ms")
