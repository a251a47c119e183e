"""The disk quota of a workspace, and the rejection of requests above it.

A class shares a disk. Above the quota no runs can be started and no files written until
something is deleted; reading is still possible. All files count, also hidden ones and those
that the page never shows.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.studio.http_error import HttpError
from longfat.studio.urls import RUNS

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK_BYTES = 512
_MOST_NAMED = 3


class DiskLimit:
    """The limit of a workspace; from any thread.

    Args:
        root: the workspace.
        most_bytes: the quota; None if there is none.
    """

    def __init__(self, root: Path, most_bytes: float | None) -> None:
        self._root = root
        self._most_bytes = most_bytes
        self._beside: list[tuple[str, Callable[[], int]]] = []

    def count_beside(self, name: str, used_bytes: Callable[[], int]) -> Callable[[], None]:
        """Count what is stored for the workspace elsewhere, until the returned function is called.

        Args:
            name: what it is, for the message.
            used_bytes: returns how much it is; from any thread.
        """
        entry = (name, used_bytes)
        self._beside.append(entry)
        return lambda: self._beside.remove(entry)

    def used_bytes(self) -> int:
        """Return the disk usage of the workspace."""
        return sum(self._by_folder().values())

    def room_bytes(self) -> float:
        """Return how much is left of the quota; infinity if there is none."""
        if self._most_bytes is None:
            return math.inf
        return max(0.0, self._most_bytes - self.used_bytes())

    def check(self, *, reserve_bytes: int = 0) -> None:
        """Check that the usage is below the quota.

        Args:
            reserve_bytes: how far it may be above.

        Raises:
            HttpError: it is above; the message has the usage, the quota, and the largest folders.
        """
        if problem := self.problem(reserve_bytes=reserve_bytes):
            raise HttpError(problem, status=HTTPStatus.INSUFFICIENT_STORAGE)

    def problem(self, *, reserve_bytes: int = 0) -> str:
        """Return the error message if the usage is above the quota; else an empty text.

        Args:
            reserve_bytes: how far it may be above.
        """
        if self._most_bytes is None:
            return ""
        taken = self._by_folder()
        used = sum(taken.values())
        if used <= self._most_bytes + reserve_bytes:
            return ""
        large = ", ".join(
            f"{name} ({_size(size)})" for name, size in taken.most_common(_MOST_NAMED)
        )
        return (
            f"your folder takes {_size(used)} of the disk; its limit is {_size(self._most_bytes)}: "
            f"delete something. The largest are {large}. Runs can be deleted on the Runs page."
        )

    def _by_folder(self) -> Counter[str]:
        """Return the usage by the folder, or file, that the user could delete."""
        found: Counter[str] = Counter()
        seen: set[tuple[int, int]] = set()
        waiting = [self._root]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        about = entry.stat(follow_symlinks=False)
                        # A file with several hard links counts once.
                        if (about.st_dev, about.st_ino) in seen:
                            continue
                        seen.add((about.st_dev, about.st_ino))
                        parts = Path(entry.path).relative_to(self._root).parts
                        # Runs are grouped by their studies.
                        name = "/".join(parts[: 2 if parts[0] == RUNS else 1])
                        found[name] += _BLOCK_BYTES * about.st_blocks
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(Path(entry.path))
            except OSError:
                continue  # removed meanwhile
        for name, used_bytes in tuple(self._beside):
            found[name] += used_bytes()
        return found


def _size(size_bytes: float) -> str:
    return format_quantity(size_bytes, Unit.BYTES)
