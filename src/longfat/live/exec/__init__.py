"""One command in a fresh machine: `longfat exec`.

The command is root in a machine of its own that shows the host's files; what it
writes to them is gone with the machine, except in folders that were handed to
it. Its input, outputs, terminal and exit status are as if it ran on the host, and
only time is another.

* `order`: what is to be run, and where
* `execute`: boot, run, end
* `pipes`: a command without a terminal: input and outputs pass through apart
* `at_terminal`: a command in this process's terminal
* `typed`: a command in a terminal of its own, at whose prompts lines of our input are typed
* `feed`: what it reads, taken from this process's input when it wants it
* `outlets`: what it writes, given to this process's outputs
* `interrupts`: what signals to this process mean for it
* `open_vswitch`: its daemons, started without a system's services
* `mends`: programs that stand in for others where these do not get on together
"""

from longfat.live.exec.execute import Ending, execute
from longfat.live.exec.options import Order

__all__ = ["Ending", "Order", "execute"]
