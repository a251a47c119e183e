"""The progress of cases: runs done, virtual time, speed against real time, time left.

On a terminal there is a live line for the whole and one for each case, however many seeds
it has. Where there are more cases than the terminal has lines, only those that run have
one. Elsewhere, a line is printed for each case when all of its seeds are done. Cases whose
results are cached are counted only.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, TaskID, TextColumn

from longfat.cli.render.number_text import format_time
from longfat.execution import RunObserver
from longfat.execution.compile import expected_virtual_s

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from rich.console import Console

    from longfat.errors import LongfatError
    from longfat.execution import Batch, RunId, RunTask
    from longfat.execution import Progress as CaseState
    from longfat.execution.runs import Run

_MIN_WALL_S = 0.5  # before that, a speed means nothing
_SPARE_LINES = 3  # for the prompt, the line before it, and the total


@dataclass(slots=True)
class _Shown:
    """What is known of a case."""

    label: str
    expected_s: dict[int, float]  # of each seed, virtual
    task: TaskID | None = None
    virtual_s: dict[int, float] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    cached: int = 0
    started_s: float | None = None  # on the wall

    @property
    def whole(self) -> bool:
        return len(self.runs) == len(self.expected_s)


@dataclass(slots=True)
class _Whole:
    """How far all pieces are, by what they were expected to cost."""

    total: int
    done: int = 0
    costs_s: dict[RunId, float] = field(default_factory=dict)  # of what is run
    begun_s: dict[RunId, float] = field(default_factory=dict)  # on the wall
    shares: dict[RunId, float] = field(default_factory=dict)  # of what runs now, 0 to 1
    spent_s: float = 0.0  # by what has been run
    passed_s: float = 0.0  # what that was expected to cost

    def end(self, run_id: RunId, *, spent_s: float) -> None:
        self.done += 1
        self.shares.pop(run_id, None)
        if self.begun_s.pop(run_id, None) is not None:
            self.spent_s += spent_s
            self.passed_s += self.costs_s.get(run_id, 0.0)

    def share(self) -> float:
        """Return how much is done, 0 to 1."""
        total_s = sum(self.costs_s.values())
        reached_s = self.passed_s + sum(self._reached_s(run_id) for run_id in self.shares)
        return reached_s / total_s if total_s else self.done / self.total

    def left_s(self) -> float | None:
        """Return how long the rest will take; None if it cannot be estimated yet."""
        now_s = time.monotonic()
        reached_s = self.passed_s + sum(self._reached_s(run_id) for run_id in self.shares)
        spent_s = self.spent_s + sum(now_s - self.begun_s[run_id] for run_id in self.shares)
        if spent_s < _MIN_WALL_S or not reached_s or not self.shares:
            return None
        slowness = spent_s / reached_s
        slowest_s = max(self.costs_s.get(p, 0.0) - self._reached_s(p) for p in self.shares)
        rest_s = sum(self.costs_s.values()) - reached_s
        return slowness * max(slowest_s, rest_s / len(self.shares))

    def _reached_s(self, run_id: RunId) -> float:
        return self.shares[run_id] * self.costs_s.get(run_id, 0.0)


class CaseProgress(RunObserver):
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
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            *([TextColumn("{task.fields[seeds]}", markup=False)] if several else []),
            TextColumn("{task.fields[virtual]:>17}", markup=False),
            TextColumn("{task.fields[speed]:>7}", markup=False),
            TextColumn("{task.fields[left]}", markup=False),
            console=console,
            disable=not console.is_terminal,
        )
        self._roomy = sum(len(batch.cases) for batch in batches) <= console.height - _SPARE_LINES
        run_ids = sum(plan.seeds for batch in batches for plan in batch.cases.values())
        self._whole = _Whole(total=run_ids)
        self._all = self._add("all", 0) if run_ids > 1 else None
        self._cases: dict[tuple[int, str], _Shown] = {}
        for index, batch in enumerate(batches):
            for name, plan in batch.cases.items():
                shown = _Shown(
                    label=labels[index] + name,
                    expected_s={case.seed: expected_virtual_s(case) for case in plan.seeded()},
                )
                self._cases[index, name] = shown
                if self._roomy:
                    shown.task = self._add(shown.label, plan.seeds)

    def _add(self, label: str, seeds: int) -> TaskID:
        return self._bars.add_task(
            label,
            total=None,
            seeds=f"0/{seeds} seeds" if seeds > 1 else "",
            virtual="waiting",
            speed="",
            left="",
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
        if self._all is not None:
            self._bars.remove_task(self._all)  # the outcome has a line of its own
        self._bars.stop()

    def planned(self, run_tasks: Sequence[RunTask]) -> None:
        """Note what the runs are expected to cost."""
        with self._lock:
            self._whole.costs_s = {run_task.run_id: run_task.cost.wall_s for run_task in run_tasks}
            self._show_whole()

    def cached(self, run_id: RunId, run: Run) -> None:
        """Count a piece whose result is known."""
        with self._lock:
            shown = self._cases[run_id.batch, run_id.name]
            shown.cached += 1
            self._end(shown, run_id, run)

    def progress(self, run_id: RunId, progress: CaseState) -> None:
        """Show how far a case is with one of its seeds."""
        with self._lock:
            shown = self._cases[run_id.batch, run_id.name]
            if shown.task is None:
                shown.task = self._add(shown.label, len(shown.expected_s))
            self._whole.begun_s.setdefault(run_id, time.monotonic())
            share = progress.virtual_s / shown.expected_s[run_id.seed]
            self._whole.shares[run_id] = min(1.0, share)
            self._update(shown, run_id.seed, progress.virtual_s)
            self._show_whole()

    def done(self, run_id: RunId, run: Run) -> None:
        """Show that a case is done with one of its seeds."""
        with self._lock:
            self._end(self._cases[run_id.batch, run_id.name], run_id, run)

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        """Show that a case has failed with one of its seeds."""
        del error
        with self._lock:
            shown = self._cases[run_id.batch, run_id.name]
            self._whole.end(run_id, spent_s=0.0)
            if shown.task is not None:
                self._bars.update(shown.task, speed="", left="failed")
                if not self._roomy:
                    self._drop(shown)
            self._show_whole()

    def _show_whole(self) -> None:
        if self._all is None:
            return
        whole = self._whole
        left_s = whole.left_s()
        self._bars.update(
            self._all,
            total=1.0,
            completed=whole.share(),
            virtual=f"{whole.done:,}/{whole.total:,} runs",
            left="" if left_s is None else f"{format_time(left_s)} left",
        )

    def _update(self, shown: _Shown, seed: int, virtual_s: float) -> None:
        if shown.started_s is None:
            shown.started_s = time.monotonic()
        shown.virtual_s[seed] = virtual_s
        if shown.task is None:
            return
        wall_s = time.monotonic() - shown.started_s
        done_s = sum(shown.virtual_s.values())
        total_s = sum(shown.expected_s.values())
        reached_s = sum(min(now_s, shown.expected_s[s]) for s, now_s in shown.virtual_s.items())
        speed, left = "", ""
        if wall_s > _MIN_WALL_S and done_s > 0:
            factor = done_s / wall_s
            speed = f"{factor:.2f}x"
            left = f"{format_time((total_s - reached_s) / factor)} left"
        self._bars.update(
            shown.task,
            total=total_s,
            completed=reached_s,
            virtual=f"{done_s:.1f}/{total_s:.1f} s",
            speed=speed,
            left=left,
        )

    def _end(self, shown: _Shown, run_id: RunId, run: Run) -> None:
        shown.runs.append(run)
        shown.expected_s[run_id.seed] = run.virtual_s
        self._whole.end(run_id, spent_s=run.wall_s)
        self._update(shown, run_id.seed, run.virtual_s)
        if shown.task is not None and len(shown.expected_s) > 1:
            seeds = f"{len(shown.runs)}/{len(shown.expected_s)} seeds"
            self._bars.update(shown.task, seeds=seeds)
        if shown.whole:
            self._all_done(shown)
        self._show_whole()

    def _all_done(self, shown: _Shown) -> None:
        virtual_s = sum(run.virtual_s for run in shown.runs)
        wall_s = sum(run.wall_s for run in shown.runs)
        has_flows = any(run.case.flows for run in shown.runs)
        text = f"{virtual_s:.1f} virtual s" if has_flows else "no flows: nothing to measure"
        speed = f"{virtual_s / wall_s:.2f}x" if wall_s else ""
        known = shown.cached == len(shown.runs)
        if not self._console.is_terminal and not known:
            seeds = f"{len(shown.runs)} seeds, " if len(shown.runs) > 1 else ""
            line = f"{shown.label}: {seeds}{text}"
            line += f" in {wall_s:.1f} s, {speed}" if has_flows else ""
            self._console.print(line, markup=False, soft_wrap=True)
        if shown.task is None:
            return
        if not self._roomy:
            self._drop(shown)
            return
        self._bars.update(
            shown.task,
            total=1,
            completed=1,
            virtual=text,
            speed="" if known else speed,
            left="cached" if known else "done",
        )

    def _drop(self, shown: _Shown) -> None:
        assert shown.task is not None
        self._bars.remove_task(shown.task)
        shown.task = None
