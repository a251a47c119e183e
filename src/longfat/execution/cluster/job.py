"""One run of works on a cluster: the loop that makes the moves which the handout decides.

All decisions are made in the thread that runs the loop. Dask's threads and those
that fetch results only post calls to it.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.errors import HostError, LongfatError
from longfat.execution.case_runner import Progress
from longfat.execution.cluster.admission import Admission
from longfat.execution.cluster.connection import lost
from longfat.execution.cluster.decisions import (
    Attempt,
    Collect,
    Drop,
    Fail,
    Hand,
    Keep,
    LeaveOut,
    Move,
    Release,
    Sketch,
)
from longfat.execution.cluster.fetch import Fetcher
from longfat.execution.cluster.messages import TOPIC, Order, is_message
from longfat.execution.cluster.scheduler import Handout
from longfat.execution.cluster.task import execute

if TYPE_CHECKING:
    import threading
    from collections.abc import Mapping

    from distributed import Client, Future

    from longfat.execution.cluster.messages import Outcome
    from longfat.execution.cluster.plan import Plan
    from longfat.execution.cluster.storage import Storage
    from longfat.execution.executor import Listener

_LOOK_EVERY_S = 0.5
_TELL_ABSENCE_AFTER_S = 3.0
_ENDS_WITHIN_S = 8.0
# All workers' messages together, in one second.
_MOST_MESSAGES = 200
_TELLS_EVERY_S = 0.5
_BEFORE_ALL = 10**6


class Job:
    """Runs works on a cluster.

    Args:
        client: the connection to the scheduler.
        plan: what to do.
        storage: the storage of results, if there is any.
        listener: who is told.
        warn: told of workers that are left out or gone.
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
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._handout = Handout(
            [
                Sketch(
                    name=work.piece.name,
                    cost_s=work.cost.wall_s,
                    kernel=plan.kernels[work.case.kernel].digest,
                )
                for work in plan.works
            ],
            check_share=plan.check_share,
        )
        self._token = plan.name
        self._admission = Admission(
            client,
            post=self._calls.put,
            job=plan.name,
            works=plan.works,
            tools=plan.tools,
            kernels=list(plan.kernels.values()),
            storage=plan.storage_url,
            token=self._token,
            admit=self._admit,
            refuse=self._leave_out,
        )
        self._threads: dict[str, int] = {}
        self._left_out: dict[str, str] = {}
        self._futures: dict[str, Future[Outcome]] = {}
        self._running: dict[str, str] = {}  # workers by attempts
        self._fetcher = Fetcher(
            plan, handout=self._handout, storage=storage, listener=listener, post=self._post
        )

    def run(self, stop: threading.Event) -> None:
        """Run the works.

        Args:
            stop: ends the job when it is set.

        Raises:
            HostError: the cluster cannot do it.
        """
        if self._storage is not None:
            self._storage.write_token(self._token)
        self._client.subscribe_topic(TOPIC, self._heard)
        try:
            self._loop(stop)
        finally:
            self._end()

    def _loop(self, stop: threading.Event) -> None:
        looked_s, absent_s, told = 0.0, time.monotonic(), False
        while not stop.is_set():
            now_s = time.monotonic()
            if now_s - looked_s >= _LOOK_EVERY_S:
                self._look_round()
                looked_s = now_s
            self._handout.expecting = self._admission.expecting
            for move in self._handout.moves():
                self._make(move)
            if self._handout.broken is not None:
                raise self._handout.broken
            if self._handout.finished:
                return
            if self._handout.seated or self._admission.expecting:
                absent_s, told = now_s, False
            else:
                told = self._miss_workers(now_s - absent_s, told=told)
            with contextlib.suppress(queue.Empty):
                self._calls.get(timeout=_LOOK_EVERY_S / 2)()
                while True:
                    self._calls.get_nowait()()

    def _look_round(self) -> None:
        """See which workers have come and which are gone."""
        try:
            if self._client.status != "running":
                raise lost(self._plan.scheduler)
            threads: dict[str, int] = dict(self._client.nthreads())
        except (OSError, TimeoutError, ValueError) as error:
            raise lost(self._plan.scheduler) from error
        for worker in [one for one in self._threads if one not in threads]:
            del self._threads[worker]
            self._left_out.pop(worker, None)
            if any(at == worker for at in self._running.values()):
                self._warn(f"worker {worker} is gone; others get what it was at")
            self._running = {name: at for name, at in self._running.items() if at != worker}
            self._admission.gone(worker)
            self._handout.gone(worker)
        for worker, count in threads.items():
            if worker not in self._threads:
                self._threads[worker] = count
                self._admission.come(worker, count)

    def _miss_workers(self, absent_s: float, *, told: bool) -> bool:
        """Wait for workers, but not for ever; return whether that was told."""
        reasons = "".join(f"\n    worker {one}: {why}" for one, why in self._left_out.items())
        at = self._plan.scheduler
        if self._left_out and len(self._left_out) == len(self._threads):
            if absent_s >= _TELL_ABSENCE_AFTER_S:
                raise HostError(f"no worker of {at} can be used:{reasons}")
            return told
        if absent_s >= self._plan.patience_s:
            raise HostError(
                f"the scheduler at {at} has had no worker for {absent_s:.0f} s",
                hint=f"start some: dask worker {at}",
            )
        if absent_s >= _TELL_ABSENCE_AFTER_S and not told:
            self._warn(
                f"the scheduler at {at} has no worker; waiting {self._plan.patience_s:.0f} s"
                f" for one (`dask worker {at}`)"
            )
            return True
        return told

    def _admit(self, worker: str, threads: int, host: str) -> None:
        self._handout.join(worker, threads=threads, host=host)

    def _leave_out(self, worker: str, reason: str) -> None:
        self._left_out[worker] = reason
        self._warn(f"worker {worker} gets no work: {reason}")

    def _make(self, move: Move) -> None:
        match move:
            case Hand(attempt):
                self._hand(attempt)
            case Collect(attempt):
                self._fetcher.collect(attempt, self._futures[attempt.name])
            case Keep(attempt):
                self._fetcher.keep(attempt)
            case Release(attempt):
                self._futures[attempt.name].cancel()
            case Drop(attempt, doubtful=doubtful):
                self._drop(attempt, doubtful=doubtful)
            case Fail(piece, error):
                self._listener.failed(self._plan.works[piece].piece, error)
            case LeaveOut(worker, reason):
                self._leave_out(worker, reason)

    def _hand(self, attempt: Attempt) -> None:
        work = self._plan.works[attempt.piece]
        threads = sum(self._threads.values())
        order = Order(
            job=self._plan.name,
            attempt=attempt.name,
            case=work.case,
            name=work.piece.name,
            study=work.study,
            parameters=dict(work.parameters),
            setup_places=work.setup_places,
            kernel_digest=self._plan.kernels[work.case.kernel].digest,
            key=self._plan.keys[attempt.piece],
            storage=self._plan.storage_url,
            recall=self._plan.recall and not attempt.check,
            every_s=max(_TELLS_EVERY_S, threads / _MOST_MESSAGES),
        )
        future = self._client.submit(
            execute,
            order.packed(),
            key=f"longfat-{self._plan.name}-{attempt.name}",
            workers=[attempt.worker],
            allow_other_workers=False,
            pure=False,
            priority=_BEFORE_ALL if attempt.check else int(work.cost.wall_s),
        )
        self._futures[attempt.name] = future
        future.add_done_callback(
            lambda _: self._calls.put(partial(self._over, attempt.name, future))
        )

    def _over(self, name: str, future: Future[Outcome]) -> None:
        # What was cancelled may run on for a moment: its worker tells when it has ended.
        if future.status != "cancelled":
            self._running.pop(name, None)
        self._handout.over(name)

    def _heard(self, event: tuple[float, Any]) -> None:
        """Take a worker's message, in a thread of Dask's."""
        message = event[1]
        if is_message(message) and message["job"] == self._plan.name:
            self._calls.put(partial(self._told, message))

    def _told(self, message: Mapping[str, Any]) -> None:
        name = message["attempt"]
        attempt = self._handout.attempt(name)
        if "left" in message:
            self._running.pop(name, None)
        elif attempt is None or attempt.over:
            return
        elif "begun" in message:
            self._running[name] = attempt.worker
            self._handout.begun(name)
        else:
            piece = self._plan.works[attempt.piece].piece
            progress = Progress(piece.name, message["virtual_s"], message["expected_s"])
            self._listener.progress(piece, progress)

    def _post(self, call: Callable[..., None], *arguments: Any, **options: Any) -> None:
        self._calls.put(partial(call, *arguments, **options))

    def _drop(self, attempt: Attempt, *, doubtful: bool) -> None:
        future = self._futures.pop(attempt.name, None)
        if future is not None:
            if doubtful and self._storage is not None and attempt.over:
                self._fetcher.remove(attempt, future)
            else:
                future.cancel()

    def _end(self) -> None:
        """Cancel what runs, and wait until no machine of ours does."""
        self._fetcher.stop()
        with contextlib.suppress(Exception):
            self._admission.close()
            self._client.cancel(list(self._futures.values()), force=True)
        self._fetcher.close()
        end_s = time.monotonic() + _ENDS_WITHIN_S
        with contextlib.suppress(queue.Empty, LongfatError):
            while self._running and self._client.status == "running":
                call = self._calls.get(timeout=max(0.0, end_s - time.monotonic()))
                with contextlib.suppress(Exception):
                    call()
        with contextlib.suppress(Exception):
            self._client.unsubscribe_topic(TOPIC)
        if self._storage is not None:
            self._storage.remove_token(self._token)
            self._storage.remove_token(f"{self._token}-seen")
