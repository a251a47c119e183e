"""Run many cases: take from the cache what is there, have the rest run, and cache that.

A piece of work is a case with one seed. The pieces of all cases of all studies
go to the executor together, so that a long case of one study does not leave
CPUs idle while the next study waits. Pieces with one key are one result, and run
once. What is done is cached at once, so that whatever ends it all, the same
call goes on where it stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.collector import ResultCollector
from longfat.execution.cost_model import (
    CostModel,
    cached_runs,
    fit_cost_model,
    known_runs,
    runs_in,
)
from longfat.execution.executor import Batch, RunId, RunTask
from longfat.execution.outcome import Failure, Outcome, RunObserver
from longfat.execution.pool import Pool
from longfat.execution.runs import result_key
from longfat.execution.tools import Toolbox
from longfat.model.case import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.execution.cache import ResultCache
    from longfat.execution.executor import Executor
    from longfat.execution.runs import Run
    from longfat.model.case import Case, CasePlaces
    from longfat.study import Planned


class Keys:
    """The names of the results of cases with today's kernels and tools, each looked at once.

    Args:
        toolbox: the host's tools.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._kernels: dict[str, str | LongfatError] = {}

    def of(self, case: Case, *, places: CasePlaces = NOWHERE) -> str:
        """Return the key of a case's result: `Run.key`.

        Args:
            case: the case.
            places: where its parts were written, for messages.

        Raises:
            InputError: the case's kernel is no version of one, or it has packages that cannot
                be installed.
            HostError: the kernel is not built, a tool is missing, or packages cannot be had.
        """
        if case.kernel not in self._kernels:
            try:
                self._kernels[case.kernel] = kernels.find(case.kernel).digest
            except LongfatError as error:
                self._kernels[case.kernel] = error
        kernel = self._kernels[case.kernel]
        if isinstance(kernel, LongfatError):
            raise kernel
        tools = self._toolbox.of(case, places=places)
        return result_key(case.digest, kernel_digest=kernel, tools=tools)


def run_cases(
    planned: Mapping[str, Planned],
    *,
    out: Path,
    study: str = "",
    jobs: int | None = None,
    cache: ResultCache | None = None,
    observer: RunObserver | None = None,
) -> dict[str, tuple[Run, ...]]:
    """Run the cases of one study: `run_batches` with one batch, none of which may fail.

    Args:
        planned: the cases by name.
        out: the folder that takes the runs' folders.
        study: the study's name.
        jobs: as of `run_batches`, like the other arguments.
        cache: likewise.
        observer: likewise.

    Returns:
        The runs by the cases' names, in the cases' order; one for each seed, in
        the seeds' order.

    Raises:
        LongfatError: a case failed; the first of them in the cases' order. The
            others are ended.
    """
    batch = Batch(cases=planned, out=out, study=study)
    outcome = run_batches([batch], jobs=jobs, cache=cache, observer=observer)
    if outcome.failures:
        raise outcome.failures[0].error
    return dict(outcome.runs[0])


def run_batches(
    batches: Sequence[Batch],
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    cache: ResultCache | None = None,
    fresh: bool = False,
    keep_going: bool = False,
    stop: threading.Event | None = None,
    observer: RunObserver | None = None,
    toolbox: Toolbox | None = None,
) -> Outcome:
    """Run the cases of several studies; the results do not depend on how many run side by side.

    Args:
        batches: the cases, study by study.
        executor: where they are run; the pool of this computer, if None.
        jobs: how many machines that pool runs at once; as many as CPUs, if None.
        cache: the result cache; none is used, if None.
        fresh: take nothing from the cache; what is run must then give what is cached.
        keep_going: after a failure go on with the others. Else nothing more is begun,
            and those that run are ended.
        stop: set by anybody to begin nothing more and to end what runs.
        observer: who is told meanwhile.
        toolbox: the host's tools, where they have been looked at already.

    Returns:
        What came of it: runs, failures, and how many of each.

    Raises:
        InputError: a folder for runs cannot be written to.
        HostError: neither can the cache, or the executor cannot work.
    """
    stop = stop or threading.Event()
    observer = observer or RunObserver()
    cases = {
        RunId(batch=index, name=name, seed=case.seed): case
        for index, batch in enumerate(batches)
        for name, plan in batch.cases.items()
        for case in plan.seeded()
    }
    collector = ResultCollector(
        batches, cache=cache, observer=observer, stop=None if keep_going else stop
    )
    toolbox = toolbox or Toolbox()
    keys = Keys(toolbox)
    first_of: dict[str, RunId] = {}
    twins: dict[RunId, list[RunId]] = {}
    for piece, case in cases.items():
        if stop.is_set():
            break
        try:
            places = batches[piece.batch].cases[piece.name].places
            key = keys.of(case, places=places)
        except LongfatError as error:
            collector.failed(piece, error)
            continue
        if cache is not None and not fresh:
            collector.get(piece, key)
        if piece not in collector.runs:
            first = first_of.setdefault(key, piece)
            twins.setdefault(first, []).extend([piece] if piece != first else [])
    if twins and not stop.is_set():
        collector.share(twins)
        works = _works(twins, cases, batches, cache)
        observer.planned(works)
        place = executor or Pool(jobs, toolbox=toolbox)
        place.execute(works, listener=collector, stop=stop)
    return _outcome(batches, cases, collector)


def _works(
    pieces: Mapping[RunId, object],
    cases: Mapping[RunId, Case],
    batches: Sequence[Batch],
    cache: ResultCache | None,
) -> list[RunTask]:
    cost_model = [CostModel() for _ in batches]
    if len(pieces) > 1:  # of one, nothing depends on what it costs
        cost_model = [
            cost_model_of(batch, cache=cache)
            if any(piece.batch == index for piece in pieces)
            else CostModel()
            for index, batch in enumerate(batches)
        ]
    works = []
    for piece in pieces:
        batch, case = batches[piece.batch], cases[piece]
        plan = batch.cases[piece.name]
        works.append(
            RunTask(
                piece=piece,
                case=case,
                out=batch.out,
                cost=cost_model[piece.batch].cost(case),
                study=batch.study,
                parameters=plan.parameters,
                places=plan.places,
            )
        )
    return works


def cost_model_of(batch: Batch, *, cache: ResultCache | None) -> CostModel:
    """Return what the runs of a study teach: those in its folder, else those cached."""
    folders = runs_in(batch.out)
    if not folders and cache is not None and batch.study:
        folders = cached_runs(cache, batch.study)
    return fit_cost_model(known_runs(folders))


def _outcome(
    batches: Sequence[Batch], cases: Mapping[RunId, Case], collector: ResultCollector
) -> Outcome:
    results: list[dict[str, tuple[Run, ...]]] = [{} for _ in batches]
    for piece in cases:
        if piece in collector.runs:
            runs = results[piece.batch]
            runs[piece.name] = (*runs.get(piece.name, ()), collector.runs[piece])
    whole = [
        {name: runs for name, runs in of_batch.items() if len(runs) == batch.cases[name].seeds}
        for batch, of_batch in zip(batches, results, strict=True)
    ]
    failures = [
        Failure(piece=piece, error=collector.failures[piece])
        for piece in cases
        if piece in collector.failures
    ]
    return Outcome(
        runs=tuple(whole),
        failures=tuple(failures),
        cached=collector.cached,
        ran=len(collector.runs) - collector.cached,
        left=len(cases) - len(collector.runs) - len(failures),
    )
