"""Shells at a live network, in terminals: `longfat shell` and `longfat attach`.

One process holds the session. It serves its own terminal and, by a socket, those
that attach to it; in each of them runs a bash of the guest's, at root or at a
host. Time stands still while all of these wait at their prompts.

* `opening`: from what a person names to a live network
* `bashrc`, `shell.bash`: the prompt, the nodes as commands, and what helps
* `hold`: the session's process: its terminals, and when time passes
* `door`: how other processes come in
* `clock`: how fast it passes
* `seats`: a terminal at the session, this process's own or one that attached
* `attach`: the process of a terminal that attaches
* `script`: lines that come by a pipe, without a terminal
* `terminal`: a terminal in raw mode, and back
* `wire`: frames between the two processes
* `meeting`: where sessions are found by their names
"""

from longfat.live.shell.attach import attach, session_info
from longfat.live.shell.opening import Plan, open_live, plan_session
from longfat.live.shell.registry import session_names
from longfat.live.shell.script import run_script
from longfat.live.shell.server import hold

__all__ = [
    "Plan",
    "attach",
    "hold",
    "open_live",
    "plan_session",
    "run_script",
    "session_info",
    "session_names",
]
