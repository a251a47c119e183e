"""The unit of an axis: one that keeps its numbers short, by the largest value to show."""

from __future__ import annotations

from dataclasses import dataclass

from longfat.model.metric import Unit


@dataclass(frozen=True, slots=True)
class Scale:
    """A unit, and what turns a value in the base unit into it."""

    factor: float
    unit: str


def scale_for(unit: Unit, largest: float, *, counted: str = "") -> Scale:
    """Return the scale of an axis.

    Args:
        unit: the base unit of the values.
        largest: the largest of them, in that unit.
        counted: what is counted, where the unit is a count.
    """
    match unit:
        case Unit.BPS:
            return rate_scale(largest)
        case Unit.BYTES:
            return size_scale(largest)
        case Unit.SECONDS:
            return time_scale(largest)
        case Unit.FRACTION:
            return Scale(100.0, "%")
        case Unit.COUNT:
            return count_scale(largest, counted)


def rate_scale(largest_bps: float) -> Scale:
    """Return the scale of a rate, given the largest in bit/s."""
    for size, unit in ((1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if largest_bps >= size:
            return Scale(1 / size, unit)
    return Scale(1.0, "bit/s")


def size_scale(largest_bytes: float) -> Scale:
    """Return the scale of a size, given the largest in bytes; prefixes are powers of 1024."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "KB")):
        if largest_bytes >= 1024**power:
            return Scale(1024.0**-power, unit)
    return Scale(1.0, "B")


def time_scale(largest_s: float) -> Scale:
    """Return the scale of a time, given the largest in seconds."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if largest_s >= size:
            return Scale(1 / size, unit)
    return Scale(1e3, "ms")


def count_scale(largest: float, counted: str = "") -> Scale:
    """Return the scale of a count; from a million on it has a prefix: `M packets`.

    Args:
        largest: the largest count.
        counted: what is counted; empty for a plain number.
    """
    for size, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if largest >= size:
            return Scale(1 / size, f"{prefix} {counted}".strip())
    return Scale(1.0, counted)
