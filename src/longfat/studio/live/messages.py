"""The commands of a page to a session, as messages: `SessionOrder` of `api/types.ts`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR
from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.studio.live.clock_controller import PaceChoice

MAX_STEP_S = 3600.0
MAX_ROWS = 1000
_MAX_NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Order:
    """A command.

    Attributes:
        do: its name.
        fields: its other fields.
    """

    do: str
    fields: dict[str, Any]

    def text(self, name: str) -> str:
        """Return a field that is a text.

        Raises:
            InputError: it is none.
        """
        value = self.fields.get(name)
        if not isinstance(value, str):
            raise InputError(f"the command {self.do!r} needs a text {name!r}")
        _check_sound(name, value)
        return value

    def maybe_text(self, name: str) -> str | None:
        """Return a field that is a text, or is not there."""
        return None if self.fields.get(name) is None else self.text(name)

    def texts(self, name: str) -> list[str]:
        """Return a field that is a list of texts.

        Raises:
            InputError: it is none.
        """
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise InputError(f"the command {self.do!r} needs a list of texts {name!r}")
        for one in value:
            _check_sound(name, one)
        return value

    def lines(self, name: str) -> list[tuple[str, str]]:
        """Return a field that is a list of lines to type: the node and the line of each.

        Raises:
            InputError: it is none.
        """
        value = self.fields.get(name)
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise InputError(f"the command {self.do!r} needs a list of lines {name!r}")
        each = [Order(do=self.do, fields=one) for one in value]
        return [(one.text("node"), one.text("line")) for one in each]

    def whole(self, name: str, *, least: int, most: int) -> int:
        """Return a field that is a whole number.

        Raises:
            InputError: it is none, or is outside.
        """
        value = self.fields.get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise InputError(f"the command {self.do!r} needs a number {name!r}: {least} to {most}")
        return value

    def real(self, name: str, *, least: float, most: float) -> float:
        """Return a field that is a number.

        Raises:
            InputError: it is none, or is outside.
        """
        value = self.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise InputError(f"the command {self.do!r} needs a number {name!r}")
        # Whole numbers of hundreds of digits are no floats, but can be compared.
        if not least <= value <= most:
            raise InputError(f"{name} is {least:g} to {most:g}, but got {str(value)[:40]}")
        return float(value)


def _check_sound(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: the text holds half of a surrogate pair") from None


def read_order(text: str) -> Order:
    """Parse a command.

    Raises:
        InputError: it is none.
    """
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("a command must be JSON") from None
    if not isinstance(data, dict) or not isinstance(data.get("do"), str):
        raise InputError("a command must be a JSON object with a field 'do'")
    fields = dict(data)
    return Order(do=fields.pop("do")[:_MAX_NAME_CHARACTERS], fields=fields)


def pace_of(order: Order) -> PaceChoice:
    """Return the pace of a command.

    Raises:
        InputError: it is out of bounds.
    """
    factor = order.fields.get("factor")
    if factor is None:
        return None
    if factor == "max":
        return "max"
    return order.real("factor", least=MIN_FACTOR, most=MAX_FACTOR)
