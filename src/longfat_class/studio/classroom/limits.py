"""The resource limits of a class and of each of its students."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, fields

from longfat.engine.sandbox.quota import VARIABLE
from longfat.errors import InputError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, parse_quantity


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a class.

    Attributes:
        machines: how many machines run at once, of all students together; twice the number
            of CPUs, if 0.
        each: how many of them one student may have.
        memory: the maximum memory of a machine, in bytes.
        wall: how long a machine may run, in seconds of wall time.
        disk: the disk quota of a student's folder, in bytes, and of what a machine writes.
    """

    machines: float = field(default=0, metadata={"unit": Unit.COUNT})
    each: float = field(default=2, metadata={"unit": Unit.COUNT})
    memory: float = field(default=4 << 30, metadata={"unit": Unit.BYTES})
    wall: float = field(default=3600.0, metadata={"unit": Unit.SECONDS})
    disk: float = field(default=2 << 30, metadata={"unit": Unit.BYTES})

    @property
    def at_once(self) -> int:
        """How many machines run at once."""
        return int(self.machines) or 2 * len(os.sched_getaffinity(0))

    def quota(self, given: str = "") -> str:
        """Return the quota of each machine, in the format of the variable `LONGFAT_QUOTA`.

        Args:
            given: the variable's current value, which takes precedence.
        """
        own = f"memory={int(self.memory)}B", f"wall={self.wall:g}s", f"disk={int(self.disk)}B"
        parts = [*own, given]
        return ", ".join(part for part in parts if part.strip())

    def words(self) -> str:
        """Return them as text."""
        machines = "1 machine" if self.at_once == 1 else f"{self.at_once} machines"
        return (
            f"{machines} at once, {int(self.each)} for each student, of at most "
            f"{format_quantity(self.memory, Unit.BYTES)} and for at most "
            f"{self.wall / 60:g} min, and {format_quantity(self.disk, Unit.BYTES)} of disk for each"
        )


_UNITS: dict[str, Unit] = {one.name: one.metadata["unit"] for one in fields(Limits)}


def read_limits(text: str) -> Limits:
    """Read limits, such as `machines=8, each=1, memory=2GB, wall=30min`.

    Args:
        text: fields and quantities; others keep their defaults.

    Raises:
        InputError: there is no such limit, or its value is not a quantity above 0, or not a
            whole number where one is required.
    """
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in _UNITS:
            raise InputError(f"--limits: there is no limit {name!r}; there are {', '.join(_UNITS)}")
        try:
            found[name] = parse_quantity(value, _UNITS[name])
        except InputError as error:
            raise InputError(f"--limits: {name}: {error.message}") from None
        if found[name] <= 0:
            raise InputError(f"--limits: {name}: must be above 0, but is {value}")
        if _UNITS[name] is Unit.COUNT and found[name] != int(found[name]):
            raise InputError(f"--limits: {name}: must be a whole number, but is {value}")
    return Limits(**found)


__all__ = ["VARIABLE", "Limits", "read_limits"]
