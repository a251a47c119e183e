"""One command in a fresh machine: `longfat exec`.

The command runs as root in a machine of its own that shows the host's files; its
writes to them are lost with the machine, except in folders that were passed to
it. Its input, outputs, terminal and exit status are as if it ran on the host, and
only time is different.

* `options`: what is to be run, and where
* `execute`: boot, run, end
* `pipes`: a command without this process's terminal: input, outputs, typed lines, signals
* `at_terminal`: a command in this process's terminal
* `compat`: compatibility shims for programs of a distribution, and Open vSwitch's daemons
"""

from longfat.live.exec.execute import Ending, execute
from longfat.live.exec.options import Order

__all__ = ["Ending", "Order", "execute"]
