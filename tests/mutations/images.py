"""Images of root file systems: archives that were damaged, and layers that are somebody's."""

from __future__ import annotations

import stat
import tempfile
from functools import cache
from pathlib import Path
from unittest import mock

from longfat.engine.images import find_image, image_folder, store
from tests.engine.images.made import Entry, docker, folder, hard_link, layer, link, oci
from tests.mutations.kind import WrongError, write

_LOWER = layer(
    folder("etc"),
    Entry(path="etc/motd", content=b"hello"),
    Entry(path="bin/tool", content=b"#!/bin/sh\n" * 60, mode=0o755),
    link("lib", "usr/lib"),
    hard_link("bin/other", "bin/tool"),
)
_UPPER = layer(Entry(path="etc/.wh.motd"), Entry(path="lib/x", content=b"x"))
_SETTINGS = {"Env": ["A=b"], "WorkingDir": "/app", "Cmd": ["/bin/tool"]}


@cache
def archives() -> list[bytes]:
    """Return an image in both forms."""
    return [docker([_LOWER, _UPPER], **_SETTINGS), oci([_LOWER, _UPPER], **_SETTINGS)]


def layers() -> list[bytes]:
    """Return the tars of layers."""
    return [_LOWER, _UPPER]


def check_archive(place: Path, content: bytes) -> None:
    """Read an archive: what can be read is what was packed."""
    if _unpacked(place, content) not in _right():
        raise WrongError("another image was unpacked")


def check_layer(place: Path, content: bytes) -> None:
    """Read a layer below another one: all of it stays in the image's folder."""
    beside = {path.name for path in place.iterdir()}
    _unpacked(place, docker([_LOWER, content]))
    if {path.name for path in place.iterdir()} - beside - {"image.tar", "cache"}:
        raise WrongError("something was written beside the image")


@cache
def _right() -> list[object]:
    found = []
    for content in archives():
        with tempfile.TemporaryDirectory() as name:
            found.append(_unpacked(Path(name), content))
    return found


def _unpacked(place: Path, content: bytes) -> object:
    write(place, "image.tar", content)
    with (
        mock.patch.object(store, "cache_root", return_value=place / "cache"),
        mock.patch("longfat.engine.images.tree.MAX_BYTES", 1 << 24),
        mock.patch("longfat.engine.images.layers.MAX_BYTES", 1 << 24),
    ):
        image = find_image(place / "image.tar", name="image.tar")
        root = image_folder(image)
    files = []
    for path in sorted(root.rglob("*")):
        about = path.lstat()
        if not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode) or path.is_symlink()):
            raise WrongError(f"{path} is a special file")
        if not path.is_symlink() and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
            raise WrongError(f"{path} changes its user")
        content = path.read_bytes() if stat.S_ISREG(about.st_mode) else b""
        files.append((str(path.relative_to(root)), about.st_mode, content))
    return image, files
