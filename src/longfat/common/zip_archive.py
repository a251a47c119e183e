"""Zip files whose bytes depend on their contents alone, and zip files of strangers.

`write_archive` writes members in the order of their names, with one time and owner. `Archive`
reads a file that may have been made to do harm: names that lead out of a folder, links, devices,
two members of one name or in the same bytes, encrypted ones, and sizes that are not kept to are
refused before anything is written, and nothing is read into memory beyond a limit.

A member `SHA256SUMS` has the checksums of all others, as sha256sum(1) writes and reads them.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from longfat.common.checksum import FILE_NAME, SUMS, FileSum
from longfat.common.decoding import open_regular
from longfat.errors import InputError

if TYPE_CHECKING:
    from typing import BinaryIO

MAX_MEMBERS = 200_000
"""The maximum number of members that are read."""

MAX_TOTAL_BYTES = 64 << 30
"""The maximum size of all members together."""

_MAX_SUMS_BYTES = 1 << 26
_MAX_INDEX_BYTES = 1 << 25
_MAX_NAME, _MAX_PATH, _MAX_DEPTH = 255, 1024, 32
_CHUNK = 1 << 20
# The earliest time that a zip file can contain.
_TIME = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_LOCAL_HEADER_BYTES = 30
_ENCRYPTED = 0x1
_COMPRESSED = frozenset((".gz", ".parquet", ".pdf", ".png", ".whl", ".xz", ".zip", ".zst"))
# The exceptions from reading an untrusted zip file.
_BAD = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    *(NotImplementedError, RuntimeError, OverflowError),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an archive that is written.

    Attributes:
        content: its bytes, or the file that has them.
        executable: whether it may be executed.
    """

    content: bytes | Path
    executable: bool = False

    @classmethod
    def of_text(cls, text: str) -> Member:
        """Return the member with a text."""
        return cls(content=text.encode())

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """Open it; raises OSError, if its file cannot be read."""
        if isinstance(self.content, Path):
            with open_regular(self.content) as file:
                yield file
        else:
            yield io.BytesIO(self.content)


def write_archive(path: Path, members: Mapping[str, Member]) -> str:
    """Write an archive with the checksums of its members; it appears complete, or not at all.

    Args:
        path: the file, which is replaced.
        members: the members by their names.

    Returns:
        The SHA-256 of the file.

    Raises:
        InputError: a name is none that `Archive` reads.
        OSError: a file cannot be read or written.
    """
    for name in members:
        if problem := name_problem(name):
            raise InputError(f"{name!r} cannot be in an archive: {problem}")
    hidden = path.with_name(f".{path.name}.{secrets.token_hex(8)}.partial")
    try:
        with hidden.open("xb") as file:
            with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
                sums = [
                    f"{_write(archive, name, member)}  {name}\n"
                    for name, member in sorted(members.items())
                ]
                _write(archive, SUMS, Member.of_text("".join(sums)))
            file.flush()
        with hidden.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        hidden.replace(path)
    finally:
        hidden.unlink(missing_ok=True)
    return digest


def _write(archive: zipfile.ZipFile, name: str, member: Member) -> str:
    """Write a member, and return the SHA-256 of its bytes."""
    entry = zipfile.ZipInfo(name, _TIME)
    entry.create_system = _UNIX
    entry.external_attr = (stat.S_IFREG | (0o755 if member.executable else 0o644)) << 16
    is_compressed = Path(name).suffix in _COMPRESSED
    entry.compress_type = zipfile.ZIP_STORED if is_compressed else zipfile.ZIP_DEFLATED
    digest = hashlib.sha256()
    with member.opened() as source, archive.open(entry, "w", force_zip64=True) as target:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
            target.write(chunk)
    return digest.hexdigest()


def name_problem(name: str) -> str:
    """Return why a member cannot have a name; empty if it can."""
    parts = name.split("/")
    if not FILE_NAME.fullmatch(name) or "\\" in name:
        return "it leads out of the folder"
    if not name.isprintable():
        return "it has characters that cannot be printed"
    too_long = any(len(part.encode()) > _MAX_NAME for part in parts)
    if too_long or len(name.encode()) > _MAX_PATH or len(parts) > _MAX_DEPTH:
        return "it is too long"
    return ""


class _LimitedReads:
    """A file of which no call reads more than the index of a large archive into memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell, self.close = file.seek, file.tell, file.close

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        limit = _MAX_INDEX_BYTES + 1
        data = self._file.read(limit if size < 0 else min(size, limit))
        if len(data) == limit:
            raise zipfile.BadZipFile(f"its index is larger than {_MAX_INDEX_BYTES:,} bytes")
        return data


@dataclass(slots=True, kw_only=True)
class Archive:
    """An archive of a stranger, opened by `open_archive`.

    Attributes:
        path: its file.
        sizes: the sizes of its members by their names, `SHA256SUMS` among them.
    """

    path: Path
    sizes: Mapping[str, int]
    _zip: zipfile.ZipFile = field(repr=False)

    def read(self, name: str, *, max_bytes: int) -> bytes:
        """Return the bytes of a member.

        Raises:
            InputError: there is none of this name, or it is damaged or larger than `max_bytes`.
        """
        self._check_size(name, max_bytes=max_bytes)
        return b"".join(self._chunks(name))

    def sums(self) -> dict[str, FileSum]:
        """Return the sizes and checksums of the members as their bytes are, except `SHA256SUMS`.

        Raises:
            InputError: a member is damaged.
        """
        sums = {}
        for name, size in self.sizes.items():
            if name != SUMS:
                digest = hashlib.sha256()
                for chunk in self._chunks(name):
                    digest.update(chunk)
                sums[name] = FileSum(size_bytes=size, sha256=digest.hexdigest())
        return sums

    def damage(self, sums: Mapping[str, FileSum]) -> list[str]:
        """Return the members that are not as `SHA256SUMS` lists them, each with the reason.

        Args:
            sums: what `sums` returned.

        Raises:
            InputError: there is no such list.
        """
        try:
            text = self.read(SUMS, max_bytes=_MAX_SUMS_BYTES).decode()
        except UnicodeDecodeError:
            raise InputError(f"{self.path}: {SUMS} is not a list of checksums") from None
        lines = (line.partition("  ") for line in text.splitlines())
        listed = {name: digest for digest, _, name in lines}
        problems = []
        for name in sorted(listed.keys() | sums.keys()):
            if name not in sums:
                problems.append(f"{name}: it is missing")
            elif name not in listed:
                problems.append(f"{name}: it is not listed in {SUMS}")
            elif listed[name] != sums[name].sha256:
                problems.append(f"{name}: its bytes are not those in {SUMS}")
        return problems

    def extract(self, prefix: str, folder: Path, *, max_bytes: int) -> None:
        """Write the members below a prefix to a new folder that no other user can access.

        Args:
            prefix: such as `study/`; names in the folder are without it.
            folder: the folder, which does not exist yet.
            max_bytes: the maximum size of all of them together.

        Raises:
            InputError: one is damaged, or they are too large.
            OSError: they cannot be written.
        """
        names = [name for name in self.sizes if name.startswith(prefix)]
        if (total := sum(self.sizes[name] for name in names)) > max_bytes:
            raise InputError(
                f"{self.path}: {prefix} has {total:,} bytes; at most {max_bytes:,} are unpacked"
            )
        folder.mkdir(mode=0o700, parents=True)
        for name in names:
            path = folder / name.removeprefix(prefix)
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            is_executable = bool(self._zip.getinfo(name).external_attr >> 16 & 0o100)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o700 if is_executable else 0o600)
            with os.fdopen(descriptor, "wb") as file:
                for chunk in self._chunks(name):
                    file.write(chunk)

    @contextmanager
    def stream(self, name: str, *, max_bytes: int) -> Iterator[IO[bytes]]:
        """Open a member to read it from its beginning to its end.

        Raises:
            InputError: as `read`; also while it is read.
        """
        self._check_size(name, max_bytes=max_bytes)
        try:
            with self._zip.open(name) as file:
                yield file
        except zipfile.BadZipFile as error:
            raise InputError(f"{self.path}: {name} is damaged: {error}") from None

    def _check_size(self, name: str, *, max_bytes: int) -> None:
        if name not in self.sizes:
            raise InputError(f"{self.path}: there is no {name} in it")
        if self.sizes[name] > max_bytes:
            raise InputError(f"{self.path}: {name} is larger than {max_bytes:,} bytes")

    def _chunks(self, name: str) -> Iterator[bytes]:
        count = 0
        try:
            with self._zip.open(name) as file:
                while chunk := file.read(_CHUNK):
                    count += len(chunk)
                    yield chunk
        except _BAD as error:
            reason = str(error) or type(error).__name__
            raise InputError(f"{self.path}: {name} is damaged: {reason[:200]}") from None
        if count != self.sizes[name]:
            raise InputError(
                f"{self.path}: {name} is damaged: it has {count:,} bytes instead of"
                f" {self.sizes[name]:,}"
            )


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """Open an archive after checking the names, kinds, places and sizes of its members.

    Raises:
        InputError: it cannot be read, is no zip file, or is one that is refused.
    """
    try:
        file = open_regular(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    with file:
        try:
            archive = zipfile.ZipFile(cast("Any", _LimitedReads(file)))
        except _BAD as error:
            raise InputError(f"{path}: not a zip file that can be read: {error}") from None
        if problem := _problem(archive.infolist(), end=archive.start_dir):
            raise InputError(f"{path}: refused: {problem}")
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        yield Archive(path=path, sizes=sizes, _zip=archive)


def _problem(entries: list[zipfile.ZipInfo], *, end: int) -> str:
    """Return why an archive is refused; empty if it is not."""
    if len(entries) > MAX_MEMBERS:
        return f"it has {len(entries):,} members; at most {MAX_MEMBERS:,} are read"
    names = {entry.filename for entry in entries}
    if len(names) < len(entries):
        return "two of its members have one name"
    for entry in entries:
        if problem := _entry_problem(entry):
            return f"{entry.orig_filename[:200]!r}: {problem}"
        parts = entry.filename.split("/")
        for count in range(1, len(parts)):
            if (folder := "/".join(parts[:count])) in names:
                return f"{folder!r} is both a file and a folder"
    if (total := sum(entry.file_size for entry in entries)) > MAX_TOTAL_BYTES:
        return f"its members have {total:,} bytes; at most {MAX_TOTAL_BYTES:,} are read"
    return _overlap(entries, end=end)


def _entry_problem(entry: zipfile.ZipInfo) -> str:
    if entry.filename != entry.orig_filename:
        return "its name has a byte that ends it"
    if problem := name_problem(entry.filename):
        return problem
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        return "it is not a regular file, but a link, a device or the like"
    if entry.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return f"its compression, {entry.compress_type}, is neither 0 nor deflate"
    return ""


def _overlap(entries: list[zipfile.ZipInfo], *, end: int) -> str:
    """Return which members have bytes in common, as in an archive that expands without limit."""
    expected = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.header_offset < expected:
            return f"{entry.filename!r}: its bytes are also those of another member"
        expected = entry.header_offset + _LOCAL_HEADER_BYTES + entry.compress_size
    return "its members are beyond its index" if expected > end else ""
