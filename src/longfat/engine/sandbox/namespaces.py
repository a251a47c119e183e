"""The sandbox of namespaces, by bubblewrap: a machine sees nothing else of the host.

bubblewrap gives the kernel's process users, mounts, processes, network and IPC of
its own, no capabilities, and a minimal view of the host's files. It starts
`confine`, which adds Landlock, the system call filter and resource limits.

Source of the options: bwrap(1).
"""

from __future__ import annotations

import functools
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

from longfat.common.installing import install_command
from longfat.engine.sandbox.confinement import (
    HANDOVER,
    KERNEL_PLACE,
    LOADER,
    MEMORY_FOLDER,
    SMALL_FOLDER,
    Contents,
    Sandboxed,
)
from longfat.engine.sandbox.view import own_files, view
from longfat.errors import HostError

_OWN_FOLDERS = (MEMORY_FOLDER, SMALL_FOLDER)
_SMALL_BYTES = 1 << 20

# A user namespace of its own even for root: without one, a guest that root
# started would have root's rights on the files that it sees. The user is mapped to
# root in it: the guest's root gives files to root (tcpdump does), and the host lets a
# user who is mapped otherwise give files to nobody.
_AS_ROOT = ("--uid", "0", "--gid", "0")
_ISOLATION = (
    *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--cap-drop", "ALL", "--die-with-parent", "--new-session"),
)


class Namespaces:
    """See `longfat.engine.sandbox.sandbox.Sandbox`."""

    name = "namespaces"
    words = "namespaces, and a minimal view of the host's files"

    def check(self) -> None:
        """Try it on this host.

        Raises:
            HostError: bubblewrap is missing, or the host forbids what it needs.
        """
        with own_files() as own:
            options = (*_AS_ROOT, *_ISOLATION, *_view(own), "--remount-ro", "/")
            status, output = _tried([_bwrap(), *options, "--", "/bin/true"])
        if status != 0:
            raise HostError(
                f"bubblewrap cannot make a sandbox here: {output.strip()}",
                hint="sudo sysctl -w kernel.unprivileged_userns_clone=1"
                " kernel.apparmor_restrict_unprivileged_userns=0"
                " (whichever of the two this host has; in a container, allow user namespaces)",
            )

    @contextmanager
    def around(self, contents: Contents) -> Iterator[Sandboxed]:
        """Create one.

        Raises:
            HostError: bubblewrap is not installed.
            OSError: a folder for some files cannot be created.
        """
        with own_files() as own:
            yield self._sandboxed(contents, own)

    def _sandboxed(self, contents: Contents, own: Path) -> Sandboxed:
        argv = [
            _bwrap(),
            *_AS_ROOT,
            *_ISOLATION,
            *_view(own, places=contents.places, tools=contents.tools),
            *_sized(_SMALL_BYTES),
            "--tmpfs",
            SMALL_FOLDER,
        ]
        for name, path in {"kernel": contents.kernel.folder, **contents.shown}.items():
            argv += ["--ro-bind", str(path), f"{HANDOVER}/{name}"]
        for name, path in contents.writable.items():
            argv += ["--bind", str(path), f"{HANDOVER}/{name}"]
        argv += [*_sized(contents.file_bytes), "--tmpfs", MEMORY_FOLDER, *_mounting()]
        writable = [*_OWN_FOLDERS, *(f"{HANDOVER}/{name}" for name in contents.writable)]
        command = [
            *(*argv, "--remount-ro", "/", "--chdir", "/", "--"),
            *contents.confined(
                *("--memory", f"{MEMORY_FOLDER}={contents.file_bytes}"),
                *("--read", "/", "--execute", KERNEL_PLACE, "--execute", LOADER),
                *(word for place in writable for word in ("--write", place)),
                kernel_folder=KERNEL_PLACE,
                shims=contents.kernel.shims,
                sees_host=False,
            ),
        ]
        return Sandboxed(command=command, own_folders=_OWN_FOLDERS)


@contextmanager
def bwrap_command(*options: str) -> Iterator[list[str]]:
    """Yield the command line, up to `--`, that runs a program with a read-only view.

    Args:
        options: further options of bwrap(1).

    Raises:
        HostError: bubblewrap is not installed.
        OSError: a folder for some files cannot be created.
    """
    with own_files() as own:
        yield [
            *(_bwrap(), *_ISOLATION, *_view(own, places=(HANDOVER,)), "--tmpfs", SMALL_FOLDER),
            *(*options, "--remount-ro", SMALL_FOLDER, "--remount-ro", "/", "--chdir", "/"),
        ]


def _tried(command: list[str]) -> tuple[int, str]:
    """Run a command that may be killed; return its exit status and its output.

    A bubblewrap that is killed while it creates its namespaces leaves a child that waits for
    it indefinitely, with our pipes open. So its output goes to a file, and its group is killed.
    """
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            process_group=0,
        )
        try:
            status = process.wait()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        output.seek(0)
        return status, output.read()


def _view(
    own: Path, *, places: Sequence[str] = (), tools: Mapping[str, Path] = MappingProxyType({})
) -> list[str]:
    """Return the visible files of the host, as options; see `view`."""
    entries = view(own, places=places, tools=tools)
    return [word for entry in entries for word in entry.bwrap_options()]


def _bwrap() -> str:
    path = shutil.which("bwrap")
    if path is None:
        raise HostError(
            "bubblewrap is not installed; it protects the host from the guest",
            hint=install_command("bubblewrap"),
        )
    return path


def _sized(size_bytes: int) -> list[str]:
    """Return the size limit of the next file system in memory; nothing before bubblewrap 0.7."""
    return ["--size", str(size_bytes)] if _knows_sizes(_bwrap()) else []


def _mounting() -> list[str]:
    """Return the capabilities by which `confine` mounts the machine's memory, and drops them.

    A bubblewrap that is set-user-ID root gives none to an ordinary user.
    """
    if os.geteuid() != 0 and Path(_bwrap()).stat().st_mode & stat.S_ISUID:
        return []
    return ["--cap-add", "CAP_SYS_ADMIN", "--cap-add", "CAP_SETPCAP"]


@functools.cache
def _knows_sizes(bwrap: str) -> bool:
    done = subprocess.run(
        [bwrap, "--help"], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    return "--size" in done.stdout
