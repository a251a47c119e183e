"""A toolset from a stranger: unpacked within limits, and used only if its digest is the expected.

The digest is over all files, so a toolset that has it is the one that it names, whoever passed it
on. The archive is read as a stream; entries that lead out of the folder, devices and hard links
are refused, and links are made last, so that nothing is written through one.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from typing import IO, TYPE_CHECKING

from longfat.common.checksum import FILE_NAME, SUMS
from longfat.common.tar import CheckedHeader
from longfat.engine.toolset.store import MANIFEST, Toolset, read
from longfat.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BYTES = 1 << 30
_MAX_ENTRIES = 50_000
_MAX_HEADER_BYTES = 1 << 16
_MAX_PATH = 512
_MAX_TIME_S = 1 << 33
_CHUNK = 1 << 20
_EXTENDED = frozenset((tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK))
_BAD = (tarfile.TarError, EOFError, ValueError, OverflowError, RecursionError)


def contents_digest(folder: Path) -> str:
    """Return the digest of the names, kinds and contents of all files of a toolset.

    Its manifest, which contains the digest, and its checksums do not count.

    Raises:
        OSError: a file cannot be read.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            digest.update(f"{name} -> {path.readlink()}\n".encode())
        elif path.is_file() and name not in (MANIFEST, SUMS):
            mark = "x" if path.stat().st_mode & 0o100 else "-"
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{name} {mark} {content}\n".encode())
    return digest.hexdigest()


def unpack_checked(archive: IO[bytes], folder: Path, *, digest: str) -> Toolset:
    """Unpack the archive of a toolset into a new folder, and check its digest.

    Args:
        archive: what `longfat.engine.toolset.archive.write_tar` wrote.
        folder: the folder, which does not exist.
        digest: the digest that it has to have.

    Raises:
        InputError: the archive is damaged or refused, or of another toolset.
        OSError: a file cannot be written.
    """
    folder.mkdir(mode=0o700)
    links: dict[str, str] = {}
    times: dict[Path, float] = {}
    total = 0
    try:
        with tarfile.open(fileobj=archive, mode="r|", tarinfo=_Header) as tar:
            for count, entry in enumerate(tar):
                total += entry.size
                _check_names(entry)
                if count >= _MAX_ENTRIES or total > _MAX_BYTES:
                    raise tarfile.ReadError("it is larger than a toolset can be")
                path = folder / entry.name
                times[path] = entry.mtime
                if entry.issym():
                    links[entry.name] = entry.linkname
                else:
                    _write(tar, entry, path)
        for name, target in links.items():
            (folder / name).symlink_to(target)
    except FileExistsError as error:
        raise InputError(f"the toolset is refused: two entries are {error.filename}") from None
    except (NotADirectoryError, FileNotFoundError) as error:
        raise InputError(f"the toolset is refused: {error.filename} is in no folder") from None
    except _BAD as error:
        raise InputError(f"the toolset is damaged or refused: {str(error)[:200]}") from None
    for path, time_s in times.items():
        os.utime(path, (time_s, time_s), follow_symlinks=False)
    toolset = read(folder)
    if toolset is None or contents_digest(folder) != digest or toolset.digest != digest:
        raise InputError(f"the toolset is another one than {digest[:12]}, or its files changed")
    return toolset


def _check_names(entry: tarfile.TarInfo) -> None:
    """Check that an entry is in the folder, and that a link leads to a file beside it."""
    if not FILE_NAME.fullmatch(entry.name) or len(entry.name) > _MAX_PATH:
        raise tarfile.ReadError(f"{entry.name[:80]!r} leads out of the folder, or is too long")
    target = entry.linkname
    if entry.issym() and (not FILE_NAME.fullmatch(target) or "/" in target):
        raise tarfile.ReadError(f"{entry.name!r} is a link to {target[:80]!r}, not beside it")


def _write(tar: tarfile.TarFile, entry: tarfile.TarInfo, path: Path) -> None:
    if entry.isdir():
        path.mkdir(mode=0o755)
        return
    source = tar.extractfile(entry)
    assert source is not None  # it is a regular file
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o755 if entry.mode & 0o100 else 0o644)
    with source, os.fdopen(descriptor, "wb") as file:
        while chunk := source.read(_CHUNK):
            file.write(chunk)


class _Header(CheckedHeader):
    """The header of an entry of a toolset."""

    def check(self) -> None:
        """Raise `tarfile.ReadError` if it is refused."""
        if self.type in _EXTENDED:
            if not 0 <= self.size <= _MAX_HEADER_BYTES:
                raise tarfile.ReadError(f"an extended header of {self.size:,} bytes")
            return
        if self.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE):
            raise tarfile.ReadError("an entry is neither a file, a folder nor a link")
        if not 0 <= self.size <= _MAX_BYTES or not 0 <= self.mtime <= _MAX_TIME_S:
            raise tarfile.ReadError("an entry has an impossible size or time")
