"""Hosts' own root file systems: an image, read-only, and memory over it for what a host writes.

A root stands below `ROOTS` by its host's name. Whoever is to run with it changes to it by
chroot(2) in the host's namespaces; entering another mount namespace, or `inside`'s end, leads
back. A host's network tools and longfat's own programs stay outside.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat

from longfat.guest import mounts, system
from longfat.guest.shell import find_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

ROOTS = "/run/roots"

_LAYERS = f"{ROOTS}/.layers"
_SHELL = "/bin/sh"
# Of `mounts.PROGRAMS`, those that are of use with an image's own files.
_PROGRAMS = ("su", "sudo")
_NEEDS_SHELL = frozenset(";&|$`(){}<>*?!#~\n")
# Folders that a host has whatever its image holds, with their modes.
_FOLDERS = (
    *(("dev", 0o755), ("etc", 0o755), ("proc", 0o555), ("root", 0o700), ("run", 0o755)),
    *(("sys", 0o555), ("tmp", 0o1777)),
)


def make_root(order: dict[str, Any]) -> None:
    """Make the root of a host; /sys in it is mounted where the host is entered first.

    Args:
        order: `at`, where it is to be, and `shown`, what the sandbox calls the image.

    Raises:
        OSError: the kernel refused a mount.
    """
    if not os.path.isdir(ROOTS):
        os.mkdir(ROOTS)
        system.mount("tmpfs", ROOTS, "tmpfs", options="mode=755")
        os.mkdir(_LAYERS)
    at: str = order["at"]
    lower = f"{mounts.HOME}/{order['shown']}"
    layer = f"{_LAYERS}/{os.path.basename(at)}"
    upper, work = f"{layer}/upper", f"{layer}/work"
    os.mkdir(at)
    os.mkdir(layer)
    os.mkdir(upper, os.stat(lower).st_mode & 0o7777)
    os.mkdir(work)
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    system.mount("overlay", at, "overlay", flags=system.MS_NOSUID, options=options)
    for name, mode in _FOLDERS:
        _make_folder(f"{at}/{name}", mode)
    system.mount("proc", f"{at}/proc", "proc")
    system.mount("/dev", f"{at}/dev", flags=system.MS_BIND | system.MS_REC)
    for name in ("hosts", "resolv.conf"):
        content = b""
        with contextlib.suppress(FileNotFoundError), open(f"/etc/{name}", "rb") as file:
            content = file.read()
        write_over(f"{at}/etc/{name}", content)
    for name in _PROGRAMS:
        with open(f"{mounts.PROGRAMS}/{name}", "rb") as file:
            content = file.read()
        for folder in ("usr/bin", "bin"):  # not where a link leads: it may lead elsewhere
            if all(map(_is_folder, (f"{at}/{folder.partition('/')[0]}", f"{at}/{folder}"))):
                write_over(f"{at}/{folder}/{name}", content, mode=0o755)
                break
    for folder in mounts.tc_folders(at):
        with open(mounts.TC_LIBRARY, "rb") as file:
            write_over(f"{folder}/{os.path.basename(mounts.TC_LIBRARY)}", file.read())


def mount_sys(order: dict[str, Any]) -> None:
    """Show a host's own network in /sys of its root; in the host's namespaces.

    Raises:
        OSError: the kernel refused a mount.
    """
    system.mount("sysfs", f"{order['at']}/sys", "sysfs")


def enter(order: dict[str, Any]) -> None:
    """Change to a root, and to the folder where its programs start.

    Raises:
        OSError: it is not there.
    """
    os.chroot(order["at"])
    os.chdir("/")
    # The folder of an image may have to be made first, as docker does it.
    with contextlib.suppress(OSError):
        os.makedirs(order["folder"], exist_ok=True)
        os.chdir(order["folder"])


@contextlib.contextmanager
def inside(order: dict[str, Any]) -> Iterator[None]:
    """Be in a root for as long as the context lasts; the host is entered already."""
    home = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    here = os.getcwd()
    try:
        enter(order)
        yield
    finally:
        os.fchdir(home)
        os.chroot(".")
        os.chdir(here)
        os.close(home)


def without_shell(argv: list[str]) -> list[str]:
    """Return a command as it can be started with the root that we are in.

    An image may have no shell: then a line that needs none is split into words here. Who is to
    have bash at a terminal has to do with what there is.
    """
    if argv[:2] == [_SHELL, "-c"] and len(argv) == 3 and not os.path.exists(_SHELL):
        line = argv[2]
        if not _NEEDS_SHELL & set(line):
            with contextlib.suppress(ValueError):
                words = shlex.split(line)
                variables = [word for word in words[:1] if "=" in word]
                return argv if variables or not words else words
    if os.path.basename(argv[0]) == "bash" and find_program("bash", path="/bin:/usr/bin") is None:
        if "-i" in argv:
            return [_SHELL, "-i"]
        return [_SHELL, *(word for word in argv[1:] if not word.startswith("--"))]
    return argv


def program_of(argv: list[str], environment: dict[str, str]) -> str:
    """Return the file of a command's program, where we are.

    Raises:
        FileNotFoundError: there is none.
    """
    program = find_program(argv[0], path=environment.get("PATH", os.defpath))
    if program is None:
        raise FileNotFoundError(errno.ENOENT, f"{argv[0]}: command not found")
    return program


def write_over(path: str, content: bytes, *, mode: int = 0o644) -> None:
    """Put a file in place of whatever is there.

    Raises:
        OSError: a folder is there, or it cannot be written.
    """
    if os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(content)
    os.chmod(path, mode)


def _is_folder(path: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(os.lstat(path).st_mode)
    return False


def _make_folder(path: str, mode: int) -> None:
    """Make a folder, where an image has none, or something else: a link would lead elsewhere."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        os.mkdir(path)
    else:
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(path)
            os.mkdir(path)
        elif os.path.basename(path) != "tmp":
            return
    os.chmod(path, mode)
