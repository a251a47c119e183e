"""The setting: what one parameter of a grid is in one case.

It names a case among others and decides nothing of its result (that is the
case's own content), so it is separate from the case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longfat.model.metric import Unit


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterValue:
    """What a parameter of a grid is in one case.

    Attributes:
        text: the value in readable form, such as `0.5 bdp`.
        number: the value in its base unit; None for a text such as `cubic`.
        unit: the kind of the number; None for a text.
    """

    text: str
    number: float | None = None
    unit: Unit | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the setting as plain data."""
        unit = None if self.unit is None else self.unit.value
        return {"text": self.text, "number": self.number, "unit": unit}
