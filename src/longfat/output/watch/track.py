"""Curves of what is watched: values by virtual time, independent of how they are drawn."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from longfat.model.metric import Unit


@dataclass(slots=True)
class Track:
    """A quantity over virtual time, such as the backlog of an interface.

    Attributes:
        name: its name in a legend.
        unit: the unit of its values.
        limit: the maximum of the value, where that is known.
        times_s: when it was sampled, in seconds after the traffic's start.
        values: the values.
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
        """Return the mean over time of the samples after `start_s`, up to `end_s`.

        Each sample has the weight of the time since the previous one, or since `start_s`.

        Returns:
            The mean; None without any sample.
        """
        first = bisect.bisect_right(self.times_s, start_s)
        last = bisect.bisect_right(self.times_s, end_s)
        if first == last:
            return None
        times_s = [max(start_s, self.times_s[first - 1]) if first else start_s]
        times_s += self.times_s[first:last]
        lengths_s = [after - before for before, after in itertools.pairwise(times_s)]
        pairs = zip(lengths_s, self.values[first:last], strict=True)
        total = sum(length_s * value for length_s, value in pairs)
        return total / (times_s[-1] - times_s[0])


@dataclass(slots=True)
class Counter:
    """A total that only grows, such as an interface's drops.

    Attributes:
        times_s: when it grew, in seconds after the traffic's start.
        totals: its values then, counted from the start.
    """

    times_s: list[float] = field(default_factory=list)
    totals: list[int] = field(default_factory=list)
    _last: int | None = None

    def add(self, time_s: float, count: int) -> None:
        """Add a sample that is later than all others; the first is the base value.

        A count that decreases was reset to 0.
        """
        last = count if self._last is None else self._last
        self._last = count
        total = self.total + (count - last if count >= last else count)
        if total != self.total:
            self.times_s.append(time_s)
            self.totals.append(total)

    @property
    def total(self) -> int:
        """Return how much it has grown so far."""
        return self.totals[-1] if self.totals else 0

    def until(self, end_s: float) -> int:
        """Return how much it had grown at a time."""
        place = bisect.bisect_right(self.times_s, end_s)
        return self.totals[place - 1] if place else 0
