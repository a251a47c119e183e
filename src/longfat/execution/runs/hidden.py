"""Folders that are complete or absent: filled under a hidden name, they appear by a rename.

Run directories and cached results are created this way, see `longfat.common.guard`: the process
that fills such a folder holds a lock on it, its death removes it, and
unlocked ones are swept.
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
"""The suffix of the names of such folders; they begin with a dot."""


@contextlib.contextmanager
def hidden_folder(parent: Path, *, name: str) -> Iterator[Path]:
    """Create a hidden folder; if it has not been moved away by the end, it is removed.

    Args:
        parent: the folder to create it in; it must exist.
        name: a part of its name, for people.

    Yields:
        The folder, which only the user can access, and which is not swept.

    Raises:
        OSError: it cannot be made.
    """
    with doomed_folder(parent, prefix=f".{name}-", suffix=SUFFIX) as folder:
        yield folder


def publish(folder: Path, place: Path) -> None:
    """Move a hidden folder to its place by a rename; an existing one is removed.

    Args:
        folder: the hidden folder.
        place: its future path, in the same file system.

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
            # A folder cannot be renamed onto a non-empty one, so the old one is moved away first.
            remove_folder(place)
        else:
            return


def remove_folder(folder: Path, *, by_way_of: Path | None = None) -> None:
    """Remove a folder such that it is never visible in part; it may not exist any more.

    Args:
        folder: the folder.
        by_way_of: a folder of the same file system to which it is moved first,
            and which is swept; its parent, if None.

    Raises:
        OSError: it cannot be removed.
    """
    with hidden_folder(by_way_of or folder.parent, name=folder.name) as aside:
        with contextlib.suppress(FileNotFoundError):
            folder.rename(aside / "old")
        if not remove_tree(aside):
            raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(folder))


def sweep(parent: Path) -> None:
    """Remove leftovers of a power failure or similar: hidden folders without a lock."""
    guard.sweep(parent, prefix=".", suffix=SUFFIX)
