"""One call of the executor: submits cases to Dask, and accepts or rejects their results.

Dask decides which of the allowed workers runs a case (by load and by the memory it
needs, as a worker resource), steals waiting cases for idle workers, and reruns a case
whose worker is lost. Three things are decided here, since Dask cannot:

* **When a case is submitted.** Dask fixes the workers that a task may run on when it is
  submitted, and assigns a task with such a restriction at once instead of queueing it.
  A resource per job would do instead of the list, but Dask does not look again at
  tasks without a worker when a worker gets a resource, and cannot remove one. So no more
  cases are submitted than admitted workers have threads, and a few ahead; the costliest
  first. Workers that come later get the cases that are submitted then.
* **Whether a result is accepted.** Only if its files are those of its digest, and its key is the
  requested one (`transfer.deliver`); otherwise the case is run by another worker.
* **When a case has failed.** Dask counts every case that a dying worker had been
  assigned; only those that ran there count here. Dask's `retries` may choose the same worker
  again; a case that a worker cannot run must go to another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from longfat.errors import HostError, LongfatError
from longfat.execution.case_runner import Progress
from longfat_cluster.admission import Members
from longfat_cluster.attempt import Attempt, CaseState, LostError, submit
from longfat_cluster.transfer import (
    TOPIC,
    Done,
    Failed,
    GarbledError,
    Outcome,
    deliver,
    is_message,
    is_sound,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from distributed import Client

    from longfat.execution.executor import RunObserver
    from longfat_cluster.transfer import Plan

MAX_TRIES = 3
"""The maximum number of attempts, on workers that die, lack something, or send garbage."""

# A case may be lost before the message arrives that it runs; but not indefinitely.
_MAX_LOSSES = 10
_AHEAD_SHARE = 4
_LOOK_EVERY_S = 0.5
_POLL_S = 0.1
_ENDS_WITHIN_S = 8.0
_DELIVERIES = 4


class Job:
    """Runs cases on a cluster.

    Args:
        client: the connection to the scheduler, asynchronous.
        plan: what to run.
        listener: is notified of progress, results and failures.
        warn: called with a message about a worker that is excluded or lost.
    """

    def __init__(
        self,
        client: Client,
        plan: Plan,
        *,
        listener: RunObserver,
        warn: Callable[[str], None],
    ) -> None:
        self._client = client
        self._plan = plan
        self._listener = listener
        self._warn = warn
        self._members = Members(client, plan, spawn=self._spawn, warn=warn)
        self._cases = [CaseState(index, run_task) for index, run_task in enumerate(plan.run_tasks)]
        self._waiting = list(self._cases)
        self._sort()
        self._left = len(self._cases)
        self._attempts: dict[str, Attempt] = {}
        self._running: set[tuple[str, str]] = set()  # attempts and the workers that run them
        self._tasks: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._broken: BaseException | None = None
        self._stopped = False
        self._deliveries = asyncio.Semaphore(_DELIVERIES)
        self._deliverers = ThreadPoolExecutor(_DELIVERIES, thread_name_prefix="deliver")

    async def run(self) -> None:
        """Run the cases; running ones are cancelled if this is cancelled.

        Raises:
            HostError: the cluster cannot run them.
        """
        self._client.subscribe_topic(TOPIC, self._on_message)
        try:
            await self._loop()
        finally:
            await self._end()

    async def _loop(self) -> None:
        looked_s = 0.0
        while self._left > 0:
            if time.monotonic() - looked_s >= _LOOK_EVERY_S:
                await self._poll_members()
                looked_s = time.monotonic()
            self._changed.clear()
            self._submit_waiting()
            if self._broken is not None:
                raise self._broken
            self._members.require_some()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), _LOOK_EVERY_S / 2)
        if self._running:
            await self._poll_members()

    # -- workers

    async def _poll_members(self) -> None:
        for worker in await self._members.poll():
            self._remove_worker(worker)

    def _remove_worker(self, worker: str) -> None:
        """Record that a worker has died or left; Dask reassigns its cases."""
        if any(at == worker for _, at in self._running):
            self._warn(f"worker {worker} is lost; its cases go to others")
        self._running = {entry for entry in self._running if entry[1] != worker}
        for attempt in [one for one in self._attempts.values() if not one.taken]:
            case, ran = attempt.case, worker in attempt.ran_on
            attempt.ran_on.discard(worker)
            if ran and attempt.future.status != "finished":
                case.deaths.append(worker)
            if len(case.deaths) >= MAX_TRIES and not case.over:
                died = f"{len(case.deaths)} times: {', '.join(case.deaths)}"
                self._finish(case, case.error(f"the worker that ran it died, {died}"))
            elif (ran and attempt.future.done()) or not attempt.can_run(self._members.admitted):
                self._give_back(attempt, losses=1)

    def _exclude(self, worker: str, reason: str) -> None:
        """Assign a worker no more cases, and take back those that it has."""
        if self._members.exclude(worker, reason):
            self._spawn(self._withdraw(worker))

    async def _withdraw(self, worker: str) -> None:
        try:
            names = (await self._client.processing([worker])).get(worker, ())
        except (OSError, KeyError):
            return  # it is gone, which is handled elsewhere
        for name in names:
            if (attempt := self._attempts.get(name)) and not attempt.taken:
                self._give_back(attempt)

    # -- cases to Dask

    def _sort(self) -> None:
        self._waiting.sort(key=lambda case: -case.run_task.cost.wall_s)

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
                self._finish(case, case.refusal())
            if room <= 0:
                break

    def _submit(self, case: CaseState, workers: Sequence[str]) -> None:
        members = self._members.admitted
        attempt = submit(self._client, self._plan, case, workers, members=members)
        self._attempts[attempt.name] = attempt
        attempt.task = self._spawn(self._follow(attempt))

    def _on_message(self, event: tuple[float, Any]) -> None:
        """Process a worker's message."""
        message = event[1]
        if not is_message(message) or message["job"] != self._plan.name:
            return
        name, worker = message["attempt"], message["worker"]
        attempt = self._attempts.get(name)
        if "left" in message:
            if attempt is not None:
                attempt.ran_on.discard(worker)
            self._running.discard((name, worker))
            self._changed.set()
        elif attempt is None or attempt.future.done():
            return
        elif "begun" in message:
            self._running.add((name, worker))
            attempt.ran_on.add(worker)
        else:
            progress = Progress(attempt.case.name, message["virtual_s"], message["expected_s"])
            self._listener.progress(attempt.case.run_task.run_id, progress)

    # -- outcomes

    async def _follow(self, attempt: Attempt) -> None:
        """Wait for the outcome of an attempt, and process it."""
        case = attempt.case
        try:
            worker = await attempt.finished(self._client)
            # Who else began it is lost, which the next look at the workers reports.
            self._running.discard((attempt.name, worker))
            self._changed.set()
            async with self._deliveries:
                await self._take(case, worker, await attempt.outcome())
        except LostError as error:
            await self._poll_members()  # who died may have ended the case for good
            if attempt.name in self._attempts:
                self._give_back(attempt, losses=error.times)
        except LongfatError as error:
            self._finish(case, error)
        finally:
            self._forget(attempt)

    async def _take(self, case: CaseState, worker: str, outcome: Outcome) -> None:
        """Process an outcome, which is untrusted."""
        if not is_sound(outcome):
            self._refuse(case, worker, case.garbled("it is not an outcome of a case"))
            return
        if isinstance(outcome, Failed):
            if isinstance(outcome.error, HostError):
                self._refuse(case, worker, outcome.error)
            else:
                self._finish(case, outcome.error)
            return
        try:
            await asyncio.get_running_loop().run_in_executor(
                self._deliverers, self._deliver, case, outcome
            )
        except GarbledError as error:
            self._refuse(case, worker, case.garbled(str(error)))
            return
        # The worker lacked something, not the case.
        for other, why in case.refused.items():
            self._exclude(other, why.message)
        self._finish(case, None)

    def _deliver(self, case: CaseState, done: Done) -> None:
        """Publish a run, in a thread, and report it."""
        key = self._plan.keys[case.index]
        run = deliver(done, case.run_task, key=key)
        if not self._stopped:
            self._listener.done(case.run_task.run_id, run)

    def _refuse(self, case: CaseState, worker: str, error: LongfatError) -> None:
        """Retry a case elsewhere that a worker cannot run."""
        case.refused[worker] = error
        if len(case.refused) >= MAX_TRIES:
            self._finish(case, case.refusal())
        else:
            self._return(case)

    def _return(self, case: CaseState) -> None:
        """Put a case back into the queue."""
        if not case.over and case not in self._waiting:
            self._waiting.append(case)
            self._sort()
        self._changed.set()

    def _give_back(self, attempt: Attempt, *, losses: int = 0) -> None:
        """Give up an attempt; its case is submitted again, unless it was lost too often."""
        case = attempt.case
        self._forget(attempt)
        if attempt.task is not None and attempt.task is not asyncio.current_task():
            attempt.task.cancel()
        case.losses += losses
        if case.losses >= _MAX_LOSSES:
            times = f"{case.losses} times"
            self._finish(case, case.error(f"the worker that had it was lost, {times}"))
        else:
            self._return(case)

    def _forget(self, attempt: Attempt) -> None:
        if self._attempts.pop(attempt.name, None) is not None:
            attempt.future.release()
        self._changed.set()

    def _finish(self, case: CaseState, error: LongfatError | None) -> None:
        """Record that a case is done, or has failed for good."""
        if case.over:
            return
        case.over = True
        self._left -= 1
        if error is not None:
            self._listener.failed(case.run_task.run_id, error)
        for attempt in [one for one in self._attempts.values() if one.case is case]:
            self._forget(attempt)
            if attempt.task is not None and attempt.task is not asyncio.current_task():
                attempt.task.cancel()
        self._changed.set()

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

    async def _end(self) -> None:
        """Cancel everything, and wait until no machine of this job runs."""
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
