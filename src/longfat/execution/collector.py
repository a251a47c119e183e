"""Collects results: from the result cache, or from an executor into the cache."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.cache.place_files import place_run
from longfat.execution.executor import RunObserver
from longfat.execution.hints import unexpected_end
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST, damage
from longfat.execution.runs.space import write_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.execution.cache import ResultCache
    from longfat.execution.case_runner import Progress
    from longfat.execution.executor import Batch, RunId
    from longfat.execution.runs import Run


class ResultCollector(RunObserver):
    """The observer of an executor, and the results so far.

    Args:
        batches: the cases that are run.
        cache: the result cache; none is used, if None.
        observer: is notified.
        stop: set after a failure; None to continue.
    """

    def __init__(
        self,
        batches: Sequence[Batch],
        *,
        cache: ResultCache | None,
        observer: RunObserver,
        stop: threading.Event | None,
    ) -> None:
        self.runs: dict[RunId, Run] = {}
        self.failures: dict[RunId, LongfatError] = {}
        self.cached_count = 0
        self._batches = batches
        self._cache = cache
        self._observer = observer
        self._stop = stop
        self._duplicates: Mapping[RunId, Sequence[RunId]] = {}
        self._lock = threading.Lock()

    def get(self, run_id: RunId, key: str) -> None:
        """Take the result of a run from the cache, if it is there.

        A run in its place that is not cached (after a kill in between, or after the
        cache was cleared) is cached now, if it is undamaged.

        Raises:
            LongfatError: the run's folder or the cache cannot be written to.
        """
        assert self._cache is not None
        batch = self._batches[run_id.batch]
        if not self._cache.has(key) and not self._adopt(run_id, key):
            return
        run = self._cache.get(
            key,
            out=batch.out,
            name=run_id.name,
            study=batch.study,
            parameters=batch.cases[run_id.name].parameters,
        )
        if run is not None:
            self.runs[run_id] = run
            self.cached_count += 1
            self._observer.cached(run_id, run)

    def set_duplicates(self, duplicates: Mapping[RunId, Sequence[RunId]]) -> None:
        """Set the other runs with the same result, for each run that will be executed."""
        self._duplicates = duplicates

    def progress(self, run_id: RunId, progress: Progress) -> None:
        """Forward the progress of a run."""
        self._observer.progress(run_id, progress)

    def done(self, run_id: RunId, run: Run) -> None:
        """Cache a run, and copy it for all runs with the same result.

        One whose flows did not end as they should is kept in its folder only.
        """
        places = self._batches[run_id.batch].cases[run_id.name].places
        if unexpected := unexpected_end(run, places):
            self.failed(run_id, unexpected)
            return
        try:
            if self._cache is not None:
                self._cache.put(run)
        except LongfatError as error:
            self.failed(run_id, error)
            return
        self._take(run_id, run)
        for duplicate in self._duplicates.get(run_id, ()):
            try:
                self._take(duplicate, self._copy(run, duplicate))
            except LongfatError as error:
                self._fail([duplicate], error)

    def failed(self, run_id: RunId, error: LongfatError) -> None:
        """Record that a run has failed, and with it all with the same result."""
        self._fail([run_id, *self._duplicates.get(run_id, ())], error)

    def _take(self, run_id: RunId, run: Run) -> None:
        with self._lock:
            self.runs[run_id] = run
        self._observer.done(run_id, run)

    def _fail(self, run_ids: Iterable[RunId], error: LongfatError) -> None:
        for run_id in run_ids:
            reported = error
            if self._batches[run_id.batch].cases[run_id.name].seeds > 1:
                reported = _with_seed(error, run_id.seed)
            with self._lock:
                self.failures[run_id] = reported
            self._observer.failed(run_id, reported)
        if self._stop is not None:
            self._stop.set()

    def _adopt(self, run_id: RunId, key: str) -> bool:
        assert self._cache is not None
        folder = self._batches[run_id.batch].out / f"{run_id.name}-seed{run_id.seed}"
        if not (folder / MANIFEST).exists():
            return False
        try:
            run = load_run(folder)
            if run.key != key or run.unexpected or damage(run):
                return False
            self._cache.put(run)
        except (InputError, OSError):
            return False
        return True

    def _copy(self, run: Run, run_id: RunId) -> Run:
        batch = self._batches[run_id.batch]
        out = batch.out.resolve()
        copy = replace(
            run,
            folder=out / f"{run_id.name}-seed{run_id.seed}",
            name=run_id.name,
            study=batch.study,
            parameters=dict(batch.cases[run_id.name].parameters),
        )
        try:
            place_run(copy, source=run.folder)
        except OSError as error:
            raise write_error(out, error) from error
        return copy


def _with_seed(error: LongfatError, seed: int) -> LongfatError:
    """Return an error that includes the seed: other seeds may not have it."""
    text = f"with seed {seed}: {error.message}"
    if isinstance(error, InputError):
        return type(error)(text, place=error.place)
    return MachineError(text) if isinstance(error, MachineError) else error
