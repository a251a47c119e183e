"""The tar of a layer, read as a stream and within limits, and checked by its digests.

A layer is read twice: first for its names, then for its files, of which only those are read
that no later layer replaces. It is read by Python's `tarfile`, which reads extended headers
of an entry into memory regardless of their size; so that is limited where a header is read.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any, cast

from longfat.common.extras import lazy
from longfat.common.tar import CheckedHeader
from longfat.engine.images.tree import MAX_BYTES, Entry, Tree
from longfat.errors import InputError

pyarrow = lazy("pyarrow")

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_CHUNK = 1 << 18
_MAX_HEADER_BYTES = 1 << 20
_HEADERS = frozenset(
    (
        *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
        *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    )
)
_MAX_TIME_S = 1 << 40
_MAX_TARGET = 4000
# The exceptions from reading an untrusted tar or gzip.
_BAD = (tarfile.TarError, zlib.error, OSError, EOFError, ValueError, OverflowError, RecursionError)


class Bounded(CheckedHeader):
    """The header of an entry, with a limited size."""

    def check(self) -> None:
        """Raise `tarfile.ReadError` if it is rejected."""
        if self.type in _HEADERS and not 0 <= self.size <= _MAX_HEADER_BYTES:
            raise tarfile.ReadError(f"an extended header of {self.size:,} bytes")
        if self.type == tarfile.GNUTYPE_SPARSE:
            raise tarfile.ReadError("a sparse file, which images do not have")
        if self.size < 0:
            raise tarfile.ReadError(f"an entry of {self.size} bytes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A layer as it is stored in an image.

    Attributes:
        name: its name in messages.
        open: opens it in its stored form.
        stored: the digest of its stored form, `sha256:...`; unknown, if empty.
        content: the digest of its tar, likewise.
    """

    name: str
    open: Callable[[], IO[bytes]]
    stored: str
    content: str

    def read_names(self, tree: Tree, number: int) -> None:
        """Apply the layer to a tree.

        Args:
            tree: the layers below it.
            number: its index, counted from 0.

        Raises:
            InputError: it is not a tar, is not the one that the image lists, or is rejected.
        """
        for ordinal, info, _ in self._entries():
            try:
                _put(tree, info, number=number, ordinal=ordinal)
            except InputError as error:
                raise InputError(f"layer {self.name}: {error.message}") from None

    def files(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        """Yield its files, each with its index among the entries, and its content in pieces.

        Raises:
            InputError: as `read_names`; also while a content is read.
        """
        for ordinal, info, tar in self._entries():
            if info.isreg() and (file := tar.extractfile(info)) is not None:
                yield ordinal, self._pieces(file)

    def _pieces(self, file: IO[bytes]) -> Iterator[bytes]:
        try:
            while piece := file.read(_CHUNK):
                yield piece
        except _BAD as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: BaseException) -> InputError:
        words = str(error) or type(error).__name__
        return InputError(f"layer {self.name} cannot be read: {words[:300]}")

    def _entries(self) -> Iterator[tuple[int, tarfile.TarInfo, tarfile.TarFile]]:
        try:
            with self.open() as raw:
                stored = _Hashed(raw, most_bytes=MAX_BYTES)
                head = raw.read(4)
                raw.seek(0)
                content = _Hashed(_decompressed(stored, head), most_bytes=2 * MAX_BYTES)
                with tarfile.open(fileobj=content, mode="r|", tarinfo=Bounded) as tar:
                    ordinal = 0
                    while (info := tar.next()) is not None:
                        yield ordinal, info, tar
                        ordinal += 1
                        # Otherwise it keeps them all, a kilobyte each.
                        tar.members.clear()  # type: ignore[attr-defined]
                content.drain()
                stored.drain()
        except _BAD as error:
            raise self._unreadable(error) from None
        for found, wanted in ((stored.digest, self.stored), (content.digest, self.content)):
            if wanted and found != wanted:
                raise InputError(
                    f"layer {self.name} has the digest {found}, but the image specifies {wanted}: "
                    "it was damaged or changed"
                )


def _decompressed(stream: _Hashed, head: bytes) -> IO[bytes]:
    if head.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=cast("Any", stream), mode="rb"))
    if head == _ZSTD:
        return cast("IO[bytes]", pyarrow.CompressedInputStream(cast("Any", stream), "zstd"))
    return cast("IO[bytes]", stream)


class _Hashed(io.RawIOBase):
    """A stream that computes the digest of what is read."""

    def __init__(self, stream: IO[bytes], *, most_bytes: int) -> None:
        self._stream = stream
        self._sum = hashlib.sha256()
        self._left = most_bytes

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(_CHUNK if size is None or size < 0 else size)
        self._sum.update(data)
        self._left -= len(data)
        if self._left < 0:
            raise ValueError("it is larger than longfat unpacks")
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def drain(self) -> None:
        """Read the rest, to complete the digest."""
        while self.read(_CHUNK):
            pass

    @property
    def digest(self) -> str:
        """The digest of what was read."""
        return f"sha256:{self._sum.hexdigest()}"


def _put(tree: Tree, info: tarfile.TarInfo, *, number: int, ordinal: int) -> None:
    if any(key.startswith("GNU.sparse") for key in info.pax_headers):
        raise InputError(f"{info.name[:200]!r} is a sparse file, which images do not have")
    modified_s = int(info.mtime)
    if not 0 <= modified_s < _MAX_TIME_S:
        modified_s = 0
    common: dict[str, Any] = {"layer": number, "mode": info.mode, "modified_s": modified_s}
    if info.isdir():
        tree.put(info.name, Entry(kind="folder", **common))
    elif info.issym():
        length = len(info.linkname.encode(errors="surrogateescape"))
        if not 0 < length <= _MAX_TARGET or "\0" in info.linkname:
            raise InputError(f"{info.name[:200]!r} is a symbolic link without a valid target")
        tree.put(info.name, Entry(kind="link", target=info.linkname, **common))
    elif info.islnk():
        tree.put_link(info.name, info.linkname.removeprefix("/"), layer=number)
    elif info.isreg():
        entry = Entry(kind="file", size_bytes=info.size, ordinal=ordinal, **common)
        tree.put(info.name, entry)
    else:
        what = "device nodes" if info.ischr() or info.isblk() else "pipes and other special files"
        tree.leave_out(info.name, what, layer=number)
