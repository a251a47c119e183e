"""Reading what lies beside a study: the files that it names, by their relative paths.

A study may come from an untrusted source, and what it reads ends in results that are
published. So it reads only what lies in its own folder: not through `..` or a link, and
nothing hidden, since the folder may be a home directory.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from longfat.engine.images import find_image
from longfat.errors import InputError
from longfat.model.host_root import HostRoot

MAX_FILE_BYTES = 8 * 1024**2
"""How large a file may be."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a named pipe would wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class FileReader(Protocol):
    """What reads the files beside a study."""

    def __call__(self, path: str, /) -> bytes:
        """Return a file by its relative path; raises `InputError` without a place."""

    def image(self, path: str, /) -> HostRoot:
        """Return the image that a file or folder is, unpacked into the cache; likewise."""


class ImageFinder(Protocol):
    """What finds an image, and unpacks it into the cache."""

    def __call__(self, path: Path, *, name: str) -> HostRoot:
        """Return the reference to it; as `longfat.engine.images.find_image`."""


def folder_reader(folder: Path) -> FileReader:
    """Return what reads the files in a study's folder, and nothing outside of it.

    Args:
        folder: the folder.
    """
    return FolderReader(lambda: folder)


class FolderReader:
    """Reads the files in a folder, and nothing outside of it.

    Args:
        folder: returns the folder, when something is to be read.
        find_image: as `longfat.engine.images.find_image`.
    """

    def __init__(self, folder: Callable[[], Path], *, find_image: ImageFinder = find_image) -> None:
        self._folder = folder
        self._find_image = find_image

    def __call__(self, path: str, /) -> bytes:
        """See `FileReader`."""
        parts = _parts(path)
        try:
            return _read_file(self._folder(), parts)
        except OSError as error:
            raise InputError(f"{path!r} cannot be read: {_reason(error)}") from None

    def image(self, path: str, /) -> HostRoot:
        """See `FileReader`."""
        at = self._folder()
        try:
            for part in _parts(path):
                at /= part
                if stat.S_ISLNK(at.lstat().st_mode):
                    _check_mode(stat.S_IFLNK)
        except OSError as error:
            raise InputError(f"{path!r} cannot be read: {_reason(error)}") from None
        return self._find_image(at, name=path)


def _parts(path: str) -> list[str]:
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts or not parts:
        raise InputError(
            f"{path!r} is outside of the study's folder: put the file beside the study, and "
            "name it by its relative path"
        )
    if any(part.startswith(".") for part in parts):
        raise InputError(f"{path!r} is hidden, and hidden files are not read: rename it")
    if "\0" in path:
        raise InputError(f"{path!r} cannot be the name of a file")
    return parts


class _NoFiles:
    """Refuses to read a file: the study is in no folder."""

    def __call__(self, path: str, /) -> bytes:
        raise InputError(
            f"{path!r} cannot be read, because this study is not in a folder: save the study "
            "beside the file, or write its content as {text: ...}"
        )

    def image(self, path: str, /) -> HostRoot:
        raise InputError(
            f"{path!r} cannot be read, because this study is not in a folder: save the study "
            "beside it"
        )


no_files: FileReader = _NoFiles()
"""Refuses to read a file: the study is in no folder."""


class _EmptyFiles:
    """Treat every file as empty, and every image as not inspected."""

    def __call__(self, path: str, /) -> bytes:
        del path
        return b""

    def image(self, path: str, /) -> HostRoot:
        return HostRoot(image=path)


empty_files: FileReader = _EmptyFiles()
"""For studies whose files' contents are not needed."""


def _read_file(folder: Path, parts: list[str]) -> bytes:
    """Open each folder relative to the one before, so that no link can be put in between."""
    with contextlib.ExitStack() as stack:
        here = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, here)
        for name in parts[:-1]:
            _check_mode(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode, folder=True)
            here = os.open(name, _FOLDER, dir_fd=here)
            stack.callback(os.close, here)
        # Opening a device can have effects, so its type is checked before.
        _check_mode(os.stat(parts[-1], dir_fd=here, follow_symlinks=False).st_mode)
        descriptor = os.open(parts[-1], _READ, dir_fd=here)
        with os.fdopen(descriptor, "rb") as file:
            _check_mode(os.fstat(descriptor).st_mode)
            return file.read(MAX_FILE_BYTES + 1)


def _check_mode(mode: int, *, folder: bool = False) -> None:
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is, or goes through, a symbolic link, which is not followed")
    if folder and not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    if not folder and stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, "it is a directory; name each file of it")
    if not folder and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file")


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "there is no such file beside the study"
    return error.strerror or str(error)
