"""Workers before they get work: each is looked at, given the kernels it lacks, and booted."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from longfat.engine.kernel.parcel import fingerprint
from longfat.execution.cluster.differences import Wanted, differences
from longfat.execution.cluster.packing import packed
from longfat.execution.cluster.task import make_ready
from longfat.execution.cluster.workers import look, software, told

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from distributed import Client, Future

    from longfat.engine.kernel import Kernel
    from longfat.execution.executor import RunTask
    from longfat.execution.runs import Tool

# Before any piece, also those of others.
_FIRST = 10**9
# So long a check of workers against each other waits for those that are being looked at.
_EXPECTED_WITHIN_S = 15.0


@dataclass(slots=True)
class _Guest:
    """A worker that is being looked at."""

    threads: int
    since_s: float
    host: str = ""
    future: Future[Any] | None = None


class Admission:
    """Looks at workers and tells who may work.

    Args:
        client: the connection.
        post: takes a call that is to be made from the thread that uses us.
        job: names the client's job.
        works: what is to be run.
        tools: of each work.
        kernels: the kernels that the works need.
        storage: the storage of results, if there is any.
        token: the name of a token that was written there.
        admit: told of a worker that may work: its address, its threads, its host.
        refuse: told of one that may not, and why.
    """

    def __init__(
        self,
        client: Client,
        *,
        post: Callable[[Callable[[], None]], None],
        job: str,
        works: Sequence[RunTask],
        tools: Sequence[dict[str, Tool]],
        kernels: Sequence[Kernel],
        storage: str | None,
        token: str,
        admit: Callable[[str, int, str], None],
        refuse: Callable[[str, str], None],
    ) -> None:
        self._client = client
        self._post = post
        self._job = job
        self._kernels = {kernel.digest: kernel for kernel in kernels}
        self._storage = storage
        self._token = token
        self._admit = admit
        self._refuse = refuse
        # One case for each set of tools is enough to have a worker look at all of them.
        kinds = {frozenset(of_it): index for index, of_it in enumerate(tools)}
        self._cases = [json.dumps(works[index].case.to_json()) for index in kinds.values()]
        self._wanted = Wanted(
            software=software(),
            longfat=tools[0]["longfat"].digest,
            tools=[told(tools[index]) for index in kinds.values()],
            kernels={digest: fingerprint(one.folder) for digest, one in self._kernels.items()},
        )
        self._blocks: dict[str, bytes] = {}
        self._guests: dict[str, _Guest] = {}

    @property
    def expecting(self) -> bool:
        """Tell whether a worker is being looked at that may soon work."""
        now_s = time.monotonic()
        return any(now_s - one.since_s < _EXPECTED_WITHIN_S for one in self._guests.values())

    def come(self, worker: str, threads: int) -> None:
        """Look at a worker that has come."""
        self._guests[worker] = _Guest(threads, time.monotonic())
        self._ask(
            worker,
            self._looked,
            look,
            job=self._job,
            cases=self._cases,
            kernel_digests=list(self._kernels),
            storage=self._storage,
            token=self._token,
        )

    def gone(self, worker: str) -> None:
        """Forget a worker."""
        if (guest := self._guests.pop(worker, None)) and guest.future is not None:
            guest.future.cancel()

    def close(self) -> None:
        """Forget all."""
        for worker in list(self._guests):
            self.gone(worker)

    def _ask(
        self,
        worker: str,
        then: Callable[[str, Future[Any]], None],
        question: Callable[..., Any],
        **arguments: Any,
    ) -> None:
        future = self._client.submit(
            question,
            **arguments,
            key=f"longfat-{question.__name__}-{self._job}-{worker}",
            workers=[worker],
            allow_other_workers=False,
            pure=False,
            priority=_FIRST,
        )
        self._guests[worker].future = future
        future.add_done_callback(lambda done: self._post(partial(then, worker, done)))

    def _answer(self, worker: str, future: Future[Any]) -> Any:
        """Return an answer; None if there is none, and the worker is refused then."""
        guest = self._guests.get(worker)
        if guest is None or guest.future is not future or future.status == "cancelled":
            return None
        if future.status == "finished":
            return future.result()
        error = future.exception()
        self._out(worker, f"it cannot answer: {type(error).__name__}: {error}")
        return None

    def _looked(self, worker: str, future: Future[Any]) -> None:
        answer = self._answer(worker, future)
        if answer is None:
            return
        try:
            found = differences(answer, self._wanted)
            host = str(answer["host"])
            lacking = [digest for digest in self._kernels if digest not in answer["kernels"]]
        except (LookupError, TypeError, ValueError, AttributeError):
            self._out(worker, "it does not tell what it is as it should")
            return
        if found:
            self._out(worker, "; ".join(found))
            return
        self._guests[worker].host = host
        for digest in lacking:
            if digest not in self._blocks:
                self._blocks[digest] = packed(self._kernels[digest].folder)
        self._ask(
            worker,
            self._readied,
            make_ready,
            job=self._job,
            contents=dict(self._wanted.kernels),
            blocks={digest: self._blocks[digest] for digest in lacking},
        )

    def _readied(self, worker: str, future: Future[Any]) -> None:
        trouble = self._answer(worker, future)
        if trouble is None:
            return
        if trouble:
            self._out(worker, trouble)
            return
        guest = self._guests.pop(worker)
        self._admit(worker, guest.threads, guest.host)

    def _out(self, worker: str, reason: str) -> None:
        self._guests.pop(worker, None)
        self._refuse(worker, reason)
