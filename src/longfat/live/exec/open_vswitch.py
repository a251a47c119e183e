"""Open vSwitch in a machine: its daemons, started without a system's services.

The distribution's scripts load a module and call systemd; the machine's kernel
has the switch built in, and there is no systemd. The daemons get a database
of their own in memory: the host's may belong to another user.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from longfat.errors import HostError, MachineError
from longfat.execution.tools import GUEST_PATH

if TYPE_CHECKING:
    from longfat.live.session import Session

_PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vsctl", "ovs-vswitchd")

_START = """\
set -e
mkdir -p /etc/openvswitch /var/log/openvswitch /run/openvswitch
for place in /etc/openvswitch /var/log/openvswitch; do
    mount -t tmpfs -o mode=755 openvswitch $place
done
ovsdb-tool create
ovsdb-server --remote=punix:/run/openvswitch/db.sock --detach --no-chdir --pidfile --log-file
ovs-vsctl --no-wait init
ovs-vswitchd --detach --no-chdir --pidfile --log-file
"""
_WORDS = 2000

# Until 10 s after boot ovs-vswitchd detects no CPU (count_cpu_cores()
# of its lib/ovs-thread.c caches the count for 10 s, and begins with 0 at time 0). Then it
# starts no thread for packets that miss in the kernel's flow table, and they are all lost.
_EARLIEST_NS = 11 * 10**9


def check_open_vswitch() -> None:
    """Check that the host has Open vSwitch.

    Raises:
        HostError: it does not.
    """
    for name in _PROGRAMS:
        if shutil.which(name, path=GUEST_PATH) is None:
            raise HostError(
                f"Open vSwitch is not installed: {name!r} was not found",
                hint="sudo apt-get install openvswitch-switch",
            )


def start_open_vswitch(session: Session) -> None:
    """Start the daemons; they are ready when this returns.

    Raises:
        MachineError: they did not start.
    """
    session.run_until(until_ns=max(session.now_ns, _EARLIEST_NS))
    task = session.start(["/bin/sh", "-c", _START])
    session.run_until(ended=[task])
    session.forget(task)
    if task.status != 0:
        words = (task.errors or task.output).decode(errors="replace").strip()[-_WORDS:]
        raise MachineError(f"Open vSwitch does not start in the machine: {words}")
