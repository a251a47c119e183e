"""Run many cases: take cached results from the cache, run the others, and cache those.

A run is one case with one seed. The runs of all cases of all studies
go to the executor together, so that a long case of one study does not leave
CPUs idle while the next study waits. Runs with equal keys have one result, and run
once. Finished runs are cached at once, so that after an interruption, the same
call continues where it stopped.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.collector import ResultCollector
from longfat.execution.cost import CostModel, cached_runs, fit_cost_model, known_runs, runs_in
from longfat.execution.executor import Batch, Failure, Outcome, RunId, RunObserver, RunTask
from longfat.execution.pool import FindKernel, Pool
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
    """The keys of the results of cases with the current kernels and tools, each examined once.

    Args:
        toolbox: the host's tools.
        find_kernel: finds the kernel of a version.
    """

    def __init__(self, toolbox: Toolbox, *, find_kernel: FindKernel = kernels.find) -> None:
        self._toolbox = toolbox
        self._find_kernel = find_kernel
        self._kernels: dict[str, str | LongfatError] = {}

    def of(self, case: Case, *, places: CasePlaces = NOWHERE) -> str:
        """Return the key of a case's result: `Run.key`.

        Args:
            case: the case.
            places: where its parts were written, for messages.

        Raises:
            InputError: the case's kernel is not a version, or it has packages that cannot
                be installed.
            HostError: the kernel is not built, a tool is missing, or packages cannot be downloaded.
        """
        if case.kernel not in self._kernels:
            try:
                self._kernels[case.kernel] = self._find_kernel(case.kernel).digest
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
        out: the folder that will contain the runs' folders.
        study: the study's name.
        jobs: as of `run_batches`, like the other arguments.
        cache: likewise.
        observer: likewise.

    Returns:
        The runs by the cases' names, in the cases' order; one for each seed, in
        the seeds' order.

    Raises:
        LongfatError: a case failed; the first of them in the cases' order. The
            others are cancelled.
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
    find_kernel: FindKernel = kernels.find,
) -> Outcome:
    """Run the cases of several studies; the results do not depend on the number of parallel runs.

    Args:
        batches: the cases, study by study.
        executor: runs them; the pool of this computer, if None.
        jobs: how many machines that pool runs at once; one for each CPU, if None.
        cache: the result cache; none is used, if None.
        fresh: take nothing from the cache; new results must then equal the cached ones.
        keep_going: after a failure continue with the others. Otherwise no more runs are
            started, and running ones are cancelled.
        stop: set by any thread to start no more runs and to cancel running ones.
        observer: is notified of progress.
        toolbox: the host's tools, if they have been examined already.
        find_kernel: finds the kernel of a version; an `executor` finds its own.

    Returns:
        The outcome: runs, failures, and how many of each.

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
    keys = Keys(toolbox, find_kernel=find_kernel)
    first_of: dict[str, RunId] = {}
    duplicates: dict[RunId, list[RunId]] = {}
    for run_id, case in cases.items():
        if stop.is_set():
            break
        try:
            places = batches[run_id.batch].cases[run_id.name].places
            key = keys.of(case, places=places)
        except LongfatError as error:
            collector.failed(run_id, error)
            continue
        if cache is not None and not fresh:
            collector.get(run_id, key)
        if run_id not in collector.runs:
            first = first_of.setdefault(key, run_id)
            duplicates.setdefault(first, []).extend([run_id] if run_id != first else [])
    if duplicates and not stop.is_set():
        collector.set_duplicates(duplicates)
        run_tasks = _run_tasks(duplicates, cases, batches, cache)
        observer.planned(run_tasks)
        executor = executor or Pool(jobs, toolbox=toolbox, find_kernel=find_kernel)
        executor.execute(run_tasks, listener=collector, stop=stop)
    return _outcome(batches, cases, collector)


def _run_tasks(
    run_ids: Mapping[RunId, object],
    cases: Mapping[RunId, Case],
    batches: Sequence[Batch],
    cache: ResultCache | None,
) -> list[RunTask]:
    cost_model = [CostModel() for _ in batches]
    if len(run_ids) > 1:  # of one, nothing depends on its cost
        cost_model = [
            cost_model_of(batch, cache=cache)
            if any(run_id.batch == index for run_id in run_ids)
            else CostModel()
            for index, batch in enumerate(batches)
        ]
    run_tasks = []
    for run_id in run_ids:
        batch, case = batches[run_id.batch], cases[run_id]
        plan = batch.cases[run_id.name]
        run_tasks.append(
            RunTask(
                run_id=run_id,
                case=case,
                out=batch.out,
                cost=cost_model[run_id.batch].cost(case),
                study=batch.study,
                parameters=plan.parameters,
                places=plan.places,
            )
        )
    return run_tasks


def cost_model_of(batch: Batch, *, cache: ResultCache | None) -> CostModel:
    """Return a cost model fitted to the runs of a study: those in its folder, or cached ones."""
    folders = runs_in(batch.out)
    if not folders and cache is not None and batch.study:
        folders = cached_runs(cache, batch.study)
    return fit_cost_model(known_runs(folders))


def _outcome(
    batches: Sequence[Batch], cases: Mapping[RunId, Case], collector: ResultCollector
) -> Outcome:
    results: list[dict[str, tuple[Run, ...]]] = [{} for _ in batches]
    for run_id in cases:
        if run_id in collector.runs:
            runs = results[run_id.batch]
            runs[run_id.name] = (*runs.get(run_id.name, ()), collector.runs[run_id])
    whole = [
        {name: runs for name, runs in of_batch.items() if len(runs) == batch.cases[name].seeds}
        for batch, of_batch in zip(batches, results, strict=True)
    ]
    failures = [
        Failure(run_id=run_id, error=collector.failures[run_id])
        for run_id in cases
        if run_id in collector.failures
    ]
    return Outcome(
        runs=tuple(whole),
        failures=tuple(failures),
        cached=collector.cached_count,
        ran=len(collector.runs) - collector.cached_count,
        left=len(cases) - len(collector.runs) - len(failures),
    )
