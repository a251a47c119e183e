"""What every sandbox has in common: the program in it, and the options of `confine`.

`confine` (kernel/launcher) is the last program before the kernel. It sets resource
limits, Landlock and the system call filter.

Source of its options: kernel/launcher/confine.c.
"""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.engine.sandbox.access import check_access
from longfat.engine.sandbox.syscalls import filter_program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.engine.kernel import Kernel
    from longfat.engine.sandbox.quota import Quota

HANDOVER = "/tmp/longfat"
"""The mount point of the folders: a fixed path, so that no host path leaks in."""

KERNEL_PLACE = f"{HANDOVER}/kernel"
"""The mount point of the kernel's own files."""

MEMORY_FOLDER = "/dev/shm"
"""The mount point of the machine's memory: a file system in memory."""

SMALL_FOLDER = "/tmp"
"""Where the kernel records its process: a file system for a few names."""

_MEMORY_SLACK_BYTES = 64 << 20

_STUB_FILE_BYTES = 1 << 20
"""More than the stub of any kernel, and the pages that it shares: kernel/shims/stub.c."""

LOADER = "/lib64/ld-linux-x86-64.so.2"
"""What the kernel's process executes besides the kernel."""

_LANDLOCK_CREATE_RULESET, _ASK_FOR_VERSION = 444, 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """The program in a sandbox, and the files that it sees.

    Attributes:
        kernel: the kernel.
        arguments: the kernel's arguments.
        environment: the kernel's whole environment, except for preloaded libraries.
        memory_bytes: the machine's memory.
        shown: files and folders that are visible read-only, by their names under `HANDOVER`.
        writable: folders that are writable, likewise.
        places: additional empty folders, where no file of the host's is visible.
        tools: the folders of a toolset, by their paths in the machine.
        quota: the machine's limits on the host.
    """

    kernel: Kernel
    arguments: Sequence[str]
    environment: Mapping[str, str]
    memory_bytes: int
    shown: Mapping[str, Path]
    writable: Mapping[str, Path]
    places: Sequence[str]
    tools: Mapping[str, Path]
    quota: Quota

    @property
    def file_bytes(self) -> int:
        """The maximum size of the kernel's memory file, in bytes."""
        return self.memory_bytes + _MEMORY_SLACK_BYTES

    def check_access(self) -> None:
        """Check that a sandbox can access all files of it.

        Raises:
            HostError: it cannot access a file or folder; the message names its owner.
        """
        check_access([self.kernel.folder, *self.shown.values(), *self.tools.values()])
        check_access(self.writable.values(), writable=True)

    def confined(
        self, *words: str, kernel_folder: str, shims: Sequence[str], sees_host: bool, **more: str
    ) -> list[str]:
        """Return the command line of `confine`.

        Args:
            words: options for files, and others of this sandbox.
            kernel_folder: the path of the kernel's files for `confine`.
            shims: libraries of the kernel to preload into its process.
            sees_host: paths lead to the host's files, see `filter_program`.
            more: further environment variables.
        """
        libraries = ":".join(f"{kernel_folder}/{name}.so" for name in shims)
        limits = {"core": 0, "memlock": 0, "msgqueue": 0}
        limits |= self.quota.process_limits(self.file_bytes, own_users=not sees_host)
        environment = {**self.environment, "LD_PRELOAD": libraries, **more}
        return [
            f"{kernel_folder}/{self.kernel.launcher.name}",
            *_options("--limit", limits),
            *_options("--set", environment),
            *_options("--file", self._stub_file),
            *words,
            *("--filter", _filter(self.kernel.runs_guest_by_seccomp, sees_host)),
            *("--", f"{kernel_folder}/{self.kernel.binary.name}", *self.arguments),
        ]

    @property
    def _stub_file(self) -> dict[str, int]:
        by_seccomp = self.kernel.runs_guest_by_seccomp
        return {"LONGFAT_STUB_FILE": _STUB_FILE_BYTES} if by_seccomp else {}


def _options(option: str, values: Mapping[str, object]) -> list[str]:
    return [word for name, value in values.items() for word in (option, f"{name}={value}")]


@functools.cache
def _filter(runs_guest_by_seccomp: bool, sees_host: bool) -> str:
    return filter_program(runs_guest_by_seccomp=runs_guest_by_seccomp, sees_host=sees_host).hex()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandboxed:
    """A sandbox that is ready.

    Attributes:
        command: the command line that runs the kernel in it.
        folders: folders of the host, besides the run's, that the machine writes to.
        own_folders: the mount points of its own file systems in the host's memory.
    """

    command: list[str]
    folders: tuple[Path, ...] = ()
    own_folders: tuple[str, ...] = ()


def landlock_version() -> int:
    """Return the version of the host's Landlock; 0 if it has none. Source: landlock(7)."""
    libc = ctypes.CDLL(None)
    return max(0, int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _ASK_FOR_VERSION)))
