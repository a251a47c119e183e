"""Unpacked images: each is unpacked once, into the cache, by its digest.

    CACHE/images/FORMAT-DIGEST/root        the root file system
    CACHE/images/FORMAT-DIGEST/left-out    what of the image was omitted, as text
    CACHE/images/FORMAT-DIGEST/source      the file or folder that it was read from last; when
                                           its modification time is the image's last use
    CACHE/images/seen-SIGNATURE            the digest of a plain folder that was read before
    CACHE/images/.making-RANDOM/           one that is being unpacked

An image appears complete, by one rename. Its files belong to the user who unpacked it, who may
read all of them; set-user-ID bits, device nodes and owners are dropped. A plain folder is
copied likewise: what a run sees of it cannot change meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longfat.common.atomic import write_whole
from longfat.common.folder_store import FolderStore, cache_root
from longfat.common.suggest import listed
from longfat.engine.images.archive import Settings, is_layout, open_image
from longfat.engine.images.layers import Layer
from longfat.engine.images.tree import Entry, Tree
from longfat.errors import HostError, InputError
from longfat.model.host_root import HostRoot

# To be incremented when the same image is unpacked in another way.
_FORMAT = 1
_CHUNK = 1 << 20
_BLOCK_BYTES = 4096
# Noon of the first day of 2000, UTC: a folder's own times depend on when it was copied.
_MODIFIED_S = 946_728_000
_X86_64 = 62  # EM_X86_64, elf(5)


def find_image(
    path: Path, *, name: str, check_size: Callable[[int], None] = lambda _: None
) -> HostRoot:
    """Find an image and unpack it, unless it is unpacked already.

    Args:
        path: the file or folder.
        name: its name in the study.
        check_size: called with the disk space of the image, in bytes, before it is unpacked; an
            exception prevents that.

    Returns:
        The reference to it for a case.

    Raises:
        InputError: it is not an image, or one that a machine cannot run, or that is rejected.
        HostError: it cannot be unpacked into the cache.
    """
    try:
        if path.is_dir() and not is_layout(path):
            digest, settings = _folder(path, check_size), Settings()
        else:
            with open_image(path) as image:
                digest, settings = image.digest, image.settings
                if not _path(digest).is_dir():
                    _unpack(digest, image.layers, check_size=check_size)
        write_whole(_path(digest) / "source", os.fsencode(path.absolute()))
        return HostRoot(
            image=name,
            digest=digest,
            environment=settings.environment,
            folder=settings.folder,
            command=settings.command,
            left_out=(_path(digest) / "left-out").read_text(encoding="utf-8"),
        )
    except (InputError, ValueError) as error:
        words = error.message if isinstance(error, InputError) else str(error)
        raise InputError(f"{name}: {words}") from None
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise HostError(f"{name} cannot be unpacked: {error.strerror or error}{where}") from None


def image_folder(image: HostRoot) -> Path:
    """Return the folder of an unpacked image.

    Raises:
        HostError: it is not in this computer's cache.
    """
    folder = _path(image.digest) / "root"
    with contextlib.suppress(OSError):
        os.utime(_path(image.digest) / "source")
    if not folder.is_dir():
        raise HostError(
            f"the image {image.image} (sha256:{image.digest[:12]}...) is not unpacked in the cache "
            "of this computer",
            hint="read the study again where the image is",
        )
    return folder


def is_unpacked(digest: str) -> bool:
    """Return whether the image of a digest is in this computer's cache."""
    return (_path(digest) / "root").is_dir()


def images_shown(images: Iterable[HostRoot]) -> Mapping[str, Path]:
    """Return the folders of images by their names in the sandbox.

    Raises:
        HostError: as `image_folder`.
    """
    return {image.shown: image_folder(image) for image in images}


def _store() -> FolderStore:
    return FolderStore(folder=cache_root() / "images", prefix=".making-")


def _path(digest: str) -> Path:
    return _store().folder / f"{_FORMAT}-{digest}"


@contextlib.contextmanager
def _partial_image() -> Iterator[Path]:
    with _store().new_folder() as folder:
        image = folder / "made"
        (image / "root").mkdir(parents=True)
        yield image


def _publish(image: Path, digest: str, left_out: str) -> None:
    (image / "left-out").write_text(left_out, encoding="utf-8")
    (image / "source").write_bytes(b"")
    _store().publish(image, _path(digest))


def _disk_bytes(tree: Tree) -> int:
    """Return the disk space of a tree, as most file systems count it: in blocks."""
    entries = {id(entry): entry.size_bytes for _, entry in tree.walk()}
    return sum(_BLOCK_BYTES * (1 + size // _BLOCK_BYTES) for size in entries.values())


def _words(tree: Tree) -> str:
    return ", ".join(f"{count} {what}" for what, count in sorted(tree.left_out.items()))


# ------------------------------------------------------------------ the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpacked:
    """An image in the cache.

    Attributes:
        digest: its digest.
        source: the file or folder that it was read from last; empty, if that is unknown.
        size_bytes: the size of its files, each counted once.
        used_s: when it was used last, in seconds since 1970.
        folder: its folder.
    """

    digest: str
    source: str
    size_bytes: int
    used_s: float
    folder: Path


def unpacked_images() -> list[Unpacked]:
    """Return the images in the cache, the most recently used first.

    Leftovers of a killed process are removed.
    """
    _store().sweep()
    images = []
    for folder in _store().folder.glob("*-*"):
        if not re.fullmatch(r"\d+-[0-9a-f]{64}", folder.name):
            continue
        about = folder / "source" if (folder / "source").exists() else folder
        with contextlib.suppress(FileNotFoundError):  # it is being removed
            images.append(
                Unpacked(
                    digest=folder.name.partition("-")[2],
                    source=os.fsdecode(about.read_bytes()) if about != folder else "",
                    size_bytes=_size_bytes(folder),
                    used_s=about.stat().st_mtime,
                    folder=folder,
                )
            )
    return sorted(images, key=lambda image: (-image.used_s, image.digest))


def remove_image(image: Unpacked) -> None:
    """Remove an image from the cache, atomically.

    A machine that runs with it at this moment loses its files.

    Raises:
        HostError: it cannot be removed.
    """
    try:
        _store().remove(image.folder)
    except OSError as error:
        raise HostError(f"{image.folder} cannot be removed: {error.strerror}") from None


def forget_folders() -> None:
    """Remove the records of plain folders whose images are not in the cache any more."""
    for seen in _store().folder.glob("seen-*"):
        with contextlib.suppress(OSError):
            if not _path(seen.read_text(encoding="ascii")).is_dir():
                seen.unlink()


def _size_bytes(place: Path) -> int:
    found: dict[tuple[int, int], int] = {}
    for folder, _, names in os.walk(place):
        for name in names:
            about = (Path(folder) / name).lstat()
            found[about.st_dev, about.st_ino] = about.st_size
    return sum(found.values())


# ------------------------------------------------------------------ images


def _unpack(digest: str, layers: tuple[Layer, ...], *, check_size: Callable[[int], None]) -> None:
    """Unpack layers into the cache.

    Args:
        digest: the image's digest.
        layers: its layers, the lowest first.
        check_size: as of `find_image`.

    Raises:
        InputError: a layer is invalid.
        OSError: the cache cannot be written.
    """
    tree = Tree()
    for number, layer in enumerate(layers):
        layer.read_names(tree, number)
    check_size(_disk_bytes(tree))
    with _partial_image() as image:
        writer = _Writer(tree, image / "root")
        for number, layer in enumerate(layers):
            for ordinal, pieces in layer.files():
                writer.write(number, ordinal, pieces)
        writer.finish()
        _publish(image, digest, _words(tree))


class _Writer:
    """Writes a tree into an empty folder.

    Folders and files are created first and links last: so nothing is ever written through a link.
    """

    def __init__(self, tree: Tree, place: Path) -> None:
        self._place = place
        self._tree = tree
        self._paths: dict[tuple[int, int], list[str]] = {}
        self._entries = list(tree.walk())
        self._written: set[tuple[int, int]] = set()
        for path, entry in self._entries:
            if entry.kind == "folder":
                (place / path).mkdir(mode=0o700)
            elif entry.kind == "file":
                self._paths.setdefault((entry.layer, entry.ordinal), []).append(path)

    def write(self, layer: int, ordinal: int, pieces: Iterable[bytes]) -> None:
        """Write a file of a layer at its paths, if it has any in the end."""
        paths = self._paths.get((layer, ordinal))
        if paths is None:
            return
        first = self._place / paths[0]
        with first.open("xb") as file:
            for piece in pieces:
                file.write(piece)
        for path in paths[1:]:
            os.link(first, self._place / path, follow_symlinks=False)
        self._written.add((layer, ordinal))

    def finish(self) -> None:
        """Create the links, and set all modes and times.

        Raises:
            InputError: a file is missing: the image was changed meanwhile.
        """
        if self._written != self._paths.keys():
            raise InputError("it was changed while it was read")
        for path, entry in self._entries:
            if entry.kind == "link":
                (self._place / path).symlink_to(entry.target)
        for path, entry in [*reversed(self._entries), ("", self._tree.root)]:
            _give_modes(self._place / path, entry)


def _give_modes(place: Path, entry: Entry) -> None:
    if entry.kind == "folder":
        place.chmod(entry.mode & 0o1777 | 0o700)
    elif entry.kind == "file":
        place.chmod(entry.mode & 0o777 | 0o400)
    os.utime(place, (entry.modified_s, entry.modified_s), follow_symlinks=False)


# ------------------------------------------------------------------ plain folders


def _folder(path: Path, check_size: Callable[[int], None]) -> str:
    """Copy a folder with a root file system into the cache; return its digest."""
    tree = Tree()
    files: dict[str, os.stat_result] = {}
    signature = hashlib.sha256()
    for name, about in _listed(path):
        mode = stat.S_IMODE(about.st_mode)
        facts = (about.st_mode, about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino)
        signature.update(f"{name}\0{facts}\n".encode(errors="surrogateescape"))
        common: dict[str, Any] = {"layer": 0, "mode": mode, "modified_s": _MODIFIED_S}
        if stat.S_ISDIR(about.st_mode):
            tree.put(name, Entry(kind="folder", **common))
        elif stat.S_ISLNK(about.st_mode):
            target = str((path / name).readlink())
            signature.update(f"{target}\0".encode(errors="surrogateescape"))
            tree.put(name, Entry(kind="link", target=target, **common))
        elif stat.S_ISREG(about.st_mode):
            size, ordinal = about.st_size, len(files)
            files[name] = about
            tree.put(name, Entry(kind="file", size_bytes=size, ordinal=ordinal, **common))
        else:
            special = stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode)
            what = "device nodes" if special else "pipes and other special files"
            tree.leave_out(name, what, layer=0)
    tree.root.modified_s = _MODIFIED_S
    _check_programs(path, tree, files)
    seen = _store().folder / f"seen-{signature.hexdigest()}"
    with contextlib.suppress(OSError):
        digest = seen.read_text(encoding="ascii")
        if re.fullmatch("[0-9a-f]{64}", digest) and _path(digest).is_dir():
            return digest
    check_size(_disk_bytes(tree))
    with _partial_image() as image:
        writer = _Writer(tree, image / "root")
        content = hashlib.sha256()
        for ordinal, (name, about) in enumerate(files.items()):
            digest_of_file = hashlib.sha256()
            writer.write(0, ordinal, _pieces(path / name, about, digest_of_file))
            content.update(
                f"{name}\0{digest_of_file.hexdigest()}\n".encode(errors="surrogateescape")
            )
        for name, entry in sorted(tree.walk()):
            what = f"{name}\0{entry.kind} {entry.mode:o} {entry.target}\n"
            content.update(what.encode(errors="surrogateescape"))
        writer.finish()
        digest = content.hexdigest()
        _publish(image, digest, _words(tree))
    write_whole(seen, digest.encode("ascii"))
    return digest


def _listed(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield a folder's contents with their paths below it, in a fixed order; links not followed.

    Raises:
        InputError: a folder in it cannot be read.
    """
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            names = sorted(one.name for one in (path / folder).iterdir())
        except OSError as error:
            raise InputError(f"{folder or '.'} in it cannot be read: {error.strerror}") from None
        for name in names:
            below = f"{folder}/{name}" if folder else name
            about = (path / below).lstat()
            yield below, about
            if stat.S_ISDIR(about.st_mode):
                waiting.append(below)


def _check_programs(path: Path, tree: Tree, files: Mapping[str, os.stat_result]) -> None:
    """Check that a folder is a root file system that a machine can run programs of."""
    programs = [name for name, about in files.items() if about.st_mode & 0o111]
    if not programs:
        names = [name[:40] for name in sorted(tree.root.children)[:6]]
        raise InputError(
            "not a root file system: there is no program in this folder, which contains "
            f"{listed(names) or 'nothing'}"
        )
    shells = [name for name in ("bin/sh", "usr/bin/sh") if name in files]
    for name in (*shells, *programs):
        with contextlib.suppress(OSError), (path / name).open("rb") as file:
            head = file.read(20)
            if head.startswith(b"\x7fELF") and len(head) == 20:
                (machine,) = struct.unpack_from("<H", head, 18)
                if machine != _X86_64 or head[4:6] != b"\x02\x01":
                    raise InputError(
                        f"a machine runs programs for x86-64, and {name} is for another "
                        f"architecture (ELF machine {machine})"
                    )
                return


def _pieces(path: Path, about: os.stat_result, digest: hashlib._Hash) -> Iterator[bytes]:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        raise InputError(f"{path.name} in it cannot be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        size = 0
        while piece := file.read(_CHUNK):
            size += len(piece)
            digest.update(piece)
            yield piece
        if size != about.st_size:
            raise InputError(f"{path.name} in it was changed while it was read")
