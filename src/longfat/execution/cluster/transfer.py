"""What a job runs, what client and workers send each other, and the check of a run that arrives.

The raw files of a worker's run are accepted if their digest is that of the run and its key is
the requested one; metrics and series are computed from them here.
"""

from __future__ import annotations

import io
import pickle
import re
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError, MachineError
from longfat.execution.cluster import packing
from longfat.execution.runs import load_run, measure
from longfat.execution.runs.partial_folder import partial_folder, publish, sweep
from longfat.execution.runs.run import MANIFEST, RAW, SERIES, damage, sums_of
from longfat.execution.runs.space import write_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from longfat.engine.kernel import Kernel
    from longfat.execution.executor import RunTask
    from longfat.execution.runs import Run, Tool
    from longfat.model.case import Case
    from longfat.model.host_root import HostRoot

_DIGEST = re.compile(r"[0-9a-f]{64}")
_PARTS = frozenset((MANIFEST, RAW, SERIES, "commands.sh", "console.log"))

TOPIC = "longfat"
"""Where workers publish their progress. One for all clients: a scheduler keeps the last
thousand messages of each topic indefinitely."""

MEMORY = "longfat-memory"
"""The Dask worker resource that machines take: memory, in bytes."""

MAX_BLOCK_BYTES = 1 << 30
"""The maximum size of a packed run: worker, scheduler and client hold it in memory."""


class GarbledError(Exception):
    """The received files are not the run that was sent."""


# -- from the client


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a job needs of a worker.

    Attributes:
        job: identifies the client's job.
        cases: some cases, one for each set of tools.
        tools: the client's tools of each of these cases, by name.
        kernels: the client's kernels.
        images: the images of the job's hosts.
    """

    job: str
    cases: tuple[Case, ...]
    tools: tuple[Mapping[str, Tool], ...]
    kernels: tuple[Kernel, ...]
    images: tuple[HostRoot, ...]

    def packed(self) -> bytes:
        """Return the needs as bytes: the scheduler relays them without deserializing."""
        return pickle.dumps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One case for a worker.

    Attributes:
        job: identifies the client's job, for messages.
        attempt: identifies this attempt at the case, likewise.
        run_task: what to run.
        kernel: the client's kernel, which the worker must have.
        tools: the client's tools of the case, likewise, by name.
        every_s: the shortest interval between two progress messages, in seconds.
    """

    job: str
    attempt: str
    run_task: RunTask
    kernel: Kernel
    tools: Mapping[str, Tool]
    every_s: float

    def packed(self) -> bytes:
        """Return the order as bytes: the scheduler relays them without deserializing."""
        return pickle.dumps(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job runs: one call of `Cluster.execute`.

    Attributes:
        name: identifies the job.
        scheduler: the scheduler's address.
        run_tasks: what to run.
        tools: the tools of each, by name.
        keys: the key of the result of each.
        kernels: the kernel of each version in the cases.
        patience_s: as of `Cluster`.
    """

    name: str
    scheduler: str
    run_tasks: Sequence[RunTask]
    tools: Sequence[Mapping[str, Tool]]
    keys: Sequence[str]
    kernels: Mapping[str, Kernel]
    patience_s: float

    @property
    def needs(self) -> Needs:
        """What the job needs of a worker."""
        # One case for each set of tools is enough to have a worker examine all of them.
        kinds = {frozenset(tools): index for index, tools in enumerate(self.tools)}
        images = {
            image.digest: image
            for run_task in self.run_tasks
            for image in run_task.case.network.roots.values()
        }
        return Needs(
            job=self.name,
            cases=tuple(self.run_tasks[index].case for index in kinds.values()),
            tools=tuple(self.tools[index] for index in kinds.values()),
            kernels=tuple(self.kernels.values()),
            images=tuple(images.values()),
        )


# -- from a worker


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The case was run.

    Attributes:
        digest: the run's digest.
        block: the packed run.
    """

    digest: str
    block: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The case failed, or the worker lacks something for it (a `HostError`)."""

    error: LongfatError


Outcome = Done | Failed


def is_message(message: object) -> bool:
    """Return whether something from the topic is a valid message of a worker.

    The scheduler adds the worker's address.
    """
    match message:
        case {"job": str(), "attempt": str(), "worker": str(), **rest}:
            if isinstance(rest.get("virtual_s"), int | float):
                return isinstance(rest.get("expected_s"), int | float)
            return "begun" in rest or "left" in rest
    return False


def is_sound(outcome: object) -> bool:
    """Return whether a worker's answer is a valid outcome: its fields become parts of messages."""
    match outcome:
        case Done(digest=str(digest), block=bytes()):
            return _DIGEST.fullmatch(digest) is not None
        case Failed(error=LongfatError(message=str())):
            return True
    return False


# -- a run arrives


def deliver(done: Done, run_task: RunTask, *, key: str) -> Run:
    """Publish a run in its place.

    Args:
        done: its outcome.
        run_task: the task, with the folder that will contain the run directory.
        key: the expected key of the run.

    Raises:
        GarbledError: it did not arrive as it was sent.
        InputError: the folder cannot be written to.
        HostError: the disk is full.
    """
    out = run_task.out.resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
        sweep(out)
        with partial_folder(out, name=run_task.run_id.name) as folder:
            run_folder = folder / "run"
            run_folder.mkdir()
            try:
                packing.unpack(io.BytesIO(done.block), run_folder)
            except packing.UnpackError as error:
                raise GarbledError(str(error)) from error
            run = replace(
                _checked(run_folder, done, key=key),
                folder=out / f"{run_task.run_id.name}-seed{run_task.run_id.seed}",
                name=run_task.run_id.name,
                study=run_task.study,
                parameters=dict(run_task.parameters),
            )
            (run_folder / MANIFEST).write_text(run.manifest_text(), encoding="utf-8")
            publish(run_folder, run.folder)
            return run
    except OSError as error:
        raise write_error(out, error) from error


def _checked(folder: Path, done: Done, *, key: str) -> Run:
    """Load a received run, and check that it is the requested one."""
    if strange := {path.name for path in folder.iterdir()} - _PARTS:
        raise GarbledError(f"it has unexpected files: {min(strange)!r}")
    try:
        run = load_run(folder)
        problem = damage(run)
    except (InputError, OSError) as error:
        raise GarbledError(f"it is not a run directory: {error}") from error
    # The case by its content: a manifest may state any digest.
    if run.key != key or run.case.digest != run.case_digest:
        raise GarbledError("it is the run of another case, or of another kernel or other tools")
    if problem:
        raise GarbledError(f"it is damaged: {problem}")
    if run.digest != done.digest:
        raise GarbledError("it is another result of the same case")
    shutil.rmtree(folder / SERIES, ignore_errors=True)
    try:
        metrics = measure(run.case, folder / RAW, series=folder / SERIES, epoch_s=run.epoch_s)
    except (InputError, MachineError, OSError, ValueError, TypeError) as error:
        raise GarbledError(f"its raw files cannot be read: {error}") from error
    # The recomputed files have checksums of their own; that of the raw files is checked above.
    return replace(run, metrics=metrics, files=sums_of(folder))
