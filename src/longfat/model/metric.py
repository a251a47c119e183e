"""What a flow can measure: a number with a name and a unit.

The full name ends in the unit (`receiver_bps`), so a bare number in a JSON file cannot be
misread; claims and tables may omit that suffix (`receiver`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Unit(Enum):
    """The base unit of a metric, by the ending of its name."""

    BPS = "bps"  # bits per second
    BYTES = "bytes"
    SECONDS = "s"
    FRACTION = "fraction"  # no ending: 0 to 1
    COUNT = "count"  # no ending


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a flow.

    Attributes:
        name: the full name, with the unit's ending: `receiver_bps`.
        unit: its base unit.
        title: what a table calls it.
    """

    name: str
    unit: Unit
    title: str

    @property
    def short(self) -> str:
        """Return the name without the unit's ending: `receiver`."""
        return self.name.removesuffix(f"_{self.unit.value}")
