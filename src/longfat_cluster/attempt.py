"""A case submitted to Dask: with what it needs, its result awaited and fetched."""

from __future__ import annotations

import asyncio
from concurrent.futures import CancelledError as DaskCancelledError
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from distributed import KilledWorker

from longfat.errors import HostError, LongfatError, MachineError
from longfat_cluster.transfer import MEMORY, Order, Outcome
from longfat_cluster.worker import execute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from distributed import Client, Future

    from longfat.execution.executor import RunTask
    from longfat_cluster.admission import Member
    from longfat_cluster.transfer import Plan

_LOST_FOR_S = 0.5
# Progress messages of all workers together, in one second.
_MAX_MESSAGES = 200
_PROGRESS_EVERY_S = 0.5


class LostError(Exception):
    """An attempt was lost: its workers died, or the cluster was restarted.

    Args:
        times: how many workers lost it.
    """

    def __init__(self, times: int = 1) -> None:
        super().__init__()
        self.times = times


@dataclass(slots=True, eq=False)
class CaseState:
    """The state of a case.

    Attributes:
        index: its index in the plan.
        run_task: what to run.
        over: it is done, or has failed for good.
        attempts: how often it was submitted.
        losses: how often an attempt was lost.
        deaths: the workers that died while they ran it.
        refused: the workers that cannot run it, and why.
    """

    index: int
    run_task: RunTask
    over: bool = False
    attempts: int = 0
    losses: int = 0
    deaths: list[str] = field(default_factory=list)
    refused: dict[str, LongfatError] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return the case's name."""
        return self.run_task.run_id.name

    def error(self, text: str) -> MachineError:
        """Return an error about the case."""
        return MachineError(f"case {self.name!r}: {text}")

    def garbled(self, reason: str) -> HostError:
        """Return the error for an invalid answer of a worker."""
        return HostError(f"the result of case {self.name!r} is invalid: {reason}")

    def refusal(self) -> HostError:
        """Return why the last worker could not run it, and which that was."""
        worker, error = list(self.refused.items())[-1]
        return HostError(f"worker {worker}: {error.message}", hint=error.hint)


@dataclass(slots=True, eq=False)
class Attempt:
    """A case that is submitted to Dask.

    Attributes:
        name: the Dask key.
        case: the case.
        workers: those that may run it.
        memory_bytes: the memory resource that it takes.
        future: Dask's.
        ran_on: the workers that have begun to run it.
        taken: its outcome is fetched, so its worker is not needed any more.
        task: waits for it and processes its outcome.
    """

    name: str
    case: CaseState
    workers: Sequence[str]
    memory_bytes: float
    future: Future[Outcome]
    ran_on: set[str] = field(default_factory=set)
    taken: bool = False
    task: asyncio.Task[None] | None = None

    def can_run(self, members: Mapping[str, Member]) -> bool:
        """Return whether there is a worker left that Dask may assign it to."""
        left = (members.get(worker) for worker in self.workers)
        return any(one and one.memory_bytes >= self.memory_bytes for one in left)

    async def finished(self, client: Client) -> str:
        """Wait until it has been run; return the address of a worker that has the outcome.

        Raises:
            LostError: that will not come.
            MachineError: an exception other than those that `execute` expects.
        """
        while True:
            error = await self.future.exception()
            if self.future.cancelled():
                raise LostError
            if isinstance(error, KilledWorker):
                raise LostError(error.allowed_failures + 1)
            if error is not None:
                at = ", ".join(self.ran_on) or "unknown"
                raise self.case.error(f"on worker {at}: {type(error).__name__}: {error}")
            for worker in (await client.who_has([self.future])).get(self.name, ()):
                return str(worker)
            await asyncio.sleep(_LOST_FOR_S)  # its worker is gone, and Dask reruns it

    async def outcome(self) -> Outcome:
        """Fetch its outcome, which is untrusted, see `is_sound`.

        Raises:
            LostError: it is lost.
        """
        try:
            outcome: Outcome = await self.future
        except (DaskCancelledError, KilledWorker, TimeoutError, OSError):
            raise LostError from None
        self.taken = True
        return outcome


def submit(
    client: Client,
    plan: Plan,
    case: CaseState,
    workers: Sequence[str],
    *,
    members: Mapping[str, Member],
) -> Attempt:
    """Submit a case to Dask.

    Args:
        client: the connection.
        plan: the job's.
        case: the case.
        workers: those that may run it.
        members: all workers of the job.
    """
    run_task = case.run_task
    case.attempts += 1
    name = f"longfat-run-{plan.name}-{case.index}-{case.attempts}"
    # A case that needs more than any worker has takes all that the largest has.
    memory_bytes = min(run_task.cost.peak_bytes, max(members[one].memory_bytes for one in workers))
    order = Order(
        job=plan.name,
        attempt=name,
        run_task=replace(run_task, parameters=dict(run_task.parameters)),
        kernel=plan.kernels[run_task.case.kernel],
        tools=dict(plan.tools[case.index]),
        every_s=max(_PROGRESS_EVERY_S, sum(m.threads for m in members.values()) / _MAX_MESSAGES),
    )
    future = client.submit(
        execute,
        order.packed(),
        key=name,
        workers=list(workers),
        allow_other_workers=False,
        resources={MEMORY: memory_bytes},
        priority=int(run_task.cost.wall_s),
        pure=False,
    )
    return Attempt(name, case, workers, memory_bytes, future)
