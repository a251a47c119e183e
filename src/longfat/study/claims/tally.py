"""What a claim over many cases came to: how many, how much, and where it does not hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from longfat.model.metric import Unit
from longfat.model.parameter import ParameterValue
from longfat.study.claims import terms
from longfat.study.claims.terms import DIMENSIONS, PLAIN, Term

MOST_EXAMPLES = 5
"""How many cases a tally lists."""

_UNITS = {
    DIMENSIONS[Unit.BYTES]: Unit.BYTES,
    DIMENSIONS[Unit.BPS]: Unit.BPS,
    DIMENSIONS[Unit.SECONDS]: Unit.SECONDS,
    PLAIN: Unit.COUNT,
}


def unit_of(term: Term) -> Unit | None:
    """Return the unit in which a term's values are shown; None if no unit is of its dimension."""
    own: Unit | None = getattr(term, "unit", None)
    if own is not None:
        return own
    return _UNITS.get(term.dimension or PLAIN)


def measure(value: float, unit: Unit | None) -> float:
    """Return a number of bits and seconds in a base unit."""
    return value if unit is None else value / terms.BITS.get(unit, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A case that decides a claim.

    Attributes:
        case: its name.
        settings: its parameters.
        readings: what was measured, by case and metric: value (None where there is
            none) and unit.
    """

    case: str
    settings: Mapping[str, ParameterValue]
    readings: Mapping[str, tuple[float | None, Unit]]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "case": self.case,
            "parameters": {name: one.text for name, one in self.settings.items()},
            "readings": {name: value for name, (value, _) in self.readings.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """What one term over many cases came to, on the medians over seeds.

    Attributes:
        text: the term, as it was written.
        count: how many cases fit and were run.
        holding: in how many of them its condition holds; None where it has none.
        missing: how many cases were not run.
        value: its value in the base unit, of a share or another number; None if there is none.
        unit: the value's unit; None if no unit is of its dimension.
        examples: of `all` and `share` the first cases in which the condition does not hold;
            of `min` and `max` the case that has it; of other numbers those that have none.
    """

    text: str
    count: int
    holding: int | None
    missing: int
    value: float | None
    unit: Unit | None
    examples: tuple[Example, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "expression": self.text,
            "cases": self.count,
            "holding": self.holding,
            "not_run": self.missing,
            "value": self.value,
            "unit": None if self.unit is None else self.unit.value,
            "examples": [one.to_json() for one in self.examples],
        }
