"""What a person changed by hand in a live session before a run."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.studio.live.terminals import Typed

_MAX_CHANGES = 1000
_MAX_LINE_CHARACTERS = 80


class History:
    """The manual changes of a session, the most recent ones.

    Attributes:
        before_run: the commands typed in the session before the current run.
    """

    def __init__(self) -> None:
        self._changes: deque[str] = deque(maxlen=_MAX_CHANGES)
        self._typed: deque[Typed] = deque(maxlen=_MAX_CHANGES)
        self.before_run: tuple[Typed, ...] = ()

    def add(self, typed: Typed, *, whole: bool = False) -> None:
        """Add a command that was typed.

        Args:
            typed: the command; its exit status may follow.
            whole: a long line is not cut in `differences`.
        """
        self._typed.append(typed)
        line = typed.line if whole else typed.line[:_MAX_LINE_CHARACTERS]
        self._changes.append(f"{typed.node}: {line}")

    def add_change(self, text: str) -> None:
        """Add a change of the network made on the page, as a short description."""
        self._changes.append(text)

    def begin_run(self) -> None:
        """Note that a run begins."""
        self.before_run = tuple(self._typed)

    def differences(self, *, now_s: float, earlier_runs: int) -> tuple[str, ...]:
        """Return why a run's numbers may differ from those of its case in Results.

        Args:
            now_s: when it begins, in seconds of virtual time since boot.
            earlier_runs: how many runs the session had before it.
        """
        found = [
            f"it began at {now_s:.3f} s of a running session; "
            "in Results each case runs in a new machine"
        ]
        if earlier_runs:
            runs = "1 run" if earlier_runs == 1 else f"{earlier_runs} runs"
            found.append(f"{runs} before it: TCP caches metrics of a path")
        if self._changes:
            last = self._changes[-1]
            more = ", ..." if len(self._changes) > 1 else ""
            found.append(f"changed by hand before: {last}{more}")
        return tuple(found)
