"""How much of the disk a workspace takes, and what is refused when that is too much.

A class shares a disk. Whose folder takes more than one may begins no runs and writes no files,
until something was deleted; reading goes on. What counts is what the files take, all of them:
hidden ones, and those that the page never shows.
"""

from __future__ import annotations

import os
from collections import Counter
from http import HTTPStatus
from pathlib import Path

from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.studio.http_error import Refusal
from longfat.studio.urls import RUNS

_BLOCK_BYTES = 512
_MOST_NAMED = 3


class DiskLimit:
    """The limit of a workspace; from any thread.

    Args:
        root: the workspace.
        most_bytes: what it may take; None if there is no limit.
    """

    def __init__(self, root: Path, most_bytes: float | None) -> None:
        self._root = root
        self._most_bytes = most_bytes

    def used_bytes(self) -> int:
        """Return what the workspace takes."""
        return sum(self._by_folder().values())

    def check(self) -> None:
        """Check that there is room.

        Raises:
            Refusal: there is none; it says how much is used, the limit, and what is large.
        """
        if problem := self.problem():
            raise Refusal(problem, status=HTTPStatus.INSUFFICIENT_STORAGE)

    def problem(self) -> str:
        """Return why there is no room; empty if there is."""
        if self._most_bytes is None:
            return ""
        taken = self._by_folder()
        used = sum(taken.values())
        if used <= self._most_bytes:
            return ""
        large = ", ".join(
            f"{name} ({_size(size)})" for name, size in taken.most_common(_MOST_NAMED)
        )
        return (
            f"your folder takes {_size(used)} of the disk, and may take {_size(self._most_bytes)}: "
            f"delete something. The largest are {large}. Runs deletes runs that you choose there."
        )

    def _by_folder(self) -> Counter[str]:
        """Return the bytes by the folder, or file, that a person would delete."""
        found: Counter[str] = Counter()
        seen: set[tuple[int, int]] = set()
        waiting = [self._root]
        while waiting:
            try:
                with os.scandir(waiting.pop()) as entries:
                    for entry in entries:
                        about = entry.stat(follow_symlinks=False)
                        # A file of several names takes its place once.
                        if (about.st_dev, about.st_ino) in seen:
                            continue
                        seen.add((about.st_dev, about.st_ino))
                        parts = Path(entry.path).relative_to(self._root).parts
                        # Runs are shown by their studies.
                        name = "/".join(parts[: 2 if parts[0] == RUNS else 1])
                        found[name] += _BLOCK_BYTES * about.st_blocks
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(Path(entry.path))
            except OSError:
                continue  # gone meanwhile
        return found


def _size(size_bytes: float) -> str:
    return format_quantity(size_bytes, Unit.BYTES)
