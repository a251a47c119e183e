"""The source of a kernel: a tarball or a tree, and the packages of them on this host."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from longfat.engine.kernel.unpack import pack_command
from longfat.engine.kernel.version import matches, series, sort_key
from longfat.errors import HostError

PACKAGES = Path("/usr/src")
"""Where a distribution's linux-source packages put their tarballs."""

TARBALL = re.compile(r"linux-source-(\d+\.\d+(?:\.\d+)*)\.tar\.(?:xz|gz|bz2|zst)")
"""The name of the tarball in such a package."""


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
