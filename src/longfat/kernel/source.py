"""Where a kernel's source comes from: a distribution's package, a tarball, a tree."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from longfat.errors import InputError, SurroundingsError
from longfat.kernel.unpack import pack_command
from longfat.kernel.version import check_version, nearest, series, sort_key

PACKAGES = Path("/usr/src")
"""Where a distribution's linux-source packages put their tarballs."""

_TARBALL = re.compile(r"linux-source-(\d+\.\d+(?:\.\d+)*)\.tar\.(?:xz|gz|bz2|zst)")


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a kernel.

    Attributes:
        path: a tarball or a folder.
    """

    path: Path

    @property
    def is_tree(self) -> bool:
        """Whether this is a folder, and not a tarball."""
        return self.path.is_dir()

    def digest(self) -> str:
        """Return the digest of what would be built, in hex.

        Raises:
            SurroundingsError: the source cannot be read.
        """
        try:
            if not self.is_tree:
                with self.path.open("rb") as tarball:
                    return hashlib.file_digest(tarball, "sha256").hexdigest()
            with subprocess.Popen(pack_command(self.path), stdout=subprocess.PIPE) as tar:
                assert tar.stdout is not None
                hasher = hashlib.sha256()
                while block := tar.stdout.read(1 << 20):
                    hasher.update(block)
        except OSError as error:
            raise SurroundingsError(f"cannot read the kernel source: {error}") from error
        if tar.returncode != 0:
            raise SurroundingsError(f"cannot read all of the kernel source in {self.path}")
        return hasher.hexdigest()


def installed_versions(*, folder: Path = PACKAGES) -> list[str]:
    """Return the versions whose source package is installed, old to new.

    Args:
        folder: where the packages put their tarballs.
    """
    return sorted(_tarballs(folder), key=sort_key)


def locate(version: str, *, path: Path | None = None, folder: Path = PACKAGES) -> Source:
    """Find the source of a kernel version.

    Args:
        version: such as `6.1` or `6.1.158`.
        path: the tarball or tree to use; an installed package, if None.
        folder: where the packages put their tarballs.

    Raises:
        InputError: `version` is no version, or there is nothing at `path`.
        SurroundingsError: no installed package has this version.
    """
    check_version(version)
    if path is not None:
        if not path.exists():
            raise InputError(f"there is no kernel source at {path}")
        return Source(path.resolve())
    tarballs = _tarballs(folder)
    for name in (version, series(version)):
        if name in tarballs:
            return Source(tarballs[name])
    raise _missing(version, installed=sorted(tarballs, key=sort_key), folder=folder)


def _tarballs(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.glob("linux-source-*.tar.*")):
        if match := _TARBALL.fullmatch(path.name):
            found[match[1]] = path
    return found


def _missing(version: str, *, installed: list[str], folder: Path) -> SurroundingsError:
    here = f"there: {', '.join(installed)}" if installed else "there is none"
    message = f"no source of kernel {version} in {folder} ({here})"
    wanted, offered = series(version), _offered()
    if wanted in offered:
        return SurroundingsError(message, mend=f"sudo apt-get install linux-source-{wanted}")
    near = nearest(version, [*installed, *offered])
    if near is None:
        return SurroundingsError(message, mend=f"longfat kernel build {version} --source TARBALL")
    message += f", and no package of it; the nearest is {near}"
    if near in installed:
        return SurroundingsError(message, mend=f"longfat kernel build {near}")
    return SurroundingsError(message, mend=f"sudo apt-get install linux-source-{near}")


def _offered() -> list[str]:
    """Return the versions that the distribution has a source package of."""
    if shutil.which("apt-cache") is None:
        return []
    answer = subprocess.run(
        ["apt-cache", "pkgnames", "linux-source-"], capture_output=True, text=True, check=False
    )
    names = (name.removeprefix("linux-source-") for name in answer.stdout.split())
    return sorted((name for name in names if re.fullmatch(r"\d+\.\d+", name)), key=sort_key)
