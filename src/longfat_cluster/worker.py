"""Code that runs on a worker: describes the worker, prepares it for a job, and runs one case.

A worker runs a case only with the software, the kernel and the tools of the client, which it
compares with its own. It brings them itself: its cache, or a cache folder that hosts share.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import platform
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from distributed import Reschedule, get_worker
from distributed.utils import sync

from longfat import __version__
from longfat.common.checksum import digest_now
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.engine.images import is_unpacked
from longfat.engine.kernel import cache
from longfat.engine.machine import current_sandbox
from longfat.errors import HostError, LongfatError
from longfat.execution.case_runner import run_case
from longfat.execution.memory_bound import available_bytes
from longfat.execution.tools import Toolbox, own_tool
from longfat.model.case import Case
from longfat.model.network import Network
from longfat_cluster import transfer
from longfat_cluster.transfer import (
    MAX_BLOCK_BYTES,
    MEMORY,
    TOPIC,
    Done,
    Failed,
    Needs,
    Order,
    Outcome,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from distributed import Worker

    from longfat.engine.kernel import Kernel
    from longfat.execution.case_runner import Progress
    from longfat.execution.runs import Run, Tool

SOFTWARE = ("dask", "distributed", "cloudpickle", "msgpack")
"""The packages whose versions must be equal on client, scheduler and workers."""

_SHOWN = 12

# States of a worker that is about to leave; one that retires gracefully ends its tasks first.
_LEAVING = ("stopping", "stopped", "closing", "closed", "failed", "dont_reply")
# States of a task whose result is not needed any more.
_UNWANTED = ("cancelled", "resumed", "released", "forgotten")

# The default without a limit; msgpack has no infinity that a heap of numbers accepts.
_MAX_MEMORY_BYTES = float(1 << 60)


class _Ended(Exception):  # noqa: N818  an order, no error
    """The client cancelled the task or is gone, or the worker is about to leave."""


# -- what the worker is


def software() -> dict[str, str]:
    """Return the versions that must be equal on client, scheduler and workers."""
    found = {"python": platform.python_version(), "longfat": __version__}
    for name in SOFTWARE:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def code_digest() -> str:
    """Return the digest of longfat's code on the disk: what decides results, and this package.

    Raises:
        HostError: a file of it cannot be read.
    """
    digest = hashlib.sha256(own_tool().digest.encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(f"\n{path.name} {digest_now(path)}".encode())
    return digest.hexdigest()


# A worker runs for long: the code it has loaded may be older than that on its disk.
_LOADED = code_digest()


def describe_worker() -> dict[str, Any]:
    """Describe the code of this worker.

    The answer is plain data: this longfat may be another version than the client's, and must
    be able to report that.

    Returns:
        The input of `admission.differences`.
    """
    return {"software": software(), "code": code_digest(), "loaded": _LOADED}


def tool_differences(there: Mapping[str, Tool], wanted: Mapping[str, Tool]) -> list[str]:
    """Return which tools differ from those of the client, as text.

    Args:
        there: the tools of this worker, by name.
        wanted: those of the client.
    """
    found = []
    for name in sorted({*there, *wanted}):
        if name not in wanted:
            found.append(f"{name} is installed there, and must not be, as here")
        elif name not in there:
            found.append(f"{name} is not installed there, and must be, as here")
        elif there[name].digest != wanted[name].digest:
            found.append(_tool_difference(name, there[name], wanted[name]))
    return found


def _tool_difference(name: str, there: Tool, wanted: Tool) -> str:
    if there.version != wanted.version:
        return f"{name}: {there.version} there, must be {wanted.version} as here"
    version = f" of {wanted.version}" if wanted.version else ""
    return (
        f"{name}, or a library that it loads, has other bytes there (digest"
        f" {there.digest[:_SHOWN]}), must be those{version} here ({wanted.digest[:_SHOWN]})"
    )


def _kernel_like(wanted: Kernel) -> Kernel:
    """Return this worker's kernel that is the same as one of the client.

    Raises:
        HostError: it is not built here, or has other bytes.
    """
    there = cache.get(wanted.digest)
    short = wanted.digest[:_SHOWN]
    if there is None:
        others = [k.digest[:_SHOWN] for k in kernels.kernels() if k.release == wanted.release]
        has = f" (but {', '.join(others)}, of another recipe or compiler)" if others else ""
        raise HostError(
            f"kernel {wanted.release} ({short}) is not there{has}; run there: longfat kernel"
            f" build {wanted.release}, or install its wheel there, or share this host's cache"
            " folder (LONGFAT_CACHE)"
        )
    if there.binary_sha256 != wanted.binary_sha256:
        raise HostError(
            f"kernel {wanted.release} ({short}) has other bytes there (digest"
            f" {there.binary_sha256[:_SHOWN]}), must be those here"
            f" ({wanted.binary_sha256[:_SHOWN]}); run there: longfat kernel remove {short}"
        )
    return there


# -- its preparation


@functools.lru_cache(maxsize=4)
def toolbox_of(job: str) -> Toolbox:
    """Return the toolbox of a client's job: the host's tools are examined once for each."""
    del job
    return Toolbox()


def prepare_worker(packed_needs: bytes) -> dict[str, Any]:
    """Compare this worker with what a job needs, boot each kernel once, and offer memory.

    Args:
        packed_needs: a `Needs`, serialized by its `packed`.

    Returns:
        `problem`, what differs, empty if nothing does; and `memory_bytes`, how much
        memory machines may take on this worker, 0 if something does.
    """
    needs: Needs = pickle.loads(packed_needs)
    try:
        problem = "; ".join(_problems(needs)) or _boot_each(needs)
    except LongfatError as error:
        problem = f"{error.message}; run there: {error.hint}" if error.hint else error.message
    return {"problem": problem, "memory_bytes": 0.0 if problem else _offer_memory(get_worker())}


def _problems(needs: Needs) -> list[str]:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return [f"it is {platform.system()} on {platform.machine()}, must be Linux on x86-64"]
    current_sandbox()
    found: dict[str, None] = {}
    for case, wanted in zip(needs.cases, needs.tools, strict=True):
        found |= dict.fromkeys(tool_differences(toolbox_of(needs.job).of(case), wanted))
    problems = list(found)
    for kernel in needs.kernels:
        try:
            _kernel_like(kernel)
        except HostError as error:
            problems.append(error.message)
    problems += [
        f"the image {image.image} (sha256:{image.digest[:_SHOWN]}) is not unpacked there; read"
        " the study there (longfat check STUDY), or share this host's cache folder (LONGFAT_CACHE)"
        for image in needs.images
        if not is_unpacked(image.digest)
    ]
    return problems


def _boot_each(needs: Needs) -> str:
    """Boot each kernel once; return the error, empty if there is none."""
    for wanted in needs.kernels:
        case = Case(kernel=wanted.release, network=Network(hosts=(), switches=(), links=()))
        with scratch_folder() as folder:
            try:
                run_case(
                    case,
                    name="boot",
                    out=folder,
                    kernel=_kernel_like(wanted),
                    toolbox=toolbox_of(needs.job),
                )
            except LongfatError as error:
                return f"it cannot boot kernel {wanted.release}: {error.message}"
    return ""


def _offer_memory(worker: Worker) -> float:
    """Register this worker's memory as a Dask resource, unless it has it; return its amount.

    Several workers of one host share its memory by their threads. For another
    amount, start the worker with `--resources "longfat-memory=BYTES"`.
    """
    resources = worker.state.total_resources
    if MEMORY not in resources:
        share = min(1.0, worker.state.nthreads / len(os.sched_getaffinity(0)))
        memory_bytes = min(available_bytes() * share, _MAX_MEMORY_BYTES)
        sync(worker.loop, worker.set_resources, **{MEMORY: memory_bytes})
    return float(resources[MEMORY])


# -- one case


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


def _run(order: Order, reporter: _ProgressReporter) -> Done:
    toolbox = toolbox_of(order.job)
    run_task = order.run_task
    # Tools and kernels may have changed since the worker was prepared.
    if problems := tool_differences(toolbox.of(run_task.case), order.tools):
        raise HostError("; ".join(problems))
    kernel = _kernel_like(order.kernel)
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
        return _packed_run(run, folder=folder)


def _packed_run(run: Run, *, folder: Path) -> Done:
    path = folder / "block"
    try:
        with path.open("wb") as file:
            transfer.pack(run.folder, file)
        size = path.stat().st_size
        if size > MAX_BLOCK_BYTES:
            raise HostError(
                f"its result has {size / 1e6:.0f} MB packed, and at most"
                f" {MAX_BLOCK_BYTES / 1e6:.0f} MB come back through the scheduler;"
                " run it on this host (without --cluster), or let its probes keep less"
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
