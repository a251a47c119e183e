"""Read what has come of a running machine's files since the last read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Each read has this limit, so that no file can fill the memory at once.
_MOST_BYTES = 1 << 24


class Tail:
    """A file that grows; use it as a context manager, or close it.

    Args:
        folder: the folder of the run.
        place: the names that lead from there to the file, such as `("raw", "queue.samples")`.
    """

    def __init__(self, folder: Path, *place: str) -> None:
        self._path = folder.joinpath(*place)
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
            try:
                self._file = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                return b""
        piece = os.pread(self._file, _MOST_BYTES, self._offset)
        self._offset += len(piece)
        return piece

    def moved(self, folder: Path) -> None:
        """Set the run's new folder: a short run may have ended before the first read."""
        self._path = folder.joinpath(*self._place)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
