"""Code that runs on a worker: prepare kernels and memory, and run one case in a scratch folder."""

from __future__ import annotations

import io
import os
import pickle
import time
from typing import TYPE_CHECKING, Any

from distributed import Reschedule, get_worker
from distributed.utils import sync

from longfat.common.guard import scratch_folder
from longfat.engine.images.parcel import install_image
from longfat.engine.kernel import cache
from longfat.engine.kernel.parcel import install
from longfat.errors import HostError, LongfatError
from longfat.execution.case_runner import run_case
from longfat.execution.cluster import packing
from longfat.execution.cluster.messages import (
    MEMORY,
    MOST_BYTES_BY_SCHEDULER,
    TOPIC,
    Differs,
    Done,
    Failed,
    ImageBlock,
    Order,
    Outcome,
)
from longfat.execution.cluster.storage import Storage
from longfat.execution.cluster.workers import boot_each, toolbox_of
from longfat.execution.memory_bound import available_bytes
from longfat.execution.runs import result_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from distributed import Worker

    from longfat.engine.kernel import Kernel
    from longfat.execution.case_runner import Progress
    from longfat.execution.runs import Run

# States of a worker that is about to leave; one that retires gracefully ends its tasks first.
_LEAVING = ("stopping", "stopped", "closing", "closed", "failed", "dont_reply")
# States of a task whose result is not needed any more.
_UNWANTED = ("cancelled", "resumed", "released", "forgotten")


# The default without a limit; msgpack has no infinity that a heap of numbers accepts.
_MOST_MEMORY_BYTES = float(1 << 60)


class _Ended(Exception):  # noqa: N818  an order, no error
    """The client cancelled the task or is gone, or the worker is about to leave."""


def make_ready(
    *,
    job: str,
    contents: Mapping[str, str],
    blocks: Mapping[str, bytes],
    images: Sequence[ImageBlock],
) -> dict[str, Any]:
    """Receive what this worker lacks, boot each kernel that the job needs, offer memory.

    Args:
        job: the client's job.
        contents: the fingerprints of the kernels that the job needs, by their digests.
        blocks: packed kernels by their digests.
        images: the images that this worker lacks.

    Returns:
        `problem`, the error, empty if there is none; and `memory_bytes`, how much
        memory machines may take on this worker.
    """
    found: list[Kernel] = []
    try:
        for digest, content in contents.items():

            def unpack(folder: Path, digest: str = digest) -> None:
                if digest not in blocks:  # removed since the description
                    raise HostError(f"kernel {digest[:12]} was removed meanwhile")
                try:
                    packing.unpack(io.BytesIO(blocks[digest]), folder, executables=True)
                except packing.UnpackError as error:
                    raise HostError(f"kernel {digest[:12]}: {error}") from error

            found.append(install(digest, content=content, unpack=unpack))
        for one in images:
            install_image(one.image, content=one.content, block=one.block)
    except HostError as error:
        return {"problem": error.message, "memory_bytes": 0.0}
    problem = boot_each(found, toolbox_of(job))
    return {"problem": problem, "memory_bytes": _offer_memory(get_worker())}


def _offer_memory(worker: Worker) -> float:
    """Register this worker's memory as a Dask resource, unless it has it; return its amount.

    Several workers of one host share its memory by their threads. For another
    amount, start the worker with `--resources "longfat-memory=BYTES"`.
    """
    resources = worker.state.total_resources
    if MEMORY not in resources:
        share = min(1.0, worker.state.nthreads / len(os.sched_getaffinity(0)))
        memory_bytes = min(available_bytes() * share, _MOST_MEMORY_BYTES)
        sync(worker.loop, worker.set_resources, **{MEMORY: memory_bytes})
    return float(resources[MEMORY])


def execute(packed_order: bytes) -> Outcome:
    """Run a case on this worker.

    Args:
        packed_order: an `Order`, serialized by its `packed`.

    Returns:
        Its outcome. An exception is a bug of longfat.

    Raises:
        Reschedule: the worker is about to leave, so that Dask assigns the case to another one.
    """
    order: Order = pickle.loads(packed_order)
    reporter = _ProgressReporter(order, get_worker())
    try:
        reporter.check()
        reporter.send({"begun": True})
        return _run(order, reporter)
    except _Ended:
        reporter.send({"left": True})
        raise Reschedule from None
    except LongfatError as error:
        return Failed(error=error)


def _run(order: Order, reporter: _ProgressReporter) -> Outcome:
    toolbox = toolbox_of(order.job)
    run_task = order.run_task
    tools = toolbox.of(run_task.case)
    key = result_key(run_task.case.digest, kernel_digest=order.kernel_digest, tools=tools)
    if key != order.key:
        names = ", ".join(f"{name} {tool.version}".strip() for name, tool in tools.items())
        return Differs(difference=f"its result would have another key; its tools: {names}")
    kernel = cache.get(order.kernel_digest)
    if kernel is None:
        return Differs(difference=f"kernel {order.kernel_digest[:12]} was removed there")
    storage = Storage(order.storage) if order.storage is not None else None
    known = storage.digests(order.key) if storage is not None else ()
    if order.use_storage and len(known) == 1:
        return Done(digest=known[0], block=None, from_storage=True)
    with scratch_folder() as folder:
        run = run_case(
            run_task.case,
            name=run_task.run_id.name,
            out=folder / "run",
            study=run_task.study,
            parameters=run_task.parameters,
            places=run_task.places,
            toolbox=toolbox,
            kernel=kernel,
            on_progress=reporter.progress,
        )
        return _deliver(run, folder=folder, key=order.key, storage=storage, known=known)


def _deliver(
    run: Run, *, folder: Path, key: str, storage: Storage | None, known: tuple[str, ...]
) -> Done:
    path = folder / "block"
    try:
        with path.open("wb") as file:
            packing.pack(run.folder, file)
        size = path.stat().st_size
        if storage is not None:
            if run.digest not in known:
                storage.put(path, key=key, digest=run.digest)
            others = tuple(one for one in known if one != run.digest)
            return Done(digest=run.digest, block=None, contradicts=others)
        if size > MOST_BYTES_BY_SCHEDULER:
            raise HostError(
                f"its result has {size / 1e6:.0f} MB packed, and at most"
                f" {MOST_BYTES_BY_SCHEDULER / 1e6:.0f} MB come back through the scheduler;"
                " specify storage that all workers share: --storage URL"
            )
        return Done(digest=run.digest, block=path.read_bytes())
    except OSError as error:
        raise HostError(f"{folder}: {error.strerror or error}") from error


class _ProgressReporter:
    """Reports the progress of an order to the client, and checks whether it is still needed."""

    def __init__(self, order: Order, worker: Worker) -> None:
        self._order = order
        self._worker = worker
        self._key = worker.get_current_task()
        self._sent_s = 0.0

    def send(self, message: Mapping[str, Any]) -> None:
        """Send the client a message, which may be lost."""
        order = self._order
        self._worker.log_event(TOPIC, {"job": order.job, "attempt": order.attempt, **message})

    def check(self) -> None:
        """Check that the result is still needed.

        The client cancels tasks it does not need, and its scheduler does so for a client
        that is gone: the task's state shows both.

        Raises:
            _Ended: it is not.
        """
        task = self._worker.state.tasks.get(self._key)
        unwanted = task is None or task.state in _UNWANTED
        if unwanted or self._worker.status.name in _LEAVING:
            raise _Ended

    def progress(self, progress: Progress) -> None:
        """Report the case's progress, rate-limited."""
        self.check()
        now_s = time.monotonic()
        if now_s - self._sent_s >= self._order.every_s:
            self._sent_s = now_s
            self.send({"virtual_s": progress.virtual_s, "expected_s": progress.expected_s})
