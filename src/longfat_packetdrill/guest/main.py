"""PID 1 of a machine that plays one packetdrill script.

The script may do what it likes: it is root of a machine without a network, whose
kernel is confined (docs/security.md), and what it leaves is read as a stranger's.
"""

import json
import os
import sys

from longfat.guest import mounts, shared, system
from longfat.guest.output import OUTCOME, Output
from longfat.guest.toolset import SEARCH_PATH, SHELL
from longfat_packetdrill.guest.player import Player, outcome_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from longfat.guest.boot import Modules

_SOFTIRQS_PRIORITY, _PRIORITY = 20, 10
_ENVIRONMENT = {
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "LOGNAME": "root",
    "PATH": SEARCH_PATH,
    "PYTHONHASHSEED": "0",
    "SHELL": SHELL,
    "TZ": "UTC",
    "USER": "root",
    # By which the kernel's set_sysctls.py names its file, as $PPID of the shell.
    "PACKETDRILL_PID": str(os.getpid()),
}


def main(modules: "Modules") -> None:
    """Do all of it; whatever happens, the machine is turned off."""
    try:
        modules.close()
        with open(f"{mounts.HANDOVER}/job/job.json", encoding="utf-8") as file:
            job = json.load(file)
        mounts.mount_all()
        mounts.make_writable({})
        shared.allow_congestion_controls()
        os.environ.clear()
        os.environ.update(_ENVIRONMENT)
        system.put_softirqs_first(_SOFTIRQS_PRIORITY)
        system.share_by_turns(_PRIORITY)
        output = Output(job["output"])
        try:
            player = Player(
                job["plan"],
                folder=f"{mounts.HOME}/{job['folder']}",
                limit_ns=job["limit_ns"],
                output=output,
                captures=job["captures"],
            )
        except RuntimeError as error:
            outcome = outcome_of(f"the interface cannot be set up: {error}")
        else:
            outcome = player.play()
        output.append(OUTCOME, json.dumps(outcome).encode())
    except BaseException:
        system.print_error(sys.stdout)
    finally:
        system.power_off()
