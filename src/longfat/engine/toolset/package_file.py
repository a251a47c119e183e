"""The files of a Debian package, read without the distribution's own programs.

Source: deb(5), ar(5).
"""

from __future__ import annotations

import io
import lzma
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_AR = b"!<arch>\n"
_AR_HEAD = 60
_DATA = "data.tar.xz"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedFile:
    """A file or symbolic link of a package.

    Attributes:
        path: its path without a slash at its start, such as `usr/bin/ping`.
        content: its bytes; empty for a link.
        target: where a link leads; empty for a file.
        is_executable: whether it may be executed.
    """

    path: str
    content: bytes = b""
    target: str = ""
    is_executable: bool = False


def package_files(package: bytes, *, name: str) -> Iterator[PackedFile]:
    """Yield the files and links of a package, without its folders.

    Args:
        package: the bytes of the package.
        name: its name, for messages.

    Raises:
        InputError: it is no such package, or is cut off.
    """
    try:
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(_member(package)))) as archive:
            for entry in archive:
                path = entry.name.removeprefix("./")
                if entry.isreg():
                    file = archive.extractfile(entry)
                    content = file.read() if file is not None else b""
                    yield PackedFile(
                        path=path, content=content, is_executable=bool(entry.mode & 0o111)
                    )
                elif entry.issym():
                    yield PackedFile(path=path, target=entry.linkname)
                elif entry.islnk():
                    source = archive.extractfile(entry)
                    content = source.read() if source is not None else b""
                    yield PackedFile(
                        path=path, content=content, is_executable=bool(entry.mode & 0o111)
                    )
    except (lzma.LZMAError, tarfile.TarError, EOFError) as error:
        raise InputError(f"{name}: not a package, or damaged: {error}") from error


def _member(package: bytes) -> bytes:
    """Return the archive of a package's files.

    Raises:
        tarfile.ReadError: there is none.
    """
    at = len(_AR)
    if not package.startswith(_AR):
        raise tarfile.ReadError("it does not begin as an archive of ar")
    while at + _AR_HEAD <= len(package):
        head = package[at : at + _AR_HEAD]
        label, digits = head[:16].decode("ascii", "replace").strip(" /"), head[48:58].strip()
        if not digits.isdigit():
            break
        at += _AR_HEAD
        size = int(digits)
        if label == _DATA:
            return package[at : at + size]
        at += size + size % 2
    raise tarfile.ReadError(f"it has no {_DATA}")
