"""The programs that a case's result depends on: the toolset, and programs of the host.

A result depends on them (law 1 of the design: same case, same kernel binary,
same tools), so a run's manifest contains their versions and the digests of their
bytes, and a result is cached by them.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import longfat
from longfat import __version__
from longfat.common.checksum import digest_now
from longfat.engine import toolset as toolsets
from longfat.engine.packages import InstalledPackages, install_packages
from longfat.engine.sandbox.confinement import LOADER
from longfat.errors import HostError
from longfat.execution.host_programs import host_programs, program_on_host
from longfat.execution.runs import Tool
from longfat.model.case import NOWHERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.engine.toolset import Toolset
    from longfat.errors import Place
    from longfat.model.case import Case, CasePlaces
    from longfat.model.packages import PinnedPackage
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow

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

_LIBRARY = re.compile(r"(/\S+) \(0x")
# ld.so(8)
_LOADER_CACHE = Path("/etc/ld.so.cache")
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "LD_PRELOAD")


def missing_tool(name: str) -> HostError:
    """Return the error for a program that neither the toolset nor the host has."""
    return HostError(
        f"the program {name!r} is not installed, and is not among the pinned tools",
        hint="longfat tools list shows these; others have to be installed on this computer",
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
        HostError: they cannot be downloaded, or there is no toolset.
    """
    return install_packages(packages, toolset=toolsets.find(), places=places)


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
    """The toolset and the host's programs in their current state; each is examined once."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._packages: dict[tuple[PinnedPackage, ...], InstalledPackages] = {}

    @functools.cached_property
    def toolset(self) -> Toolset:
        """The toolset of all machines.

        Raises:
            HostError: it is not in the cache.
        """
        return toolsets.find()

    def of(self, case: Case, *, places: CasePlaces = NOWHERE) -> dict[str, Tool]:
        """Return what a result of a case depends on besides the kernel, by name.

        That is longfat itself, the toolset, any program of the host in a set-up line or a flow
        that the toolset lacks, and the case's Python packages.

        Args:
            case: the case.
            places: where its parts were written, for messages.

        Raises:
            InputError: packages of it cannot be installed.
            HostError: a program that the case needs is not installed, packages cannot be
                downloaded, or there is no toolset.
        """
        parts: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
        needed = {name for part in parts for name in part.needs if not self.toolset.has(name)}
        programs = host_programs(case, toolset=self.toolset)
        for name in sorted(needed):
            if (path := program_on_host(name)) is None:
                raise missing_tool(name)
            programs[name] = path
        packages: dict[str, Tool] = {}
        installed = self.packages(case, places=places.packages)
        if installed is not None:
            packages["packages"] = Tool(version=installed.versions, digest=installed.digest)
        plugins = {type(part).__module__.partition(".")[0] for part in parts} - {"longfat"}
        return {
            "longfat": self._own(),
            "toolset": self._toolset_tool(),
            **packages,
            **{name: self._plugin(name) for name in sorted(plugins)},
            **{name: self._tool(path) for name, path in sorted(programs.items())},
        }

    def _toolset_tool(self) -> Tool:
        shown = ("iperf3", "iproute2", "iputils-ping", "python3.11-minimal")
        versions = ", ".join(f"{name} {self.toolset.versions[name]}" for name in shown)
        return Tool(version=versions, digest=self.toolset.digest)

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

    def _tool(self, path: Path) -> Tool:
        if str(path) not in self._tools:
            self._tools[str(path)] = Tool(version="", digest=_program_digest(path))
        return self._tools[str(path)]

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


def _program_digest(path: Path) -> str:
    """Return the digest of a program and of the libraries that it loads.

    Much of what a program does may be in a library.
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
