"""The disk quota of a workspace, and the rejection of requests above it.

A class shares a disk. Above the quota no runs can be started and no files written that grow,
until something is deleted; reading and deleting are always possible. All files count, also
hidden ones, those that the page never shows, and what the server keeps for the workspace
elsewhere: what of it can be made again is removed first.
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
    from collections.abc import Callable, Iterator

_BLOCK_BYTES = 512
_MOST_NAMED = 3


class DiskLimit:
    """The limit of a workspace; from any thread.

    Args:
        root: the workspace.
        most_bytes: the quota; None if there is none.

    Attributes:
        most_bytes: the same.
        evict: called with how many bytes should be freed, if more is used than the quota.
    """

    def __init__(self, root: Path, most_bytes: float | None) -> None:
        self._root = root
        self._beside: list[tuple[str, Callable[[], int]]] = []
        self._folders: dict[str, Path] = {}
        self.most_bytes = most_bytes
        self.evict: Callable[[float], None] = lambda _: None

    def count_beside(self, name: str, used_bytes: Callable[[], int]) -> Callable[[], None]:
        """Count what is stored for the workspace elsewhere, until the returned function is called.

        Args:
            name: what it is, for the message.
            used_bytes: returns how much it is; from any thread.
        """
        entry = (name, used_bytes)
        self._beside.append(entry)
        return lambda: self._beside.remove(entry)

    def count_folder(self, name: str, folder: Path) -> None:
        """Count a folder of the server, too; of a file with several links, each byte once.

        Args:
            name: what it is, for the message.
            folder: the folder.
        """
        self._folders[name] = folder

    def folder_bytes(self, folder: Path, *, own: bool = False) -> int:
        """Return the disk usage of a folder.

        Args:
            folder: the folder.
            own: without files that have links elsewhere, too.
        """
        sizes = _sizes(folder, set())
        return sum(size for _, size, links in sizes if not own or links == 1)

    def make_room(self, wanted_bytes: float) -> float:
        """Remove what can be removed, if less than something needs is left of the quota.

        Args:
            wanted_bytes: how much it needs.

        Returns:
            How much is left; infinity if there is no quota.
        """
        room = self.room_bytes()
        if room < wanted_bytes:
            self.evict(wanted_bytes - room)
            room = self.room_bytes()
        return room

    def used_bytes(self) -> int:
        """Return the disk usage of the workspace."""
        return sum(self._by_folder().values())

    def room_bytes(self) -> float:
        """Return how much is left of the quota; infinity if there is none."""
        if self.most_bytes is None:
            return math.inf
        return max(0.0, self.most_bytes - self.used_bytes())

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
        if self.most_bytes is None:
            return ""
        limit = self.most_bytes + reserve_bytes
        taken = self._by_folder()
        if (used := sum(taken.values())) > limit:
            self.evict(used - limit)
            taken = self._by_folder()
            used = sum(taken.values())
        if used <= limit:
            return ""
        large = ", ".join(
            f"{name} ({_size(size)})" for name, size in taken.most_common(_MOST_NAMED)
        )
        return (
            f"your folder takes {_size(used)} of the disk; its limit is {_size(self.most_bytes)}: "
            f"delete something. The largest are {large}. Runs can be deleted on the Runs page."
        )

    def _by_folder(self) -> Counter[str]:
        """Return the usage by the folder, or file, that the user could delete."""
        found: Counter[str] = Counter()
        seen: set[tuple[int, int]] = set()
        for parts, size, _ in _sizes(self._root, seen):
            # Runs are grouped by their studies.
            found["/".join(parts[: 2 if parts[0] == RUNS else 1])] += size
        for name, folder in tuple(self._folders.items()):
            found[name] += sum(size for _, size, _ in _sizes(folder, seen))
        for name, used_bytes in tuple(self._beside):
            found[name] += used_bytes()
        return found


def _sizes(folder: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Yield what is in a folder and below: its path in it, its disk usage, its count of links.

    Args:
        folder: the folder.
        seen: what is left out, and added to: a file with several hard links counts once.
    """
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    about = entry.stat(follow_symlinks=False)
                    if (about.st_dev, about.st_ino) in seen:
                        continue
                    seen.add((about.st_dev, about.st_ino))
                    parts = Path(entry.path).relative_to(folder).parts
                    is_folder = entry.is_dir(follow_symlinks=False)
                    yield parts, _BLOCK_BYTES * about.st_blocks, 1 if is_folder else about.st_nlink
                    if is_folder:
                        waiting.append(Path(entry.path))
        except OSError:
            continue  # removed meanwhile


def _size(size_bytes: float) -> str:
    return format_quantity(size_bytes, Unit.BYTES)
