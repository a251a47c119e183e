"""Watch a case while it runs: queues, throughput, RTT and cwnd as virtual time passes.

    screen   the live view
    lines    a line for each virtual second, if stdout is not a terminal; the final summary
    play     runs a case with one or the other

What is shown is computed in `longfat.analysis.timeseries.live`. Nothing here changes the results of
a case: files are read while they grow, and at a pace the machine is held from outside
(`longfat.engine.machine.pace`).
"""

from longfat.output.watch.lines import case_lines
from longfat.output.watch.play import watch_case
from longfat.output.watch.screen import Order

__all__ = ["Order", "case_lines", "watch_case"]
