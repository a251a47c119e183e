"""The workers of a job: new, admitted, excluded and lost ones."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from longfat.errors import HostError
from longfat.execution.cluster.admission import Admission, NotAdmittedError
from longfat.execution.cluster.connection import lost

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from distributed import Client

    from longfat.execution.cluster.admission import Member
    from longfat.execution.cluster.plan import Plan

# A scheduler that does not respond for so long is considered lost.
_ANSWERS_WITHIN_S = 30.0
_REPORT_ABSENCE_AFTER_S = 3.0
# So long others wait for a worker that is being admitted.
_EXPECTED_WITHIN_S = 15.0


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
        self._admission = Admission(client, plan)
        self._threads: dict[str, int] = {}  # of all workers that Dask has
        self._admitting: dict[str, tuple[asyncio.Task[None], float]] = {}
        self._left_out: dict[str, str] = {}
        self._absent_since_s: float | None = None
        self._reported = False

    def __contains__(self, worker: str) -> bool:
        """Return whether Dask has a worker, admitted or not."""
        return worker in self._threads

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
            self._left_out.pop(worker, None)
            self.admitted.pop(worker, None)
            if worker in self._admitting:
                self._admitting.pop(worker)[0].cancel()
        for worker in threads.keys() - self._threads.keys():
            task = self._spawn(self._admit(worker, threads[worker]))
            self._admitting[worker] = task, time.monotonic()
        self._threads = threads
        return gone

    async def _admit(self, worker: str, threads: int) -> None:
        try:
            self.admitted[worker] = await self._admission.admit(worker, threads=threads)
        except NotAdmittedError as error:
            self._leave_out(worker, str(error))
        finally:
            self._admitting.pop(worker, None)

    def exclude(self, worker: str, reason: str) -> bool:
        """Assign a worker no more cases; return whether it got any until now."""
        if self.admitted.pop(worker, None) is None:
            return False
        self._leave_out(worker, reason)
        return True

    def _leave_out(self, worker: str, reason: str) -> None:
        self._left_out[worker] = reason
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
        if self._left_out and len(self._left_out) == len(self._threads):
            if absent_s >= _REPORT_ABSENCE_AFTER_S:
                reasons = (f"\n    worker {one}: {why}" for one, why in self._left_out.items())
                raise HostError(f"no worker of {at} can be used:{''.join(reasons)}")
        elif absent_s >= patience_s:
            raise HostError(
                f"the scheduler at {at} has had no worker for {absent_s:.0f} s",
                hint=f"start some: dask worker {at}",
            )
        elif absent_s >= _REPORT_ABSENCE_AFTER_S and not self._reported:
            self._reported = True
            self._warn(
                f"the scheduler at {at} has no worker; waiting {patience_s:.0f} s"
                f" for one (`dask worker {at}`)"
            )
