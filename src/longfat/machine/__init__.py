"""A machine: one booted kernel, a virtual computer that knows nothing of networks.

`Machine` boots a kernel as an ordinary process in a sandbox and hands it
folders: some read-only, such as the guest's program, and one to write into. It
watches the virtual clock from outside and ends the machine when told, when
the clock stalls, or when our own process ends for any reason.
"""

from longfat.machine.confinement import HANDOVER, landlock_version
from longfat.machine.cpus import reserve_cpu
from longfat.machine.line import Frame, Line
from longfat.machine.machine import START_OF_TIME_S, Machine
from longfat.machine.pace import Pace
from longfat.machine.quota import Quota
from longfat.machine.sandbox import current_sandbox
from longfat.machine.view import INTERPRETER, is_visible

__all__ = [
    "HANDOVER",
    "INTERPRETER",
    "START_OF_TIME_S",
    "Frame",
    "Line",
    "Machine",
    "Pace",
    "Quota",
    "current_sandbox",
    "is_visible",
    "landlock_version",
    "reserve_cpu",
]
