"""The workspace: the one folder that the studio reads and writes, and nothing outside of it.

A path is split and opened folder by folder, each relative to the one before and never through
a symbolic link. So neither `..` nor a link leads out, not even a link that is created
concurrently.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets
import stat
import threading
from collections import deque
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.modes import file_mode
from longfat.common.removal import open_folder
from longfat.errors import InputError
from longfat.execution.runs.run import MANIFEST
from longfat.studio.disk import DiskLimit, Stores
from longfat.studio.http import HttpError, conflict
from longfat.study.labs import Labs

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a named pipe would block until the other end is opened.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_LINK = (errno.ELOOP, errno.EMLINK)
_MAX_PATH_CHARACTERS = 1024
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_NOT_FOUND = HTTPStatus.NOT_FOUND
_FULL = (errno.ENOSPC, errno.EDQUOT)

# The studio may be started in a home folder.
_MAX_FOLDERS = 20_000
_DEEPEST = 8
_SKIPPED = ("node_modules", "__pycache__")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file as it was read.

    Attributes:
        content: its content; None if there is no such file.
    """

    content: bytes | None = None

    @property
    def version(self) -> str | None:
        """The version, which a page sends back with what it saves; None if there is no file."""
        return None if self.content is None else version_of(self.content)


def version_of(content: bytes) -> str:
    """Return the version of a content: a digest."""
    return hashlib.sha256(content).hexdigest()


class Workspace:
    """A folder.

    Args:
        root: the folder.
        labs: the labs that can be opened in it.
        most_bytes: the disk quota; None if there is none.
        caches: a folder of the server for what it keeps for the workspace in caches; None for
            the user's own caches.

    Attributes:
        root: the same, without links.
        labs: the labs.
        disk: the quota, to be checked before anything that needs space.
        stores: cached results and unpacked images.
        lock: held by whoever compares a file with what a page knows of it, and writes it.

    Raises:
        InputError: there is no such folder.
    """

    def __init__(
        self,
        root: Path,
        *,
        labs: Labs | None = None,
        most_bytes: float | None = None,
        caches: Path | None = None,
    ) -> None:
        self.labs = labs or Labs()
        try:
            self.root = root.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(f"{root}: the workspace cannot be opened: {reason}") from None
        if not self.root.is_dir():
            raise InputError(f"{root}: the workspace must be a folder, but this is a file")
        self.disk = DiskLimit(self.root, most_bytes)
        self.stores = Stores(self.disk, caches)
        self.lock = threading.RLock()

    def read(self, path: str, *, most_bytes: int) -> bytes:
        """Return a file's content.

        Args:
            path: the file, below the workspace, with slashes.
            most_bytes: how large it may be.

        Raises:
            InputError: the path leads out or through a link, there is no such file,
                it is not a file, or it is too large.
        """
        *folders, name = path_parts(path)
        with self._opened(path, folders) as folder, _converted_errors(path):
            content = _content(path, name, folder, most_bytes=most_bytes)
        if len(content) > most_bytes:
            raise HttpError(
                f"{path}: larger than {most_bytes // 1024} KB",
                status=_TOO_LARGE,
            )
        return content

    def stored(self, path: str, *, most_bytes: int) -> StoredFile:
        """Return a file as it is now, to be replaced later.

        Raises:
            InputError: as `read`, unless there is no such file.
        """
        try:
            return StoredFile(content=self.read(path, most_bytes=most_bytes))
        except HttpError as error:
            if error.status is not _NOT_FOUND or self._is_there(path):
                raise
            return StoredFile()

    def read_or_none(self, path: str, *, most_bytes: int) -> bytes | None:
        """Return a file's content, or None if there is no such file.

        Raises:
            InputError: as `read`, otherwise.
        """
        return self.stored(path, most_bytes=most_bytes).content

    def write(self, path: str, content: bytes) -> None:
        """Write a file atomically, whatever is there.

        On a full file system a file that does not grow is written over in its place.

        Args:
            path: the file, below the workspace; its folder must exist.
            content: its new content.

        Raises:
            InputError: the path leads out or through a link, or cannot be written to.
        """
        self._write(path, content, stored=None)

    def replace(self, path: str, content: bytes, *, stored: StoredFile) -> None:
        """Write a file as `write`, unless another program has written it since it was read.

        Args:
            path: the file, below the workspace; its folder must exist.
            content: its new content.
            stored: the file as it was read, with `lock` held since.

        Raises:
            InputError: as `write`.
            HttpError: it was written meanwhile; the status is 409.
        """
        self._write(path, content, stored=stored)

    def _write(self, path: str, content: bytes, *, stored: StoredFile | None) -> None:
        *folders, name = path_parts(path)
        with self._opened(path, folders) as folder, _converted_errors(path):
            there = _regular_file(path, name, folder)
            mode = file_mode() if there is None else stat.S_IMODE(there.st_mode)
            try:
                hidden = _hidden_file(name, content, mode=mode, folder=folder)
            except OSError as error:
                # Its blocks are allocated already; other names of the file must not change.
                fits = there is not None and len(content) <= there.st_size and there.st_nlink == 1
                if error.errno not in _FULL or not fits:
                    raise
                _check_unchanged(path, name, folder, stored)
                _write_in_place(name, content, folder=folder)
                return
            try:
                _check_unchanged(path, name, folder, stored)
                if stored is not None and stored.content is None:
                    _give_new_name(path, hidden, name, folder)
                else:
                    os.replace(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(hidden, dir_fd=folder)

    def remove(self, path: str) -> None:
        """Remove a file, which takes no room even on a full disk.

        Args:
            path: the file, below the workspace.

        Raises:
            InputError: the path leads out or through a link, there is no such file, or it
                cannot be removed.
        """
        *folders, name = path_parts(path)
        with self.lock, self._opened(path, folders) as folder, _converted_errors(path):
            if _regular_file(path, name, folder) is None:
                raise HttpError(f"{path}: there is no such file", status=_NOT_FOUND)
            os.unlink(name, dir_fd=folder)

    def folder(self, path: str, *, make: bool = False, unlock: bool = False) -> Path:
        """Return the full path of a folder.

        Args:
            path: the folder, below the workspace.
            make: create it, and its parents, if they do not exist.
            unlock: give us all rights to it and its parents if they lack, as to folders of ours.

        Raises:
            InputError: the path leads out or through a link, or there is no such folder.
        """
        parts = path_parts(path)
        with self._opened(path, parts, make=make, unlock=unlock):
            return self.root.joinpath(*parts)

    @contextlib.contextmanager
    def relative_paths(self) -> Iterator[None]:
        """Convert errors to messages with paths relative to the workspace."""
        try:
            yield
        except InputError as error:
            whole = f"{self.root}/"
            if whole not in error.message:
                raise
            raise InputError(error.message.replace(whole, ""), place=error.place) from None

    def walk(self) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
        """Yield the folders and the files in each, sorted by depth.

        Hidden ones, links, and what is inside of a run directory are left out; so are
        folders far down, and the last of very many.

        Yields:
            The folder below the workspace, empty for itself, and its files.
        """
        waiting = deque([("", 0)])
        seen = 0
        while waiting and seen < _MAX_FOLDERS:
            path, depth = waiting.popleft()
            seen += 1
            try:
                with os.scandir(self.root / path) as found:
                    entries = sorted(found, key=lambda entry: entry.name)
            except OSError:
                continue
            files = []
            folders = []
            for entry in entries:
                if entry.name.startswith(".") or entry.name in _SKIPPED:
                    continue
                with contextlib.suppress(OSError):
                    if entry.is_file(follow_symlinks=False):
                        files.append(entry)
                    elif entry.is_dir(follow_symlinks=False):
                        folders.append(f"{path}/{entry.name}" if path else entry.name)
            is_run = any(entry.name == MANIFEST for entry in files)
            if not is_run and depth < _DEEPEST:
                waiting.extend((folder, depth + 1) for folder in folders)
            yield path, files

    def _is_there(self, path: str) -> bool:
        return os.path.lexists(self.root.joinpath(*path_parts(path)))

    @contextlib.contextmanager
    def _opened(
        self, path: str, folders: list[str], *, make: bool = False, unlock: bool = False
    ) -> Iterator[int]:
        """Open a folder by walking to it."""
        with _converted_errors(path), contextlib.ExitStack() as stack:
            here = os.open(self.root, _FOLDER)
            stack.callback(os.close, here)
            for name in folders:
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, dir_fd=here)
                _refuse_link(path, name, here)
                if unlock:
                    here = open_folder(name, inside=here)
                else:
                    here = os.open(name, _FOLDER, dir_fd=here)
                stack.callback(os.close, here)
            yield here


def _content(path: str, name: str, folder: int, *, most_bytes: int) -> bytes:
    """Return a file's content: of a larger one, a byte more than it may have."""
    file = os.open(name, _READ, dir_fd=folder)
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise HttpError(f"{path}: not a file", status=_NOT_FOUND)
        return stream.read(most_bytes + 1)


def _regular_file(path: str, name: str, folder: int) -> os.stat_result | None:
    """Return what is known of a file; None if there is none."""
    try:
        there = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(there.st_mode):
        raise InputError(f"{path}: not a regular file")
    return there


def _hidden_file(name: str, content: bytes, *, mode: int, folder: int) -> str:
    """Write a content into a new, hidden file beside a file; return its name."""
    hidden = f".{name[:100]}.{secrets.token_hex(4)}.partial"
    file = os.open(hidden, _NEW, mode, dir_fd=folder)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fchmod(file, mode)
            os.fsync(file)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(hidden, dir_fd=folder)
        raise
    return hidden


def _write_in_place(name: str, content: bytes, *, folder: int) -> None:
    file = os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with os.fdopen(file, "r+b", buffering=0) as stream:
        written = 0
        while written < len(content):
            written += stream.write(content[written:]) or 0
        stream.truncate(len(content))
        os.fsync(file)


def _check_unchanged(path: str, name: str, folder: int, stored: StoredFile | None) -> None:
    """Check that a file's content is what was read: no other program has written it since."""
    if stored is None:
        return
    try:
        now = _content(path, name, folder, most_bytes=len(stored.content or b""))
    except FileNotFoundError:
        now = None
    if now != stored.content:
        raise conflict(path)


def _give_new_name(path: str, hidden: str, name: str, folder: int) -> None:
    """Give a hidden file a name that no file has."""
    try:
        os.link(hidden, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        raise conflict(path) from None
    except OSError:  # a file system without hard links
        os.replace(hidden, name, src_dir_fd=folder, dst_dir_fd=folder)


def path_parts(path: str) -> list[str]:
    """Return the parts of a path, each the name of something in the folder before.

    Raises:
        InputError: it is none that can lie in the workspace.
    """
    parts = path.split("/")
    if not path or path.startswith("/") or len(path) > _MAX_PATH_CHARACTERS:
        raise InputError(f"{path[:80]!r}: a path below the workspace is needed, such as a/b.yaml")
    for part in parts:
        if part in ("", ".", ".."):
            raise InputError(f"{path!r}: a path below the workspace has no {part!r} in it")
        if part.startswith("."):
            raise InputError(f"{path!r}: hidden files and folders are not allowed")
        if not part.isprintable():
            raise InputError(f"{path!r}: the path contains an unprintable character")
    return parts


def _refuse_link(path: str, name: str, folder: int) -> None:
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        raise _link(path, name)


def _link(path: str, name: str) -> InputError:
    return InputError(
        f"{path}: {name} is a symbolic link; the studio follows none, so that nothing outside "
        "the workspace is read or written"
    )


@contextlib.contextmanager
def _converted_errors(path: str) -> Iterator[None]:
    """Convert OSError to our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in _LINK:
            raise _link(path, path.rpartition("/")[2]) from None
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            raise HttpError(f"{path}: there is no such file or folder", status=_NOT_FOUND) from None
        raise InputError(f"{path}: {error.strerror}") from None
