"""Compatibility with a distribution's programs: shims, and Open vSwitch's daemons.

Mininet 2.3 waits until its iperf server has reported twice: once for the
connection by which Mininet tested that it listens, and once for the test. From
version 2.1 on iperf reports only the test, and `mn --test iperf` waits indefinitely,
on any machine. So where Mininet starts that server, the report it waits for is
printed first; Mininet takes the figures from the last one.

Mininet's scripts, and all that MiniEdit exports, use a program `controller`, which
Debian does not have; Open vSwitch's test controller does the same, and replaces it.

A command may import what is installed for its user's Python, so `python3` is the host's, and not
that of the toolset. Scripts, and those that run them, start `python`, which distributions have by
a package of its own (python-is-python3), if at all; without it, `python` is `python3`.

The distribution's scripts for Open vSwitch load a module and call systemd; the machine's kernel
has the switch built in, and there is no systemd. The daemons get a database
of their own in memory: the host's may belong to another user.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from longfat.common.installing import install_command
from longfat.engine.machine import INTERPRETER
from longfat.engine.toolset import HOST_PATH
from longfat.errors import HostError, MachineError
from longfat.guest.toolset import SHELL
from longfat.live.programs import SEARCH_PATH, install_programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live.folders import SharedFolder
    from longfat.live.session import Session

_FOLDER = "/run/compat"

# Mininet's shells have DEL as their prompt, and its server has these arguments in this
# order and a terminal; servers started by a user are not affected.
_IPERF = """\
#!/bin/sh
if [ "$PS1" = "$(printf '\\177')" ] && [ -t 1 ]; then
    case "$*" in
    *-u*) ;;
    "-p "*" -s")
        case "$({program} -v 2>&1)" in
        *"version 2.0."*) ;;
        *) echo '[  *] 0.0000-0.0000 sec  0.00 Bytes  0.00 bits/sec' ;;
        esac
        ;;
    esac
fi
exec {program} "$@"
"""


# The program that it replaces listens at another port than Open vSwitch's, unless one is given, and
# has OpenFlow 1.0 alone. There, what no rule matches goes to the controller; from 1.3 on the test
# controller has a rule for that, and a script's `del-flows` removes it for good.
_CONTROLLER = """\
#!/bin/sh
[ "$1" != -v ] || shift  # it would write down every packet
for argument; do
    shift
    [ "$argument" != ptcp: ] || argument=ptcp:6633
    set -- "$@" "$argument"
done
exec {program} -O OpenFlow10 "$@"
"""


_PYTHON = """\
#!/bin/sh
exec python3 "$@"
"""


def install_shims(session: Session, folders: Sequence[SharedFolder]) -> dict[str, str]:
    """Install the required shims and longfat's programs in a machine.

    Args:
        session: the machine, which sees `longfat.live.programs.package_folders`.
        folders: the folders of the user's computer in which the command works.

    Returns:
        The environment variables that a command needs to find them.
    """
    stand_ins = {}
    if not shutil.which("python", path=HOST_PATH):
        stand_ins["python"] = _PYTHON
    has_mininet = shutil.which("mnexec", path=HOST_PATH) is not None
    if has_mininet and (iperf := shutil.which("iperf", path=HOST_PATH)):
        stand_ins["iperf"] = _IPERF.format(program=iperf)
    controller = shutil.which("ovs-testcontroller", path=HOST_PATH) if has_mininet else None
    if controller is not None and shutil.which("controller", path=HOST_PATH) is None:
        stand_ins["controller"] = _CONTROLLER.format(program=controller)
    python = shutil.which("python3", path=HOST_PATH) or str(INTERPRETER)
    task = session.start([SHELL, "-c", f"mkdir {_FOLDER} && ln -s {python} {_FOLDER}/python3"])
    session.run_until(ended=[task])
    session.forget(task)
    for name, text in stand_ins.items():
        session.write_file(f"{_FOLDER}/{name}", text.encode(), mode=0o755)
    install_programs(session, folders)
    return {"PATH": f"{_FOLDER}:{SEARCH_PATH}"}


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
        if shutil.which(name, path=HOST_PATH) is None:
            raise HostError(
                f"Open vSwitch is not installed: {name!r} was not found",
                hint=install_command("openvswitch-switch"),
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
