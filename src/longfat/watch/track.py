"""Curves of what is watched: values by virtual time, and nothing of how they are drawn."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass, field

from longfat.metric import Unit


@dataclass(slots=True)
class Track:
    """A quantity over virtual time, such as the backlog of an interface.

    Attributes:
        name: what a legend calls it.
        unit: the unit of its values.
        limit: what the value cannot pass, where that is known.
        times_s: when it was sampled, in seconds after the traffic's start.
        values: what it was.
    """

    name: str
    unit: Unit
    limit: float | None = None
    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, time_s: float, value: float) -> None:
        """Add a sample that is later than all others."""
        self.times_s.append(time_s)
        self.values.append(value)

    def last(self, *, since_s: float = -1.0) -> float | None:
        """Return the latest value; None if there is none after `since_s`."""
        if not self.times_s or self.times_s[-1] <= since_s:
            return None
        return self.values[-1]

    def between(self, start_s: float, end_s: float) -> tuple[Sequence[float], Sequence[float]]:
        """Return times and values from `start_s` to `end_s`, both included."""
        first = bisect.bisect_left(self.times_s, start_s)
        last = bisect.bisect_right(self.times_s, end_s)
        return self.times_s[first:last], self.values[first:last]

    def mean(self, start_s: float, end_s: float) -> float | None:
        """Return the mean of the samples after `start_s`, up to `end_s`; None without any."""
        first = bisect.bisect_right(self.times_s, start_s)
        last = bisect.bisect_right(self.times_s, end_s)
        values = self.values[first:last]
        return sum(values) / len(values) if values else None


@dataclass(slots=True)
class Counter:
    """A total that only grows, such as an interface's drops.

    Attributes:
        times_s: when it grew, in seconds after the traffic's start.
        totals: what it was then, counted from the first sample.
    """

    times_s: list[float] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    _base: int | None = None

    def add(self, time_s: float, count: int) -> None:
        """Add a sample that is later than all others."""
        if self._base is None:
            self._base = count
        total = count - self._base
        if total != self.total:
            self.times_s.append(time_s)
            self.totals.append(total)

    @property
    def total(self) -> int:
        """Return what it has grown by so far."""
        return self.totals[-1] if self.totals else 0

    def until(self, end_s: float) -> int:
        """Return what it had grown by at a time."""
        place = bisect.bisect_right(self.times_s, end_s)
        return self.totals[place - 1] if place else 0
