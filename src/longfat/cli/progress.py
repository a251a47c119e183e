"""The progress of cases: virtual time, speed against real time, time left.

On a terminal, one live line a case; elsewhere, one line when a case is done.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from rich.console import Console

    from longfat.runner import Progress as CaseState
    from longfat.runs import Run

_LEAST_WALL_S = 0.5  # before that, a speed says nothing


class CaseProgress:
    """Shows how far cases are; use it as a context manager.

    Args:
        names: the names of the cases, in the order in which to show them.
        console: where to show them.
    """

    def __init__(self, names: Iterable[str], *, console: Console) -> None:
        self._console = console
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[virtual]:>17}"),
            TextColumn("{task.fields[speed]:>7}"),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        self._tasks: dict[str, TaskID] = {
            name: self._bars.add_task(name, total=None, virtual="waiting", speed="", left="")
            for name in names
        }
        self._started_s: dict[str, float] = {}

    def __enter__(self) -> CaseProgress:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def update(self, state: CaseState) -> None:
        """Show how far a case is."""
        wall_s = time.monotonic() - self._started_s.setdefault(state.name, time.monotonic())
        speed, left = "", ""
        if wall_s > _LEAST_WALL_S and state.virtual_s > 0:
            factor = state.virtual_s / wall_s
            speed = f"{factor:.2f}x"
            left = f"{max(0.0, state.expected_s - state.virtual_s) / factor:.0f} s left"
        self._bars.update(
            self._tasks[state.name],
            total=state.expected_s,
            completed=min(state.virtual_s, state.expected_s),
            virtual=f"{state.virtual_s:.1f}/{state.expected_s:.1f} s",
            speed=speed,
            left=left,
        )

    def done(self, name: str, run: Run) -> None:
        """Show that a case is done."""
        text = f"{run.virtual_s:.1f} virtual s"
        speed = f"{run.virtual_s / run.wall_s:.2f}x"
        if not self._console.is_terminal:
            self._console.print(f"{name}: {text} in {run.wall_s:.1f} s, {speed}")
        self._bars.update(
            self._tasks[name], total=1, completed=1, virtual=text, speed=speed, left="done"
        )
