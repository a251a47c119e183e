"""Image formats: a tar of `docker save` or `podman save`, or an OCI layout, packed or a folder.

Both formats name a configuration, whose SHA-256 is what other tools call the image's ID; it
lists the layers by the digests of their tars. So the same image has the same digest here,
whichever tool wrote it, and in whichever format.

Sources: the OCI Image Layout and Image Format Specifications, 1.1; the Docker Image
Specification, 1.2.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import posixpath
import re
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar, cast

from longfat.common.decoding import Decoder, open_regular, parse_json
from longfat.common.suggest import listed
from longfat.engine.images.layers import Bounded, Layer
from longfat.errors import InputError

MAX_LAYERS = 500
"""The maximum number of layers of an image; Docker's own limit is 127."""

ARCHITECTURE, SYSTEM = "amd64", "linux"
"""The platform that a machine can run, in the terms of images."""

_MAX_JSON_BYTES = 8 << 20
_MAX_MEMBERS = 20_000
_MAX_LINKS = 8
_MAX_INDEXES = 4
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"BZ": "bzip2", b"\xfd7": "xz"}
_INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
_LAYOUT, _MANIFEST = "index.json", "manifest.json"
_NONE = (
    "not an image: an image is a tar written by `docker save` or `podman save`, an OCI layout, or "
    "a folder with a root file system"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """An image's settings for its programs.

    Attributes:
        environment: their environment variables, as `NAME=VALUE`.
        folder: their working directory.
        command: the image's default command.
    """

    environment: tuple[str, ...] = ()
    folder: str = "/"
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image, found and not unpacked.

    Attributes:
        digest: the SHA-256 of its configuration, in hexadecimal.
        settings: the settings for its programs.
        layers: its layers, the lowest first.
    """

    digest: str
    settings: Settings
    layers: tuple[Layer, ...]


class _Box(Protocol):
    """Files by their names: those of a tar, or of a folder."""

    def open(self, name: str) -> IO[bytes] | None:
        """Open a file; None, if it does not exist."""

    def found(self) -> str:
        """Describe its contents, for a message."""


@contextmanager
def open_image(path: Path) -> Iterator[Image]:
    """Find the image in a tar file, or in the folder of an OCI layout.

    Args:
        path: the file or folder.

    Yields:
        The image; its layers can be read as long as the context lasts.

    Raises:
        InputError: there is none, or none that a machine can run.
    """
    with contextlib.ExitStack() as stack:
        try:
            box: _Box
            box = _Folder(path) if path.is_dir() else _Tar(stack.enter_context(open_regular(path)))
        except OSError as error:
            raise InputError(f"it cannot be read: {error.strerror or error}") from None
        yield _image(box)


def is_layout(path: Path) -> bool:
    """Return whether a folder is an OCI layout, and not a root file system."""
    return (path / "oci-layout").is_file() or (
        (path / _LAYOUT).is_file() and (path / "blobs").is_dir()
    )


class _Tar:
    """The files of a tar; `file` stays open."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._files: dict[str, tuple[int, int]] = {}
        self._links: dict[str, str] = {}
        self._tops: set[str] = set()
        head = file.read(4)
        file.seek(0)
        for mark, name in _COMPRESSED.items():
            if head.startswith(mark):
                raise InputError(
                    f"it is compressed by {name}, but a tar is expected: decompress it first"
                )
        try:
            self._look()
        except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
            raise InputError(f"{_NONE}; and this is not a tar ({error})") from None
        except RecursionError:
            raise InputError(f"{_NONE}; and the headers of this tar are nested too deep") from None

    def _look(self) -> None:
        with tarfile.open(fileobj=self._file, mode="r:", tarinfo=Bounded) as tar:
            for _ in range(_MAX_MEMBERS):
                info = tar.next()
                if info is None:
                    return
                tar.members.clear()  # type: ignore[attr-defined]
                name = posixpath.normpath(info.name)
                self._tops.add(name.partition("/")[0])
                if info.isreg() and not info.issparse():
                    self._files[name] = info.offset_data, info.size
                elif info.issym():
                    above = posixpath.dirname(name)
                    self._links[name] = posixpath.normpath(posixpath.join(above, info.linkname))
                elif info.islnk():
                    self._links[name] = posixpath.normpath(info.linkname)

    def open(self, name: str) -> IO[bytes] | None:
        """See `_Box`."""
        name = posixpath.normpath(name)
        for _ in range(_MAX_LINKS):
            if name not in self._links:
                break
            name = self._links[name]
        if name not in self._files:
            return None
        start, size = self._files[name]
        part = _Part(self._file.fileno(), start, size)
        return cast("IO[bytes]", io.BufferedReader(part, buffer_size=1 << 18))

    def found(self) -> str:
        """See `_Box`."""
        names = sorted(self._tops)
        hint = ""
        if {"etc", "usr", "bin"} & set(names):
            hint = (
                " (a root file system, written by `docker export`: use `docker save`, or "
                "unpack it and name the folder)"
            )
        return f"a tar that contains {_some(names)}{hint}"


class _Part(io.RawIOBase):
    """A part of a file, independent of other readers of the file."""

    def __init__(self, descriptor: int, start: int, size: int) -> None:
        self._descriptor, self._start, self._size, self._at = descriptor, start, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(0, base + offset)
        return self._at

    def tell(self) -> int:
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        maximum = max(0, min(len(buffer), self._size - self._at))
        data = os.pread(self._descriptor, maximum, self._start + self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


class _Folder:
    """The files of a folder; links in it are not followed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, name: str) -> IO[bytes] | None:
        """See `_Box`."""
        at = self._path
        parts = [part for part in name.split("/") if part not in ("", ".")]
        if ".." in parts or not parts or "\0" in name:
            return None
        try:
            for part in parts:
                at /= part
                if stat.S_ISLNK(at.lstat().st_mode):
                    raise InputError(f"{name!r} in it is a symbolic link, which is not followed")
            return open_regular(at)
        except OSError:
            return None

    def found(self) -> str:
        """See `_Box`."""
        return f"a folder that contains {_some(sorted(one.name for one in self._path.iterdir()))}"


def _some(names: list[str]) -> str:
    shown = listed([name[:40] for name in names[:6]]) or "nothing"
    return f"{shown} and {len(names) - 6} more" if len(names) > 6 else shown


# ------------------------------------------------------------------ contents of the files


@dataclass(frozen=True, kw_only=True)
class _Platform:
    architecture: str = ""
    os: str = ""

    def __str__(self) -> str:
        return f"{self.os or 'unknown'}/{self.architecture or 'unknown'}"

    @property
    def fits(self) -> bool:
        return (self.os, self.architecture) == (SYSTEM, ARCHITECTURE)


@dataclass(frozen=True, kw_only=True)
class _Descriptor:
    digest: str
    mediaType: str = ""  # noqa: N815  the field's own name, as of the others
    platform: _Platform | None = None
    annotations: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if not _DIGEST.fullmatch(self.digest):
            raise ValueError(f"its digest is {self.digest[:80]!r}, not sha256:... in hexadecimal")

    @property
    def name(self) -> str:
        named = (self.annotations or {}).get("org.opencontainers.image.ref.name")
        return named or self.digest[:19]


@dataclass(frozen=True, kw_only=True)
class _Index:
    manifests: list[_Descriptor]


@dataclass(frozen=True, kw_only=True)
class _OciManifest:
    config: _Descriptor
    layers: list[_Descriptor]


@dataclass(frozen=True, kw_only=True)
class _DockerManifest:
    Config: str
    Layers: list[str] | None = None
    RepoTags: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class _RootFs:
    diff_ids: list[str] | None = None

    def __post_init__(self) -> None:
        for digest in self.diff_ids or ():
            if not _DIGEST.fullmatch(digest):
                raise ValueError(f"{digest[:80]!r} is not a digest of a layer")


@dataclass(frozen=True, kw_only=True)
class _Programs:
    Env: list[str] | None = None
    WorkingDir: str | None = None
    Entrypoint: list[str] | None = None
    Cmd: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class _Config:
    rootfs: _RootFs
    config: _Programs | None = None
    architecture: str = ""
    os: str = ""


T = TypeVar("T")


def _json(box: _Box, name: str, kind: type[T], *, digest: str = "") -> tuple[T, bytes]:
    file = box.open(name)
    if file is None:
        raise InputError(f"{name} is not in it: it is incomplete")
    with file:
        content = file.read(_MAX_JSON_BYTES + 1)
    if len(content) > _MAX_JSON_BYTES:
        raise InputError(f"{name} in it is larger than {_MAX_JSON_BYTES >> 20} MB")
    if digest and (found := f"sha256:{hashlib.sha256(content).hexdigest()}") != digest:
        raise InputError(f"{name} in it has the digest {found}: it was damaged or changed")
    data = parse_json(content, where=f"{name} in it", allow_repeated=True)
    return Decoder(kind, ignore_unknown=True).decode(data, where=f"{name} in it"), content


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"


def _image(box: _Box) -> Image:
    if (index := box.open(_LAYOUT)) is not None:
        index.close()
        return _of_layout(box)
    if (manifest := box.open(_MANIFEST)) is not None:
        manifest.close()
        return _of_docker(box)
    raise InputError(f"{_NONE}; and this is {box.found()}")


def _of_layout(box: _Box) -> Image:
    index, _ = _json(box, _LAYOUT, _Index)
    chosen = _chosen(index)
    for _ in range(_MAX_INDEXES):
        if chosen.mediaType not in _INDEXES:
            break
        inner, _ = _json(box, _blob(chosen.digest), _Index, digest=chosen.digest)
        chosen = _chosen(inner)
    manifest, _ = _json(box, _blob(chosen.digest), _OciManifest, digest=chosen.digest)
    own = manifest.config.digest
    config, content = _json(box, _blob(own), _Config, digest=own)
    stored = [(_blob(one.digest), one.digest) for one in manifest.layers]
    return _checked(box, config, content, stored)


def _chosen(index: _Index) -> _Descriptor:
    """Return the only image of an index that a machine can run."""
    # Attestations of a build have the platform unknown/unknown.
    found = [one for one in index.manifests if one.platform is None or one.platform.fits]
    others = [str(one.platform) for one in index.manifests if one not in found]
    if not found:
        what = listed(sorted(set(others))) or "nothing"
        raise InputError(f"a machine runs {SYSTEM}/{ARCHITECTURE}, but the image is for {what}")
    if len({one.digest for one in found}) > 1:
        names = listed([one.name for one in found])
        raise InputError(f"it contains {len(found)} images ({names}): save one of them alone")
    return found[0]


def _of_docker(box: _Box) -> Image:
    manifests, _ = _json(box, _MANIFEST, list[_DockerManifest])
    if len(manifests) != 1:
        names = listed([(one.RepoTags or [one.Config[:19]])[0] for one in manifests]) or "none"
        raise InputError(f"it contains {len(manifests)} images ({names}): save one of them alone")
    (manifest,) = manifests
    stem = posixpath.basename(manifest.Config).removesuffix(".json")
    digest = f"sha256:{stem}" if _DIGEST.fullmatch(f"sha256:{stem}") else ""
    config, content = _json(box, manifest.Config, _Config, digest=digest)
    return _checked(box, config, content, [(name, "") for name in manifest.Layers or ()])


def _checked(box: _Box, config: _Config, content: bytes, stored: list[tuple[str, str]]) -> Image:
    platform = _Platform(architecture=config.architecture, os=config.os)
    if not platform.fits:
        raise InputError(f"a machine runs {SYSTEM}/{ARCHITECTURE}, but the image is for {platform}")
    tars = config.rootfs.diff_ids or []
    if len(tars) != len(stored):
        raise InputError(
            f"its manifest lists {len(stored)} layers, but its configuration {len(tars)}"
        )
    if len(stored) > MAX_LAYERS:
        raise InputError(f"it has {len(stored)} layers; the maximum is {MAX_LAYERS}")

    def layer(number: int) -> Layer:
        name, digest = stored[number]

        def opened() -> IO[bytes]:
            file = box.open(name)
            if file is None:
                raise OSError("it is not in the image, which is incomplete")
            return file

        return Layer(name=tars[number][:19], open=opened, stored=digest, content=tars[number])

    programs = config.config or _Programs()
    return Image(
        digest=hashlib.sha256(content).hexdigest(),
        settings=Settings(
            environment=tuple(programs.Env or ()),
            folder=programs.WorkingDir or "/",
            command=(*(programs.Entrypoint or ()), *(programs.Cmd or ())),
        ),
        layers=tuple(layer(number) for number in range(len(stored))),
    )
