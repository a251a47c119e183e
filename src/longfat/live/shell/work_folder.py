"""The folder of the user's computer in which the shells of a session work.

It is one that `--bind` makes writable, or else a new one below `runs` in the current directory.
The machine writes there. This process only creates a new folder, and removes it with rmdir(2)
at the end, which fails unless it is empty: nothing in it is ever opened or followed.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.sandbox.access import check_access
from longfat.errors import LongfatError
from longfat.live.folders import SharedFolder

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLACE = "/lab"
"""The path of a new folder in the machine: the same on every host and in every session."""

HOME = "/root"
"""The working directory of a shell without such a folder: in the machine's memory."""

_RUNS = "runs"
_MAX_NUMBER = 9999


@dataclass(frozen=True, slots=True)
class WorkFolder:
    """Where the shells of a session work.

    Attributes:
        place: the path in the machine.
        shared: the folder of the user's computer behind it; None if there is none, so that
            files are in the machine's memory.
        is_new: it was created for this session.
        problem: why there is none, if there should be one.
    """

    place: str
    shared: SharedFolder | None = None
    is_new: bool = False
    problem: str = ""


@contextlib.contextmanager
def work_folder(name: str, binds: Sequence[SharedFolder]) -> Iterator[WorkFolder]:
    """Yield the working folder of a session; a new one that is empty at the end is removed.

    Args:
        name: the network's name, for the name of a new folder.
        binds: the folders of `--bind`; the first one that is writable is the working folder.
    """
    bound = next((folder for folder in binds if folder.is_writable), None)
    if bound is not None:
        yield WorkFolder(bound.place, bound)
        return
    runs = Path(_RUNS).absolute()
    made_runs = False
    try:
        with contextlib.suppress(FileExistsError):
            runs.mkdir()
            made_runs = True
        path = _new_folder(runs, name)
    except OSError as error:
        yield WorkFolder(HOME, problem=f"{error.filename}: {error.strerror}")
        return
    try:
        try:
            check_access([path], writable=True)
        except LongfatError as error:
            yield WorkFolder(HOME, problem=error.message)
        else:
            yield WorkFolder(
                PLACE, SharedFolder(place=PLACE, path=path, is_writable=True, is_counted=True), True
            )
    finally:
        with contextlib.suppress(OSError):
            path.rmdir()
            if made_runs:
                runs.rmdir()


def holds_files(work: WorkFolder) -> bool:
    """Return whether something was made in a new folder; what that is does not matter."""
    if work.shared is None or not work.is_new:
        return False
    try:
        with os.scandir(work.shared.path) as entries:
            return next(entries, None) is not None
    except OSError:
        return False


def _new_folder(runs: Path, name: str) -> Path:
    """Create a folder with the first free number.

    Raises:
        OSError: it cannot be created.
    """
    for number in range(1, _MAX_NUMBER):
        path = runs / f"shell-{name}-{number}"
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            return path
    raise FileExistsError(17, "there are too many such folders", str(runs / f"shell-{name}"))
