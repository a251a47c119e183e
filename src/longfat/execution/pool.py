"""The pool: as many machines side by side as this computer can carry, costliest first.

Threads, not processes: each only waits for a machine, and one process has one
lifeline to its guards. A machine begins when there is a CPU for it and when
the memory it is expected to take fits beside that of those that run; one always
runs. Which run side by side decides no result.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from longfat.errors import LongfatError
from longfat.execution.case_runner import Progress, run_case
from longfat.execution.memory_bound import available_bytes
from longfat.execution.runs.space import disk_full, is_full
from longfat.execution.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.engine.machine import Quota
    from longfat.execution.executor import Listener, RunTask
    from longfat.execution.runs import Run


class _Ended(Exception):  # noqa: N818  an order, no error
    """Another work failed, or the user had enough."""


class Pool:
    """A `longfat.execution.executor.Executor`: the computer that we run on.

    Args:
        jobs: how many machines at once; as many as CPUs, if None.
        memory_bytes: how much memory they may take together; what this computer has to
            spare when they begin, if None.
        toolbox: the host's tools, where they have been looked at already.
        quota: what each machine may take; that of our environment, if None.
    """

    def __init__(
        self,
        jobs: int | None = None,
        *,
        memory_bytes: float | None = None,
        toolbox: Toolbox | None = None,
        quota: Quota | None = None,
    ) -> None:
        self.jobs = max(1, jobs or len(os.sched_getaffinity(0)))
        self._memory_bytes = memory_bytes
        self._toolbox = toolbox or Toolbox()
        self._quota = quota

    def execute(
        self, works: Sequence[RunTask], *, listener: Listener, stop: threading.Event
    ) -> None:
        """Run works; see `Executor.execute`."""
        room = available_bytes() if self._memory_bytes is None else self._memory_bytes
        waiting = sorted(works, key=lambda work: -work.cost.wall_s)
        running: dict[Future[None], RunTask] = {}
        end = threading.Event()
        with ThreadPoolExecutor(max_workers=self.jobs) as threads:
            try:
                while True:
                    while not stop.is_set() and len(running) < self.jobs:
                        taken = sum(work.cost.peak_bytes for work in running.values())
                        work = _next(waiting, room_bytes=room - taken, alone=not running)
                        if work is None:
                            break
                        waiting.remove(work)
                        hand = _Hand(work, listener, (stop, end), self._toolbox, self._quota)
                        running[threads.submit(hand.run)] = work
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        del running[future]
                        future.result()
            finally:
                # After Ctrl-C, or an error of our own, the machines must end before we go on.
                end.set()


def _next(waiting: Sequence[RunTask], *, room_bytes: float, alone: bool) -> RunTask | None:
    """Return the costliest work for which there is room; any, if it would run alone."""
    fitting = (work for work in waiting if alone or work.cost.peak_bytes <= room_bytes)
    return next(fitting, None)


class _Hand:
    """What a thread does with a work."""

    def __init__(
        self,
        work: RunTask,
        listener: Listener,
        ends: tuple[threading.Event, ...],
        toolbox: Toolbox,
        quota: Quota | None,
    ) -> None:
        self._work = work
        self._quota = quota
        self._listener = listener
        self._ends = ends
        self._toolbox = toolbox

    def run(self) -> None:
        """Run the work, and tell what came of it."""
        piece = self._work.piece
        try:
            if not self._is_over():
                self._listener.done(piece, self._run())
        except _Ended:
            pass
        except LongfatError as error:
            self._listener.failed(piece, error)

    def _run(self) -> Run:
        work = self._work
        return run_case(
            work.case,
            name=work.piece.name,
            out=work.out,
            study=work.study,
            parameters=work.parameters,
            places=work.places,
            toolbox=self._toolbox,
            on_progress=self._report,
            quota=self._quota,
        )

    def _report(self, progress: Progress) -> None:
        if self._is_over():
            raise _Ended
        if is_full(self._work.out):
            # The guest would not be told, and play on to the end for nothing.
            raise disk_full(self._work.out)
        self._listener.progress(self._work.piece, progress)

    def _is_over(self) -> bool:
        return any(end.is_set() for end in self._ends)
