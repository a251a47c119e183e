"""Folders that are whole or absent: filled under a hidden name, they appear by a rename.

Run directories and cached results are made so, see `longfat.common.guard`: whoever
fills such a folder holds a lock on it, a kill of whoever does so removes it, and
what nobody holds is swept.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

from longfat.common import guard
from longfat.common.guard import doomed_folder, remove_tree
from longfat.common.modes import folder_mode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".partial"
"""How the names of such folders end; they begin with a dot."""


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
    with doomed_folder(parent, prefix=f".{name}-", suffix=SUFFIX) as folder:
        yield folder


def publish(folder: Path, place: Path) -> None:
    """Move a hidden folder to its place by a rename; what is there steps aside and is removed.

    Args:
        folder: the hidden folder.
        place: where it is to appear, in the same file system.

    Raises:
        OSError: it cannot be moved.
    """
    folder.chmod(folder_mode())
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
    with hidden_folder(by_way_of or folder.parent, name=folder.name) as aside:
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside / "old")
        if not remove_tree(aside):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(folder))


def sweep(parent: Path) -> None:
    """Remove what a power failure or the like left behind: hidden folders that nobody holds."""
    guard.sweep(parent, prefix=".", suffix=SUFFIX)
