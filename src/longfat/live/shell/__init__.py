"""Shells at a live network, in terminals: `longfat shell` and `longfat attach`.

One process holds the session. It serves its own terminal and, over a socket, those
that attach to it; each of them has a bash of the guest, at root or at a
host. Time is stopped while all of these wait at their prompts.

* `opening`: opens a live network by name
* `work_folder`: the folder of the host where a shell begins
* `bash`, `shell.bash`: the start-up file, scripts, and what a shell reports by its output
* `server`: the session's process: its terminals, connections, and when time passes
* `clock_controller`: how fast time passes
* `clients`: a terminal of the session, this process's own or one that attached
* `attach`: the process of a terminal that attaches
* `connection`: finds sessions by their names; frames between the two processes
* `terminal`: a terminal in raw mode, and its restoration
"""

from longfat.live.shell.attach import attach, session_info
from longfat.live.shell.bash import run_script
from longfat.live.shell.clock_controller import REAL_TIME
from longfat.live.shell.connection import session_names
from longfat.live.shell.opening import Plan, open_live, plan_session
from longfat.live.shell.server import hold

__all__ = [
    "REAL_TIME",
    "Plan",
    "attach",
    "hold",
    "open_live",
    "plan_session",
    "run_script",
    "session_info",
    "session_names",
]
