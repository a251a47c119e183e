"""longfat: a laboratory for long, fat networks, with real Linux in virtual time.

A *study* yields *cases*; running a case boots a *machine* (a User-Mode Linux
kernel with a virtual clock), builds a *network* inside and plays the case's
*flows*; what comes out is a *run*. docs/architecture.md shows the rooms.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"


if TYPE_CHECKING:
    from longfat.live import CommandFailed, Completed, Network, Process, TimedOut

_LIVE = ("CommandFailed", "Completed", "Network", "Process", "TimedOut")
__all__ = ["CommandFailed", "Completed", "Network", "Process", "TimedOut", "__version__"]


def __getattr__(name: str) -> object:
    """Load what is of live networks when it is asked for: most commands need none of it."""
    if name in _LIVE:
        return getattr(import_module("longfat.live"), name)
    raise AttributeError(f"module 'longfat' has no attribute {name!r}")
