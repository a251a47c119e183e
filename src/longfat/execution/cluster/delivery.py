"""The client's side of a result transfer: fetch, unpack, check, and publish it.

The raw files of a worker's run are accepted if their digest is that
of the run; metrics and series are computed from them here.
"""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.errors import InputError, MachineError
from longfat.execution.cluster import packing
from longfat.execution.runs import load_run, measure
from longfat.execution.runs.hidden import hidden_folder, publish, sweep
from longfat.execution.runs.run import MANIFEST, RAW, SERIES, damage, sums_of
from longfat.execution.runs.space import write_error

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.execution.cluster.messages import Done
    from longfat.execution.cluster.storage import Storage
    from longfat.execution.executor import RunTask
    from longfat.execution.runs import Run

_SHOWN = 12
_PARTS = frozenset((MANIFEST, RAW, SERIES, "commands.sh", "console.log"))


class GarbledError(Exception):
    """The received files are not the run that was sent."""


def deliver(done: Done, run_task: RunTask, *, key: str, storage: Storage | None) -> Run:
    """Publish a run in its place.

    Args:
        done: its outcome.
        run_task: the task, with the folder that will contain the run directory.
        key: the expected key of the run.
        storage: contains the run, unless `done` does.

    Raises:
        GarbledError: it did not arrive as it was sent.
        InputError: the folder cannot be written to.
        MachineError: storage has another result of the same key.
        HostError: the storage cannot be read, or the disk is full.
    """
    if done.contradicts:
        raise MachineError(
            f"case {run_task.run_id.name!r}: storage has another result of the same case, kernel"
            f" and tools: digest {', '.join(one[:_SHOWN] for one in done.contradicts)} there,"
            f" {done.digest[:_SHOWN]} now; remove the wrong one from {key[:2]}/{key}"
        )
    out = run_task.out.resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
        sweep(out)
        with hidden_folder(out, name=run_task.run_id.name) as folder:
            run_folder = folder / "run"
            run_folder.mkdir()
            _unpack(done, folder, run_folder, key=key, storage=storage)
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


def _unpack(done: Done, scratch: Path, folder: Path, *, key: str, storage: Storage | None) -> None:
    try:
        if done.block is not None:
            packing.unpack(io.BytesIO(done.block), folder)
        elif storage is None:
            raise GarbledError("according to the worker it is in storage, but it is not")
        else:
            storage.fetch(scratch / "block", key=key, digest=done.digest)
            with (scratch / "block").open("rb") as file:
                packing.unpack(file, folder)
    except packing.UnpackError as error:
        raise GarbledError(str(error)) from error


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
