"""Slow a machine down to a multiple of real time.

A machine is held by stopping its kernel's process. The guest's processes
continue until their next system call, and no virtual time passes:
they wait for the kernel, which is stopped. So a machine that is held gives the
same results, only later. SIGKILL ends a stopped process like any other.
"""

from __future__ import annotations

from dataclasses import dataclass

MIN_FACTOR, MAX_FACTOR = 1e-4, 1e4

# A machine that was too slow for a while may catch up by this much, in wall seconds.
_CATCH_UP_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast virtual time may pass.

    Attributes:
        factor: at most so many virtual seconds in a second of wall time.
        from_s: virtual time since boot, in seconds, before which it may pass freely.
    """

    factor: float
    from_s: float = 0.0


class Pacer:
    """Computes when to hold a machine.

    Args:
        pace: how fast it may go.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._zero_s: float | None = None

    def hold_s(self, *, virtual_s: float, wall_s: float) -> float:
        """Return how long the machine is to be held, in seconds of wall time; 0 for not at all.

        Args:
            virtual_s: the virtual time since boot, in seconds.
            wall_s: the time of a monotonic clock of the host, in seconds.
        """
        ahead_s = virtual_s - self._pace.from_s
        if ahead_s <= 0:
            return 0.0
        due_s = ahead_s / self._pace.factor  # after the zero
        if self._zero_s is None:
            self._zero_s = wall_s
        self._zero_s = max(self._zero_s, wall_s - due_s - _CATCH_UP_S)
        return max(0.0, self._zero_s + due_s - wall_s)
