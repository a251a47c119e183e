"""Live networks, used interactively from Python, a terminal or a test.

* `session`: a live machine whose clock is stopped between calls
* `network`, `nodes`, `links`: the Python API, similar to Mininet's
* `process`: commands at nodes, like the standard library's subprocess
* `clock`: virtual time, and how fast it may pass
* `quantities`: numbers in base units, or texts such as "20ms"
* `record`: the script of executed commands
"""

from longfat.live.clock import Clock
from longfat.live.links import LiveLink
from longfat.live.network import Network
from longfat.live.nodes import LiveHost, LiveSwitch
from longfat.live.process import (
    CommandFailed,
    Completed,
    OutputTooLargeError,
    Process,
    TimedOut,
)
from longfat.live.session import RejectedError, Session

__all__ = [
    "Clock",
    "CommandFailed",
    "Completed",
    "LiveHost",
    "LiveLink",
    "LiveSwitch",
    "Network",
    "OutputTooLargeError",
    "Process",
    "RejectedError",
    "Session",
    "TimedOut",
]
