"""Open vSwitch in a machine: its daemons, started without a system's services.

The distribution's scripts load a module and ask systemd; the machine's kernel
has the switch built in, and there is nothing to ask. The daemons get a database
of their own in memory: the host's may be another user's, and is not theirs.
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

# Until 10 s after boot ovs-vswitchd finds that the machine has no CPU (count_cpu_cores()
# of its lib/ovs-thread.c keeps the count for 10 s, and begins with 0 at time 0). Then it
# starts no thread for packets that the kernel asks about, and they are all lost.
_EARLIEST_NS = 11 * 10**9


def check_open_vswitch() -> None:
    """Check that the host has Open vSwitch.

    Raises:
        HostError: it has not.
    """
    for name in _PROGRAMS:
        if shutil.which(name, path=GUEST_PATH) is None:
            raise HostError(
                f"Open vSwitch is not installed: there is no {name!r}",
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
