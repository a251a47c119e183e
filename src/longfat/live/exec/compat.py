"""Compatibility shims for programs of a distribution.

Mininet 2.3 waits until its iperf server has reported twice: once for the
connection by which Mininet tested that it listens, and once for the test. From
version 2.1 on iperf reports only the test, and `mn --test iperf` waits indefinitely,
on any machine. So where Mininet starts that server, the report it waits for is
printed first; Mininet takes the figures from the last one.

Mininet's scripts, and all that MiniEdit exports, use a program `controller`, which
Debian does not have; Open vSwitch's test controller does the same, and replaces it.

iperf3 gets its library (`longfat.model.traffic.preload`) whoever starts it, such as a script.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from longfat.execution.tools import GUEST_PATH
from longfat.model.traffic.preload import IPERF3, preload

if TYPE_CHECKING:
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


_CONTROLLER = """\
#!/bin/sh
[ "$1" != -v ] || shift  # it would write down every packet
exec {program} "$@"
"""


_IPERF3 = """\
#!/bin/sh
{variable}={library} exec {program} "$@"
"""


def install_shims(session: Session) -> dict[str, str]:
    """Install the required shims in a machine.

    Returns:
        The environment variables that a command needs to find them.
    """
    stand_ins = {}
    if iperf3 := shutil.which("iperf3", path=GUEST_PATH):
        ((variable, library),) = preload(IPERF3).items()
        stand_ins["iperf3"] = _IPERF3.format(variable=variable, library=library, program=iperf3)
    has_mininet = shutil.which("mnexec", path=GUEST_PATH) is not None
    if has_mininet and (iperf := shutil.which("iperf", path=GUEST_PATH)):
        stand_ins["iperf"] = _IPERF.format(program=iperf)
    controller = shutil.which("ovs-testcontroller", path=GUEST_PATH) if has_mininet else None
    if controller is not None and shutil.which("controller", path=GUEST_PATH) is None:
        stand_ins["controller"] = _CONTROLLER.format(program=controller)
    if not stand_ins:
        return {}
    task = session.start(["mkdir", _FOLDER])
    session.run_until(ended=[task])
    session.forget(task)
    for name, text in stand_ins.items():
        session.write_file(f"{_FOLDER}/{name}", text.encode(), mode=0o755)
    return {"PATH": f"{_FOLDER}:{GUEST_PATH}"}
