"""Run many cases side by side, each on a CPU of its own, longest first."""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from longfat.runner.compile import expected_virtual_s
from longfat.runner.one import Progress, run_case

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from longfat.runs import Run
    from longfat.study import Planned


class _Cancelled(Exception):  # noqa: N818  an order, no error
    """Another case failed, or the user had enough."""


def run_cases(
    planned: Mapping[str, Planned],
    *,
    out: Path,
    jobs: int | None = None,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_done: Callable[[str, Run], None] = lambda _name, _run: None,
) -> dict[str, Run]:
    """Run cases; the result does not depend on how many run side by side.

    Args:
        planned: the cases by name.
        out: the folder that takes the runs' folders.
        jobs: how many machines at once; as many as CPUs, if None.
        on_progress: called a few times a second for each case that runs, from
            other threads.
        on_done: called when a case is done, likewise.

    Returns:
        The runs by the cases' names, in the cases' order.

    Raises:
        LongfatError: a case failed; the first of them in the cases' order. The
            others are ended.
    """
    cancelled = threading.Event()

    def report(progress: Progress) -> None:
        if cancelled.is_set():
            raise _Cancelled
        on_progress(progress)

    def run_one(name: str) -> Run:
        if cancelled.is_set():
            raise _Cancelled
        plan = planned[name]
        run = run_case(
            plan.case, name=name, out=out, setup_places=plan.setup_places, on_progress=report
        )
        on_done(name, run)
        return run

    workers = max(1, jobs or len(os.sched_getaffinity(0)))
    longest_first = sorted(planned, key=lambda name: -expected_virtual_s(planned[name].case))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: dict[str, Future[Run]] = {n: pool.submit(run_one, n) for n in longest_first}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
        finally:
            # After a failure or Ctrl-C the other machines must end before we go on.
            cancelled.set()
    for name in planned:
        error = futures[name].exception()
        if error is not None and not isinstance(error, _Cancelled):
            raise error
    return {name: futures[name].result() for name in planned}
