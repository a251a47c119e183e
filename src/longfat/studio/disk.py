"""The disk quota of a workspace, the rejection of requests above it, and the caches in it.

A class shares a disk. Above the quota no runs can be started and no files written that grow,
until something is deleted; reading and deleting are always possible. All files count, also
hidden ones, those that the page never shows, and what the server keeps for the workspace
elsewhere: what of it can be made again is removed first.

Without a class the caches (results, unpacked images) are the user's own, as those of
`longfat run`. Each member of a class has a result cache of its own, which nobody else's runs are
taken from, and a list of the images that were unpacked for it. Both count in the member's quota.
The least recently used are removed before the member is refused for lack of room; results also
when they take more than their share.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.engine.images import Unpacked, find_image, is_unpacked, remove_image, unpacked_images
from longfat.errors import HostError, InputError, LongfatError
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.model.units import format_quantity
from longfat.studio.http import RUNS, HttpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from longfat.model.host_root import HostRoot

_BLOCK_BYTES = 512
_MAX_NAMED = 3


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
        large = ", ".join(f"{name} ({_size(size)})" for name, size in taken.most_common(_MAX_NAMED))
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


SHARE = 0.25
"""The share of the quota that cached results may take after a job or a check."""

_RESULTS = "results"
_IMAGES = "images.json"


class Stores:
    """The caches of a workspace; from any thread.

    Args:
        disk: the quota of the workspace.
        folder: a folder of the server for them; None for the user's own caches.

    Attributes:
        results: the result cache.
        has_machine: whether one runs for the workspace: then no image is removed.

    Raises:
        HostError: the folder cannot be made.
    """

    def __init__(self, disk: DiskLimit, folder: Path | None) -> None:
        self._disk = disk
        self._folder = folder
        self._lock = threading.Lock()
        self.results = ResultCache()
        self.has_machine: Callable[[], bool] = lambda: False
        self._images: dict[str, int] = {}
        if folder is None:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise HostError(f"{folder}: cannot be created: {error.strerror}") from None
        self.results = ResultCache(folder / _RESULTS, private=True)
        self._images = _read(folder / _IMAGES)
        disk.count_folder("cached results", folder)
        disk.count_beside("unpacked images", self._image_bytes)
        disk.evict = self._evict

    def find_image(self, path: Path, *, name: str) -> HostRoot:
        """Find an image of the workspace, and unpack it if there is room.

        Args:
            path: the file or folder.
            name: its name in the study.

        Raises:
            InputError: as `longfat.engine.images.find_image`, or it is larger than what is left
                of the quota.
            HostError: as there.
        """
        if self._folder is None:
            return find_image(path, name=name)
        unpacked: list[int] = []

        def check_size(size_bytes: int) -> None:
            room = self._disk.make_room(size_bytes)
            if size_bytes > room:
                needed, left = (format_quantity(one, Unit.BYTES) for one in (size_bytes, room))
                raise InputError(
                    f"unpacked it takes {needed}, and {left} are left of the limit of your disk: "
                    "delete something"
                )
            unpacked.append(size_bytes)

        # One at a time: each is compared with what is left by the one before.
        with self._lock:
            image = find_image(path, name=name, check_size=check_size)
            if unpacked:
                self._images = {**self._images, image.digest: unpacked[0]}
                self._keep()
        return image

    def forget(self, folder: Path) -> None:
        """Remove the cached result of a run of the workspace, which is being deleted.

        Args:
            folder: the run directory.
        """
        if self._folder is not None:
            with contextlib.suppress(LongfatError, OSError):
                self.results.remove(load_run(folder).key)

    def trim(self) -> None:
        """Remove the results that were used least recently, beyond their share of the quota."""
        if self._folder is not None and (quota := self._disk.most_bytes) is not None:
            used = self._disk.folder_bytes(self.results.root, own=True)
            self._evict(used - SHARE * quota, with_images=False)

    def _image_bytes(self) -> int:
        return sum(size for digest, size in dict(self._images).items() if is_unpacked(digest))

    def _evict(self, wanted_bytes: float, *, with_images: bool = True) -> None:
        """Remove what was used least recently, as long as more room is wanted.

        Args:
            wanted_bytes: how much is to be freed, in bytes.
            with_images: images as well, unless a machine runs that may have one.
        """
        if wanted_bytes <= 0:
            return
        for path in self.results.unreadable():
            with contextlib.suppress(HostError):
                self.results.clear(path)
        candidates = [(entry.used_s, entry.key, "") for entry in self.results.entries()]
        images: dict[str, Unpacked] = {}
        if with_images and not self.has_machine():
            images = {one.digest: one for one in unpacked_images() if one.digest in self._images}
        candidates += [(one.used_s, "", one.digest) for one in images.values()]
        for _, key, digest in sorted(candidates):
            if wanted_bytes <= 0:
                return
            with contextlib.suppress(HostError):
                if digest:
                    remove_image(images[digest])
                    wanted_bytes -= self._images[digest]
                else:
                    place = self.results.place(key)
                    # What a run directory has, too, is not freed.
                    wanted_bytes -= self._disk.folder_bytes(place, own=True)
                    self.results.remove(key)

    def _keep(self) -> None:
        assert self._folder is not None
        self._images = {one: size for one, size in self._images.items() if is_unpacked(one)}
        try:
            write_whole(self._folder / _IMAGES, json.dumps(self._images).encode())
        except OSError as error:
            raise HostError(f"{self._folder}: cannot be written: {error.strerror}") from None


def _read(file: Path) -> dict[str, int]:
    try:
        stored = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    entries = stored.items() if isinstance(stored, dict) else ()
    return {digest: size for digest, size in entries if isinstance(size, int)}
