"""Kernel sources as tarballs of kernel.org, or of a mirror of it.

A folder for each major version has the tarballs and `sha256sums.asc`, their
checksums, signed by a key of kernel.org's. A tarball is taken if its checksum is
in that list and the list's signature is good, or if it is the one the user specified:
neither the mirror nor the connection need be trusted. Source:
https://www.kernel.org/signature.html.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.kernel import sources
from longfat.engine.kernel.job import Report, Step
from longfat.engine.kernel.sources import NotOfferedError, Source
from longfat.engine.kernel.version import by_preference, matches, series
from longfat.errors import HostError, InputError

if TYPE_CHECKING:
    from http.client import HTTPResponse

MIRROR = "LONGFAT_KERNEL_MIRROR"
"""The environment variable with the address of a mirror."""

_KERNEL_ORG = "https://cdn.kernel.org/pub/linux/kernel"
_SUMS = "sha256sums.asc"

SIGNER = "B8868C80BA62A1FFFAF5FDA9632D3A06589DA6B1"
"""The fingerprint of the key that signs the checksums: autosigner@kernel.org."""

_TIMEOUT_S = 30.0
_MAX_SUMS_BYTES = 1 << 24
_BLOCK_BYTES = 1 << 20
_LINE = re.compile(r"^([0-9a-f]{64})  linux-(\d+\.\d+(?:\.\d+)*)\.tar\.xz$", re.MULTILINE)


def fetch(
    version: str,
    *,
    sha256: str = "",
    wanted: str = "",
    exclude: Collection[str] = (),
    signer: str = SIGNER,
    timeout_s: float = _TIMEOUT_S,
    report: Report,
) -> Source:
    """Download the tarball of a version; of a series, the release that is preferred.

    Args:
        version: such as `6.1` or `6.1.158`.
        sha256: the required SHA-256, in hex; the one in the signed list, if empty.
        wanted: the release that is preferred, or else the nearest to it; the newest, if empty.
        exclude: releases that are not wanted.
        signer: the fingerprint of the key that signs the list.
        timeout_s: how long a server may be silent, in seconds.
        report: called with the progress.

    Raises:
        InputError: the environment's address of a mirror is invalid.
        NotOfferedError: the server does not answer or does not have the version, or the
            list's signature cannot be checked.
        HostError: the signature is bad, or the download is not the expected file.
    """
    base = os.environ.get(MIRROR, "").rstrip("/") or _KERNEL_ORG
    if not base.startswith(("http://", "https://")):
        raise InputError(f"{MIRROR} is {base!r}, but must begin with http:// or https://")
    folder = f"{base}/v{series(version).partition('.')[0]}.x"
    if sha256 and version != series(version):
        release, expected = version, sha256
    else:
        release, expected = _listed(
            version,
            folder=folder,
            sha256=sha256,
            wanted=wanted,
            exclude=exclude,
            signer=signer,
            timeout_s=timeout_s,
        )
    found = sources.exact_download(release)
    if found is not None and found.sha256 == expected:
        return found
    url = f"{folder}/linux-{release}.tar.xz"
    with sources.downloading() as scratch:
        tarball = scratch / f"linux-{release}.tar.xz"
        digest = _download(url, to=tarball, timeout_s=timeout_s, report=report)
        if digest != expected:
            raise HostError(
                f"{url} is not the expected file: its SHA-256 is {digest}, not {expected}",
                hint=f"longfat kernel build {version} (again, or from another {MIRROR})",
            )
        trusted = "the specified checksum" if sha256 else "kernel.org's signed checksum"
        return sources.keep_download(tarball, name=release, origin=f"from {url}, with {trusted}")


def _listed(
    version: str,
    *,
    folder: str,
    sha256: str,
    wanted: str,
    exclude: Collection[str],
    signer: str,
    timeout_s: float,
) -> tuple[str, str]:
    """Return the release to download for a version, and its SHA-256."""
    url = f"{folder}/{_SUMS}"
    with _answer(url, timeout_s=timeout_s) as response:
        content = _read(response, _MAX_SUMS_BYTES, url=url)
    # A checksum that the user specified needs no signature.
    signed, doubt = ("", "") if sha256 else _signed(content, signer=signer, url=url)
    text = content.decode("ascii", "replace") if sha256 or doubt else signed
    sums = {release: digest for digest, release in _LINE.findall(text.replace("\r", ""))}
    fitting = [release for release in sums if matches(release, version) and release not in exclude]
    same = [release for release in fitting if sums[release] == sha256]
    if not fitting:
        raise NotOfferedError(f"{folder} has no {'other ' if exclude else ''}{version}")
    release = by_preference(same or fitting, wanted or version)[0]
    if doubt:
        raise NotOfferedError(
            f"{folder} has {release}, but its checksums' signature cannot be checked: {doubt}",
            hint=f"longfat kernel build {release} --sha256 DIGEST"
            + (" (or: gpg --locate-keys autosigner@kernel.org)" if shutil.which("gpg") else ""),
        )
    return release, sha256 or sums[release]


def _signed(content: bytes, *, signer: str, url: str) -> tuple[str, str]:
    """Return the signed text, or why the signature cannot be checked.

    Raises:
        HostError: the signature is bad.
    """
    if shutil.which("gpg") is None:
        return "", "there is no gpg"
    no_key = f"gpg has no key {signer}"
    # Without keys, gpg would create a folder for them.
    if not Path(os.environ.get("GNUPGHOME") or "~/.gnupg").expanduser().is_dir():
        return "", no_key
    command = ["gpg", "--batch", "--status-fd", "2", "--no-auto-key-retrieve"]
    command += ["--no-auto-check-trustdb", "--trust-model", "always", "--output", "-", "--decrypt"]
    done = subprocess.run(command, input=content, capture_output=True, check=False)
    status: dict[str, list[str]] = {}
    for line in done.stderr.decode(errors="replace").splitlines():
        match line.split():
            case ["[GNUPG:]", keyword, *rest]:
                status[keyword] = rest
    if "NO_PUBKEY" in status:
        return "", no_key
    valid = status.get("VALIDSIG", [""])
    if done.returncode == 0 and "GOODSIG" in status and valid[-1] == signer:
        return done.stdout.decode("ascii", "replace"), ""
    raise HostError(f"{url}: its signature is not a good one of the key {signer}")


def _download(url: str, *, to: Path, timeout_s: float, report: Report) -> str:
    """Download a file and return its SHA-256.

    Raises:
        NotOfferedError: it does not exist, or the server does not answer.
        HostError: it is incomplete.
    """
    report(Step.DOWNLOAD, words=url)
    hasher = hashlib.sha256()
    with _answer(url, timeout_s=timeout_s) as response:
        total, done = int(response.headers.get("Content-Length") or 0), 0
        try:
            with to.open("xb") as file:
                while block := _read(response, _BLOCK_BYTES, url=url):
                    file.write(block)
                    hasher.update(block)
                    done += len(block)
                    report(Step.DOWNLOAD, done, max(total, done), words=url)
        except OSError as error:
            raise HostError(f"cannot download to {to.parent}: {error}") from error
    if done < total:
        raise HostError(f"{url} is incomplete: {done:,} of {total:,} bytes were received")
    return hasher.hexdigest()


def _read(response: HTTPResponse, most_bytes: int, *, url: str) -> bytes:
    """Read the next data; nothing at the end.

    Raises:
        HostError: the server fell silent, or the connection broke.
    """
    try:
        return response.read(most_bytes)
    except (OSError, http.client.HTTPException) as error:
        raise HostError(f"{url} is incomplete: {error}") from error


@contextmanager
def _answer(url: str, *, timeout_s: float) -> Iterator[HTTPResponse]:
    """Request a file.

    Raises:
        NotOfferedError: it does not exist, or the server does not answer.
    """
    request = urllib.request.Request(url, headers={"User-Agent": "longfat"})
    try:
        response = urllib.request.urlopen(request, timeout=timeout_s)
    except urllib.error.HTTPError as error:
        error.close()
        raise NotOfferedError(f"{url}: {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        cause = getattr(error.reason, "strerror", None) or error.reason
        raise NotOfferedError(f"{url} does not answer: {cause}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NotOfferedError(f"{url} does not answer: {error}") from error
    with response:
        yield response
