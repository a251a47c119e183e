"""The client's end of a result: fetched, unpacked, checked, and put into its place.

Of what a worker sends, the raw files are taken as they are, if their digest is that
of the run; metrics and series are made of them here, anew.
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
    """What came is not the run that was sent."""


def deliver(done: Done, work: RunTask, *, key: str, storage: Storage | None) -> Run:
    """Put the run of a piece into its place.

    Args:
        done: what came of it.
        work: the piece, with the folder that takes the run directory.
        key: what the run's key must be.
        storage: where the run is, unless `done` has it.

    Raises:
        GarbledError: it did not arrive as it was sent.
        InputError: the folder cannot be written to.
        MachineError: storage has another result of the same key.
        HostError: the storage cannot be read, or the disk is full.
    """
    if done.contradicts:
        raise MachineError(
            f"case {work.piece.name!r}: storage has another result of the very same case, kernel"
            f" and tools: digest {', '.join(one[:_SHOWN] for one in done.contradicts)} there,"
            f" {done.digest[:_SHOWN]} now; remove what is wrong from {key[:2]}/{key}"
        )
    out = work.out.resolve()
    try:
        out.mkdir(parents=True, exist_ok=True)
        sweep(out)
        with hidden_folder(out, name=work.piece.name) as folder:
            run_folder = folder / "run"
            run_folder.mkdir()
            _unpack(done, folder, run_folder, key=key, storage=storage)
            run = replace(
                _checked(run_folder, done, key=key),
                folder=out / f"{work.piece.name}-seed{work.piece.seed}",
                name=work.piece.name,
                study=work.study,
                parameters=dict(work.parameters),
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
            raise GarbledError("it says that it is in storage, and there is none")
        else:
            storage.fetch(scratch / "block", key=key, digest=done.digest)
            with (scratch / "block").open("rb") as file:
                packing.unpack(file, folder)
    except packing.UnpackError as error:
        raise GarbledError(str(error)) from error


def _checked(folder: Path, done: Done, *, key: str) -> Run:
    """Load a run that came from elsewhere, and check that it is what it says."""
    if strange := {path.name for path in folder.iterdir()} - _PARTS:
        raise GarbledError(f"there is more in it than in a run: {min(strange)!r}")
    try:
        run = load_run(folder)
        problem = damage(run)
    except (InputError, OSError) as error:
        raise GarbledError(f"it is no run directory: {error}") from error
    # The case by its content: a manifest may say of itself what it likes.
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
    # What was made anew has checksums of its own; that of the raw files is checked above.
    return replace(run, metrics=metrics, files=sums_of(folder))
