"""A folder as one block of bytes, and back, without trusting its contents.

The block is a gzipped tar that any tool opens. Its first member lists the
others: names, sizes and digests. What is unpacked must be these files and no
others, in their order: no links, no devices, no path out of the folder, no byte
more than listed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import struct
import tarfile
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from longfat.common.checksum import FILE_NAME
from longfat.common.decoding import decode, parse_json
from longfat.common.tar import CheckedHeader
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_BYTES = 64 << 30
"""The maximum unpacked size of a block."""

_CONTENTS = "contents.json"
_MOST_CONTENTS_BYTES = 64 << 20
_CHUNK = 1 << 20
_SHOWN = 40
# The output of iperf3 and ping shrinks to a tenth at any level; higher ones only take time.
_LEVEL = 4
_LONGEST_NAME = 1 << 16
_KINDS = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.GNUTYPE_LONGNAME)
_DAMAGE = (
    *(tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile),
    # What tarfile raises for invalid headers.
    *(ValueError, IndexError, OverflowError, struct.error),
)


class UnpackError(Exception):
    """A block is not one written by `pack`, or was damaged in transfer."""


class _Member(CheckedHeader):
    """A member that is a file, or a file's long name; no others are allowed.

    Headers of other kinds may be arbitrarily large, and are read into memory.
    """

    def check(self) -> None:
        """Raise `UnpackError` if it is of another kind."""
        if self.type not in _KINDS:
            raise UnpackError(f"{self.name[:_SHOWN]!r} in it is not a file")
        if self.type == tarfile.GNUTYPE_LONGNAME and self.size > _LONGEST_NAME:
            raise UnpackError("a file in it has an invalid name")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Item:
    name: str
    size_bytes: int
    sha256: str


def pack(folder: Path, target: IO[bytes]) -> None:
    """Write all files of a folder into a block; the same files give the same bytes.

    Args:
        folder: the folder, of files and folders only; an empty folder is omitted.
        target: takes the block.

    Raises:
        OSError: a file cannot be read, or the block not be written.
    """
    items = [_item(folder, path) for path in sorted(folder.rglob("*")) if path.is_file()]
    with (
        gzip.GzipFile(
            filename="", mode="wb", compresslevel=_LEVEL, fileobj=target, mtime=0
        ) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        contents = json.dumps([asdict(item) for item in items]).encode()
        tar.addfile(_member(_CONTENTS, len(contents)), io.BytesIO(contents))
        for item in items:
            with (folder / item.name).open("rb") as file:
                tar.addfile(_member(item.name, item.size_bytes), file)


def packed(folder: Path) -> bytes:
    """Return the output of `pack`, for a folder that is small."""
    target = io.BytesIO()
    pack(folder, target)
    return target.getvalue()


def unpack(source: IO[bytes], folder: Path) -> None:
    """Fill an empty folder with the contents of a block.

    Args:
        source: the block.
        folder: the folder; nothing is written anywhere else.

    Raises:
        UnpackError: the block is invalid or damaged, or contains something forbidden.
        OSError: the folder cannot be written.
    """
    try:
        with (
            # This unpacks no more at once than requested, unlike tarfile's own reader.
            gzip.GzipFile(fileobj=source, mode="rb") as unzipped,
            tarfile.open(fileobj=unzipped, mode="r:", tarinfo=_Member) as tar,
        ):
            items = _contents(tar)
            if sum(item.size_bytes for item in items) > shutil.disk_usage(folder).free:
                raise UnpackError("it contains more than the limit")
            for item in items:
                _take(tar, item, folder)
            if tar.next() is not None:
                raise UnpackError("it contains more than its list")
    except _DAMAGE as error:
        raise UnpackError(f"it is damaged: {error}") from error


def _item(folder: Path, path: Path) -> _Item:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return _Item(
        name=path.relative_to(folder).as_posix(),
        size_bytes=path.lstat().st_size,
        sha256=digest,
    )


def _member(name: str, size_bytes: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size_bytes
    member.mode = 0o644
    return member


def _contents(tar: tarfile.TarFile) -> Sequence[_Item]:
    """Read the first member.

    Raises:
        UnpackError: it does not list the contents, or lists something forbidden.
    """
    first = tar.next()
    if first is None or first.name != _CONTENTS or not first.isreg():
        raise UnpackError("it does not begin with a list of its contents")
    if first.size > _MOST_CONTENTS_BYTES:
        raise UnpackError("its list has too many files")
    file = tar.extractfile(first)
    assert file is not None
    try:
        where = "its list of contents"
        items = decode(list[_Item], parse_json(file.read(), where=where), where=where)
    except InputError as error:
        raise UnpackError(f"it cannot be read: {error.message}") from error
    total = sum(item.size_bytes for item in items)
    valid = all(FILE_NAME.fullmatch(item.name) and item.size_bytes >= 0 for item in items)
    if not valid or len({item.name for item in items}) != len(items):
        raise UnpackError("a file in it has an invalid name")
    if total > MOST_BYTES:
        raise UnpackError(f"it contains {total} bytes, which is too much")
    return items


def _take(tar: tarfile.TarFile, item: _Item, folder: Path) -> None:
    member = tar.next()
    # Its type must be that of a plain file: a link, for example, has a name and a size as well.
    if member is None or member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
        raise UnpackError(f"{item.name} is missing in it, or not a file")
    if (member.name, member.size) != (item.name, item.size_bytes):
        raise UnpackError(f"{item.name} does not match its list")
    file = tar.extractfile(member)
    assert file is not None
    path = folder / item.name
    digest = hashlib.sha256()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.open("xb")
    except (FileExistsError, NotADirectoryError) as error:
        raise UnpackError(f"{item.name} is below a file of it, or a folder") from error
    with target:
        while data := file.read(_CHUNK):
            digest.update(data)
            target.write(data)
    if digest.hexdigest() != item.sha256:
        raise UnpackError(f"{item.name} was damaged in transfer")
    path.chmod(0o644)
