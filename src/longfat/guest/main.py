"""PID 1 of a machine: mount, do the job, power off.

A job is played to its end, and its outcome sent to the host; or it is to serve the
host, which then decides step by step (`longfat.guest.agent`). Started by
`longfat.guest.boot`; nothing is passed but the folders that the sandbox shows.
"""

import json
import os
import sys

from longfat.guest import mounts, shared, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from longfat.guest.boot import Modules


def main(modules: "Modules") -> None:
    """Do all of it; whatever happens, the machine is turned off."""
    try:
        with open(f"{mounts.HANDOVER}/job/job.json", encoding="utf-8") as file:
            orders: dict[str, Any] = json.load(file)
        # Importing is much of a boot, so each way imports only what it needs; and now, for
        # /tmp, where this package is shown, becomes the guest's own.
        serves = bool(orders.get("serve"))
        room = modules.load(f"longfat.guest.{'agent' if serves else 'job'}")
        for module in orders.get("modules", ()):
            modules.load(module)
        modules.close()
        mounts.mount_all(substitutes=serves)
        shared.allow_congestion_controls()
        shared.open_limits()
        os.environ.clear()
        os.environ.update(orders["environment"])
        if orders["shared_kernel"]:
            system.keep_charges()
        if serves:
            mounts.mount_cgroups()
            mounts.show_configuration()
            mounts.make_writable(orders["folders"])
            room.serve()
        room.run_job(orders)
    except BaseException:
        system.print_error(sys.stdout)
    finally:
        system.power_off()
