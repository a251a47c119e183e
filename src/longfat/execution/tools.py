"""The host's tools that a case uses: whether they are installed, and their versions.

A result depends on them (law 1 of the design: same case, same kernel binary,
same tools), so a run's manifest contains their versions and the digests of their
bytes, and a result is cached by them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import longfat
from longfat import __version__
from longfat.common.checksum import digest_now
from longfat.engine.init import init_program
from longfat.engine.packages import InstalledPackages, install_packages
from longfat.engine.sandbox.confinement import LOADER
from longfat.errors import HostError
from longfat.execution.runs import Tool
from longfat.model.case import NOWHERE
from longfat.model.network import interface_commands
from longfat.model.network.tunnels import WIREGUARD
from longfat.model.network.vlans import vlans_of
from longfat.model.typed_line import without_sudo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.errors import Place
    from longfat.model.case import Case, CasePlaces
    from longfat.model.packages import PinnedPackage
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow

GUEST_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The guest's search path; a user's own PATH may lack some of it."""

PACKAGES = {
    "bwrap": "bubblewrap",
    "ethtool": "ethtool",
    "ip": "iproute2",
    "iperf3": "iperf3",
    "nft": "nftables",
    "ping": "iputils-ping",
    "python3": "python3",
    "ss": "iproute2",
    "sysctl": "procps",
    "tc": "iproute2",
    "tcpdump": "tcpdump",
}
"""The Debian and Ubuntu package of each program that longfat or a lab uses."""

PACKAGE = Path(longfat.__file__).resolve().parent
DECIDING = (
    *("guest/*.py", "guest/bin/*", "guest/substitutes/*"),
    *("engine/machine/*.py", "engine/images/*.py"),
    *("engine/sandbox/*.py", "engine/sandbox/root/**/*"),
    *("model/*.py", "model/network/*.py", "model/probes/*.py", "model/traffic/*.py"),
    *("model/flow_path/*.py", "theory/*.py"),
    *("engine/init.py", "engine/guest_modules.py", "engine/packages.py"),
    "execution/compile.py",
    *("execution/case_runner.py", "execution/runs/run.py", "execution/runs/staging.py"),
)
"""longfat's own modules and data that decide the result of a run, below `PACKAGE`."""

# Where a shell expects a program; elsewhere `red` is not an editor but a qdisc.
_PROGRAM = re.compile(r"(?:^|[|;&(`{!]|\b(?:do|then|else|exec|env|time|nice|xargs)\s)\s*([\w.+-]+)")
_LIBRARY = re.compile(r"(/\S+) \(0x")
# ld.so(8)
_LOADER_CACHE = Path("/etc/ld.so.cache")
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD")

_VERSION_ARGUMENTS = {"ip": "-V", "ping": "-V", "tc": "-V"}


def missing_tool(name: str) -> HostError:
    """Return the error for a program that is not installed."""
    package = PACKAGES.get(name, name)
    return HostError(
        f"the program {name!r} is not installed", hint=f"sudo apt-get install {package}"
    )


def packages_for_guests(
    packages: Sequence[PinnedPackage], *, places: Sequence[Place] = ()
) -> InstalledPackages:
    """Return packages, installed for the `python3` of a machine.

    Args:
        packages: the packages.
        places: their locations, for messages.

    Raises:
        InputError: they cannot be installed.
        HostError: they cannot be downloaded, or there is no Python.
    """
    python = shutil.which("python3", path=GUEST_PATH)
    if python is None:
        raise missing_tool("python3")
    return install_packages(packages, interpreter=Path(python), places=places)


def own_tool() -> Tool:
    """Return longfat itself: its version, and the digest of its code that decides results.

    Raises:
        HostError: a file of it cannot be read.
    """
    digest = hashlib.sha256()
    paths = (path for pattern in DECIDING for path in PACKAGE.glob(pattern))
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(f"{path.relative_to(PACKAGE)}\0{_file_digest(path)}\n".encode())
    return Tool(version=__version__, digest=digest.hexdigest())


class Toolbox:
    """The host's tools in their current state; each is examined once."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._programs: dict[str, Path | None] = {}
        self._packages: dict[tuple[PinnedPackage, ...], InstalledPackages] = {}

    def of(self, case: Case, *, places: CasePlaces = NOWHERE) -> dict[str, Tool]:
        """Return what a result of a case depends on besides the kernel, by name.

        That is longfat itself, Python (which runs the guest's part of it), the tools
        for the case's network, flows and probes, any program of the host
        in a set-up line or a flow, and the case's Python packages.

        Args:
            case: the case.
            places: where its parts were written, for messages.

        Raises:
            InputError: packages of it cannot be installed.
            HostError: a program that the case needs is not installed, or packages cannot be
                downloaded.
        """
        names = {"ip", "tc", "sysctl"}
        parts: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
        names |= {name for part in parts for name in part.needs}
        lines = [line for _, line in interface_commands(case.network)]
        names |= {"ethtool" for line in lines if line.startswith("ethtool ")}
        names |= {"wg" for tunnel in case.network.tunnels if tunnel.kind == WIREGUARD}
        names |= {"bridge"} if vlans_of(case.network) else set()
        names |= {"nft" for host in case.network.hosts if host.nat}
        missing = sorted(name for name in names if self._program(name) is None)
        if missing:
            raise missing_tool(missing[0])
        typed = [command.line for command in case.setup]
        typed += [line for flow in case.flows for line in flow.lines]
        for line in map(without_sudo, typed):
            names.update(name for name in _PROGRAM.findall(line) if self._program(name))
        installed = self.packages(case, places=places.packages)
        packages: dict[str, Tool] = {}
        if installed is not None:
            packages["packages"] = Tool(version=installed.versions, digest=installed.digest)
            names.add("python3")
        plugins = {type(part).__module__.partition(".")[0] for part in parts} - {"longfat"}
        return {
            "longfat": self._own(),
            "python": self._python(),
            **packages,
            **{name: self._plugin(name) for name in sorted(plugins)},
            **{name: self._tool(name) for name in sorted(names)},
        }

    def packages(self, case: Case, *, places: Sequence[Place] = ()) -> InstalledPackages | None:
        """Return the Python packages of a case, installed; None if it has none.

        Args:
            case: the case.
            places: their locations, for messages.

        Raises:
            InputError: they cannot be installed.
            HostError: they cannot be downloaded.
        """
        wanted = case.packages
        if wanted and wanted not in self._packages:
            self._packages[wanted] = packages_for_guests(wanted, places=places)
        return self._packages[wanted] if wanted else None

    def _program(self, name: str) -> Path | None:
        if name not in self._programs:
            found = shutil.which(name, path=GUEST_PATH)
            self._programs[name] = None if found is None else Path(found)
        return self._programs[name]

    def _tool(self, name: str) -> Tool:
        if name not in self._tools:
            path = self._program(name)
            assert path is not None
            digest = _program_digest(path)
            version = _version_of(path, digest) if name in PACKAGES else ""
            self._tools[name] = Tool(version=version, digest=digest)
        return self._tools[name]

    def _python(self) -> Tool:
        if "python" not in self._tools:
            digest = _program_digest(Path(init_program()[0]))
            self._tools["python"] = Tool(version=platform.python_version(), digest=digest)
        return self._tools["python"]

    def _plugin(self, package: str) -> Tool:
        """Return the package of a plug-in, whose code decides what its flows and probes do."""
        if package not in self._tools:
            module = sys.modules[package]
            file = Path(module.__file__ or "")
            sources = file.parent.rglob("*.py") if hasattr(module, "__path__") else [file]
            digest = hashlib.sha256()
            for path in sorted(sources):
                digest.update(f"{path.relative_to(file.parent)}\0{_file_digest(path)}\n".encode())
            self._tools[package] = Tool(version="", digest=digest.hexdigest())
        return self._tools[package]

    def _own(self) -> Tool:
        if "longfat" not in self._tools:
            self._tools["longfat"] = own_tool()
        return self._tools["longfat"]


@functools.lru_cache(maxsize=1 << 10)
def _version_of(path: Path, digest: str) -> str:
    """Return the version of a program, which is queried once for each `_program_digest`."""
    del digest
    return _version(path)


def _version(path: Path) -> str:
    """Return the first line of a program's version output."""
    command = [str(path), _VERSION_ARGUMENTS.get(path.name, "--version")]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except PermissionError:
        # A file with capabilities, such as ping, in a container that lacks them: started by
        # the loader, it requests none.
        done = subprocess.run(
            [LOADER, *command], capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    lines = (done.stdout or done.stderr).splitlines()
    return lines[0].strip() if lines else "unknown"


def _program_digest(path: Path) -> str:
    """Return the digest of a program and of the libraries that it loads.

    Much of iperf3 and ip, for example, is in a library.
    """
    environment = tuple(os.environ.get(name) for name in _LOADER_VARIABLES)
    listed = _file_digest(_LOADER_CACHE) if _LOADER_CACHE.exists() else ""
    files = {path, *_libraries(path, (_file_digest(path), listed, *environment))}
    return hashlib.sha256(
        "\n".join(f"{one.name} {_file_digest(one)}" for one in sorted(files)).encode()
    ).hexdigest()


@functools.lru_cache(maxsize=1 << 10)
def _libraries(path: Path, deciding: tuple[str | None, ...]) -> frozenset[Path]:
    """Return the libraries that a program loads; none, of a script or a static program.

    Args:
        path: the program.
        deciding: what they depend on: the program's bytes, where the loader searches.
    """
    del deciding
    # As ldd does, which is a shell script and takes ten times as long.
    command = [LOADER, "--list", str(path)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return frozenset(Path(found) for found in _LIBRARY.findall(done.stdout))


def _file_digest(path: Path) -> str:
    try:
        return digest_now(path)
    except OSError as error:
        raise HostError(f"{path}: cannot be read: {error.strerror}") from error
