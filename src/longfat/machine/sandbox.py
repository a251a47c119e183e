"""The sandbox: a read-only view of the host for one machine, by bubblewrap.

Mounting the root read-only inside the guest protects nothing, since a guest's
root can remount it. The sandbox does it from outside: the kernel process sees
the host's files through a mount namespace in which only one folder can be
written, has no capabilities, no network, and no process but its own.

Source of the options: bwrap(1).
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from longfat.errors import SurroundingsError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

HANDOVER = "/tmp/longfat"
"""Where the folders stand inside: a fixed place, so that no host path leaks in."""


def sandboxed(
    command: Sequence[str],
    *,
    shown: Mapping[str, Path],
    writable: Mapping[str, Path],
    environment: Mapping[str, str],
) -> list[str]:
    """Return the command line that runs a command in a sandbox.

    Args:
        command: the program, by its path inside, and its arguments.
        shown: files and folders to show read-only, by their names under `HANDOVER`.
        writable: folders to show writable, likewise.
        environment: the whole environment inside.

    Raises:
        SurroundingsError: bubblewrap is not installed.
    """
    argv = [_bwrap(), *_ISOLATION]
    for name, path in shown.items():
        argv += ["--ro-bind", str(path), f"{HANDOVER}/{name}"]
    for name, path in writable.items():
        argv += ["--bind", str(path), f"{HANDOVER}/{name}"]
    argv += ["--clearenv"]
    for name, value in environment.items():
        argv += ["--setenv", name, value]
    return [*argv, "--chdir", "/", "--", *command]


# A user namespace of its own even for root: without one, a guest that root
# started could make device nodes in the folder it may write to.
_ISOLATION = (
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
    *("--tmpfs", "/dev/shm", "--tmpfs", "/tmp"),
    *("--unshare-user-try", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--cap-drop", "ALL"),
    "--die-with-parent",
)


def check_sandbox() -> None:
    """Try the sandbox on this host.

    Raises:
        SurroundingsError: bubblewrap is missing, or the host forbids what it needs.
    """
    done = subprocess.run(
        [_bwrap(), *_ISOLATION, "--", "/bin/true"], capture_output=True, text=True, check=False
    )
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
