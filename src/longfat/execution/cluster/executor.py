"""A cluster of Dask distributed as an executor of cases."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING

from longfat.engine import kernel as kernels
from longfat.execution.cluster.connection import connected
from longfat.execution.cluster.job import Job
from longfat.execution.cluster.plan import Plan
from longfat.execution.cluster.storage import Storage, check_url
from longfat.execution.cluster.tls import Certificates
from longfat.execution.runs import result_key
from longfat.execution.tools import Toolbox

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from longfat.execution.executor import Listener, RunTask

CHECK_SHARE = 0.05
PATIENCE_S = 120.0
_POLL_S = 0.2


def _to_stderr(text: str) -> None:
    print(f"cluster: {text}", file=sys.stderr, flush=True)


class Cluster:
    """Has cases run by the workers of a Dask scheduler; it is an `Executor`.

    Args:
        scheduler: the scheduler's address, such as `tcp://10.0.0.1:8786`.
        certificates: for a scheduler at `tls://`; what Dask is configured to use, if None.
        storage: an fsspec URL of storage that client and workers share; results go
            there, and come from there if they are there already. None for results
            that come back through the scheduler.
        use_storage: take results from storage; else run all cases anyway.
        check_share: how much of the expected work may be spent on checking workers
            against each other, 0 to 1; 0 for no checks. See `checks`.
        patience_s: how long to wait while there is no worker, in seconds.
        warn: called with a sentence about a worker that is left out or gone.

    Raises:
        InputError: `storage` cannot name shared storage.
    """

    def __init__(
        self,
        *,
        scheduler: str,
        certificates: Certificates | None = None,
        storage: str | None = None,
        use_storage: bool = True,
        check_share: float = CHECK_SHARE,
        patience_s: float = PATIENCE_S,
        warn: Callable[[str], None] = _to_stderr,
    ) -> None:
        if storage is not None:
            check_url(storage)
        self._scheduler = scheduler
        self._certificates = certificates or Certificates()
        self._storage = storage
        self._use_storage = use_storage
        self._check_share = check_share
        self._patience_s = patience_s
        self._warn = warn

    def execute(
        self, works: Sequence[RunTask], *, listener: Listener, stop: threading.Event
    ) -> None:
        """Run works on the cluster; see `Executor`.

        Raises:
            InputError: the scheduler's address is none, or certificates do not go with it.
            HostError: there is no scheduler, no worker that can be used, or no
                storage; this host lacks a tool or a kernel; or workers disagree and
                nobody can decide.
        """
        if not works:
            return
        plan = self._plan(works)
        interrupted = threading.Event()
        # A thread of its own: a notebook's event loop may run in this one, and Ctrl-C,
        # which Python raises in the main thread, must not end the job in mid-step.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="cluster") as thread:
            job = thread.submit(
                lambda: asyncio.run(self._run(plan, listener, ends=(stop, interrupted)))
            )
            try:
                # A signal that another thread takes is handled here, and not while we block.
                while not job.done():
                    wait([job], timeout=_POLL_S)
            finally:
                interrupted.set()
            job.result()

    async def _run(
        self, plan: Plan, listener: Listener, *, ends: Sequence[threading.Event]
    ) -> None:
        job = asyncio.create_task(self._run_job(plan, listener))
        while not job.done() and not any(end.is_set() for end in ends):
            await asyncio.wait([job], timeout=_POLL_S)
        job.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await job

    async def _run_job(self, plan: Plan, listener: Listener) -> None:
        storage = Storage(self._storage) if self._storage is not None else None
        async with connected(self._scheduler, certificates=self._certificates) as client:
            await Job(client, plan, storage=storage, listener=listener, warn=self._warn).run()

    def _plan(self, works: Sequence[RunTask]) -> Plan:
        toolbox = Toolbox()
        built = {version: kernels.find(version) for version in {w.case.kernel for w in works}}
        tools = [toolbox.of(work.case) for work in works]
        keys = [
            result_key(
                work.case.digest, kernel_digest=built[work.case.kernel].digest, tools=work_tools
            )
            for work, work_tools in zip(works, tools, strict=True)
        ]
        return Plan(
            name=secrets.token_hex(8),
            scheduler=self._scheduler,
            works=works,
            tools=tools,
            keys=keys,
            kernels=built,
            storage_url=self._storage,
            use_storage=self._use_storage,
            check_share=self._check_share,
            patience_s=self._patience_s,
        )
