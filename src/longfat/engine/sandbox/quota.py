"""The limits of a machine on the host: memory, disk, files, processes and time.

Linux limits a process, and a machine is many. So each process has limits that
no regular machine comes near, and the total of all of them is
checked a few times a second: a machine that exceeds a limit is ended, with the
reason. The defaults are suitable for a server that a class shares; the variable
`LONGFAT_QUOTA` sets others:

    LONGFAT_QUOTA="disk=200GB, files=100000, processes=20000, memory=64GB, wall=3000min"

Sources: setrlimit(2), proc(5).
"""

from __future__ import annotations

import contextlib
import os
import resource
import stat
import time
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from longfat.common.process import family, kernel_bytes, private_bytes
from longfat.errors import InputError, MachineError
from longfat.model.metric import Unit
from longfat.model.units import format_quantity, parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

VARIABLE = "LONGFAT_QUOTA"
"""The environment variable that sets quotas."""

_OPEN_FILES = 65_536
_EVERY_S = 0.25
_SHARE = 0.02
_PROCESSES_FACTOR = 2
# A kernel's address space holds the machine's memory, and each guest process maps parts of it.
_ADDRESS_SPACE_FACTOR, _ADDRESS_SPACE_SLACK_BYTES = 4, 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The limits of a machine on the host.

    Attributes:
        disk: bytes in the folders that it writes to; a sparse file counts with its length.
        files: files and folders there, and in its own file systems.
        processes: processes of the host: one for each of the guest's, and the kernel's.
        memory: bytes of the machine's own memory.
        overhead: bytes of all its processes besides that, and of the host's kernel for them.
        wall: seconds of wall time.
    """

    disk: float = field(default=50 << 30, metadata={"unit": Unit.BYTES})
    files: float = field(default=20_000, metadata={"unit": Unit.COUNT})
    processes: float = field(default=2_048, metadata={"unit": Unit.COUNT})
    memory: float = field(default=32 << 30, metadata={"unit": Unit.BYTES})
    overhead: float = field(default=1 << 30, metadata={"unit": Unit.BYTES})
    wall: float = field(default=24 * 3600.0, metadata={"unit": Unit.SECONDS})

    def process_limits(self, memory_bytes: int, *, own_users: bool) -> dict[str, int]:
        """Return the resource limits of each process, by their names in setrlimit(2).

        Args:
            memory_bytes: the size of the machine's memory.
            own_users: the machine has a user namespace of its own. Elsewhere Linux counts
                all processes and threads of the user for `RLIMIT_NPROC`.
        """
        _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
        space = _ADDRESS_SPACE_FACTOR * memory_bytes + _ADDRESS_SPACE_SLACK_BYTES
        limits = {
            "as": space + int(self.overhead),
            "data": int(self.overhead),
            "fsize": max(int(self.disk), memory_bytes),
            "nofile": min(most_files, _OPEN_FILES) if most_files >= 0 else _OPEN_FILES,
        }
        if own_users:
            # Above the quota, so that the watch ends the machine, with the reason.
            limits["nproc"] = _PROCESSES_FACTOR * int(self.processes)
        return limits

    def within(self, other: Quota) -> Quota:
        """Return the quota with the lower limit of the two for each field."""
        names = [one.name for one in fields(Quota)]
        return Quota(**{name: min(getattr(self, name), getattr(other, name)) for name in names})

    def exceeded(self, name: str, amount: float, *, doing: str) -> MachineError | None:
        """Return the error of a machine that exceeds its quota; None if it does not.

        Args:
            name: the field of the quota.
            amount: the machine's usage, in the field's unit.
            doing: the usage, for the message.
        """
        maximum = getattr(self, name)
        if amount <= maximum:
            return None
        unit = _UNITS[name]
        return MachineError(
            f"the machine {doing} {format_quantity(amount, unit)}, but its quota is"
            f" {format_quantity(maximum, unit)}; {VARIABLE}={name}=... sets another"
        )

    def check_memory(self, memory_bytes: int) -> None:
        """Check the size of a machine's memory.

        Raises:
            InputError: it is over the quota.
        """
        if memory_bytes > self.memory:
            raise InputError(
                f"a memory of {format_quantity(memory_bytes, Unit.BYTES)} is over the quota of"
                f" {format_quantity(self.memory, Unit.BYTES)}; {VARIABLE}=memory=... sets another"
            )


_UNITS: dict[str, Unit] = {one.name: one.metadata["unit"] for one in fields(Quota)}


def read_quota(text: str) -> Quota:
    """Read quotas in the format of `LONGFAT_QUOTA`, such as `disk=200GB, wall=90min`.

    Args:
        text: fields and quantities; others keep their defaults.

    Raises:
        InputError: there is no such field, or its value is not a quantity above 0.
    """
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (word.strip() for word in part.partition("="))
        if name not in _UNITS:
            raise InputError(
                f"{VARIABLE}: there is no quota {name!r}; there are {', '.join(_UNITS)}"
            )
        try:
            found[name] = parse_quantity(value, _UNITS[name])
        except InputError as error:
            raise InputError(f"{VARIABLE}: {name}: {error.message}") from None
        if found[name] <= 0:
            raise InputError(f"{VARIABLE}: {name}: must be above 0, but is {value}")
    return Quota(**found)


def current_quota() -> Quota:
    """Return the quotas of this process's environment.

    Raises:
        InputError: they cannot be read.
    """
    return read_quota(os.environ.get(VARIABLE, ""))


class QuotaWatch:
    """Checks whether a machine keeps to its quota.

    Args:
        quota: the quota.
        folders: the folders that the machine writes to.
        own_folders: the mount points of its own file systems in the host's memory, as it
            sees them.
    """

    def __init__(
        self, quota: Quota, *, folders: Sequence[Path], own_folders: Sequence[str] = ()
    ) -> None:
        self._quota = quota
        self._folders = folders
        self._own_folders = own_folders
        self._next_s = 0.0
        self._started_s = time.monotonic()

    def check(self, root: int, *, kernel_pid: int | None = None) -> None:
        """Check the machine, unless that was done a moment ago.

        Args:
            root: the machine's first process, the ancestor of the others.
            kernel_pid: the kernel's, which sees the machine's own file systems.

        Raises:
            MachineError: it exceeds its quota.
        """
        began_s = time.monotonic()
        if began_s < self._next_s:
            return
        self._check_processes(root)
        self._check_folders(self._own_files(kernel_pid) if kernel_pid is not None else 0)
        # However large the machine is, checking takes a small share of the time.
        took_s = time.monotonic() - began_s
        self._next_s = began_s + max(_EVERY_S, took_s / _SHARE)

    def check_wall(self) -> None:
        """Check how long the machine has run.

        Raises:
            MachineError: longer than its quota.
        """
        _raise(self._quota.exceeded("wall", time.monotonic() - self._started_s, doing="has run"))

    def _check_processes(self, root: int) -> None:
        processes = family(root)
        _raise(self._quota.exceeded("processes", len(processes), doing="has processes:"))
        held = sum(private_bytes(one.pid) + kernel_bytes(one.pid) for one in processes)
        _raise(self._quota.exceeded("overhead", held, doing="holds beside its own memory"))

    def _own_files(self, pid: int) -> int:
        """Return the number of files in the kernel's own file systems."""
        count = 0
        for place in self._own_folders:
            with contextlib.suppress(OSError):
                about = os.statvfs(f"/proc/{pid}/root{place}")
                count += about.f_files - about.f_ffree
        return count

    def _check_folders(self, count: int) -> None:
        """Add up the folders, up to the quota. The guest may change them meanwhile."""
        size = 0
        folders = [os.fspath(folder) for folder in self._folders]
        while folders:
            try:
                with os.scandir(folders.pop()) as entries:
                    for entry in entries:
                        about = entry.stat(follow_symlinks=False)
                        size += max(about.st_size, 512 * about.st_blocks)
                        count += 1
                        if stat.S_ISDIR(about.st_mode):
                            folders.append(entry.path)
                        if count > self._quota.files:
                            break
            except OSError:
                continue  # it was removed
            if count > self._quota.files:
                break
        _raise(self._quota.exceeded("files", count, doing="has files:"))
        _raise(self._quota.exceeded("disk", size, doing="has written"))


def _raise(error: MachineError | None) -> None:
    if error is not None:
        raise error
