"""A machine: one booted kernel, a virtual computer without a model of networks.

`Machine` boots a kernel as an ordinary process in a sandbox and gives it
folders, read-only, such as the guest's program; what the guest leaves comes as records. It
watches the virtual clock from outside and ends the machine on request, when
the clock stalls, or when longfat's process ends for any reason.
"""

from longfat.engine.machine.cpus import reserve_cpu
from longfat.engine.machine.host_channel import Frame, Line
from longfat.engine.machine.machine import START_OF_TIME_S, Machine
from longfat.engine.machine.output import RunOutput
from longfat.engine.machine.pace import Pace
from longfat.engine.sandbox.confinement import HANDOVER, landlock_version
from longfat.engine.sandbox.quota import Quota
from longfat.engine.sandbox.sandbox import current_sandbox
from longfat.engine.sandbox.view import INTERPRETER, is_visible

__all__ = [
    "HANDOVER",
    "INTERPRETER",
    "START_OF_TIME_S",
    "Frame",
    "Line",
    "Machine",
    "Pace",
    "Quota",
    "RunOutput",
    "current_sandbox",
    "is_visible",
    "landlock_version",
    "reserve_cpu",
]
