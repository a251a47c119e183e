"""Watch a case while it runs: queues, throughput, RTT and cwnd as virtual time passes.

    plan     what to watch, and the probes that it takes
    live     the state so far: series that grow with the samplers' files
    screen   the live view
    lines    a line for each virtual second, if stdout is not a terminal; the final summary
    play     runs a case with one or the other

Nothing here changes the results of a case: it reads files that grow, and at a pace
the machine is held from outside (`longfat.engine.machine.pace`).
"""

from longfat.output.watch.lines import case_lines
from longfat.output.watch.plan import Order
from longfat.output.watch.play import watch_case

__all__ = ["Order", "case_lines", "watch_case"]
