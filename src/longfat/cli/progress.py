"""The progress of cases: virtual time, speed against real time, time left.

On a terminal, one live line a case, however many seeds it has; elsewhere, one
line when a case is done with all of them. Where there are more cases than the
terminal has lines, only those that run are live, and the others are told when
they are done.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from longfat.runner.compile import expected_virtual_s

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console

    from longfat.runner import Batch, Piece
    from longfat.runner import Progress as CaseState
    from longfat.runs import Run

_LEAST_WALL_S = 0.5  # before that, a speed says nothing
_SPARE_LINES = 2  # for the prompt, and what stands before


@dataclass(slots=True)
class _Shown:
    """What is known of a case while it runs."""

    label: str
    task: TaskID
    expected_s: dict[int, float]  # of each seed, virtual
    virtual_s: dict[int, float] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    started_s: float | None = None  # on the wall


class CaseProgress:
    """Shows how far cases are; use it as a context manager.

    Args:
        batches: the cases that are run.
        labels: what to write before the names of each batch's cases.
        console: where to show them.
    """

    def __init__(
        self, batches: Sequence[Batch], *, labels: Sequence[str], console: Console
    ) -> None:
        self._console = console
        self._lock = threading.Lock()
        several = any(plan.seeds > 1 for batch in batches for plan in batch.cases.values())
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            *([TextColumn("{task.fields[seeds]}")] if several else []),
            TextColumn("{task.fields[virtual]:>17}"),
            TextColumn("{task.fields[speed]:>7}"),
            TextColumn("{task.fields[left]}"),
            console=console,
            disable=not console.is_terminal,
        )
        count = sum(len(batch.cases) for batch in batches)
        self._roomy = count <= console.height - _SPARE_LINES
        self._cases: dict[tuple[int, str], _Shown] = {}
        for index, batch in enumerate(batches):
            for name, plan in batch.cases.items():
                cases = plan.seeded()
                self._cases[index, name] = _Shown(
                    label=labels[index] + name,
                    task=self._bars.add_task(
                        labels[index] + name,
                        total=None,
                        visible=self._roomy,
                        seeds=f"0/{len(cases)} seeds" if len(cases) > 1 else "",
                        virtual="waiting",
                        speed="",
                        left="",
                    ),
                    expected_s={case.seed: expected_virtual_s(case) for case in cases},
                )

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

    def update(self, piece: Piece, state: CaseState) -> None:
        """Show how far a case is with one of its seeds."""
        with self._lock:
            self._update(self._cases[piece.batch, piece.name], piece.seed, state.virtual_s)

    def _update(self, shown: _Shown, seed: int, virtual_s: float) -> None:
        if shown.started_s is None:
            shown.started_s = time.monotonic()
        shown.virtual_s[seed] = virtual_s
        wall_s = time.monotonic() - shown.started_s
        done_s = sum(shown.virtual_s.values())
        total_s = sum(shown.expected_s.values())
        reached_s = sum(min(now_s, shown.expected_s[s]) for s, now_s in shown.virtual_s.items())
        speed, left = "", ""
        if wall_s > _LEAST_WALL_S and done_s > 0:
            factor = done_s / wall_s
            speed = f"{factor:.2f}x"
            left = f"{(total_s - reached_s) / factor:.0f} s left"
        self._bars.update(
            shown.task,
            visible=True,
            total=total_s,
            completed=reached_s,
            virtual=f"{done_s:.1f}/{total_s:.1f} s",
            speed=speed,
            left=left,
        )

    def done(self, piece: Piece, run: Run) -> None:
        """Show that a case is done with one of its seeds."""
        with self._lock:
            shown = self._cases[piece.batch, piece.name]
            shown.runs.append(run)
            shown.expected_s[piece.seed] = run.virtual_s
            self._update(shown, piece.seed, run.virtual_s)
            if len(shown.expected_s) > 1:
                seeds = f"{len(shown.runs)}/{len(shown.expected_s)} seeds"
                self._bars.update(shown.task, seeds=seeds)
            if len(shown.runs) == len(shown.expected_s):
                self._all_done(shown)

    def _all_done(self, shown: _Shown) -> None:
        virtual_s = sum(run.virtual_s for run in shown.runs)
        wall_s = sum(run.wall_s for run in shown.runs)
        text = f"{virtual_s:.1f} virtual s"
        speed = f"{virtual_s / wall_s:.2f}x"
        if not self._console.is_terminal or not self._roomy:
            seeds = f"{len(shown.runs)} seeds, " if len(shown.runs) > 1 else ""
            self._bars.console.print(f"{shown.label}: {seeds}{text} in {wall_s:.1f} s, {speed}")
        self._bars.update(
            shown.task,
            visible=self._roomy,
            total=1,
            completed=1,
            virtual=text,
            speed=speed,
            left="done",
        )
