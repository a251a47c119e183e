"""Settings of the host's apt that help to reach packages: proxies, archives of old versions.

A mirror has the newest versions of packages alone. A snapshot archive has those of each day, by
addresses with a date. Where the host's apt names such an archive, the pinned versions are found
there when the mirror has newer ones.

Source: apt-config(8), apt-transport-http(1), sources.list(5).
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

_LINE = re.compile(r'^(\S+) "(.*)";$', re.MULTILINE)
_DATE = "@SNAPSHOTID@"
_TEMPLATE_OPTION = "Acquire::Snapshots::URI::"
# Also in a comment: that is where the images of containers name theirs.
_DATED = re.compile(r"(https?://\S+?/debian(?:-security)?)/\d{8}T\d{6}Z")


def apt_settings() -> dict[str, str]:
    """Return the settings of the host's apt, by their names; none without apt."""
    if shutil.which("apt-config") is None:
        return {}
    done = subprocess.run(
        ["apt-config", "dump"], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return dict(_LINE.findall(done.stdout))


def proxy_of(url: str, settings: Mapping[str, str]) -> str | None:
    """Return the proxy for an address; empty for none, and None if apt has no setting.

    Args:
        url: the address.
        settings: those of apt.
    """
    parts = urlsplit(url)
    # For https those of http count, if it has none of its own.
    for scheme in dict.fromkeys((parts.scheme, "http")):
        for name in (f"Acquire::{scheme}::Proxy::{parts.hostname}", f"Acquire::{scheme}::Proxy"):
            if proxy := settings.get(name):
                return "" if proxy == "DIRECT" else proxy
    return None


def snapshots(settings: Mapping[str, str], files: Iterable[Path], *, date: str) -> list[str]:
    """Return the addresses of Debian's archives as they were on a day.

    Args:
        settings: those of apt, which has templates of such addresses from 2.9 on.
        files: the files with apt's entries.
        date: the day and time: `20260131T000000Z`.
    """
    addresses = [
        text.replace(_DATE, date).rstrip("/")
        for name, text in settings.items()
        if name.startswith(_TEMPLATE_OPTION) and _DATE in text
    ]
    for file in files:
        with suppress(OSError):
            text = file.read_text(encoding="utf-8", errors="replace")
            addresses += [f"{archive}/{date}" for archive in _DATED.findall(text)]
    return [address for address in dict.fromkeys(addresses) if _DATED.fullmatch(address)]
