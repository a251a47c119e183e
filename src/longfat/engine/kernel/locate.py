"""Which source a kernel is built from.

The first available one: what the user specifies, an installed package, an earlier
download, a package that apt-get can download, a tarball of kernel.org.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from longfat.engine.kernel import apt, downloads, kernel_org
from longfat.engine.kernel.progress import Report, Step
from longfat.engine.kernel.source import (
    PACKAGES,
    NotOfferedError,
    Source,
    installed,
    installed_versions,
)
from longfat.engine.kernel.version import check_version, matches, series, sort_key
from longfat.errors import HostError, InputError

_SHA256 = re.compile("[0-9a-f]{64}")


def local_series() -> list[str]:
    """Return the series whose source is on this host, old to new: installed or downloaded."""
    versions = [*installed_versions(), *downloads.versions()]
    return sorted({series(version) for version in versions}, key=sort_key)


def here(
    version: str,
    *,
    path: Path | None = None,
    sha256: str = "",
    refresh: bool = False,
    folder: Path = PACKAGES,
) -> Source | None:
    """Return the source of a version that is on this host; None if there is none.

    Args:
        version: such as `6.1` or `6.1.158`.
        path: the tarball or tree to use, and no other.
        sha256: the SHA-256 of the tarball of kernel.org to use, and no other; none, if empty.
        refresh: ignore earlier downloads.
        folder: where packages put their tarballs.

    Raises:
        InputError: `version` is no version, `sha256` no SHA-256, or there is nothing at `path`.
    """
    check_version(version)
    if sha256 and not _SHA256.fullmatch(sha256):
        raise InputError(f"{sha256!r} is not a SHA-256: it has 64 digits of 0-9 and a-f")
    if path is not None:
        if not path.exists():
            raise InputError(f"there is no kernel source at {path}")
        return Source(path.resolve(), origin="as --source says")
    if sha256:
        found = downloads.with_digest(sha256)
        # The folder's name begins with the release of the tarball.
        if found is not None and not matches(found.path.parent.name, version):
            found = None
    else:
        package = installed(version, folder=folder)
        if package is not None:
            return package
        found = None if refresh else downloads.find(version)
    return found and replace(found, origin=f"downloaded before: {found.origin}")


def download(version: str, *, sha256: str = "", refresh: bool = False, report: Report) -> Source:
    """Download the source of a version, which is not on this host.

    Args:
        version: such as `6.1` or `6.1.158`.
        sha256: the SHA-256 of the tarball of kernel.org to use; any source, if empty.
        refresh: look for a newer one than the one that was downloaded before.
        report: called with the progress.

    Raises:
        InputError: the address of kernel.org's mirror is invalid.
        HostError: it is nowhere, no site of sources answers, or a download is
            not the expected file.
    """
    with downloads.alone(version, on_wait=lambda: report(Step.WAIT)):
        if not refresh and (found := here(version, sha256=sha256)):
            return found  # downloaded while this process waited
        reasons = []
        if not sha256:
            try:
                return apt.fetch(version, report=report)
            except NotOfferedError as error:
                reasons.append(error.message)
        try:
            found = kernel_org.fetch(version, sha256=sha256, report=report)
        except NotOfferedError as error:
            reasons.append(error.message)
            raise HostError(
                f"no source of kernel {version}: none is on this host; {'; '.join(reasons)}",
                hint=error.hint or f"longfat kernel build {version} --source TARBALL",
            ) from error
        return replace(found, origin="; ".join([found.origin, *reasons]))
