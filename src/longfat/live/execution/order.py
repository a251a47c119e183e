"""What is to be run in a fresh machine, and what of the host it is to see."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.case import DEFAULT_MEMORY_BYTES
from longfat.errors import InputError
from longfat.live.session import DEFAULT_KERNEL, LIVE_ENVIRONMENT
from longfat.machine.watchdog import STALL_CPU_S

if TYPE_CHECKING:
    from collections.abc import Mapping

# What the guest has of its own: the host's files there are not seen.
_ITS_OWN = tuple(Path(place) for place in ("/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"))

# Where the guest could make a folder that the host does not have.
_WRITABLE = (
    *(Path(place) for place in ("/tmp", "/var", "/run", "/etc", "/home", "/root")),
    *(Path(place) for place in ("/srv", "/opt", "/dev/shm")),
)

# What a machine cannot do without.
_NEEDED = tuple(Path(place) for place in ("/", "/dev", "/proc", "/sys", "/run", "/run/longfat"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command that is to be run in a fresh machine.

    Attributes:
        argv: the program and its arguments.
        kernel: the kernel's version.
        seed: decides all random numbers in the machine, 0 to 2**63 - 1.
        memory_bytes: the machine's memory.
        folder: where the command runs, as it sees it.
        binds: folders of the host's that it may write to, by where it sees them.
        environment: what its environment has besides what every command has.
        is_typed: type the lines of our input at its prompts.
        open_vswitch: start Open vSwitch before it.
        factor: virtual seconds in a second of wall time; as fast as the machine can, if None.
        timeout_s: the longest that it may take, in seconds of virtual time.
        stall_cpu_s: CPU seconds without a tick of virtual time that count as a stall.
    """

    argv: tuple[str, ...]
    kernel: str = DEFAULT_KERNEL
    seed: int = 1
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    folder: str = "/"
    binds: Mapping[str, Path] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    is_typed: bool = False
    open_vswitch: bool = False
    factor: float | None = None
    timeout_s: float | None = None
    stall_cpu_s: float = STALL_CPU_S

    def whole_environment(self, *, term: str | None = None) -> dict[str, str]:
        """Return the command's environment.

        Args:
            term: the kind of its terminal, if it has one.
        """
        # A person may type what is not ASCII.
        own = {} if term is None else {"TERM": term, "LC_ALL": "C.UTF-8"}
        return {**LIVE_ENVIRONMENT, **own, **self.environment}


def read_bind(text: str) -> tuple[str, Path]:
    """Return what `DIR` or `HOST:GUEST` means.

    Args:
        text: a folder of the host's, and where the command is to see it if not there.

    Returns:
        Where the command sees it, and the folder.

    Raises:
        InputError: there is no such folder, or it cannot be seen there.
    """
    host, colon, guest = text.partition(":")
    folder = Path(host).resolve()
    if not folder.is_dir():
        raise InputError(f"--bind {text}: there is no folder {host!r} on the host")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise InputError(f"--bind {text}: you may not write to {folder}")
    if colon and not guest.startswith("/"):
        raise InputError(f"--bind {text}: give the place inside as a whole path, such as /mnt")
    place = Path(os.path.normpath(guest)) if colon else folder
    if place in _NEEDED:
        raise InputError(f"--bind {text}: the machine itself needs {place}; choose another place")
    if not place.is_dir() and not _is_below(place, _WRITABLE):
        raise InputError(
            f"--bind {text}: there is no folder {place} to show it at, and none can be made; "
            f"make one, or choose a place below /tmp"
        )
    return str(place), folder


def folder_inside(folder: Path, binds: Mapping[str, Path]) -> str:
    """Return where a command sees a folder of the host's; `/` if it does not.

    Args:
        folder: the folder, as a whole path.
        binds: see `Order`.
    """
    shown = sorted(binds.items(), key=lambda bind: len(bind[1].parts), reverse=True)
    for place, path in shown:
        if _is_below(folder, (path,)):
            return str(Path(place, folder.relative_to(path)))
    return "/" if _is_below(folder, _ITS_OWN) else str(folder)


def _is_below(path: Path, tops: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(top) for top in tops)
