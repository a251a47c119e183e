"""The kernel sources that were downloaded on this host.

    CACHE/sources/VERSION/              the tarball, `origin`, SHA256SUMS
    CACHE/sources/.download-RANDOM/     a download in progress, see `downloading`

VERSION is a package's version (`6.12.95-1~bpo12+1`) or a release (`6.6.5`). A
source appears complete, by one rename. A newer one does not replace an older one
of its series, which a build may be reading: both stay until the user removes one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from longfat.common.checksum import SUMS, write_sums
from longfat.common.guard import doomed_folder, sweep
from longfat.engine.kernel import cache
from longfat.engine.kernel.source import Source
from longfat.engine.kernel.version import by_preference, matches, series, sort_key
from longfat.errors import HostError

_AT_WORK = ".download-"
_NAME = re.compile(r"\d+\.\d+[0-9A-Za-z.+~-]*")
_ORIGIN = "origin"


def folder() -> Path:
    """Return the folder that contains a folder for each downloaded source."""
    return cache.root() / "sources"


def versions() -> list[str]:
    """Return the versions that were downloaded, old to new."""
    try:
        names = [path.name for path in folder().iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(names, key=sort_key)


def find(version: str, *, wanted: str = "", exclude: Collection[str] = ()) -> Source | None:
    """Return a downloaded source of a version; None if there is none.

    Args:
        version: such as `6.1` or `6.1.158`.
        wanted: the release that is preferred, or else the nearest to it; the newest, if empty.
        exclude: releases that are not wanted.
    """
    names = [
        name
        for name in versions()
        if matches(name, version) and not any(matches(name, release) for release in exclude)
    ]
    for name in by_preference(names, wanted or version):
        if found := _read(name):
            return found
    return None


def exactly(name: str) -> Source | None:
    """Return the downloaded source with this name; None if there is none.

    Args:
        name: one of `versions()`, or a potential one.
    """
    return _read(name) if name in versions() else None


def with_digest(sha256: str) -> Source | None:
    """Return the downloaded source whose tarball has this SHA-256; None if there is none."""
    everything = (found for name in versions() if (found := _read(name)))
    return next((found for found in everything if found.sha256 == sha256), None)


@contextmanager
def downloading() -> Iterator[Path]:
    """Create a folder to download to; it is removed at the end of the context or process.

    Raises:
        HostError: it cannot be made.
    """
    with ExitStack() as stack:
        try:
            folder().mkdir(parents=True, exist_ok=True)
            sweep(folder(), prefix=_AT_WORK)
            place = stack.enter_context(doomed_folder(folder(), prefix=_AT_WORK))
        except OSError as error:
            raise HostError(f"cannot write to the cache of sources: {error}") from error
        yield place


@contextmanager
def alone(version: str, *, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock for downloading a source of this version's series; others wait.

    Args:
        version: such as `6.1` or `6.1.158`.
        on_wait: called once if another process holds it.

    Raises:
        HostError: the cache folder cannot be written.
    """
    name = hashlib.sha256(f"source of {series(version)}".encode()).hexdigest()
    with cache.lock(name, on_wait=on_wait):
        yield


def keep(tarball: Path, *, name: str, origin: str) -> Source:
    """Publish a finished download.

    Args:
        tarball: the file, in the folder of `downloading`, complete and checked.
        name: the package's version or the release.
        origin: its origin, for people.

    Raises:
        HostError: the name is not valid for a folder, or the cache cannot be written.
    """
    if not _NAME.fullmatch(name):
        raise HostError(f"{name!r} is not a valid version of a kernel's source")
    try:
        product = tarball.parent / "product"
        product.mkdir()
        tarball.rename(product / tarball.name)
        (product / _ORIGIN).write_text(f"{origin}\n", encoding="utf-8")
        write_sums(product)
        product.rename(folder() / name)
    except OSError as error:
        raise HostError(f"cannot store the source in {folder() / name}: {error}") from error
    found = _read(name)
    assert found is not None, "a source that was just stored is readable"
    return found


def _read(name: str) -> Source | None:
    place = folder() / name
    try:
        lines = (place / SUMS).read_text(encoding="utf-8").splitlines()
        sums = {file: digest for digest, _, file in (line.partition("  ") for line in lines)}
        (tarball,) = sums.keys() - {_ORIGIN}
        origin = (place / _ORIGIN).read_text(encoding="utf-8").strip()
    except (OSError, ValueError):  # not a download of longfat, or damaged: ignored
        return None
    if not (place / tarball).is_file():
        return None
    return Source(place / tarball, origin=origin, sha256=sums[tarball])
