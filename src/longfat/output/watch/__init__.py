"""Watch a case while it runs: queues, throughput, RTT and cwnd as virtual time passes.

    plan     what to watch, and the probes that it takes
    tail     what the machine's samplers have written since the last read
    ends     which sockets belong to a flow
    live     the curves so far
    views    the same as text and curves, a view for each panel
    screen   the live view; `chart` and `digits` draw its parts
    lines    one line for each virtual second, if stdout is not a terminal
    ending   a summary of a case after its run
    play     runs a case with one or the other

Nothing here changes the results of a case: it reads files that grow, and at a pace
the machine is held from outside (`longfat.engine.machine.pace`).
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.output.watch.play import Order, watch_in_lines, watch_on_screen

__all__ = ["Order", "watch_in_lines", "watch_on_screen"]


def __getattr__(name: str) -> object:
    """Load what runs cases when it is first used: `plot_q.sh` in a machine needs the chart only."""
    if name in __all__:
        return getattr(import_module(f"{__name__}.play"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
