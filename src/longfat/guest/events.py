"""The events of a job: lines that are typed at their times while the traffic plays.

A step is due at a time after the traffic's start, or after the end of a flow. Its lines run one
after the other, and so do the steps: what is due while a line still runs begins when that ends.
"""

from __future__ import annotations

import time
from collections import deque

from longfat.guest import system
from longfat.guest.nodes import NOT_STARTED, Nodes
from longfat.guest.script import Script
from longfat.guest.shell import Begun, CommandFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The player is woken that much before a step is due, since a wait for signals ends some
# nanoseconds late; the rest is slept to the nanosecond.
_EARLY_NS = 10_000


class Events:
    """Plays the events of a job.

    Args:
        steps: the job's events; those with the same `after` in the order of their times.
        nodes: where lines can run.
        script: where to record them.
        start_s: the traffic's start, in seconds of virtual time since boot.
        on_change: called when all lines of a moment have run.
    """

    def __init__(
        self,
        steps: list[dict[str, Any]],
        *,
        nodes: Nodes,
        script: Script,
        start_s: float,
        on_change: Callable[[], object],
    ) -> None:
        self._on_change = on_change
        self._has_changed = False
        self._steps = steps
        self._nodes = nodes
        self._script = script
        self._start_ns = round(start_s * 1e9)
        self._waiting: dict[str | None, list[int]] = {}
        for index, step in enumerate(steps):
            self._waiting.setdefault(step["after"], []).append(index)
        self._due: list[tuple[int, int]] = []
        self._lines: deque[tuple[int, dict[str, Any]]] = deque()
        self._running: tuple[Begun, int, str] | None = None
        self._has_noted = False
        self._times_ns: list[int | None] = [None] * len(steps)
        self._put(None, self._start_ns)

    @property
    def times_s(self) -> list[float | None]:
        """When each step began, in seconds after the traffic's start; None if it did not."""
        return [None if at is None else (at - self._start_ns) / 1e9 for at in self._times_ns]

    def flow_ended(self, name: str, done_s: float) -> None:
        """Take note of a flow's end.

        Args:
            name: the flow.
            done_s: when it ended, in seconds of virtual time since boot.
        """
        self._put(name, round(done_s * 1e9))

    def wake_s(self) -> float | None:
        """Return when to call `play` next; None if nothing is due but by another process's end."""
        if self._running is not None or not self._due:
            return None
        return (self._due[0][0] - _EARLY_NS) / 1e9

    def play(self) -> None:
        """Begin what is due, and take note of lines that ended.

        Raises:
            CommandFailed: a line ended badly.
        """
        while True:
            if self._running is not None and not self._reap():
                return
            if not self._lines and not self._begin_step():
                if self._has_changed:
                    self._on_change()
                    self._has_changed = False
                if self._has_noted:
                    self._script.write_out()
                    self._has_noted = False
                return
            if self._lines:
                self._begin_line()

    def finish(self) -> None:
        """Check that all happened, when the traffic has ended.

        Raises:
            CommandFailed: a line ended badly, still runs, or a step was not reached.
        """
        if self._running is not None:
            self._reap()
        if self._running is not None:
            _, index, line = self._running
            raise self._failure(index, line, None, "it still runs when the traffic has ended")
        end_s = time.monotonic() - self._start_ns / 1e9
        for index, at_ns in enumerate(self._times_ns):
            step = self._steps[index]
            left = [line for line in self._lines if line[0] == index]
            if step["needed"] and (at_ns is None or left):
                typed = self._nodes.typed(step["lines"][0]) if step["lines"] else ""
                words = f"the traffic ended before it, at {end_s:.6g} s"
                raise self._failure(index, typed, None, words)

    def _put(self, after: str | None, from_ns: int) -> None:
        steps = self._waiting.pop(after, [])
        self._due += [(from_ns + self._steps[index]["at_ns"], index) for index in steps]
        self._due.sort(key=lambda pair: pair[0])

    def _begin_step(self) -> bool:
        """Begin the next step, if it is due; say whether it was."""
        if not self._due:
            return False
        due_ns, index = self._due[0]
        now_ns = time.monotonic_ns()
        if due_ns - now_ns > 2 * _EARLY_NS:
            return False
        if due_ns > now_ns:
            system.sleep_until(due_ns)
            now_ns = due_ns
        del self._due[0]
        self._times_ns[index] = now_ns
        lines = self._steps[index]["lines"]
        self._lines.extend((index, line) for line in lines)
        return True

    def _begin_line(self) -> None:
        index, line = self._lines.popleft()
        typed = self._nodes.typed(line)
        # The lines of one moment begin one right after the other: the record is written later.
        self._script.note([typed], at_s=time.monotonic())
        self._has_noted = True
        try:
            self._running = self._nodes.begin(line), index, typed
        except OSError as error:
            raise self._failure(index, typed, NOT_STARTED, str(error.strerror)) from None

    def _reap(self) -> bool:
        """Look after the line that runs; say whether it has ended."""
        assert self._running is not None
        begun, index, line = self._running
        ended = begun.poll()
        if ended is None:
            return False
        status, words = ended
        self._script.note_output(words)
        self._has_noted = self._has_noted or bool(words)
        self._running = None
        self._has_changed = True
        if status != 0:
            raise self._failure(index, line, status, words)
        return True

    def _failure(self, index: int, line: str, status: int | None, words: str) -> CommandFailed:
        failed = {"step": "event", "index": self._steps[index]["event"], "line": line}
        return CommandFailed({**failed, "status": status, "words": words})
