"""Which of the available workers get cases: those like this host, which can boot a machine.

Each new worker describes its code (`describe_worker`), and compares itself with what the job
needs (`prepare_worker`).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat import __version__
from longfat.errors import HostError
from longfat_cluster.connection import lost, version_differences
from longfat_cluster.worker import (
    code_digest,
    describe_worker,
    prepare_worker,
    software,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from distributed import Client

    from longfat_cluster.transfer import Plan

# Before any case, including those of others.
_FIRST = 10**9
_SHOWN = 12
# A scheduler that does not respond for so long is considered lost.
_ANSWERS_WITHIN_S = 30.0
_REPORT_ABSENCE_AFTER_S = 3.0
# So long others wait for a worker that is being admitted.
_EXPECTED_WITHIN_S = 15.0


class NotAdmittedError(Exception):
    """A worker is not admitted; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A worker that was admitted.

    Attributes:
        threads: how many cases it runs at once.
        memory_bytes: how much memory its machines may use together.
    """

    threads: int
    memory_bytes: float


class Members:
    """Admits new workers, and detects lost ones.

    Args:
        client: the connection to the scheduler.
        plan: the plan of the job.
        spawn: starts a coroutine.
        warn: called with a message about a worker that is excluded.

    Attributes:
        admitted: the workers that get cases, by their addresses.
    """

    def __init__(
        self,
        client: Client,
        plan: Plan,
        *,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        warn: Callable[[str], None],
    ) -> None:
        self.admitted: dict[str, Member] = {}
        self._client = client
        self._plan = plan
        self._spawn = spawn
        self._warn = warn
        self._needs = plan.needs.packed()
        self._threads: dict[str, int] = {}  # of all workers that Dask has
        self._admitting: dict[str, tuple[asyncio.Task[None], float]] = {}
        self._excluded: dict[str, str] = {}
        self._absent_since_s: float | None = None
        self._reported = False

    @property
    def expecting(self) -> bool:
        """Whether a worker is being admitted that may soon run cases."""
        now_s = time.monotonic()
        return any(now_s - since_s < _EXPECTED_WITHIN_S for _, since_s in self._admitting.values())

    async def poll(self) -> list[str]:
        """Start to admit new workers; return those that are lost.

        Raises:
            HostError: the scheduler is gone.
        """
        try:
            if self._client.status != "running":
                raise lost(self._plan.scheduler)
            answer = await asyncio.wait_for(self._client.nthreads(), _ANSWERS_WITHIN_S)
            threads: dict[str, int] = dict(answer)
        except (OSError, TimeoutError, ValueError) as error:
            raise lost(self._plan.scheduler) from error
        gone = [worker for worker in self._threads if worker not in threads]
        for worker in gone:
            self._excluded.pop(worker, None)
            self.admitted.pop(worker, None)
            if worker in self._admitting:
                self._admitting.pop(worker)[0].cancel()
        for worker in threads.keys() - self._threads.keys():
            task = self._spawn(self._admit(worker, threads[worker]))
            self._admitting[worker] = task, time.monotonic()
        self._threads = threads
        return gone

    def exclude(self, worker: str, reason: str) -> bool:
        """Assign a worker no more cases; return whether it got any until now."""
        if self.admitted.pop(worker, None) is None:
            return False
        self._record_exclusion(worker, reason)
        return True

    def _record_exclusion(self, worker: str, reason: str) -> None:
        self._excluded[worker] = reason
        self._warn(f"worker {worker} gets no cases: {reason}")

    def require_some(self) -> None:
        """Wait for workers, if there are none, with a timeout; called repeatedly.

        Raises:
            HostError: none has come for too long, or none of the present ones is usable.
        """
        if self.admitted or self.expecting:
            self._absent_since_s, self._reported = None, False
            return
        now_s = time.monotonic()
        self._absent_since_s = self._absent_since_s or now_s
        absent_s = now_s - self._absent_since_s
        at, patience_s = self._plan.scheduler, self._plan.patience_s
        none = "no worker that answers" if self._threads else "no worker"
        if self._excluded and len(self._excluded) == len(self._threads):
            if absent_s >= _REPORT_ABSENCE_AFTER_S:
                reasons = (f"\n    worker {one}: {why}" for one, why in self._excluded.items())
                raise HostError(f"no worker of {at} can be used:{''.join(reasons)}")
        elif absent_s >= patience_s:
            raise HostError(
                f"the scheduler at {at} has had {none} for {absent_s:.0f} s",
                hint=f"start some: dask worker {at}",
            )
        elif absent_s >= _REPORT_ABSENCE_AFTER_S and not self._reported:
            self._reported = True
            self._warn(
                f"the scheduler at {at} has {none}; waiting {patience_s:.0f} s"
                f" for one (`dask worker {at}`)"
            )

    # -- admission of one worker

    async def _admit(self, worker: str, threads: int) -> None:
        try:
            memory_bytes = await self._prepare(worker)
            self.admitted[worker] = Member(threads=threads, memory_bytes=memory_bytes)
        except NotAdmittedError as error:
            self._record_exclusion(worker, str(error))
        finally:
            self._admitting.pop(worker, None)

    async def _prepare(self, worker: str) -> float:
        """Compare a worker with the requirements; return the memory of its machines, in bytes.

        Raises:
            NotAdmittedError: it differs, or cannot run machines.
        """
        try:
            found = differences(await self._description(worker))
        except (LookupError, TypeError, ValueError, AttributeError):
            raise NotAdmittedError("its description of itself is invalid") from None
        if found:
            raise NotAdmittedError("; ".join(found))
        try:
            # A task, and restricted to this worker: booting a machine takes one of its threads.
            answer = await self._client.submit(
                prepare_worker,
                self._needs,
                key=f"longfat-prepare-{self._plan.name}-{worker}",
                workers=[worker],
                allow_other_workers=False,
                pure=False,
                priority=_FIRST,
            )
        except Exception as error:
            reason = f"it cannot answer: {type(error).__name__}: {error}"
            raise NotAdmittedError(reason) from error
        match answer:
            case {"problem": "", "memory_bytes": float(memory_bytes)} if memory_bytes > 0:
                return memory_bytes
            case {"problem": str(problem)} if problem:
                raise NotAdmittedError(problem)
        raise NotAdmittedError("its answer about its preparation is invalid")

    async def _description(self, worker: str) -> Any:
        try:
            # No task: a worker that cannot import a task's function breaks its connection.
            answers = await self._client.run(describe_worker, workers=[worker])
            return answers[worker]
        except Exception as error:
            reason = (
                f"it cannot describe itself: {str(error) or type(error).__name__}; longfat"
                f" {__version__} must be installed there, as here"
            )
            raise NotAdmittedError(reason) from error


def differences(description: Mapping[str, Any]) -> list[str]:
    """Return how a worker's code differs from this host's; an empty list if it does not.

    Args:
        description: the answer of `describe_worker`.
    """
    if found := version_differences(description["software"], software()):
        return found  # everything else may follow from that
    there, here = str(description["code"]), code_digest()
    if description["loaded"] != there:
        return ["longfat was changed there since the worker was started; restart it"]
    if there != here:
        return [
            f"longfat has other code there (digest {there[:_SHOWN]}), must be that here"
            f" ({here[:_SHOWN]}), although both are {__version__}"
        ]
    return []
