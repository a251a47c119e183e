"""PID 1 of a machine: mount, do the job, power off.

A job is played to its end, and its outcome written; or it is to serve the
host, which then decides step by step (`longfat.guest.agent`). Started by the
kernel as `PYTHON -I -S -B main.py`; nothing is passed but the folders that the
sandbox shows.
"""

import importlib
import json
import os
import sys
import traceback
from typing import Any

# This file stands at ROOT/longfat/guest/main.py, and nothing else of longfat does.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
from longfat.guest import mounts, shared, system


def main() -> None:
    """Do all of it; whatever happens, the machine is turned off."""
    try:
        with open(f"{mounts.HANDOVER}/run/job.json", encoding="utf-8") as file:
            orders: dict[str, Any] = json.load(file)
        # Importing is much of a boot, so each way imports only what it needs; and now, for
        # /tmp, where this package is shown, becomes the guest's own.
        serves = bool(orders.get("serve"))
        room = importlib.import_module(f"longfat.guest.{'agent' if serves else 'job'}")
        # To look for a module takes virtual time, so only what the case needs.
        for module in orders.get("modules", ()):
            importlib.import_module(module)
        mounts.mount_all()
        shared.allow_congestion_controls()
        shared.open_limits()
        os.environ.clear()
        os.environ.update(orders["environment"])
        if serves:
            system.set_host_boundary(orders["host_boundary"])
            mounts.make_writable(orders["folders"])
            room.serve()
        folder = f"{mounts.HOME}/run"
        outcome = room.play_job(orders, folder=folder)
        with open(f"{folder}/outcome.json", "w", encoding="utf-8") as file:
            json.dump(outcome, file)
    except BaseException:
        traceback.print_exc(file=sys.stdout)  # the console, which the host keeps
    finally:
        sys.stdout.flush()
        system.power_off()


if __name__ == "__main__":
    main()
