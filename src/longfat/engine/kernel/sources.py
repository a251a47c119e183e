"""The source of a kernel: a tarball or a tree, installed by a package or downloaded, and unpacked.

    CACHE/sources/VERSION/              the tarball, `origin`, SHA256SUMS
    CACHE/sources/.download-RANDOM/     a download in progress, see `downloading`

VERSION is a package's version (`6.12.95-1~bpo12+1`) or a release (`6.6.5`). A download
appears complete, by one rename. A newer one does not replace an older one
of its series, which a build may be reading: both stay until the user removes one.

Most of a kernel is drivers and other processors. Their code is not unpacked; every
Kconfig and Makefile is, because the configuration reads them all. A tree is
treated as the tarball that it would make, without owners and times, so
that its digest depends on its content alone.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from longfat.common.checksum import SUMS, write_sums
from longfat.common.folder_store import FolderStore, cache_root
from longfat.engine.kernel import cache
from longfat.engine.kernel.version import by_preference, matches, series, sort_key
from longfat.errors import HostError

# Folders below drivers/ that are large and contain nothing for a machine.
_HEAVY_DRIVERS = (
    *("accel", "clk", "comedi", "crypto", "dma", "gpio", "gpu", "hid", "hwmon", "iio"),
    *("infiniband", "input", "media", "mfd", "misc", "mtd", "net/can", "net/dsa"),
    *("net/ethernet", "net/phy", "net/wireless", "phy", "pinctrl", "platform", "regulator"),
    *("s390", "scsi", "soc", "staging", "usb", "video"),
)

_LEFT_OUT = (
    # All processors but um and x86 (and others that begin the same).
    *(f"*/arch/[!ux]*.{suffix}" for suffix in ("[chS]", "dts*")),
    *(f"*/drivers/{name}/*.[chS]" for name in _HEAVY_DRIVERS),
    "*/sound/*.[chS]",
    "*/samples/*.[chS]",
    *(f"*/Documentation/*.{suffix}" for suffix in ("rst", "txt", "yaml", "svg", "json")),
    "*/tools/perf/*",
    "*/tools/testing/*",
)

# Files that a tree may contain that were not in its tarball.
_BUILT = ("*/.git", "*.o", "*.a", "*.ko", "*.mod", "*.cmd")

# tar reports each time it has read this many of its records of 10 KiB.
_RECORDS_PER_REPORT = 2000
RECORD_BYTES = 10240
_REPORT = re.compile(r".*: records (\d+)")

PACKAGES = Path("/usr/src")
"""Where a distribution's linux-source packages put their tarballs."""

TARBALL = re.compile(r"linux-source-(\d+\.\d+(?:\.\d+)*)\.tar\.(?:xz|gz|bz2|zst)")
"""The name of the tarball in such a package."""

_NAME = re.compile(r"\d+\.\d+[0-9A-Za-z.+~-]*")
_ORIGIN = "origin"


def _exclusions(*patterns: str) -> list[str]:
    return ["--anchored", "--wildcards", *(f"--exclude={pattern}" for pattern in patterns)]


def unpack_command(tarball: Path, *, into: Path) -> list[str]:
    """Return the command that unpacks the useful part of a tarball.

    Its standard error is for `records_read`.

    Args:
        tarball: the source.
        into: an empty folder, which becomes the top of the tree.
    """
    # Several threads read an .xz made of several blocks, as Debian's are.
    by_threads = ["--use-compress-program=xz -dT0"] if tarball.suffix == ".xz" else []
    report = [f"--checkpoint={_RECORDS_PER_REPORT}", "--checkpoint-action=echo=records %u"]
    return [
        *("tar", "--extract", f"--file={tarball}", f"--directory={into}", "--strip-components=1"),
        *("--no-same-owner", "--no-same-permissions"),
        *by_threads,
        *report,
        *_exclusions(*_LEFT_OUT),
    ]


def pack_command(tree: Path) -> list[str]:
    """Return the command that writes the useful part of a tree to standard output."""
    return [
        *("tar", "--create", "--file=-", f"--directory={tree}"),
        *("--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"),
        *("--mode=u+rw,a+rX,go-w", "--format=gnu"),
        # The top folder has the same name wherever the tree is.
        "--transform=s,^\\.,linux,S",
        *_exclusions(*_LEFT_OUT, *_BUILT),
        ".",
    ]


def records_read(line: str) -> int:
    """Return how many records an unpacking tar has read; 0 if the line does not report it."""
    match = _REPORT.fullmatch(line.strip())
    return int(match[1]) if match else 0


def count_records(tarball: Path) -> int:
    """Return how many records tar will read from an .xz; 0 if that is not known."""
    if tarball.suffix != ".xz":
        return 0
    listing = subprocess.run(
        ["xz", "--robot", "--list", str(tarball)],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    for line in listing.stdout.splitlines():
        fields = line.split("\t")
        if fields[0] == "totals":
            return int(fields[4]) // RECORD_BYTES
    return 0


class NotOfferedError(HostError):
    """A site does not offer this source; another may."""


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a kernel.

    Attributes:
        path: a tarball or a folder.
        origin: its origin, for people.
        sha256: the required SHA-256 of a tarball, in hex; any, if empty.
    """

    path: Path
    origin: str = ""
    sha256: str = ""

    @property
    def is_tree(self) -> bool:
        """Whether this is a folder, not a tarball."""
        return self.path.is_dir()

    def digest(self) -> str:
        """Return the digest of what would be built, in hex.

        Raises:
            HostError: the source cannot be read, or was changed since the download.
        """
        try:
            if not self.is_tree:
                with self.path.open("rb") as tarball:
                    digest = hashlib.file_digest(tarball, "sha256").hexdigest()
                if self.sha256 not in ("", digest):
                    raise HostError(
                        f"{self.path} is damaged: its checksum is not that of the download",
                        hint=f"rm -r {self.path.parent}",
                    )
                return digest
            with subprocess.Popen(pack_command(self.path), stdout=subprocess.PIPE) as tar:
                assert tar.stdout is not None
                hasher = hashlib.sha256()
                while block := tar.stdout.read(1 << 20):
                    hasher.update(block)
        except OSError as error:
            raise HostError(f"cannot read the kernel source: {error}") from error
        if tar.returncode != 0:
            raise HostError(f"cannot read the kernel source in {self.path} completely")
        return hasher.hexdigest()


def installed_versions(*, folder: Path = PACKAGES) -> list[str]:
    """Return the versions whose source package is installed, old to new.

    Args:
        folder: where the packages put their tarballs.
    """
    return sorted(_tarballs(folder), key=sort_key)


def installed(
    version: str, *, exclude: Collection[str] = (), folder: Path = PACKAGES
) -> Source | None:
    """Return the source of a version that a package has installed; None if none has.

    Args:
        version: such as `6.1` or `6.1.158`.
        exclude: releases that are not wanted, nor a package whose version is not known.
        folder: where the packages put their tarballs.
    """
    # Debian's packages are named by the series, Ubuntu's like the series' first release.
    for name, path in _tarballs(folder).items():
        if name == version or series(name) == series(version):
            held = _package_version(path) if exclude or version != series(version) else ""
            if held and not matches(held, version):
                continue
            if exclude and (not held or any(matches(held, release) for release in exclude)):
                continue
            return Source(path, origin="of an installed package")
    return None


def _tarballs(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.glob("linux-source-*.tar.*")):
        if match := TARBALL.fullmatch(path.name):
            found[match[1]] = path
    return found


def _package_version(path: Path) -> str:
    """Return the version of the package of a file; empty if that is not known."""
    if shutil.which("dpkg-query") is None:
        return ""
    owner = _answer("dpkg-query", "--search", str(path)).partition(":")[0]
    return _answer("dpkg-query", "--show", "--showformat=${Version}", owner) if owner else ""


def _answer(*command: str) -> str:
    env = {**os.environ, "LC_ALL": "C"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False, env=env
    )
    return done.stdout if done.returncode == 0 else ""


def downloads_folder() -> Path:
    """Return the folder that contains a folder for each downloaded source."""
    return cache_root() / "sources"


def downloaded_versions() -> list[str]:
    """Return the versions that were downloaded, old to new."""
    try:
        names = [path.name for path in downloads_folder().iterdir() if _NAME.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(names, key=sort_key)


def find_download(
    version: str, *, wanted: str = "", exclude: Collection[str] = ()
) -> Source | None:
    """Return a downloaded source of a version; None if there is none.

    Args:
        version: such as `6.1` or `6.1.158`.
        wanted: the release that is preferred, or else the nearest to it; the newest, if empty.
        exclude: releases that are not wanted.
    """
    names = [
        name
        for name in downloaded_versions()
        if matches(name, version) and not any(matches(name, release) for release in exclude)
    ]
    for name in by_preference(names, wanted or version):
        if found := _read_download(name):
            return found
    return None


def exact_download(name: str) -> Source | None:
    """Return the downloaded source with this name; None if there is none.

    Args:
        name: one of `downloaded_versions()`, or a potential one.
    """
    return _read_download(name) if name in downloaded_versions() else None


def download_with_digest(sha256: str) -> Source | None:
    """Return the downloaded source whose tarball has this SHA-256; None if there is none."""
    everything = (found for name in downloaded_versions() if (found := _read_download(name)))
    return next((found for found in everything if found.sha256 == sha256), None)


@contextmanager
def downloading() -> Iterator[Path]:
    """Create a folder to download to; it is removed at the end of the context or process.

    Raises:
        HostError: it cannot be created.
    """
    with ExitStack() as stack:
        try:
            store = FolderStore(folder=downloads_folder(), prefix=".download-")
            folder = stack.enter_context(store.new_folder())
        except OSError as error:
            raise HostError(f"cannot write to the cache of sources: {error}") from error
        yield folder


@contextmanager
def download_lock(version: str, *, on_wait: Callable[[], None]) -> Iterator[None]:
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


def keep_download(tarball: Path, *, name: str, origin: str) -> Source:
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
        product.rename(downloads_folder() / name)
    except OSError as error:
        raise HostError(
            f"cannot store the source in {downloads_folder() / name}: {error}"
        ) from error
    found = _read_download(name)
    assert found is not None, "a source that was just stored is readable"
    return found


def _read_download(name: str) -> Source | None:
    place = downloads_folder() / name
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
