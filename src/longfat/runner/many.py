"""Run many cases side by side, each on a CPU of its own, longest first.

A piece of work is a case with one seed. The pieces of all cases of all studies
share one pool, so that a long case of one study does not leave CPUs idle while
the next study waits.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError, MachineError
from longfat.runner.compile import expected_virtual_s
from longfat.runner.one import Progress, run_case
from longfat.runner.work import Piece

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.case import Case
    from longfat.runs import Run
    from longfat.study import Planned


class _Cancelled(Exception):  # noqa: N818  an order, no error
    """Another case failed, or the user had enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The cases of one study that are to be run.

    Attributes:
        cases: the cases by name.
        out: the folder that takes their runs' folders.
    """

    cases: Mapping[str, Planned]
    out: Path


def run_cases(
    planned: Mapping[str, Planned],
    *,
    out: Path,
    jobs: int | None = None,
    on_progress: Callable[[Piece, Progress], None] = lambda _piece, _progress: None,
    on_done: Callable[[Piece, Run], None] = lambda _piece, _run: None,
) -> dict[str, tuple[Run, ...]]:
    """Run the cases of one study: `run_batches` with one batch.

    Args:
        planned: the cases by name.
        out: the folder that takes the runs' folders.
        jobs: as of `run_batches`, like the other arguments.
        on_progress: likewise.
        on_done: likewise.

    Returns:
        The runs by the cases' names, in the cases' order; one for each seed, in
        the seeds' order.

    Raises:
        LongfatError: a case failed.
    """
    batch = Batch(cases=planned, out=out)
    (runs,) = run_batches([batch], jobs=jobs, on_progress=on_progress, on_done=on_done)
    return runs


def run_batches(
    batches: Sequence[Batch],
    *,
    jobs: int | None = None,
    on_progress: Callable[[Piece, Progress], None] = lambda _piece, _progress: None,
    on_done: Callable[[Piece, Run], None] = lambda _piece, _run: None,
    on_failed: Callable[[Piece], None] = lambda _piece: None,
) -> list[dict[str, tuple[Run, ...]]]:
    """Run the cases of several studies; the results do not depend on how many run side by side.

    Args:
        batches: the cases, study by study.
        jobs: how many machines at once; as many as CPUs, if None.
        on_progress: called a few times a second for each case that runs, from
            other threads.
        on_done: called when a case is done with one of its seeds, likewise.
        on_failed: called when a case has failed with one of its seeds, likewise.

    Returns:
        For each batch the runs by the cases' names, in the cases' order; one for
        each seed, in the seeds' order.

    Raises:
        LongfatError: a case failed; the first of them in the cases' order. The
            others are ended.
    """
    pieces = {
        Piece(batch=index, name=name, seed=case.seed): case
        for index, batch in enumerate(batches)
        for name, plan in batch.cases.items()
        for case in plan.seeded()
    }
    cancelled = threading.Event()

    def run_one(piece: Piece) -> Run:
        def report(progress: Progress) -> None:
            if cancelled.is_set():
                raise _Cancelled
            on_progress(piece, progress)

        if cancelled.is_set():
            raise _Cancelled
        try:
            run = _run_piece(piece, pieces[piece], batches[piece.batch], on_progress=report)
        except LongfatError:
            on_failed(piece)
            raise
        on_done(piece, run)
        return run

    workers = max(1, jobs or len(os.sched_getaffinity(0)))
    longest_first = sorted(pieces, key=lambda piece: -expected_virtual_s(pieces[piece]))
    with ThreadPoolExecutor(max_workers=workers) as pool:
        futures: dict[Piece, Future[Run]] = {p: pool.submit(run_one, p) for p in longest_first}
        try:
            wait(futures.values(), return_when=FIRST_EXCEPTION)
        finally:
            # After a failure or Ctrl-C the other machines must end before we go on.
            cancelled.set()
    for piece in pieces:
        error = futures[piece].exception()
        if error is not None and not isinstance(error, _Cancelled):
            raise error
    results: list[dict[str, tuple[Run, ...]]] = [{} for _ in batches]
    for piece in pieces:
        runs = results[piece.batch]
        runs[piece.name] = (*runs.get(piece.name, ()), futures[piece].result())
    return results


def _run_piece(
    piece: Piece, case: Case, batch: Batch, *, on_progress: Callable[[Progress], None]
) -> Run:
    plan = batch.cases[piece.name]
    try:
        return run_case(
            case,
            name=piece.name,
            out=batch.out,
            setup_places=plan.setup_places,
            on_progress=on_progress,
        )
    except LongfatError as error:
        if plan.seeds == 1:
            raise
        # The same lines may fail with one seed and not with another.
        text = f"with seed {piece.seed}: {error.message}"
        if isinstance(error, InputError):
            raise InputError(text, place=error.place) from error
        if isinstance(error, MachineError):
            raise MachineError(text) from error
        raise
