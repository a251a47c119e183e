"""The guest's file systems: the host's, read-only, with memory over what must be writable.

The sandbox on the host is what protects it: a guest's root can remount
anything in here. These mounts make a usable system, no more.
"""

import os

from longfat.guest import system

HANDOVER = "/tmp/longfat"
"""Where the sandbox shows the host's folders to the guest when it boots."""

HOME = "/run/longfat"
"""Where the guest keeps them: /tmp itself becomes the guest's own."""


def mount_all() -> None:
    """Mount everything.

    Raises:
        OSError: the kernel refused a mount.
    """
    # Files of the host may belong to nobody in here; a set-user-ID program
    # would make our root somebody else.
    system.mount("", "/", flags=system.MS_REMOUNT | system.MS_NOSUID | system.MS_RDONLY)
    system.mount("proc", "/proc", "proc")
    system.mount("sysfs", "/sys", "sysfs")
    system.mount("tmpfs", "/run", "tmpfs", options="mode=755")
    os.mkdir(HOME)
    # A mount of its own and not a bind: the root's file system is read-only.
    system.mount("longfat", HOME, "hostfs", options=HANDOVER)
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        _memory_over(place)
    if not os.path.isdir("/dev/pts"):
        os.mkdir("/dev/pts")
    system.mount("devpts", "/dev/pts", "devpts", options="gid=5,mode=620,ptmxmode=666")
    os.symlink("/proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")


def cover_file(path: str, *, text: str) -> None:
    """Show `text` in place of one of the host's files.

    Raises:
        OSError: the file is not there to be covered.
    """
    stand_in = f"/run/{path.strip('/').replace('/', '-')}"
    with open(stand_in, "w", encoding="utf-8") as file:
        file.write(text)
    system.mount(stand_in, path, flags=system.MS_BIND)


def _memory_over(place: str) -> None:
    if not os.path.isdir(place):
        try:
            os.mkdir(place)
        except OSError:
            return  # the host has no such folder: then nobody expects it
    system.mount("tmpfs", place, "tmpfs", options="mode=1777")
