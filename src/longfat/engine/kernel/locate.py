"""Which source a kernel is built from.

What the user specifies; else the release of the series that longfat is tested with, as an
installed package, an earlier download, a package that apt-get can download, or a tarball of
kernel.org; else another release of the series, from the same places in the same order.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from longfat.engine.kernel import apt, kernel_org, sources
from longfat.engine.kernel.job import Report, Step
from longfat.engine.kernel.sources import (
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
    versions = [*installed_versions(), *sources.downloaded_versions()]
    return sorted({series(version) for version in versions}, key=sort_key)


def here(
    version: str,
    *,
    path: Path | None = None,
    sha256: str = "",
    refresh: bool = False,
    wanted: str = "",
    exclude: Collection[str] = (),
    folder: Path = PACKAGES,
) -> Source | None:
    """Return the source of a version that is on this host; None if there is none.

    Args:
        version: such as `6.1` or `6.1.158`.
        path: the tarball or tree to use, and no other.
        sha256: the SHA-256 of the tarball of kernel.org to use, and no other; none, if empty.
        refresh: ignore earlier downloads.
        wanted: the release that is preferred among earlier downloads; the newest, if empty.
        exclude: releases that are not wanted.
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
        found = sources.download_with_digest(sha256)
        # The folder's name begins with the release of the tarball.
        if found is not None and not matches(found.path.parent.name, version):
            found = None
    else:
        package = installed(version, exclude=exclude, folder=folder)
        if package is not None:
            return package
        found = None if refresh else sources.find_download(version, wanted=wanted, exclude=exclude)
    return found and replace(found, origin=f"downloaded before: {found.origin}")


def find(
    version: str,
    *,
    sha256: str = "",
    refresh: bool = False,
    wanted: str = "",
    exclude: Collection[str] = (),
    report: Report,
) -> Source:
    """Return the source of a version, downloaded unless it is on this host.

    Args:
        version: such as `6.1` or `6.1.158`.
        sha256: the SHA-256 of the tarball of kernel.org to use; any source, if empty.
        refresh: look for a newer one than the one that was downloaded before.
        wanted: the release that is preferred wherever it is, or else the nearest to it; any of
            the version, if empty.
        exclude: releases that are not wanted, since they cannot be built.
        report: called with the progress.

    Raises:
        InputError: the address of kernel.org's mirror is invalid.
        HostError: it is nowhere, no site of sources answers, or a download is
            not the expected file.
    """
    preferred = wanted or version
    with sources.download_lock(version, on_wait=lambda: report(Step.WAIT)):
        if not refresh and (found := here(preferred, sha256=sha256, exclude=exclude)):
            return found  # perhaps downloaded while this process waited
        if sha256:
            try:
                return kernel_org.fetch(version, sha256=sha256, report=report)
            except NotOfferedError as error:
                raise _nowhere(version, [error], exclude) from error
        with apt.search(version, wanted=preferred, exclude=exclude, report=report) as offers:
            if offers.has(preferred):
                return offers.download(preferred, report=report)
            failures = [NotOfferedError(offers.reason)]
            try:
                found = kernel_org.fetch(preferred, exclude=exclude, report=report)
                return _explained(found, failures)
            except NotOfferedError as error:
                failures.append(error)
            if preferred == version:
                raise _nowhere(version, failures, exclude) from failures[-1]
            found = None if refresh else here(version, wanted=preferred, exclude=exclude)
            if found is None and offers.has(version):
                found = offers.download(preferred, report=report)
        if found is None:
            try:
                found = kernel_org.fetch(version, wanted=preferred, exclude=exclude, report=report)
            except NotOfferedError as error:
                raise _nowhere(version, [failures[0], error], exclude) from error
        note = f"instead of {preferred}, with which longfat is tested"
        return _explained(replace(found, origin=f"{found.origin}; {note}"), failures)


def _explained(found: Source, failures: list[NotOfferedError]) -> Source:
    """Say with a source why it is not from elsewhere."""
    return replace(found, origin="; ".join([found.origin, *(each.message for each in failures)]))


def _nowhere(version: str, failures: list[NotOfferedError], exclude: Collection[str]) -> HostError:
    hints = [failure.hint for failure in failures if failure.hint]
    begin = f"no source of kernel {version}: none is on this host"
    if exclude:
        begin = (
            f"longfat's patches do not apply to {', '.join(exclude)}, and there is no other source"
        )
    return HostError(
        "; ".join((begin, *(failure.message for failure in failures))),
        hint=(*hints, f"longfat kernel build {version} --source TARBALL")[0],
    )
