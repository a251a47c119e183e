"""Checksums: of files, and of plain data that contains its own.

They detect changes by a bad disk, a truncated copy or an editor. They are no protection against
tampering: whoever can write a folder can write its checksums, too.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import open_regular, read_bytes
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = re.compile(r"(?!\.{1,2}(?:/|$))[^/\0]+(?:/(?!\.{1,2}(?:/|$))[^/\0]+)*")
"""A path below a folder that leads nowhere else."""

SUMS = "SHA256SUMS"
"""The file of a folder with the checksums of all others."""

_MAX_SUMS_BYTES = 1 << 22
_YOUNG_NS = 2_000_000_000

SEAL = "sha256"
"""The field of plain data with the checksum of all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSum:
    """The size and checksum of a file when it was written.

    Attributes:
        size_bytes: its size in bytes.
        sha256: the SHA-256 of its bytes, in hexadecimal.
    """

    size_bytes: int
    sha256: str


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a regular file's bytes.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def file_sum(path: Path) -> FileSum:
    """Return the size and checksum of a regular file.

    Raises:
        OSError: it cannot be read.
    """
    return FileSum(size_bytes=path.stat().st_size, sha256=file_digest(path))


def file_damage(path: Path, wanted: FileSum) -> str:
    """Return how a file differs from its recorded state; empty if it does not."""
    try:
        size = path.lstat().st_size
        # A file that has grown to a terabyte is not read.
        if size != wanted.size_bytes:
            return f"it has {size:,} bytes instead of {wanted.size_bytes:,}"
        if path.is_symlink():
            return "it is a link"
        return "" if digest_now(path) == wanted.sha256 else "its bytes have changed"
    except FileNotFoundError:
        return "it is missing"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def digest_now(path: Path) -> str:
    """Return the SHA-256 of a file, which is cached until the file changes.

    Every write to a file sets its time of change (ctime), and nothing can set that
    back. It has a resolution of some milliseconds, so a recently changed file is read again.
    """
    about = path.stat()
    if time.time_ns() - about.st_ctime_ns < _YOUNG_NS:
        return file_digest(path)
    mark = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
    return _digest_of(path, mark)


@functools.lru_cache(maxsize=1 << 14)
def _digest_of(path: Path, mark: tuple[int, ...]) -> str:
    del mark
    return file_digest(path)


def write_sums(folder: Path) -> None:
    """Write the checksums of all files of a folder, for `folder_damage` and sha256sum(1).

    Raises:
        OSError: a file cannot be read, or the folder not be written.
    """
    lines = [f"{file_digest(path)}  {name}\n" for name, path in _files(folder).items()]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def folder_damage(folder: Path) -> str:
    """Return which file of a folder differs from its checksum, and how; empty if none does."""
    try:
        text = read_bytes(folder / SUMS, most_bytes=_MAX_SUMS_BYTES).decode("ascii")
        sums = {name: digest for digest, _, name in map(_split, text.splitlines())}
        there = _files(folder)
        for name in sorted(sums.keys() | there.keys()):
            if name not in there:
                return f"{folder / name}: it is missing"
            if sums.get(name) != digest_now(there[name]):
                return f"{folder / name}: its bytes are not those in {SUMS}"
    except FileNotFoundError:
        return f"{folder / SUMS}: it is missing"
    except OSError as error:
        return f"{folder}: cannot be read: {error.strerror}"
    except (InputError, ValueError):
        return f"{folder / SUMS}: not a list of checksums"
    return ""


def folder_mark(folder: Path) -> str:
    """Return a digest of the names, sizes and times of a folder's files, which are not read.

    Every write to a file changes it, see `digest_now`. It is empty if a file was changed so
    recently that another change might leave it as it is.

    Raises:
        OSError: the folder cannot be read.
    """
    newest_ns, lines = 0, []
    for parent, folders, names in os.walk(folder, onerror=_raise):
        folders.sort()
        for name in sorted(names):
            path = f"{parent}/{name}"
            about = os.lstat(path)
            newest_ns = max(newest_ns, about.st_ctime_ns)
            lines.append(
                f"{path} {about.st_ino} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}\n"
            )
    if time.time_ns() - newest_ns < _YOUNG_NS:
        return ""
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _raise(error: OSError) -> None:
    raise error


def _split(line: str) -> tuple[str, str, str]:
    return line.partition("  ")


def _files(folder: Path) -> dict[str, Path]:
    paths = sorted(path for path in folder.rglob("*") if not path.is_dir())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    return {name: path for name, path in names.items() if name != SUMS}


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data with the checksum of its values."""
    return {**data, SEAL: _sum_of(data)}


def unsealed(data: Mapping[str, Any], *, where: str) -> dict[str, Any]:
    """Return plain data without its checksum.

    Args:
        data: what `sealed` returned.
        where: its name in messages.

    Raises:
        InputError: the checksum is not that of the values.
    """
    found = {name: value for name, value in data.items() if name != SEAL}
    try:
        whole = data.get(SEAL) == _sum_of(found)
    except (ValueError, RecursionError):  # nested deeper here than when it was read
        whole = False
    if not whole:
        raise InputError(f"{where}: damaged: its checksum, {SEAL}, does not match its values")
    return found


def _sum_of(data: Mapping[str, Any]) -> str:
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
