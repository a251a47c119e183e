"""Collects results: from the result cache, or from an executor into the cache."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.cache.place_files import place_run
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST, damage
from longfat.execution.runs.space import write_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.execution.cache import ResultCache
    from longfat.execution.case_runner import Progress
    from longfat.execution.executor import Batch, RunId
    from longfat.execution.outcome import RunObserver
    from longfat.execution.runs import Run


class ResultCollector:
    """The `Listener` of an executor, and the results so far.

    Args:
        batches: the cases that are run.
        cache: the result cache; none is used, if None.
        observer: who is told.
        stop: set after a failure; None to go on.
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
        self.cached = 0
        self._batches = batches
        self._cache = cache
        self._observer = observer
        self._stop = stop
        self._twins: Mapping[RunId, Sequence[RunId]] = {}
        self._lock = threading.Lock()

    def get(self, piece: RunId, key: str) -> None:
        """Take the result of a piece from the memory, if it is known.

        A run that lies in its place and is not cached (a kill came between, or the
        memory was cleared) is cached now, if it is undamaged.

        Raises:
            LongfatError: the run's folder or the memory cannot be written to.
        """
        assert self._cache is not None
        batch = self._batches[piece.batch]
        if not self._cache.knows(key) and not self._adopt(piece, key):
            return
        run = self._cache.get(
            key,
            out=batch.out,
            name=piece.name,
            study=batch.study,
            parameters=batch.cases[piece.name].parameters,
        )
        if run is not None:
            self.runs[piece] = run
            self.cached += 1
            self._observer.cached(piece, run)

    def share(self, twins: Mapping[RunId, Sequence[RunId]]) -> None:
        """Note for each piece that will be run the others that want the same result."""
        self._twins = twins

    def progress(self, piece: RunId, progress: Progress) -> None:
        """Pass on how far a piece is."""
        self._observer.progress(piece, progress)

    def done(self, piece: RunId, run: Run) -> None:
        """Take a run home: cache it, and give it to all pieces that want it."""
        try:
            if self._cache is not None:
                self._cache.put(run)
        except LongfatError as error:
            self.failed(piece, error)
            return
        self._take(piece, run)
        for twin in self._twins.get(piece, ()):
            try:
                self._take(twin, self._copy(run, twin))
            except LongfatError as error:
                self._fail([twin], error)

    def failed(self, piece: RunId, error: LongfatError) -> None:
        """Note that a piece has failed, and with it all that want the same result."""
        self._fail([piece, *self._twins.get(piece, ())], error)

    def _take(self, piece: RunId, run: Run) -> None:
        with self._lock:
            self.runs[piece] = run
        self._observer.done(piece, run)

    def _fail(self, pieces: Iterable[RunId], error: LongfatError) -> None:
        for piece in pieces:
            told = error
            if self._batches[piece.batch].cases[piece.name].seeds > 1:
                told = _with_seed(error, piece.seed)
            with self._lock:
                self.failures[piece] = told
            self._observer.failed(piece, told)
        if self._stop is not None:
            self._stop.set()

    def _adopt(self, piece: RunId, key: str) -> bool:
        assert self._cache is not None
        folder = self._batches[piece.batch].out / f"{piece.name}-seed{piece.seed}"
        if not (folder / MANIFEST).exists():
            return False
        try:
            run = load_run(folder)
            if run.key != key or damage(run):
                return False
            self._cache.put(run)
        except (InputError, OSError):
            return False
        return True

    def _copy(self, run: Run, piece: RunId) -> Run:
        batch = self._batches[piece.batch]
        out = batch.out.resolve()
        copy = replace(
            run,
            folder=out / f"{piece.name}-seed{piece.seed}",
            name=piece.name,
            study=batch.study,
            parameters=dict(batch.cases[piece.name].parameters),
        )
        try:
            place_run(copy, source=run.folder)
        except OSError as error:
            raise write_error(out, error) from error
        return copy


def _with_seed(error: LongfatError, seed: int) -> LongfatError:
    """Return an error that says with which seed it came: others may not have it."""
    text = f"with seed {seed}: {error.message}"
    if isinstance(error, InputError):
        return InputError(text, place=error.place)
    return MachineError(text) if isinstance(error, MachineError) else error
