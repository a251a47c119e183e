"""longfat: a laboratory for long, fat networks, with real Linux in virtual time.

A *study* yields *cases*; running a case boots a *machine* (a User-Mode Linux
kernel with a virtual clock), builds a *network* inside and plays the case's
*flows*; what comes out is a *run*. docs/architecture.md shows how the
code is divided.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"


if TYPE_CHECKING:
    from longfat.analysis.study_runs import StudyRuns, open_study
    from longfat.live import CommandFailed, Completed, Network, Process, TimedOut

_LIVE = ("CommandFailed", "Completed", "Network", "Process", "TimedOut")
_STUDIES = ("StudyRuns", "open_study")
__all__ = [
    "CommandFailed",
    "Completed",
    "Network",
    "Process",
    "StudyRuns",
    "TimedOut",
    "__version__",
    "open_study",
]


def shown_in_notebook(what: str, *things: object, **more: object) -> str:
    """Return what a notebook shows of one of longfat's objects: HTML or SVG.

    Args:
        what: which of `longfat.output.notebook.SHOWN` shows it.
        things: the object.
        more: what else that takes.
    """
    shown: str = import_module("longfat.output.notebook").SHOWN[what](*things, **more)
    return shown


def __getattr__(name: str) -> object:
    """Load what is of live networks and of studies when it is asked for: few need it."""
    if name in _LIVE:
        return getattr(import_module("longfat.live"), name)
    if name in _STUDIES:
        return getattr(import_module("longfat.analysis.study_runs"), name)
    raise AttributeError(f"module 'longfat' has no attribute {name!r}")
