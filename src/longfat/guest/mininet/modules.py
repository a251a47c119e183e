"""Which of Mininet's modules has what, and how they are put before the real ones."""

import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

from longfat.guest.mininet import net, nodes, switches
from longfat.guest.mininet.processes import install_processes
from longfat.guest.mininet.record import RECORD, Unknown

_MODULES = "cli clean link log moduledeps net node nodelib term topo topolib util"
_CONTROLLERS = "DefaultController OVSController Ryu NOX"
_QUIET = (
    "info warn warning debug output setLogLevel cleanup ensureRoot makeTerms "
    "dumpNodeConnections dumpNetConnections dumpNodes dumpPorts"
)


def quietRun(cmd: Any, **named: Any) -> str:
    """Run a program in the machine, as Mininet does it at the host."""
    RECORD.type_at_root(cmd if isinstance(cmd, str) else " ".join(map(str, cmd)))
    RECORD.is_quiet = True
    try:
        done = subprocess.run(cmd, shell=isinstance(cmd, str), stdin=-3, stdout=-1, check=False)
    finally:
        RECORD.is_quiet = False
    return done.stdout.decode(errors="replace")


def pmonitor(
    popens: Any, timeoutms: Any = 500, readline: bool = True, readmax: int = 1024
) -> Iterator[tuple[Any, str]]:
    """Yield what processes print, until all have ended; nothing after each time without any."""
    left = dict(popens)
    for key, process in left.items():
        for line in process.stdout:
            yield key, line.decode(errors="replace") if isinstance(line, bytes) else line
    while left := {key: process for key, process in left.items() if process.poll() is None}:
        ends_s = [process.end_s for process in left.values() if process.end_s is not None]
        if timeoutms is not None:
            RECORD.pass_time(timeoutms / 1000)
            yield None, ""
        elif not ends_s:
            return
        else:
            RECORD.pass_time(max(0.001, min(ends_s) - RECORD.now_s()))


def _nothing(*args: Any, **named: Any) -> tuple[()]:
    return ()


_NAMES: dict[str, Any] = {
    **{name: value for name, value in vars(nodes).items() if name[0].isupper()},
    **{name: value for name, value in vars(switches).items() if name[0].isupper()},
    **{name: value for name, value in vars(net).items() if name[0] != "_"},
    "OVSKernelSwitch": switches.OVSSwitch,
    **dict.fromkeys(_CONTROLLERS.split(), switches.Controller),
    "NullController": None,
    "OVSLink": nodes.Link,
    "TCULink": nodes.TCLink,
    "MininetWithControlNet": net.Mininet,
    "quietRun": quietRun,
    "pmonitor": pmonitor,
    "VERSION": "2.3.0",
    **dict.fromkeys(("lg", "Cleanup"), Unknown()),
    "error": lambda *words: print(*words, end=""),
    "numCores": lambda: 1,
    "waitListening": lambda *args, **named: True,
    **dict.fromkeys(_QUIET.split(), _nothing),
}


class _Module(types.ModuleType):
    """One of Mininet's modules. Scripts import names from wherever they stand in some version."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return list(_NAMES)
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _NAMES:
            return _NAMES[name]
        RECORD.warn(f"`{self.__name__}.{name}` is not known and is left out")
        return type(name, (Unknown,), {})


def install() -> None:
    """Put the stand-in where `import mininet` finds it, whatever the host has of that name."""
    install_processes()
    package = sys.modules["mininet"] = _Module("mininet")
    package.__path__ = []
    for name in _MODULES.split():
        module = sys.modules[f"mininet.{name}"] = _Module(f"mininet.{name}")
        setattr(package, name, module)
