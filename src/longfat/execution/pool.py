"""The pool: as many machines in parallel as this computer can carry, costliest first.

Threads, not processes: each only waits for a machine, and one process has one
lifeline to its guards. A machine begins when there is a CPU for it and when
the expected memory fits beside that of the running ones; one always
runs. The choice influences no result.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.case_runner import Progress, run_case
from longfat.execution.memory_bound import available_bytes
from longfat.execution.runs.space import disk_full, is_full
from longfat.execution.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.engine.kernel import Kernel
    from longfat.engine.machine import Quota
    from longfat.execution.executor import RunObserver, RunTask
    from longfat.execution.runs import Run


FindKernel = Callable[[str], "Kernel"]
"""Finds the kernel of a version, as `longfat.engine.kernel.find`; raises a `LongfatError`."""


class _Ended(Exception):  # noqa: N818  an order, no error
    """Another run failed, or the user cancelled."""


class Pool:
    """An `Executor`: this computer.

    Args:
        jobs: how many machines at once; one for each CPU, if None.
        memory_bytes: how much memory they may use together; what is available
            when they begin, if None.
        toolbox: the host's tools, if they have been examined already.
        quota: resource limits of each machine; those of our environment, if None.
        find_kernel: finds the kernel of a version.
    """

    def __init__(
        self,
        jobs: int | None = None,
        *,
        memory_bytes: float | None = None,
        toolbox: Toolbox | None = None,
        quota: Quota | None = None,
        find_kernel: FindKernel = kernels.find,
    ) -> None:
        self.jobs = max(1, jobs or len(os.sched_getaffinity(0)))
        self._memory_bytes = memory_bytes
        self._toolbox = toolbox or Toolbox()
        self._quota = quota
        self._find_kernel = find_kernel

    def execute(
        self, run_tasks: Sequence[RunTask], *, listener: RunObserver, stop: threading.Event
    ) -> None:
        """Execute runs; see `Executor.execute`."""
        room = available_bytes() if self._memory_bytes is None else self._memory_bytes
        waiting = sorted(run_tasks, key=lambda run_task: -run_task.cost.wall_s)
        running: dict[Future[None], RunTask] = {}
        end = threading.Event()
        with ThreadPoolExecutor(max_workers=self.jobs) as threads:
            try:
                while True:
                    while not stop.is_set() and len(running) < self.jobs:
                        taken = sum(run_task.cost.peak_bytes for run_task in running.values())
                        run_task = _next(waiting, room_bytes=room - taken, alone=not running)
                        if run_task is None:
                            break
                        waiting.remove(run_task)
                        runner = _TaskRunner(
                            run_task,
                            listener,
                            (stop, end),
                            toolbox=self._toolbox,
                            quota=self._quota,
                            find_kernel=self._find_kernel,
                        )
                        running[threads.submit(runner.run)] = run_task
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        del running[future]
                        future.result()
            finally:
                # After Ctrl-C, or an internal error, the machines must end first.
                end.set()


def _next(waiting: Sequence[RunTask], *, room_bytes: float, alone: bool) -> RunTask | None:
    """Return the costliest run that fits; any, if it would run alone."""
    fitting = (run_task for run_task in waiting if alone or run_task.cost.peak_bytes <= room_bytes)
    return next(fitting, None)


class _TaskRunner:
    """Executes one run in a thread."""

    def __init__(
        self,
        run_task: RunTask,
        listener: RunObserver,
        ends: tuple[threading.Event, ...],
        *,
        toolbox: Toolbox,
        quota: Quota | None,
        find_kernel: FindKernel,
    ) -> None:
        self._work = run_task
        self._quota = quota
        self._find_kernel = find_kernel
        self._listener = listener
        self._ends = ends
        self._toolbox = toolbox

    def run(self) -> None:
        """Execute it, and report the outcome."""
        run_id = self._work.run_id
        try:
            if not self._is_over():
                self._listener.done(run_id, self._run())
        except _Ended:
            pass
        except LongfatError as error:
            self._listener.failed(run_id, error)

    def _run(self) -> Run:
        run_task = self._work
        return run_case(
            run_task.case,
            name=run_task.run_id.name,
            out=run_task.out,
            study=run_task.study,
            parameters=run_task.parameters,
            places=run_task.places,
            toolbox=self._toolbox,
            kernel=self._find_kernel(run_task.case.kernel),
            on_progress=self._report,
            quota=self._quota,
        )

    def _report(self, progress: Progress) -> None:
        if self._is_over():
            raise _Ended
        if is_full(self._work.out):
            # Otherwise the guest would needlessly run on to the end.
            raise disk_full(self._work.out)
        self._listener.progress(self._work.run_id, progress)

    def _is_over(self) -> bool:
        return any(end.is_set() for end in self._ends)
