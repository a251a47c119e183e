"""Live networks, used interactively from Python, a terminal or a test.

* `session`: a live machine whose clock is stopped between calls
* `network`, `nodes`, `links`, `flows`, `probes`: the Python API, similar to Mininet's
* `topology`, `running`, `build`: its nodes and links, and how they are built in the machine
* `process`: commands at nodes, like the standard library's subprocess, and quantities as texts
* `clock`: virtual time, and how fast it may pass
* `folders`: folders of the host and Python packages that a machine sees
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
from longfat.live.session import Session
from longfat.live.task import RejectedError

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
