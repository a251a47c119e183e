"""Read what a running machine has written since the last read.

The guest's root can put anything into the folder of its run: a link there
would be followed with the user's rights, and a pipe would block. So only
regular files are read, without following links in the path.
"""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Each read has this limit, so that no file can fill the memory at once.
_MOST_BYTES = 1 << 24


class Tail:
    """A file that grows; use it as a context manager, or close it.

    Args:
        folder: the folder of the run, which is trusted.
        place: the names that lead from there to the file, such as `("raw", "queue.samples")`.
    """

    def __init__(self, folder: Path, *place: str) -> None:
        self._folder = folder
        self._place = place
        self._file: int | None = None
        self._offset = 0

    def __enter__(self) -> Tail:
        return self

    def __exit__(self, *ending: object) -> None:
        self.close()

    def read(self) -> bytes:
        """Return new data; nothing as long as there is no such file.

        An open file stays open, so it can be read to its end when the run folder has
        been renamed.
        """
        if self._file is None:
            self._file = _open(self._folder, self._place)
        if self._file is None:
            return b""
        piece = os.pread(self._file, _MOST_BYTES, self._offset)
        self._offset += len(piece)
        return piece

    def moved(self, folder: Path) -> None:
        """Set the run's new folder: a short run may have ended before the first read."""
        self._folder = folder

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _open(folder: Path, place: tuple[str, ...]) -> int | None:
    """Return the descriptor of a regular file; None if there is none, or something else."""
    *folders, name = place
    with contextlib.ExitStack() as stack:
        try:
            here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, here)
            for one in folders:
                flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
                here = os.open(one, flags, dir_fd=here)
                stack.callback(os.close, here)
            # Opening a pipe would block until its other end is opened.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(name, flags, dir_fd=here)
        except OSError:
            return None
        if stat.S_ISREG(os.fstat(file).st_mode):
            return file
        os.close(file)
        return None
