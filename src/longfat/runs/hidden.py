"""Folders that are whole or absent: filled under a hidden name, they appear by a rename.

Run directories and remembered results are made so. Whoever fills such a folder
holds a lock on it; what nobody holds was left behind by a kill, and is swept.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIX = ".partial"
"""How the names of such folders end; they begin with a dot."""

# A folder this young may belong to somebody who is just about to lock it.
_SWEEP_AFTER_S = 60.0


@contextlib.contextmanager
def hidden_folder(parent: Path, *, name: str) -> Iterator[Path]:
    """Make a hidden folder; what has not been moved away by the end is removed.

    Args:
        parent: the folder to make it in; it must be there.
        name: what it will be called, for whoever looks.

    Yields:
        The folder, which only we can look into, and which nobody sweeps.

    Raises:
        OSError: it cannot be made.
    """
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=f".{name}-", suffix=SUFFIX))
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def publish(folder: Path, place: Path) -> None:
    """Move a hidden folder to its place by a rename; what is there steps aside and is removed.

    Args:
        folder: the hidden folder.
        place: where it is to appear, in the same file system.

    Raises:
        OSError: it cannot be moved.
    """
    folder.chmod(0o755)
    while True:
        try:
            folder.rename(place)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # A folder cannot be renamed onto a full one: the old one steps aside first.
            remove_folder(place)
        else:
            return


def remove_folder(folder: Path, *, by_way_of: Path | None = None) -> None:
    """Remove a folder so that no part of it is ever seen alone; it may be gone already.

    Args:
        folder: the folder.
        by_way_of: a folder of the same file system which takes it while it is removed,
            and which is swept; the one that it is in, if None.

    Raises:
        OSError: it cannot be removed.
    """
    parent = by_way_of or folder.parent
    aside = Path(tempfile.mkdtemp(dir=parent, prefix=f".{folder.name}-", suffix=SUFFIX))
    try:
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside / "old")
    finally:
        shutil.rmtree(aside)


def sweep(parent: Path) -> None:
    """Remove what a power failure or the like left behind: hidden folders that nobody holds."""
    for folder in parent.glob(f".*{SUFFIX}"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime < _SWEEP_AFTER_S:
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
