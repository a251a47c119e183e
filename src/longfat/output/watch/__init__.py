"""Look at a case while it runs: queues, throughput, RTT and cwnd as virtual time passes.

    plan     what to look at, and the probes that it takes
    tail     what the samplers of the machine have written since the last look
    ends     which sockets are a flow's
    live     the curves so far
    views    the same in words and curves, a view a panel
    screen   the live view; `chart` and `digits` draw its parts
    lines    one line a virtual second, for what is no terminal
    ending   what is said of a case after its run
    play     runs a case with one or the other

Nothing here changes what a case gives: it reads files that grow, and at a pace
the machine is held from outside (`longfat.engine.machine.pace`).
"""

from longfat.output.watch.play import Order, watch_in_lines, watch_on_screen

__all__ = ["Order", "watch_in_lines", "watch_on_screen"]
