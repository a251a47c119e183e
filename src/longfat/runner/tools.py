"""The host's tools that a case uses: whether they are there, and their versions.

A result depends on them (law 1 of the design: same case, same kernel binary,
same tools), so a run's manifest names their versions.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from typing import TYPE_CHECKING

from longfat.errors import SurroundingsError
from longfat.probe import Capture

if TYPE_CHECKING:
    from longfat.case import Case

GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the guest looks for programs; a user's own PATH may lack some of it."""

PACKAGES = {
    "bwrap": "bubblewrap",
    "ethtool": "ethtool",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "ping": "iputils-ping",
    "ss": "iproute2",
    "sysctl": "procps",
    "tc": "iproute2",
    "tcpdump": "tcpdump",
}
"""The Debian and Ubuntu package of each program that longfat or a lab uses."""

_VERSION_ARGUMENTS = {"ip": "-V", "ping": "-V", "tc": "-V"}


def missing_tool(name: str) -> SurroundingsError:
    """Return the error that says that a program is not installed."""
    package = PACKAGES.get(name, name)
    return SurroundingsError(
        f"the program {name!r} is not installed", mend=f"sudo apt-get install {package}"
    )


def tool_versions(case: Case) -> dict[str, str]:
    """Return the versions of what a case's network, flows and probes are made with.

    Raises:
        SurroundingsError: one of them is not installed.
    """
    names = sorted({"ip", "tc", "sysctl", *(flow.tool for flow in case.flows)})
    if any(isinstance(probe, Capture) for probe in case.probes):
        names.append("tcpdump")
    return {"python": platform.python_version()} | {name: _version(name) for name in names}


def _version(name: str) -> str:
    path = shutil.which(name, path=GUEST_PATH)
    if path is None:
        raise missing_tool(name)
    argument = _VERSION_ARGUMENTS.get(name, "--version")
    done = subprocess.run([path, argument], capture_output=True, text=True, check=False)
    lines = (done.stdout or done.stderr).splitlines()
    return lines[0].strip() if lines else "unknown"
