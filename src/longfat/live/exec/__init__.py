"""One command in a fresh machine: `longfat exec`.

The command runs as root in a machine of its own that shows the host's files; its
writes to them are lost with the machine, except in folders that were passed to
it. Its input, outputs, terminal and exit status are as if it ran on the host, and
only time is different.

* `options`: what is to be run, and where
* `execute`: boot, run, end
* `pipes`: a command without a terminal: input and outputs are passed through separately
* `at_terminal`: a command in this process's terminal
* `typed`: a command in a terminal of its own, at whose prompts lines of our input are typed
* `input`: its input, read from this process's input on demand
* `outputs`: its outputs, written to this process's outputs
* `interrupts`: the effect of signals to this process
* `open_vswitch`: its daemons, started without a system's services
* `compat`: compatibility shims for programs of a distribution
"""

from longfat.live.exec.execute import Ending, execute
from longfat.live.exec.options import Order

__all__ = ["Ending", "Order", "execute"]
