"""The toolset: pinned versions of the programs that run in machines, independent of the host.

A result depends on iperf3, tc, ping and Python of the machine. Those of the host differ between
distributions and releases. A *toolset* is a folder with programs of one distribution's release,
whose packages are listed with their checksums in `toolset/packages.txt`, with their own loader
and libraries. A machine sees it at `PLACE`, first in its search path; the host's own programs
come after it.
"""

from longfat.engine.toolset.build import build
from longfat.engine.toolset.store import (
    PLACE,
    PROGRAMS,
    PYTHON,
    PYTHON_VERSION,
    Toolset,
    find,
    read,
    stored,
)
from longfat.guest.toolset import COVERED_FOLDERS, ENVIRONMENT, HOST_PATH, SEARCH_PATH

__all__ = [
    "COVERED_FOLDERS",
    "ENVIRONMENT",
    "HOST_PATH",
    "PLACE",
    "PROGRAMS",
    "PYTHON",
    "PYTHON_VERSION",
    "SEARCH_PATH",
    "Toolset",
    "build",
    "find",
    "read",
    "stored",
]
