"""The field `files`: what a study puts into the machine, written inline or in files beside it.

    files:
      /etc/frr/daemons: daemons
      /opt/lab/server.py: {from: server.py, executable: true}
      /tmp/notes: {text: inline text}

A study may come from an untrusted source, and what it reads ends in results that are
published. So it reads only what lies in its own folder: not through `..` or a link, and
nothing hidden, since the folder may be a home directory.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import os
import posixpath
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from longfat.engine.images import find_image
from longfat.errors import InputError
from longfat.model.case import File
from longfat.model.host_root import HostRoot
from longfat.study.document import Scalar

if TYPE_CHECKING:
    from longfat.errors import Place
    from longfat.study.node import Key, Node

MOST_FILE_BYTES = 8 * 1024**2
"""How large a file may be."""

MOST_CASE_BYTES = 16 * 1024**2
"""How large all files of a case may be together."""


class ReadBeside(Protocol):
    """What reads the files beside a study."""

    def __call__(self, path: str, /) -> bytes:
        """Return a file by its relative path; raises `InputError` without a place."""

    def image(self, path: str, /) -> HostRoot:
        """Return the image that a file or folder is, unpacked into the cache; likewise."""


class FindImage(Protocol):
    """What finds an image, and unpacks it into the cache."""

    def __call__(self, path: Path, *, name: str) -> HostRoot:
        """Return the reference to it; as `longfat.engine.images.find_image`."""


# What the guest makes itself: kernel file systems, its own folders, and the hosts' names.
_TAKEN = (
    *("/proc", "/sys", "/dev", "/run/longfat", "/run/layers", "/run/netns"),
    *("/run/roots", "/run/traces", "/etc/hosts"),
)
# They separate the options of an overlay mount, or escape.
_SEPARATORS = ",:\\"
_LONGEST_NAME, _LONGEST_PATH = 255, 4000

_SOURCES = ("from", "text", "base64")
_FORM = "a file beside the study, or a mapping such as {from: server.py, executable: true}"

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# Opening a named pipe would wait for its other end.
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file of a study, with the place of its path."""

    file: File
    place: Place


def reads_beside(folder: Path) -> ReadBeside:
    """Return what reads the files in a study's folder, and nothing outside of it.

    Args:
        folder: the folder.
    """
    return BesideFolder(lambda: folder)


class BesideFolder:
    """Reads the files in a folder, and nothing outside of it.

    Args:
        folder: returns the folder, when something is to be read.
        find_image: as `longfat.engine.images.find_image`.
    """

    def __init__(self, folder: Callable[[], Path], *, find_image: FindImage = find_image) -> None:
        self._folder = folder
        self._find_image = find_image

    def __call__(self, path: str, /) -> bytes:
        """See `ReadBeside`."""
        parts = _parts(path)
        try:
            return _read_file(self._folder(), parts)
        except OSError as error:
            raise InputError(f"{path!r} cannot be read: {_reason(error)}") from None

    def image(self, path: str, /) -> HostRoot:
        """See `ReadBeside`."""
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


class _BesideNothing:
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


reads_nothing: ReadBeside = _BesideNothing()
"""Refuses to read a file: the study is in no folder."""


class _BesideEmpty:
    """Treat every file as empty, and every image as not inspected."""

    def __call__(self, path: str, /) -> bytes:
        del path
        return b""

    def image(self, path: str, /) -> HostRoot:
        return HostRoot(image=path)


reads_empty: ReadBeside = _BesideEmpty()
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
            return file.read(MOST_FILE_BYTES + 1)


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


def read_file(key: Key, node: Node, *, read: ReadBeside) -> WrittenFile:
    """Read one entry of `files`.

    Args:
        key: the path in the machine.
        node: what is to be there.
        read: reads files beside the study.

    Raises:
        InputError: the path cannot be, or the content cannot be read or is too large.
    """
    _check_path(key)
    executable = False
    if node.is_mapping:
        fields = node.fields(_FORM, allowed=(*_SOURCES, "executable"))
        sources = [name for name in _SOURCES if name in fields]
        if len(sources) != 1:
            raise node.error(
                f"a file has one of {', '.join(_SOURCES)}, and here are {len(sources)}"
            )
        if "executable" in fields:
            executable = fields["executable"].boolean()
        source, value = sources[0], fields[sources[0]]
    else:
        source, value = "from", node
    content = _content(source, value, read=read)
    if len(content) > MOST_FILE_BYTES:
        raise value.error(f"the file is larger than {MOST_FILE_BYTES // 1024**2} MB")
    file = File(path=key.text, content=content, executable=executable)
    return WrittenFile(file=file, place=key.place)


def _content(source: str, node: Node, *, read: ReadBeside) -> bytes:
    if source == "from":
        try:
            return read(node.line(_FORM))
        except InputError as error:
            raise error if error.place else node.error(error.message) from None
    # An empty text is an empty file.
    if not isinstance(node.raw, Scalar) or node.is_null:
        raise node.expected("a text")
    if source == "text":
        return node.raw.text.encode()
    try:
        return base64.b64decode("".join(node.raw.text.split()), validate=True)
    except ValueError:  # also where it is not ASCII
        raise node.expected("base64 (RFC 4648)") from None


def _check_path(key: Key) -> None:
    path = key.text
    if not path.startswith("/") or path.startswith("//") or posixpath.normpath(path) != path:
        reason = "is not an absolute, normalised path in the machine, such as /opt/lab/server.py"
    elif path.count("/") < 2:
        reason = "is in /, which cannot be written: choose a folder, such as /opt"
    elif any(path == taken or path.startswith(f"{taken}/") for taken in _TAKEN):
        reason = "belongs to the machine itself: choose another folder, such as /opt"
    elif not path.isprintable() or any(one in path for one in _SEPARATORS):
        reason = "holds a comma, a colon, a backslash, or a character that cannot be printed"
    elif len(path.encode()) > _LONGEST_PATH or any(
        len(name.encode()) > _LONGEST_NAME for name in path.split("/")
    ):
        reason = f"is too long: a name has at most {_LONGEST_NAME} bytes"
    else:
        return
    raise InputError(f"{path[:80]!r} {reason}", place=key.place)


def check_files(files: Iterable[WrittenFile]) -> None:
    """Check what needs all files of a case.

    Raises:
        InputError: they are too large together, or one is at the path of another one's folder.
    """
    files = list(files)
    paths = {written.file.path for written in files}
    total = 0
    for written in files:
        for folder in PurePosixPath(written.file.path).parents:
            if str(folder) in paths:
                raise InputError(
                    f"{folder} is a file of this case, not a folder", place=written.place
                )
        total += len(written.file.content)
        if total > MOST_CASE_BYTES:
            raise InputError(
                f"with this one, a case's files are larger than {MOST_CASE_BYTES // 1024**2} MB",
                place=written.place,
            )
