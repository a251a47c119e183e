"""Fetches outcomes and runs in threads of its own, so that the job's loop never waits for one."""

from __future__ import annotations

import contextlib
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import TYPE_CHECKING

from longfat.errors import HostError, LongfatError, MachineError
from longfat.execution.cluster.delivery import GarbledError, deliver
from longfat.execution.cluster.messages import Done, is_sound

if TYPE_CHECKING:
    from collections.abc import Callable

    from distributed import Future

    from longfat.execution.cluster.decisions import Attempt
    from longfat.execution.cluster.messages import Outcome
    from longfat.execution.cluster.plan import Plan
    from longfat.execution.cluster.scheduler import Handout
    from longfat.execution.cluster.storage import Storage
    from longfat.execution.executor import Listener

_THREADS = 4


class Fetcher:
    """Fetches; what comes of it is told to the handout, by calls that the job's loop makes.

    Args:
        plan: what the job is to do.
        handout: who is told.
        storage: the storage of results, if there is any.
        listener: who is told of runs that are in their places.
        post: takes a call, with its arguments, for the loop.
    """

    def __init__(
        self,
        plan: Plan,
        *,
        handout: Handout,
        storage: Storage | None,
        listener: Listener,
        post: Callable[..., None],
    ) -> None:
        self._plan = plan
        self._handout = handout
        self._storage = storage
        self._listener = listener
        self._post = post
        self._threads = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="fetch")
        self._stopped = False

    def collect(self, attempt: Attempt, future: Future[Outcome]) -> None:
        """Get an outcome and, if it is a run that counts, keep that."""
        self._threads.submit(self._collect, attempt, future)

    def keep(self, attempt: Attempt) -> None:
        """Put the run of an attempt, whose outcome is there, into its place and tell of it."""
        self._threads.submit(self._keep, attempt)

    def remove(self, attempt: Attempt, future: Future[Outcome]) -> None:
        """Take from storage what a worker wrote there that cannot be trusted."""
        self._threads.submit(self._remove, attempt, future)

    def stop(self) -> None:
        """Tell of no more runs."""
        self._stopped = True

    def close(self) -> None:
        """Wait until nothing is being fetched; what has not begun is not."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _collect(self, attempt: Attempt, future: Future[Outcome]) -> None:
        try:
            outcome = _outcome(future)
        except Exception as error:  # a bug of ours, or of Dask's
            name = self._plan.works[attempt.piece].piece.name
            text = f"case {name!r}: on worker {attempt.worker}: {type(error).__name__}: {error}"
            failure = MachineError(text)
            self._post(self._handout.not_kept, attempt.name, failure, garbled=False)
            return
        if outcome is not None and not is_sound(outcome):
            self._not_sent(attempt, "it is no outcome of a case")
            return
        if isinstance(outcome, Done) and not attempt.check:
            attempt.outcome = outcome
            self._keep(attempt)
        else:
            self._post(self._handout.collected, attempt.name, outcome)

    def _keep(self, attempt: Attempt) -> None:
        work, key = self._plan.works[attempt.piece], self._plan.keys[attempt.piece]
        done = attempt.outcome
        assert isinstance(done, Done)
        try:
            run = deliver(done, work, key=key, storage=self._storage)
            if not self._stopped:
                self._listener.done(work.piece, run)
        except GarbledError as error:
            self._not_sent(attempt, str(error))
        except LongfatError as error:
            self._post(self._handout.not_kept, attempt.name, error, garbled=False)
        except BaseException as error:  # to be raised where somebody sees it
            self._post(_raise, error)
        else:
            self._post(self._handout.kept, attempt.name)

    def _not_sent(self, attempt: Attempt, reason: str) -> None:
        name = self._plan.works[attempt.piece].piece.name
        failure = HostError(f"what came of case {name!r} is not what was sent: {reason}")
        self._post(self._handout.not_kept, attempt.name, failure, garbled=True)

    def _remove(self, attempt: Attempt, future: Future[Outcome]) -> None:
        with contextlib.suppress(Exception):
            outcome = attempt.outcome or future.result()
            if not is_sound(outcome) or not isinstance(outcome, Done) or outcome.recalled:
                return
            if self._storage is not None:
                self._storage.remove(key=self._plan.keys[attempt.piece], digest=outcome.digest)
        future.cancel()


def _outcome(future: Future[Outcome]) -> Outcome | None:
    """Return what came of an attempt; None if that is lost."""
    try:
        return future.result()
    except (CancelledError, TimeoutError, OSError):
        return None


def _raise(error: BaseException) -> None:
    raise error
