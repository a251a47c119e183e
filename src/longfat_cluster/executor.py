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
from longfat.execution.runs import result_key
from longfat.execution.tools import Toolbox
from longfat_cluster.connection import connected
from longfat_cluster.job import Job
from longfat_cluster.transfer import Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from distributed.security import Security

    from longfat.execution.executor import RunObserver, RunTask

PATIENCE_S = 120.0
_POLL_S = 0.2


def _to_stderr(text: str) -> None:
    print(f"cluster: {text}", file=sys.stderr, flush=True)


class Cluster:
    """Runs cases on the workers of a Dask scheduler; it is an `Executor`.

    Args:
        scheduler: the scheduler's address, such as `tcp://10.0.0.1:8786`.
        security: Dask's options of TLS, or the arguments of its `Security`; those of Dask's
            configuration, if None.
        patience_s: how long to wait while there is no worker, in seconds.
        warn: called with a message about a worker that is excluded or lost.
    """

    def __init__(
        self,
        *,
        scheduler: str,
        security: Security | Mapping[str, str] | None = None,
        patience_s: float = PATIENCE_S,
        warn: Callable[[str], None] = _to_stderr,
    ) -> None:
        self._scheduler = scheduler
        self._security = security
        self._patience_s = patience_s
        self._warn = warn

    def execute(
        self, run_tasks: Sequence[RunTask], *, listener: RunObserver, stop: threading.Event
    ) -> None:
        """Run tasks on the cluster; see `Executor`.

        Raises:
            InputError: the scheduler's address or the certificates are invalid.
            HostError: there is no scheduler, or no worker that can be used; or this host
                lacks a tool or a kernel.
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
        self, plan: Plan, listener: RunObserver, *, ends: Sequence[threading.Event]
    ) -> None:
        job = asyncio.create_task(self._run_job(plan, listener))
        while not job.done() and not any(end.is_set() for end in ends):
            await asyncio.wait([job], timeout=_POLL_S)
        job.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await job

    async def _run_job(self, plan: Plan, listener: RunObserver) -> None:
        async with connected(self._scheduler, security=self._security) as client:
            await Job(client, plan, listener=listener, warn=self._warn).run()

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
            patience_s=self._patience_s,
        )
