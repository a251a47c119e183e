"""What is stored for a workspace in caches of the server: cached results, and unpacked images.

Without a class they are the user's own, as those of `longfat run`. Each member of a class has a
result cache of its own, which nobody else's runs are taken from, and a list of the images that
were unpacked for it. Both count in the member's disk quota. The least recently used are removed
before the member is refused for lack of room; results also when they take more than their share.
"""

from __future__ import annotations

import contextlib
import json
import threading
from typing import TYPE_CHECKING

from longfat.common.atomic import write_whole
from longfat.engine.images import (
    Unpacked,
    find_image,
    is_unpacked,
    remove_image,
    unpacked_images,
)
from longfat.errors import HostError, InputError, LongfatError
from longfat.execution.cache import ResultCache
from longfat.execution.runs import load_run
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from longfat.model.host_root import HostRoot
    from longfat.studio.disk import DiskLimit

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
