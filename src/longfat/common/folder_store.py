"""Stores of folders that are complete or absent: kernels, images, packages, results, runs.

A folder is filled as a *partial folder* with a hidden name. It is published by one rename, and
removed by one, so that no process sees a part of it. The process that fills a partial folder
holds a lock on it and its death removes it, see `longfat.common.guard`; the next process that
writes to the store removes unlocked leftovers, such as those of a power failure.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from longfat.common.guard import remove_tree, sweep, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SHOWN = 12
_EXISTS = (errno.ENOTEMPTY, errno.EEXIST)


def cache_root() -> Path:
    """Return the cache folder: `LONGFAT_CACHE`, or the user's own."""
    named = os.environ.get("LONGFAT_CACHE")
    return Path(named).resolve() if named else platformdirs.user_cache_path("longfat")


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderStore:
    """A store of folders, which several processes may use at the same time.

    Attributes:
        folder: the folder that contains them.
        prefix: the prefix of the names of partial folders; it begins with a dot.
        suffix: the suffix of these names.
        removal_prefix: the prefix of folders that are being removed; `prefix`, if empty.
    """

    folder: Path
    prefix: str
    suffix: str = ""
    removal_prefix: str = ""

    @contextlib.contextmanager
    def partial_folder(self, name: str = "") -> Iterator[Path]:
        """Create a partial folder; if it is still there at the end of the context, it is removed.

        Args:
            name: a part of its name, for people.

        Yields:
            The folder, which only the user can access, and which is not swept.

        Raises:
            OSError: it cannot be created, as where the store has no folder yet.
        """
        prefix = f"{self.prefix}{name}"
        with temporary_folder(self.folder, prefix=prefix, suffix=self.suffix) as folder:
            yield folder

    @contextlib.contextmanager
    def new_folder(self, name: str = "") -> Iterator[Path]:
        """Create a partial folder as `partial_folder` does, after the store's folder and a sweep.

        Raises:
            OSError: the store cannot be written to.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sweep()
        with self.partial_folder(name) as folder:
            yield folder

    def sweep(self) -> None:
        """Remove the leftovers of killed processes: partial folders without a lock."""
        for prefix in dict.fromkeys((self.prefix, self.removal_prefix or self.prefix)):
            sweep(self.folder, prefix=prefix, suffix=self.suffix)

    def publish(self, folder: Path, path: Path) -> None:
        """Move a complete folder to its path, unless another process was faster.

        Args:
            folder: a partial folder, or one inside it.
            path: its future path, in the same file system.

        Raises:
            OSError: it cannot be moved.
        """
        with contextlib.suppress(OSError):
            folder.rename(path)
        if not path.is_dir():
            raise OSError(f"it cannot be put into {path.parent}")

    def replace(self, folder: Path, path: Path) -> None:
        """Move a complete folder to its path; an existing one is removed.

        Args:
            folder: as for `publish`.
            path: likewise.

        Raises:
            OSError: it cannot be moved.
        """
        while True:
            try:
                folder.rename(path)
            except OSError as error:
                if error.errno not in _EXISTS:
                    raise
                # A folder cannot be renamed onto a non-empty one, so the old one is moved first.
                self.remove(path)
            else:
                return

    def remove(self, path: Path) -> None:
        """Remove a folder such that no part of it is visible; it may not exist any more.

        Args:
            path: the folder, in the same file system as the store.

        Raises:
            OSError: it cannot be removed.
        """
        prefix = f"{self.removal_prefix or self.prefix}{path.name[:_SHOWN]}-"
        with temporary_folder(self.folder, prefix=prefix, suffix=self.suffix) as trash:
            with contextlib.suppress(FileNotFoundError):
                path.rename(trash / "old")
            if not remove_tree(trash):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), str(path))

    @contextlib.contextmanager
    def lock(self, digest: str, *, on_wait: Callable[[], None]) -> Iterator[None]:
        """Hold the lock of one digest; others wait until it is released.

        All digests share one lock file, a byte each, so that a killed process leaves
        no file behind; the kernel releases the lock of a process that has ended.

        Args:
            digest: what is locked, in hexadecimal, at least 15 digits.
            on_wait: called once if another process holds the lock.

        Raises:
            OSError: the store cannot be written to.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        fd = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        # struct flock: the type, from where the start counts, start, length, no pid.
        byte = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, int(digest[:15], 16), 1, 0)
        try:
            # OFD locks, unlike older kinds, also keep two threads of one process apart.
            try:
                fcntl.fcntl(fd, fcntl.F_OFD_SETLK, byte)
            except BlockingIOError:
                on_wait()
                fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, byte)
            yield
        finally:
            os.close(fd)
