"""Moments of virtual time that the agent of a live machine waits for."""

import contextlib
import os
import time

from longfat.guest import system

_RECHECK_SOON_NS, _RECHECK_LAST_NS = 2_000, 1_000_000_000


class Timer:
    """A moment of virtual time to wait for."""

    def __init__(self) -> None:
        self.fd = system.timer_descriptor()
        self.passed = False

    def set(self, when_ns: int | None) -> None:
        """Wait for a moment after boot, in nanoseconds; for none, if None."""
        self.passed = when_ns is not None and when_ns <= time.monotonic_ns()
        system.set_timer(self.fd, 0 if when_ns is None or self.passed else when_ns)

    def read(self) -> None:
        """See that it has passed."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.fd, 8)
            self.passed = True


class Recheck(Timer):
    """When to look again whether it is a person's turn at a terminal.

    Nothing reports that. So: when all is done that something led to, and time
    would move on; and then ever more rarely, for a program that comes to wait for
    its person without a word. To wait for that moment, and not in `settle`, lets
    us hear of what is written and typed beside a program that computes for ever.
    """

    def __init__(self) -> None:
        super().__init__()
        self._wanted = False
        self._after_ns = 0

    def start(self, *, wanted: bool) -> None:
        """Look from now on, or not at all."""
        self._wanted = wanted
        self.set(None)
        self.soon()

    def soon(self) -> None:
        """Look when the present moment is over: something has happened."""
        self._after_ns = _RECHECK_SOON_NS
        self._set()

    def later(self) -> None:
        """Look again when as much time as until now has passed twice."""
        self._after_ns = min(4 * self._after_ns, _RECHECK_LAST_NS)
        self._set()

    def _set(self) -> None:
        if self._wanted:
            self.set(time.monotonic_ns() + self._after_ns)
