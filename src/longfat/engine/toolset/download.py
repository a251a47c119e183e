"""Packages of a toolset, downloaded from an archive of Debian and checked.

The archives are those of the host, if it is a Debian; on others, those that the host's
debootstrap knows, or that `MIRROR` names; then snapshot archives that the host's apt names. A
checksum decides whether a file is the right one, so it does not matter where it comes from.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from longfat.engine.kernel.apt_sources import (
    MIRROR,
    host_entries,
    is_of_debian,
    security_archive,
    source_files,
)
from longfat.engine.toolset.apt_settings import apt_settings, proxy_of, snapshots
from longfat.engine.toolset.recipe import Package, pinned_date
from longfat.errors import HostError

_TIMEOUT_S = 30.0
# Between attempts, where an archive did not answer or was busy.
_PAUSES_S = (1.0, 4.0)
_SERVER_ERROR = 500
_CONNECTIONS = 4
_DEBOOTSTRAP = Path("/usr/sbin/debootstrap")
_DEFAULT_MIRROR = re.compile(r'^DEF_MIRROR="([^"]+)"', re.MULTILINE)

Report = Callable[[int, int], None]
"""Called with the bytes that are there, and those of all packages."""


def archives() -> list[str]:
    """Return the addresses of archives in which to look, the most likely first.

    Raises:
        HostError: none is known.
    """
    has_apt = shutil.which("apt-config") is not None
    entries = host_entries() if has_apt else []
    main = [os.environ[MIRROR]] if os.environ.get(MIRROR) else []
    if is_of_debian(entries):
        main += [entry.uri for entry in entries]
    elif _DEBOOTSTRAP.is_file():
        script = _DEBOOTSTRAP.read_text(encoding="utf-8", errors="replace")
        main += _DEFAULT_MIRROR.findall(script)
    main = [uri.rstrip("/") for uri in main if uri.startswith(("http://", "https://"))]
    if has_apt:
        main += snapshots(apt_settings(), source_files(), date=pinned_date())
    if not main:
        raise HostError(
            "no archive of Debian is known, from which the pinned tools could come",
            hint=f"{MIRROR}=ADDRESS longfat tools build, with the address of a mirror of Debian's"
            " archive; or install debootstrap",
        )
    return list(dict.fromkeys([*main, *(security_archive(uri) for uri in main)]))


def downloaded(packages: tuple[Package, ...], *, report: Report) -> Iterator[bytes]:
    """Yield the bytes of packages, in their order.

    Args:
        packages: the packages.
        report: called with the progress.

    Raises:
        HostError: one cannot be downloaded.
    """
    places, settings = archives(), apt_settings()
    total, done = sum(package.size_bytes for package in packages), 0
    report(0, total)
    with ThreadPoolExecutor(_CONNECTIONS) as pool:
        try:
            for package, content in zip(
                packages,
                pool.map(lambda package: _download(package, places, settings), packages),
                strict=True,
            ):
                done += package.size_bytes
                report(done, total)
                yield content
        finally:
            pool.shutdown(cancel_futures=True)


def _open(url: str, settings: Mapping[str, str]) -> http.client.HTTPResponse:
    """Open an address by apt's proxy; where apt has no setting, by that of the environment."""
    request = urllib.request.Request(url, headers={"User-Agent": "longfat"})
    proxy = proxy_of(url, settings)
    proxies = {"http": proxy, "https": proxy} if proxy else {}
    handler = urllib.request.ProxyHandler(None if proxy is None else proxies)
    response = urllib.request.build_opener(handler).open(request, timeout=_TIMEOUT_S)
    assert isinstance(response, http.client.HTTPResponse)
    return response


def _download(package: Package, places: list[str], settings: Mapping[str, str]) -> bytes:
    for pause_s in (*_PAUSES_S, None):
        problems, is_busy = [], False
        for place in places:
            url = f"{place}/{urllib.parse.quote(package.path)}"
            try:
                with _open(url, settings) as response:
                    content = response.read(package.size_bytes + 1)
            except urllib.error.HTTPError as error:
                error.close()
                problems.append(f"{url}: {error.code} {error.reason}")
                is_busy |= error.code >= _SERVER_ERROR
            except (OSError, http.client.HTTPException, ValueError) as error:
                problems.append(f"{url}: {getattr(error, 'reason', error)}")
                is_busy = True
            else:
                if hashlib.sha256(content).hexdigest() == package.sha256:
                    return content
                problems.append(f"{url}: its checksum is not that of the package")
        if pause_s is None or not is_busy:
            break
        time.sleep(pause_s)
    raise HostError(
        f"{package.name} {package.version} cannot be downloaded: {'; '.join(problems)}",
        hint="the archive of a Debian 12 has it, or a snapshot archive as of"
        f" {pinned_date()}; an address can be given as {MIRROR}=ADDRESS",
    )
