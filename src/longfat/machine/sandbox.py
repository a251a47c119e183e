"""The sandbox: what a machine's kernel process may do on the host, whoever controls it.

A guest's root can break into its kernel, which is an ordinary process of the
host. So the boundary stands around that process, in layers; each holds where
another fails (docs/security.md):

* bubblewrap gives it namespaces of its own (users, mounts, processes, network,
  IPC), no capabilities, and a minimal view of the host's files, see
  `longfat.machine.view`. It sees one writable folder, no other process, no
  device, and neither /proc nor /sys.
* Landlock, where the host has it, allows reading that view and writing that
  folder, and no TCP, abstract sockets or signals beyond it.
* A system call filter allows what the kernel needs, see
  `longfat.machine.syscalls`.
* Resource limits bound what each process may take, and a watch over the machine
  what all of them may, see `longfat.machine.quota`.

bubblewrap starts `confine` (kernel/launcher), which does the last three and
becomes the kernel.

Sources of the options: bwrap(1), kernel/launcher/confine.c.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import SurroundingsError
from longfat.machine.syscalls import filter_program
from longfat.machine.view import is_visible, view_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.kernel import Kernel
    from longfat.machine.quota import Quota

HANDOVER = "/tmp/longfat"
"""Where the folders stand inside: a fixed place, so that no host path leaks in."""

MEMORY_FOLDER = "/dev/shm"
"""Where the kernel keeps the machine's memory: a file system in memory, of its size."""

_SMALL_FOLDER = "/tmp"
OWN_FOLDERS = (MEMORY_FOLDER, _SMALL_FOLDER)
"""Where the kernel's process has file systems of its own, in the host's memory."""

_KERNEL = f"{HANDOVER}/kernel"
_LOADER = "/lib64/ld-linux-x86-64.so.2"

# The memory file itself, and the few small files that the kernel has beside it.
_MEMORY_SLACK_BYTES = 64 << 20
_SMALL_BYTES = 1 << 20  # a few names; the kernel notes its process there

_LANDLOCK_CREATE_RULESET, _ASK_FOR_VERSION = 444, 1

HOST_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
"""The environment of what starts a sandbox: nothing of ours can be read there."""

# A user namespace of its own even for root: without one, a guest that root
# started would have root's rights on the files that it sees.
_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)


def sandboxed(
    arguments: Sequence[str],
    *,
    kernel: Kernel,
    memory_bytes: int,
    shown: Mapping[str, Path],
    writable: Mapping[str, Path],
    places: Sequence[str],
    environment: Mapping[str, str],
    quota: Quota,
) -> list[str]:
    """Return the command line that runs a kernel in a sandbox.

    Args:
        arguments: the kernel's arguments.
        kernel: the kernel.
        memory_bytes: the machine's memory.
        shown: files and folders to show read-only, by their names under `HANDOVER`.
        writable: folders to show writable, likewise.
        places: empty folders to have besides, where no file of the host's is shown.
        environment: the whole environment inside.
        quota: what the machine may take of the host.

    Raises:
        SurroundingsError: bubblewrap is not installed.
    """
    argv = [_bwrap(), *_ISOLATION, *view_options(), *_sized(_SMALL_BYTES), "--tmpfs", _SMALL_FOLDER]
    for name, path in {"kernel": kernel.folder, **shown}.items():
        argv += ["--ro-bind", str(path), f"{HANDOVER}/{name}"]
    for name, path in writable.items():
        argv += ["--bind", str(path), f"{HANDOVER}/{name}"]
    for place in places:
        argv += [] if is_visible(Path(place)) else ["--dir", place]
    memory_bytes += _MEMORY_SLACK_BYTES
    argv += [*_sized(memory_bytes), "--tmpfs", MEMORY_FOLDER, "--remount-ro", "/"]
    argv += ["--clearenv"]
    for name, value in environment.items():
        argv += ["--setenv", name, value]
    return [
        *argv,
        *("--chdir", "/", "--", f"{_KERNEL}/{kernel.launcher.name}"),
        *_limits(quota, memory_bytes=memory_bytes),
        *("--read", "/", "--execute", _KERNEL, "--execute", _LOADER),
        *(word for place in OWN_FOLDERS for word in ("--write", place)),
        *(word for name in writable for word in ("--write", f"{HANDOVER}/{name}")),
        *("--filter", _filter(kernel.runs_guest_by_seccomp)),
        *("--", f"{_KERNEL}/{kernel.binary.name}", *arguments),
    ]


def _limits(quota: Quota, *, memory_bytes: int) -> list[str]:
    limits = {"core": 0, "memlock": 0, "msgqueue": 0, **quota.process_limits(memory_bytes)}
    return [word for name, value in limits.items() for word in ("--limit", f"{name}={value}")]


@functools.cache
def _filter(runs_guest_by_seccomp: bool) -> str:
    return filter_program(runs_guest_by_seccomp=runs_guest_by_seccomp).hex()


def landlock_version() -> int:
    """Return the version of the host's Landlock; 0 if it has none. Source: landlock(7)."""
    libc = ctypes.CDLL(None)
    return max(0, int(libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, _ASK_FOR_VERSION)))


def check_sandbox() -> None:
    """Try the sandbox on this host.

    Raises:
        SurroundingsError: bubblewrap is missing, or the host forbids what it needs.
    """
    command = [_bwrap(), *_ISOLATION, *view_options(), "--remount-ro", "/", "--", "/bin/true"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SurroundingsError(
            f"bubblewrap cannot make a sandbox here: {done.stderr.strip()}",
            mend="sudo sysctl -w kernel.unprivileged_userns_clone=1"
            " kernel.apparmor_restrict_unprivileged_userns=0"
            " (whichever of the two this host has; in a container, allow user namespaces)",
        )


def _bwrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        raise SurroundingsError(
            "bubblewrap is not installed; it protects the host from the guest",
            mend="sudo apt-get install bubblewrap",
        )
    return path


def _sized(size_bytes: int) -> list[str]:
    """Return what limits the next file system in memory; nothing, before bubblewrap 0.7."""
    return ["--size", str(size_bytes)] if _knows_sizes(_bwrap()) else []


@functools.cache
def _knows_sizes(bwrap: str) -> bool:
    done = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False)
    return "--size" in done.stdout
