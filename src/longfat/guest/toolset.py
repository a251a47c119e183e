"""The toolset of a machine, with its programs: see `longfat.engine.toolset`."""

from __future__ import annotations

import os

PLACE = "/longfat"
"""Where a machine sees its toolset."""

PYTHON = f"{PLACE}/bin/python3"
"""Its Python, which runs us."""

COVERED_FOLDERS = ("/usr/sbin", "/usr/bin", "/sbin", "/bin")
"""The folders of the host's programs in which a case's machine has those of the toolset, too."""

ENVIRONMENT = {
    "GCONV_PATH": f"{PLACE}/lib/gconv",
    "LOCPATH": f"{PLACE}/lib/locale",
    "TC_LIB_DIR": f"{PLACE}/lib/tc",
    "XTABLES_LIBDIR": f"{PLACE}/lib/xtables",
}
"""Where its programs look for what they load by name.

Source: locale(7), iconv(1), tc(8), iptables(8).
"""

HOST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The search path of the host's programs."""

SEARCH_PATH = f"{PLACE}/bin:{HOST_PATH}"
"""The search path of a machine: its toolset first."""

SHELL = f"{PLACE}/bin/sh"
"""The shell that runs lines."""


def host_environment(root: dict[str, str]) -> dict[str, str]:
    """Return the environment of what runs with a host's own root, which has no toolset.

    Args:
        root: the variables of that root.
    """
    plain = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    return {**plain, **root}
