"""One call of the executor: cases go to Dask, and what counts of the results is kept.

Dask decides which of the allowed workers runs a case (by load and by the memory it
needs, as a worker resource), steals waiting cases for idle workers, and runs a case
again whose worker is lost. Three things are decided here, since Dask cannot:

* **When a case is submitted.** Dask fixes the workers that a task may run on when it is
  submitted, and assigns a task with such a restriction at once instead of queueing it.
  A resource per job would do instead of the list, but Dask does not look again at
  tasks without a worker when a worker gets a resource, and cannot remove one. So no more
  cases are submitted than admitted workers have threads, and a few ahead; the costliest
  first. Workers that come later get the cases that are submitted then.
* **Whether a result counts.** Only if the workers that ran the case are admitted, and
  agree with others in the checks that they take part in. Until then it stays on the worker.
* **When a case has failed.** Dask counts every case that a dying worker had been
  given; only those that ran there count here. Dask's `retries` may choose the same worker
  again; a case that a worker cannot run must go to another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import CancelledError as DaskCancelledError
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from distributed import KilledWorker

from longfat.errors import HostError, LongfatError, MachineError
from longfat.execution.case_runner import Progress
from longfat.execution.cluster.checks import FAILS, Check, choose, decide, disagreement
from longfat.execution.cluster.delivery import GarbledError, deliver
from longfat.execution.cluster.members import Members
from longfat.execution.cluster.messages import (
    MEMORY,
    TOPIC,
    Differs,
    Done,
    Failed,
    Order,
    Outcome,
    is_message,
    is_sound,
)
from longfat.execution.cluster.task import execute

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from distributed import Client, Future

    from longfat.execution.cluster.plan import Plan
    from longfat.execution.cluster.storage import Storage
    from longfat.execution.executor import Listener, RunTask

MOST_TRIES = 3
"""So often a case is tried: on workers that die of it, that lack something, or garble it."""

# A case may be lost before we hear that it runs; but not for ever.
_MOST_LOSSES = 10
_AHEAD_SHARE = 4
_BEFORE_ALL = 10**6
_LOOK_EVERY_S = 0.5
_POLL_S = 0.1
_ENDS_WITHIN_S = 8.0
# Progress messages of all workers together, in one second.
_MOST_MESSAGES = 200
_PROGRESS_EVERY_S = 0.5
_DELIVERIES = 4

Result = TypeVar("Result")


class _LostError(Exception):
    """An attempt was lost, so many times: its workers died, or the cluster was restarted."""

    def __init__(self, times: int = 1) -> None:
        super().__init__()
        self.times = times


@dataclass(slots=True, eq=False)
class _Case:
    """What has become of a case so far."""

    index: int
    work: RunTask
    over: bool = False
    attempts: int = 0
    losses: int = 0
    deaths: list[str] = field(default_factory=list)
    refused: dict[str, LongfatError] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.work.piece.name


@dataclass(slots=True, eq=False)
class _Attempt:
    """A case in Dask's hands: on one of `workers`, or on the one that a check is about."""

    name: str
    case: _Case
    workers: list[str]
    memory_bytes: float
    check: Check | None
    future: Future[Outcome]
    ran_on: set[str] = field(default_factory=set)
    taken: bool = False
    task: asyncio.Task[None] | None = None


class Job:
    """Runs cases on a cluster.

    Args:
        client: the connection to the scheduler, asynchronous.
        plan: what to do.
        storage: the storage of results, if there is any.
        listener: hears of progress, results and failures.
        warn: called with a sentence about a worker that is left out or gone.
    """

    def __init__(
        self,
        client: Client,
        plan: Plan,
        *,
        storage: Storage | None,
        listener: Listener,
        warn: Callable[[str], None],
    ) -> None:
        self._client = client
        self._plan = plan
        self._storage = storage
        self._listener = listener
        self._warn = warn
        self._members = Members(client, plan, spawn=self._spawn, warn=warn)
        self._cases = [_Case(index, work) for index, work in enumerate(plan.works)]
        self._checks = choose(
            [work.cost.wall_s for work in plan.works],
            [plan.kernels[work.case.kernel].digest for work in plan.works],
            share=plan.check_share,
        )
        checked = {check.case for check in self._checks}
        self._waiting = [case for case in self._cases if case.index not in checked]
        self._sort()
        self._left = len(self._cases)
        self._odd: set[str] = set()  # that gave wrong results
        self._attempts: dict[str, _Attempt] = {}
        self._ballots: dict[int, list[tuple[str, Done | Failed]]] = {}
        self._running: set[tuple[str, str]] = set()  # attempts and the workers that run them
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._broken: BaseException | None = None
        self._stopped = False
        self._deliveries = asyncio.Semaphore(_DELIVERIES)
        self._deliverers = ThreadPoolExecutor(_DELIVERIES, thread_name_prefix="deliver")

    async def run(self, is_stopped: Callable[[], bool]) -> None:
        """Run the cases.

        Args:
            is_stopped: asked a few times a second; ends the job when it is true.

        Raises:
            HostError: the cluster cannot do it.
        """
        if self._storage is not None:
            self._storage.write_token(self._plan.name)
        self._client.subscribe_topic(TOPIC, self._heard)
        try:
            await self._loop(is_stopped)
        finally:
            await self._end()

    async def _loop(self, is_stopped: Callable[[], bool]) -> None:
        looked_s = 0.0
        while not is_stopped():
            if time.monotonic() - looked_s >= _LOOK_EVERY_S:
                await self._look_round()
                looked_s = time.monotonic()
            self._changed.clear()
            self._check_workers()
            self._submit_waiting()
            if self._broken is not None:
                raise self._broken
            if self._left == 0:
                return
            self._members.require_some()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _LOOK_EVERY_S / 2)

    # -- workers

    async def _look_round(self) -> None:
        for worker in await self._members.look_round():
            self._gone(worker)

    def _gone(self, worker: str) -> None:
        """Take note of a worker that has died or left; Dask gives its cases to others."""
        if any(at == worker for _, at in self._running):
            self._warn(f"worker {worker} is gone; others get what it was at")
        self._running = {entry for entry in self._running if entry[1] != worker}
        for attempt in [one for one in self._attempts.values() if not one.taken]:
            case, ran = attempt.case, worker in attempt.ran_on
            attempt.ran_on.discard(worker)
            if ran and attempt.future.status != "finished":
                case.deaths.append(worker)
            if len(case.deaths) >= MOST_TRIES:
                text = f"the worker that ran it died, {len(case.deaths)} times"
                text = f"case {case.name!r}: {text}: {', '.join(case.deaths)}"
                self._finish(case, MachineError(text))
            elif (ran and attempt.future.done()) or not self._can_run(attempt):
                self._give_back(attempt, losses=1)

    def _can_run(self, attempt: _Attempt) -> bool:
        """Return whether a worker is left that Dask may give an attempt to."""
        left = (self._members.admitted.get(worker) for worker in attempt.workers)
        return any(one and one.memory_bytes >= attempt.memory_bytes for one in left)

    def _exclude(self, worker: str, reason: str) -> None:
        """Give a worker no more cases, and take back those that it has."""
        if self._members.exclude(worker, reason):
            self._spawn(self._withdraw(worker))

    async def _withdraw(self, worker: str) -> None:
        try:
            names = (await self._client.processing([worker])).get(worker, ())
        except (OSError, KeyError):
            return  # it is gone, which is noticed elsewhere
        for name in names:
            if (attempt := self._attempts.get(name)) and not attempt.taken:
                self._give_back(attempt)

    # -- cases to Dask

    def _sort(self) -> None:
        self._waiting.sort(key=lambda case: -case.work.cost.wall_s)

    def _submit_waiting(self) -> None:
        """Submit the costliest cases, as many as keep the workers busy."""
        room = sum(
            one.threads + 1 + one.threads // _AHEAD_SHARE for one in self._members.admitted.values()
        )
        room -= sum(not attempt.future.done() for attempt in self._attempts.values())
        for case in list(self._waiting) if room > 0 else ():
            allowed = [worker for worker in self._members.admitted if worker not in case.refused]
            if allowed:
                self._waiting.remove(case)
                self._submit(case, allowed)
                room -= 1
            elif not self._members.expecting:
                self._waiting.remove(case)
                self._finish(case, _refused_error(case))
            if room <= 0:
                break

    def _submit(self, case: _Case, workers: list[str], *, check: Check | None = None) -> None:
        plan, work = self._plan, case.work
        case.attempts += 1
        name = f"longfat-run-{plan.name}-{case.index}-{case.attempts}"
        # A case that needs more than any worker has takes all that the largest has.
        memory_bytes = min(
            work.cost.peak_bytes, max(self._members.admitted[one].memory_bytes for one in workers)
        )
        threads = sum(one.threads for one in self._members.admitted.values())
        order = Order(
            job=plan.name,
            attempt=name,
            work=replace(work, parameters=dict(work.parameters)),
            kernel_digest=plan.kernels[work.case.kernel].digest,
            key=plan.keys[case.index],
            storage=plan.storage_url,
            recall=plan.recall and check is None,
            every_s=max(_PROGRESS_EVERY_S, threads / _MOST_MESSAGES),
        )
        future = self._client.submit(
            execute,
            order.packed(),
            key=name,
            workers=workers,
            allow_other_workers=False,
            resources={MEMORY: memory_bytes},
            priority=_BEFORE_ALL if check is not None else int(work.cost.wall_s),
            pure=False,
        )
        attempt = self._attempts[name] = _Attempt(name, case, workers, memory_bytes, check, future)
        attempt.task = self._spawn(self._follow(attempt))

    def _heard(self, event: tuple[float, Any]) -> None:
        """Take a worker's message."""
        message = event[1]
        if not is_message(message) or message["job"] != self._plan.name:
            return
        name, worker = message["attempt"], message["worker"]
        attempt = self._attempts.get(name)
        if "left" in message:
            self._running.discard((name, worker))
            self._changed.set()
        elif attempt is None or attempt.future.done():
            return
        elif "begun" in message:
            self._running.add((name, worker))
            attempt.ran_on.add(worker)
        else:
            progress = Progress(attempt.case.name, message["virtual_s"], message["expected_s"])
            self._listener.progress(attempt.case.work.piece, progress)

    # -- what comes of them

    async def _follow(self, attempt: _Attempt) -> None:
        """Wait for what comes of an attempt, and act on it."""
        case = attempt.case
        try:
            worker = await self._finished(attempt)
            if attempt.check is not None:
                self._vote(attempt.check, worker, await self._outcome(attempt))
            elif await self._is_trusted(attempt.ran_on | {worker}):
                async with self._deliveries:
                    outcome = await self._outcome(attempt)
                    await self._take(case, worker, outcome)
            else:
                if self._storage is not None and worker in self._odd and worker in self._members:
                    self._remove(case, await self._outcome(attempt))
                self._return(case)
        except _LostError as error:
            if attempt.name in self._attempts:
                self._give_back(attempt, losses=error.times)
        except LongfatError as error:
            self._finish(case, error)
        finally:
            self._forget(attempt)

    async def _finished(self, attempt: _Attempt) -> str:
        """Wait until Dask has run a case; return the worker that has the result."""
        future = attempt.future
        while True:
            error = await future.exception()
            if future.cancelled():
                raise _LostError
            self._running = {one for one in self._running if one[0] != attempt.name}
            self._changed.set()
            if error is not None:
                if isinstance(error, KilledWorker):
                    await self._look_round()  # who died may have ended it for good
                    raise _LostError(error.allowed_failures + 1)
                at = ", ".join(attempt.ran_on) or "unknown"
                text = f"case {attempt.case.name!r}: on worker {at}: {type(error).__name__}"
                raise MachineError(f"{text}: {error}")
            holders = await self._client.who_has([future])
            for worker in holders.get(attempt.name, ()):
                return str(worker)
            await asyncio.sleep(_LOOK_EVERY_S)  # it is lost, and Dask runs it again

    async def _outcome(self, attempt: _Attempt) -> Outcome:
        """Get what a worker has returned."""
        try:
            outcome: Outcome = await attempt.future
        except (DaskCancelledError, KilledWorker, TimeoutError, OSError):
            raise _LostError from None
        attempt.taken = True
        return outcome

    async def _is_trusted(self, workers: set[str]) -> bool:
        """Return whether what workers gave counts, once all checks are settled that they are in."""
        while any(check.suspends(one) for check in self._checks for one in workers):
            if not workers <= self._members.admitted.keys():
                break
            await asyncio.sleep(_POLL_S)
        return workers <= self._members.admitted.keys()

    async def _take(self, case: _Case, worker: str, outcome: Outcome) -> None:
        """Act on an outcome that counts."""
        if not is_sound(outcome):
            self._refuse(case, worker, _garbled(case, "it is no outcome of a case"))
        elif isinstance(outcome, Differs):
            self._exclude(worker, f"it differs from what it was: {outcome.difference}")
            self._return(case)
        elif isinstance(outcome, Failed) and isinstance(outcome.error, HostError):
            self._refuse(case, worker, outcome.error)
        elif isinstance(outcome, Failed):
            self._finish(case, outcome.error)
        else:
            try:
                await self._in_thread(self._deliver, case, outcome)
            except GarbledError as error:
                self._refuse(case, worker, _garbled(case, str(error)))
                return
            # What lacked something there was the worker and not the case.
            for other, why in case.refused.items():
                self._exclude(other, why.message)
            self._finish(case, None)

    def _deliver(self, case: _Case, done: Done) -> None:
        """Put a run into its place, in a thread, and report it."""
        key = self._plan.keys[case.index]
        run = deliver(done, case.work, key=key, storage=self._storage)
        if not self._stopped:
            self._listener.done(case.work.piece, run)

    def _refuse(self, case: _Case, worker: str, error: LongfatError) -> None:
        """Try a case elsewhere that a worker cannot run."""
        case.refused[worker] = error
        if len(case.refused) >= MOST_TRIES:
            self._finish(case, _refused_error(case))
        else:
            self._return(case)

    def _return(self, case: _Case) -> None:
        """Let a case wait to be submitted again; one that a check still wants is not."""
        check = self._check_of(case)
        if not case.over and case not in self._waiting and (check is None or check.settled):
            self._waiting.append(case)
            self._sort()
        self._changed.set()

    def _give_back(self, attempt: _Attempt, *, losses: int = 0) -> None:
        """Give up an attempt; its case is submitted again, unless it was lost too often."""
        case = attempt.case
        self._forget(attempt)
        if attempt.task is not None and attempt.task is not asyncio.current_task():
            attempt.task.cancel()
        case.losses += losses
        if case.losses >= _MOST_LOSSES:
            text = f"the worker that had it was lost, {case.losses} times"
            self._finish(case, MachineError(f"case {case.name!r}: {text}"))
        else:
            self._return(case)

    def _forget(self, attempt: _Attempt) -> None:
        if self._attempts.pop(attempt.name, None) is not None:
            attempt.future.release()
            if attempt.check is not None:
                attempt.check.asked.discard(attempt.workers[0])
        self._changed.set()

    def _finish(self, case: _Case, error: LongfatError | None) -> None:
        """Take note that a case is done, or has failed for good."""
        if case.over:
            return
        case.over = True
        self._left -= 1
        if check := self._check_of(case):
            check.settled = True
        if error is not None:
            self._listener.failed(case.work.piece, error)
        for attempt in [one for one in self._attempts.values() if one.case is case]:
            if attempt.check is None or not attempt.check.votes:
                self._forget(attempt)
                if attempt.task is not None and attempt.task is not asyncio.current_task():
                    attempt.task.cancel()
        self._changed.set()

    # -- checks of workers against each other

    def _check_of(self, case: _Case) -> Check | None:
        return next((check for check in self._checks if check.case == case.index), None)

    def _check_workers(self) -> None:
        """Have checks run by workers that should, and decide those that can be."""
        for check in self._checks:
            case = self._cases[check.case]
            able = {
                worker: one.host
                for worker, one in self._members.admitted.items()
                if worker not in case.refused
            }
            verdict = check.settle(
                others=self._members.expecting or bool(able.keys() - check.votes.keys())
            )
            if verdict is not None:
                self._settled(case, check)
            if self._broken is None:
                for worker in check.ask(able):
                    self._submit(case, [worker], check=check)
            hopeless = self._members.admitted and not able and not self._members.expecting
            if hopeless and not (check.settled or check.asked or check.votes):
                self._finish(case, _refused_error(case))

    def _vote(self, check: Check, worker: str, outcome: Outcome) -> None:
        """Count what a worker gave in a check."""
        case = self._cases[check.case]
        check.asked.discard(worker)
        if not is_sound(outcome):
            self._refuse(case, worker, _garbled(case, "it is no outcome of a case"))
        elif isinstance(outcome, Differs):
            self._exclude(worker, f"it differs from what it was: {outcome.difference}")
        elif isinstance(outcome, Failed) and isinstance(outcome.error, HostError):
            self._refuse(case, worker, outcome.error)
        else:
            check.votes[worker] = outcome.digest if isinstance(outcome, Done) else FAILS
            if not check.settled:
                self._ballots.setdefault(case.index, []).append((worker, outcome))
                return
            verdict = decide(check.votes)
            text = disagreement(case.name, check.votes, verdict)
            if verdict.agreed is None:
                self._broken = HostError(text)
            elif worker in verdict.odd:
                self._odd.add(worker)
                self._remove(case, outcome)
                self._exclude(worker, text)

    def _settled(self, case: _Case, check: Check) -> None:
        """Act on a check that is decided."""
        ballots = self._ballots.pop(case.index)
        verdict = decide(check.votes)
        if verdict.agreed is None or verdict.odd:
            text = disagreement(case.name, check.votes, verdict)
            for _, outcome in ballots:
                self._remove(case, outcome)
            self._finish(case, MachineError(text))
            self._odd.update(verdict.odd)
            for worker in verdict.odd:
                self._exclude(worker, "it disagrees with others")
            if verdict.agreed is None:
                self._broken = HostError(text)
        else:
            self._spawn(self._take_ballot(case, *ballots[0]))

    async def _take_ballot(self, case: _Case, worker: str, outcome: Outcome) -> None:
        try:
            await self._take(case, worker, outcome)
        except LongfatError as error:
            self._finish(case, error)

    def _remove(self, case: _Case, outcome: object) -> None:
        """Take from storage what a worker wrote there that cannot be trusted."""
        if self._storage is None or not is_sound(outcome):
            return
        if isinstance(outcome, Done) and not outcome.recalled:
            key, digest = self._plan.keys[case.index], outcome.digest
            self._deliverers.submit(self._storage.remove, key=key, digest=digest)

    # -- tasks, and their end

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = self._broken or error
        self._changed.set()

    async def _in_thread(self, call: Callable[..., Result], *arguments: Any) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._deliverers, partial(call, *arguments))

    async def _end(self) -> None:
        """Cancel what runs, and wait until no machine of ours does."""
        self._stopped = True
        futures = [attempt.future for attempt in self._attempts.values()]
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.cancel(futures, force=True), _ENDS_WITHIN_S)
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(self._deliverers.shutdown, wait=True)
        end_s = time.monotonic() + _ENDS_WITHIN_S
        while self._running and self._client.status == "running" and time.monotonic() < end_s:
            await asyncio.sleep(_POLL_S)
        with contextlib.suppress(Exception):
            self._client.unsubscribe_topic(TOPIC)
        if self._storage is not None:
            self._storage.remove_token(self._plan.name)
            self._storage.remove_token(f"{self._plan.name}-seen")


def _garbled(case: _Case, reason: str) -> HostError:
    return HostError(f"what came of case {case.name!r} is not what was sent: {reason}")


def _refused_error(case: _Case) -> LongfatError:
    """Return why the last worker could not run a case, and which that was."""
    worker, error = list(case.refused.items())[-1]
    return HostError(f"worker {worker}: {error.message}", hint=getattr(error, "hint", ""))
