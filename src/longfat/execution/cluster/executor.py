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
    """Runs cases on the workers of a Dask scheduler; it is an `Executor`.

    Args:
        scheduler: the scheduler's address, such as `tcp://10.0.0.1:8786`.
        certificates: for a scheduler at `tls://`; what Dask is configured to use, if None.
        storage: an fsspec URL of storage that client and workers share; results go
            there, and are taken from there if they exist already. None for results
            that come back through the scheduler.
        use_storage: take results from storage; otherwise run all cases.
        check_share: the share of the expected work for checking workers
            against each other, 0 to 1; 0 for no checks. See `checks`.
        patience_s: how long to wait while there is no worker, in seconds.
        warn: called with a message about a worker that is excluded or lost.

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
        self, run_tasks: Sequence[RunTask], *, listener: Listener, stop: threading.Event
    ) -> None:
        """Run tasks on the cluster; see `Executor`.

        Raises:
            InputError: the scheduler's address or the certificates are invalid.
            HostError: there is no scheduler, no worker that can be used, or no
                storage; this host lacks a tool or a kernel; or workers disagree and
                there is no majority.
        """
        if not run_tasks:
            return
        plan = self._plan(run_tasks)
        interrupted = threading.Event()
        # A separate thread: a notebook's event loop may run in this one, and Ctrl-C,
        # which Python raises in the main thread, must not interrupt the job at any point.
        with ThreadPoolExecutor(max_workers=1, thread_name_prefix="cluster") as thread:
            job = thread.submit(
                lambda: asyncio.run(self._run(plan, listener, ends=(stop, interrupted)))
            )
            try:
                # A signal that another thread takes is handled here, and not while blocked.
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

    def _plan(self, run_tasks: Sequence[RunTask]) -> Plan:
        toolbox = Toolbox()
        built = {version: kernels.find(version) for version in {w.case.kernel for w in run_tasks}}
        tools = [toolbox.of(run_task.case) for run_task in run_tasks]
        keys = [
            result_key(
                run_task.case.digest,
                kernel_digest=built[run_task.case.kernel].digest,
                tools=work_tools,
            )
            for run_task, work_tools in zip(run_tasks, tools, strict=True)
        ]
        return Plan(
            name=secrets.token_hex(8),
            scheduler=self._scheduler,
            run_tasks=run_tasks,
            tools=tools,
            keys=keys,
            kernels=built,
            storage_url=self._storage,
            use_storage=self._use_storage,
            check_share=self._check_share,
            patience_s=self._patience_s,
        )
