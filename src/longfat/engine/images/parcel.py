"""Transfer of an unpacked image to another computer: packed, unpacked there, and compared.

An image's digest is that of its source and not of its unpacked files in the cache. So the
receiver checks a fingerprint of the unpacked tree. The received block is read like any
layer, which does not trust it (`layers`, `tree`).
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

from longfat.engine.images.layers import Layer
from longfat.engine.images.store import image_folder, is_unpacked, take_layers
from longfat.errors import HostError, InputError
from longfat.model.host_root import HostRoot

_CHUNK = 1 << 20
_LEVEL = 4
_WHITEOUT = ".wh."


def fingerprint(folder: Path) -> str:
    """Return the hash over names, kinds, modes, times and contents of an unpacked tree.

    Raises:
        HostError: a part of it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        for name, about in _walk(folder):
            path, content = folder / name, ""
            if stat.S_ISLNK(about.st_mode):
                content = str(path.readlink())
            elif stat.S_ISREG(about.st_mode):
                with path.open("rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
            facts = f"{name}\0{about.st_mode:o} {int(about.st_mtime)}\0{content}\n"
            digest.update(facts.encode(errors="surrogateescape"))
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}") from error
    return digest.hexdigest()


def pack_image(image: HostRoot, *, most_bytes: int) -> bytes:
    """Return an image of this computer's cache as a gzipped tar.

    Args:
        image: the image.
        most_bytes: the maximum packed size.

    Raises:
        HostError: it is not in the cache, cannot be read, or is larger.
    """
    folder = image_folder(image)
    target = _Limited(most_bytes, name=image.image)
    names: dict[tuple[int, int], str] = {}
    try:
        with (
            gzip.GzipFile(
                filename="", mode="wb", compresslevel=_LEVEL, fileobj=target, mtime=0
            ) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
        ):
            for name, about in [("", folder.lstat()), *_walk(folder)]:
                _add(tar, folder / name, name or ".", about, names)
    except OSError as error:
        raise HostError(f"{folder}: cannot be read: {error.strerror}") from error
    return target.getvalue()


def install_image(image: HostRoot, *, content: str, block: bytes) -> None:
    """Put an image that was packed elsewhere into this computer's cache, unless it exists there.

    Args:
        image: the image.
        content: the expected `fingerprint`.
        block: what `pack_image` returned.

    Raises:
        HostError: it is another image, is damaged, or cannot be written.
    """
    if is_unpacked(image.digest):
        return
    layer = Layer(name="1", open=lambda: io.BytesIO(block), stored="", content="")

    def check(folder: Path) -> None:
        if fingerprint(folder) != content:
            raise InputError("the received files are not that image")

    try:
        take_layers(image.digest, (layer,), left_out=image.left_out, check=check)
    except InputError as error:
        raise HostError(f"the image {image.image}: {error.message}") from None
    except OSError as error:
        raise HostError(
            f"the image {image.image} cannot be unpacked: {error.strerror or error}"
        ) from error


class _Limited(io.BytesIO):
    """Bytes in memory, with a maximum size."""

    def __init__(self, most_bytes: int, *, name: str) -> None:
        super().__init__()
        self._left = most_bytes
        self._words = (
            f"the image {name} has more than {most_bytes >> 20} MB packed, which is too much to be "
            "sent to workers"
        )

    def write(self, data: object, /) -> int:
        written = super().write(data)  # type: ignore[arg-type]
        self._left -= written
        if self._left < 0:
            raise HostError(
                self._words, hint="let workers share this computer's cache (LONGFAT_CACHE)"
            )
        return written


def _walk(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the paths below a folder, folders before their contents."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        for entry in sorted((folder / below).iterdir()):
            name = f"{below}/{entry.name}" if below else entry.name
            about = entry.lstat()
            yield name, about
            if stat.S_ISDIR(about.st_mode):
                waiting.append(name)


def _add(
    tar: tarfile.TarFile,
    path: Path,
    name: str,
    about: os.stat_result,
    names: dict[tuple[int, int], str],
) -> None:
    if path.name.startswith(_WHITEOUT):
        raise HostError(f"{path}: an image with a file of this name cannot be sent to workers")
    info = tarfile.TarInfo(name)
    info.mode, info.mtime = stat.S_IMODE(about.st_mode), int(about.st_mtime)
    if stat.S_ISDIR(about.st_mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif stat.S_ISLNK(about.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        tar.addfile(info)
    elif (about.st_dev, about.st_ino) in names:
        info.type, info.linkname = tarfile.LNKTYPE, names[about.st_dev, about.st_ino]
        tar.addfile(info)
    else:
        names[about.st_dev, about.st_ino] = name
        info.size = about.st_size
        with path.open("rb") as file:
            tar.addfile(info, file)
