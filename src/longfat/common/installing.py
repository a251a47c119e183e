"""The command that installs packages of the host's distribution, for hints."""

from __future__ import annotations

from pathlib import Path

_APT_GET = Path("/usr/bin/apt-get")


def install_command(*packages: str) -> str:
    """Return the command that installs packages.

    Where apt-get is missing, it is the packages' names: other distributions have most of them by
    the same name.

    Args:
        packages: their names in Debian and Ubuntu.
    """
    names = " ".join(packages)
    if _APT_GET.exists():
        return f"sudo apt-get install {names}"
    return f"install by the package manager: {names} (Debian's names)"
