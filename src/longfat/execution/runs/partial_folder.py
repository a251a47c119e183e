"""Partial folders of run directories and of cached results, see `longfat.common.folder_store`.

Their names begin with a dot and end with `SUFFIX`, in whichever folder the runs of a study are.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from longfat.common.folder_store import FolderStore
from longfat.common.modes import folder_mode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX = ".partial"
"""The suffix of the names of partial folders."""


def run_store(folder: Path) -> FolderStore:
    """Return the store of the runs in a folder."""
    return FolderStore(folder=folder, prefix=".", suffix=SUFFIX)


@contextlib.contextmanager
def partial_folder(parent: Path, *, name: str) -> Iterator[Path]:
    """Create a partial folder; if it has not been published by the end, it is removed.

    Args:
        parent: the folder to create it in; it must exist.
        name: a part of its name, for people.

    Yields:
        The folder, which only the user can access, and which is not swept.

    Raises:
        OSError: it cannot be created.
    """
    with run_store(parent).partial_folder(f"{name}-") as folder:
        yield folder


def publish(folder: Path, path: Path) -> None:
    """Move a partial folder to its path by a rename; an existing one is removed.

    Args:
        folder: the partial folder.
        path: its future path, in the same folder.

    Raises:
        OSError: it cannot be moved.
    """
    folder.chmod(folder_mode())
    run_store(path.parent).replace(folder, path)


def sweep(parent: Path) -> None:
    """Remove leftovers of a power failure or similar: partial folders without a lock."""
    run_store(parent).sweep()
