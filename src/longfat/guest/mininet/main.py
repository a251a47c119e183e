"""PID 1 of a machine that runs one script: mount, run it, note how it ended, power off.

The script may do what it likes: it is root of a machine without a network, whose
kernel is confined (docs/security.md), and what it leaves is read as a stranger's.
"""

import json
import os
import select
import signal
import subprocess
import sys

from longfat.guest import mounts, system
from longfat.guest.output import FOLDER, OUTCOME, Output
from longfat.guest.toolset import SEARCH_PATH, SHELL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from longfat.guest.boot import Modules

# Hash values of texts, and with them the order of sets, must be the same every time.
_ENVIRONMENT = {
    "HOME": "/root",
    "LANG": "C.UTF-8",
    "LOGNAME": "root",
    "PATH": SEARCH_PATH,
    "PYTHONHASHSEED": "0",
    "SHELL": SHELL,
    "USER": "root",
}
_GRACE_S = 86400.0  # what the script waits for does not count in its limit


def main(modules: "Modules") -> None:
    """Do all of it; whatever happens, the machine is turned off."""
    try:
        modules.close()
        with open(f"{mounts.HANDOVER}/job/job.json", encoding="utf-8") as file:
            job = json.load(file)
        mounts.mount_all()
        mounts.make_writable({})
        output = Output(job["output"])
        output.append("output", b"")  # the script is about to start
        with open(f"{FOLDER}/output", "w+b") as printed:
            script = subprocess.Popen(
                [
                    *(job["python"], "-s", "-B"),
                    f"{mounts.HOME}/guest/longfat/guest/mininet/run.py",
                    *(f"{mounts.HOME}/job", FOLDER),
                ],
                env=_ENVIRONMENT,
                cwd="/root",
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
            )
        # It ends itself when its time is up, if it can.
        ended = select.poll()
        ended.register(os.pidfd_open(script.pid), select.POLLIN)
        if not ended.poll((job["limit_s"] + _GRACE_S) * 1000):
            script.send_signal(signal.SIGKILL)
        status = script.wait()
        output.send_all()
        output.append(OUTCOME, json.dumps({"status": status}).encode())
    except BaseException:
        system.print_error(sys.stdout)
    finally:
        system.power_off()
