"""longfat: a laboratory for long, fat networks, with real Linux in virtual time.

A *study* yields *cases*; running a case boots a *machine* (a User-Mode Linux
kernel with a virtual clock), builds a *network* inside and plays the case's
*flows*; what comes out is a *run*. docs/architecture.md shows how the
code is divided.
"""

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


def shown_in_notebook(view: str, *objects: object, **options: object) -> str:
    """Return what a notebook shows of one of longfat's objects: HTML or SVG.

    Runs, verdicts and networks are in layers below the drawing code, and Jupyter asks the
    objects themselves. This function is their only way up.

    Args:
        view: the name of the function in `longfat.output.notebook.VIEWS`.
        objects: its arguments: the object to show.
        options: its keyword arguments.
    """
    from longfat.output.notebook import VIEWS  # noqa: PLC0415  few programs draw

    return VIEWS[view](*objects, **options)


def __getattr__(name: str) -> object:
    """Load the names of live networks and of studies on first use: few programs need them."""
    if name in _LIVE:
        from longfat import live  # noqa: PLC0415

        return getattr(live, name)
    if name in _STUDIES:
        from longfat.analysis import study_runs  # noqa: PLC0415

        return getattr(study_runs, name)
    raise AttributeError(f"module 'longfat' has no attribute {name!r}")
