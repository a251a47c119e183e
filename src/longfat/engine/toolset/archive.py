"""A toolset as one file, which a wheel passes on to hosts that cannot build it.

It is unpacked into the cache when it is first needed: a wheel has no symbolic links, and pip
adds bytecode of its own to folders with Python's modules.
"""

from __future__ import annotations

import importlib.util
import lzma
import os
import tarfile
from pathlib import Path
from typing import IO, TYPE_CHECKING

from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterator

WHEEL_PACKAGE = "longfat_tools"
"""The package, in a wheel, whose folder has archives of toolsets."""


def archive_name(recipe: str) -> str:
    """Return the name of the archive of a recipe's toolset."""
    return f"{recipe[:32]}.tar.xz"


def pack(folder: Path, archive: Path) -> None:
    """Write the archive of a folder, whose bytes depend on the folder's contents alone.

    Args:
        folder: the folder of a toolset.
        archive: the file.

    Raises:
        OSError: a file cannot be read or written.
    """
    with lzma.open(archive, "wb", preset=6) as file:
        write_tar(folder, file)


def write_tar(folder: Path, file: IO[bytes]) -> None:
    """Write the tar of a folder, whose bytes depend on the folder's contents alone.

    Args:
        folder: the folder of a toolset.
        file: what is written to.

    Raises:
        OSError: a file cannot be read or written.
    """
    with tarfile.open(fileobj=file, mode="w") as tar:
        for path in sorted(folder.rglob("*")):
            entry = tar.gettarinfo(path, path.relative_to(folder).as_posix())
            entry.uid = entry.gid = 0
            entry.uname = entry.gname = ""
            if entry.isfile():
                with path.open("rb") as content:
                    tar.addfile(entry, content)
            else:
                tar.addfile(entry)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a new folder.

    Raises:
        HostError: it is damaged.
        OSError: a file cannot be read or written.
    """
    folder.mkdir()
    try:
        with tarfile.open(archive, "r:xz") as tar:
            for entry in tar:
                _unpack_entry(tar, entry, folder)
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise HostError(f"{archive} is damaged: {error}", hint="install its wheel again") from error


def _unpack_entry(tar: tarfile.TarFile, entry: tarfile.TarInfo, folder: Path) -> None:
    """Write a file, link or folder with its mode and time."""
    path = folder / entry.name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise tarfile.ReadError(f"{entry.name} is outside of it")
    if entry.isdir():
        path.mkdir()
        path.chmod(0o755)
    elif entry.issym():
        path.symlink_to(entry.linkname)
    elif (content := tar.extractfile(entry)) is not None:
        path.write_bytes(content.read())
        path.chmod(entry.mode)
    os.utime(path, (entry.mtime, entry.mtime), follow_symlinks=False)


def installed_archives() -> Iterator[Path]:
    """Yield the archives in wheels that are installed."""
    spec = importlib.util.find_spec(WHEEL_PACKAGE)
    for place in (spec and spec.submodule_search_locations) or ():
        yield from sorted(Path(place).glob("*.tar.xz"))
