"""The guest's file systems: the host's, read-only, with memory over what must be writable.

The sandbox on the host is what protects it: a guest's root can remount
anything in here. These mounts make a usable system, no more.
"""

from __future__ import annotations

import contextlib
import os

from longfat.guest import system, toolset

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HANDOVER = "/tmp/longfat"
"""Where the sandbox shows the host's folders to the guest when it boots."""

_RUN = "/run"
HOME = f"{_RUN}/longfat"
"""Where the guest keeps them: /tmp itself becomes the guest's own."""

_LAYERS = "/run/layers"

PROGRAMS = f"{HOME}/guest/longfat/guest/bin"
"""Programs of ours for those who use the machine, such as `sudo`. The host's own, if it has them,
do not work in a machine."""

SUBSTITUTES = f"{HOME}/guest/longfat/guest/substitutes"
"""Programs of ours where the host has none of that name, such as `ifconfig`."""

TC_LIBRARY = f"{toolset.PLACE}/lib/tc/q_wire.so"
"""The library by which `tc` reads and prints the qdisc `wire`: toolset/q_wire.c."""

# The first folder in which a shell looks.
_PROGRAMS_SHOWN = "/usr/local/sbin"

_CGROUPS = "/sys/fs/cgroup"
# The hierarchies, as systemd mounts them where version 1 is used beside version 2.
_HIERARCHIES = ("cpu,cpuacct", "net_cls,net_prio", "freezer")
_FOLDERS_OF_SYS = (_CGROUPS, "/sys/kernel/debug", "/sys/kernel/tracing")


def mount_all(*, substitutes: bool = False) -> None:
    """Mount everything.

    Args:
        substitutes: show `SUBSTITUTES`. Looking for the host's own takes a microsecond of virtual
            time for each folder without them, so the results of cases would depend on the host.

    Raises:
        OSError: the kernel refused a mount.
    """
    # Files of the host may belong to nobody in here; a set-user-ID program
    # would make our root somebody else.
    system.mount("", "/", flags=system.MS_REMOUNT | system.MS_NOSUID | system.MS_RDONLY)
    system.mount("proc", "/proc", "proc")
    system.mount("sysfs", "/sys", "sysfs")
    _mount_tracing()
    system.mount("tmpfs", "/run", "tmpfs", options="mode=755")
    os.mkdir(HOME)
    # A mount of its own and not a bind: the root's file system is read-only.
    system.mount("longfat", HOME, "hostfs", options=HANDOVER)
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        _memory_over(place)
    _show_programs(_PROGRAMS_SHOWN, substitutes=substitutes)
    if not substitutes:
        _cover_programs()
    if not os.path.isdir("/dev/pts"):
        os.mkdir("/dev/pts")
    system.mount("devpts", "/dev/pts", "devpts", options="gid=5,mode=620,ptmxmode=666")
    link_descriptors()


def link_descriptors() -> None:
    """Make the names of a process's own descriptors in /dev."""
    os.symlink("/proc/self/fd", "/dev/fd")
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        os.symlink(f"/proc/self/fd/{number}", f"/dev/{name}")


def _show_programs(folder: str, *, substitutes: bool) -> None:
    """Show `PROGRAMS` in a folder of the host's, beside what is in it.

    The distribution's sudo and su need set-user-ID programs and files of PAM, which a machine
    does not have.
    """
    lower = PROGRAMS
    names = os.listdir(SUBSTITUTES) if substitutes else ()
    if missing := [name for name in names if not _is_on_host(name)]:
        own = f"{_RUN}/longfat-programs"
        os.mkdir(own)
        for name in missing:
            os.symlink(f"{SUBSTITUTES}/{name}", f"{own}/{name}")
        lower += f":{own}"
    # A host without that folder has no programs of ours either.
    with contextlib.suppress(OSError):
        system.mount("overlay", folder, "overlay", options=f"lowerdir={lower}:{folder}")


def _cover_programs() -> None:
    """Show the toolset's programs at the paths of the host's of the same names.

    A script's first line, `#!/bin/bash`, or a line such as `/sbin/ip` names a path. The commands
    of live machines keep the host's, which may belong together with what is installed there.
    """
    for folder in toolset.COVERED_FOLDERS:
        # Most distributions have links from /bin and /sbin to folders of /usr.
        if os.path.isdir(folder) and not os.path.islink(folder):
            lower = f"lowerdir={toolset.PLACE}/bin:{folder}"
            system.mount("overlay", folder, "overlay", options=lower)


def _is_on_host(name: str) -> bool:
    return any(os.access(f"{folder}/{name}", os.X_OK) for folder in toolset.COVERED_FOLDERS)


def _mount_tracing() -> None:
    """Mount debugfs and tracefs."""
    # A kernel of the user's own may lack them.
    with contextlib.suppress(OSError):
        system.mount("debugfs", "/sys/kernel/debug", "debugfs")
        system.mount("tracefs", "/sys/kernel/tracing", "tracefs")


def mount_cgroups() -> None:
    """Mount the hierarchies of cgroups, where Mininet and libcgroup look for them.

    The controllers of CPU time, of network classes and of freezing are those of version 1, and
    the others of version 2, in `unified`. There is no controller `cpuset` in a kernel for a
    single CPU: its folder is one in memory, in which files have no effect.

    Raises:
        OSError: the kernel was built without a controller.
    """
    # Mininet looks for this name in /proc/mounts.
    system.mount("cgroup", _CGROUPS, "tmpfs", options="mode=755")
    for controllers in _HIERARCHIES:
        place = f"{_CGROUPS}/{controllers}"
        os.mkdir(place)
        system.mount("cgroup", place, "cgroup", options=controllers)
        for name in controllers.split(","):
            if name != controllers:
                os.symlink(controllers, f"{_CGROUPS}/{name}")
    os.mkdir(f"{_CGROUPS}/unified")
    system.mount("cgroup2", f"{_CGROUPS}/unified", "cgroup2")
    os.mkdir(f"{_CGROUPS}/cpuset")
    system.mount("cpuset", f"{_CGROUPS}/cpuset", "tmpfs", options="mode=755")
    for name, text in (("cpuset.cpus", "0\n"), ("cpuset.mems", "0\n"), ("tasks", "")):
        with open(f"{_CGROUPS}/cpuset/{name}", "w", encoding="ascii") as file:
            file.write(text)


def mount_sys() -> None:
    """Mount a sysfs that shows the network namespace that this process is in.

    What is mounted below /sys is seen in it, too: cgroups, debugfs and tracefs.

    Raises:
        OSError: the kernel refused a mount.
    """
    flags = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
    mounted = [folder for folder in _FOLDERS_OF_SYS if os.path.ismount(folder)]
    descriptors = [os.open(folder, flags) for folder in mounted]
    system.mount("sysfs", "/sys", "sysfs")
    for folder, descriptor in zip(mounted, descriptors, strict=True):
        source = f"/proc/self/fd/{descriptor}"
        system.mount(source, folder, flags=system.MS_BIND | system.MS_REC)
        os.close(descriptor)


def show_configuration() -> None:
    """Show the kernel's configuration in /boot, where a distribution has it.

    Raises:
        OSError: the kernel refused a mount.
    """
    system.mount("tmpfs", "/boot", "tmpfs", options="mode=755")
    os.symlink(f"{HOME}/kernel/config", f"/boot/config-{os.uname().release}")


def tc_folders(root: str) -> list[str]:
    """Return the folders in which the `tc` of an image looks for libraries.

    Args:
        root: the root file system, without a slash at its end.
    """
    machine = os.uname().machine
    places = ("lib", "lib64", f"lib/{machine}-linux-gnu")
    folders = [f"{root}/usr/{place}/tc" for place in places]
    return [folder for folder in folders if os.path.isdir(folder)]


def cover_file(path: str, *, text: str) -> None:
    """Show `text` in place of one of the host's files.

    Raises:
        OSError: the file is not there to be covered.
    """
    stand_in = f"/run/{path.strip('/').replace('/', '-')}"
    with open(stand_in, "w", encoding="utf-8") as file:
        file.write(text)
    system.mount(stand_in, path, flags=system.MS_BIND)


def make_writable(folders: dict[str, dict[str, Any]]) -> None:
    """Let the guest write where programs expect to: into memory, or into folders of the host's.

    Args:
        folders: folders of the host's, by where they are to be seen; with where the sandbox
            shows them, under `HANDOVER` (`shown`), and whether they are `writable`.

    Raises:
        OSError: the kernel refused a mount.
    """
    for place in ("/etc", "/var", "/home", "/root", "/srv", "/opt"):
        if os.path.isdir(place):
            cover_folder(place)
    for place, folder in folders.items():
        os.makedirs(place, exist_ok=True)
        # No set-user-ID programs, for the reason that `mount_all` gives.
        flags = system.MS_NOSUID | system.MS_NODEV
        flags |= 0 if folder["writable"] else system.MS_RDONLY
        system.mount("longfat", place, "hostfs", flags=flags, options=folder["shown"])


def cover_folder(place: str) -> None:
    """Let the guest write into a folder of the host's: into memory.

    Args:
        place: the folder, without links in its path, nor commas, colons and backslashes.

    Raises:
        OSError: the kernel refused a mount.
    """
    if not os.path.isdir(_LAYERS):
        os.mkdir(_LAYERS)
        system.mount("tmpfs", _LAYERS, "tmpfs", options="mode=755")
    if not _is_readable(place):
        # The home of the host's root is nothing to an ordinary user, and in here it is ours.
        system.mount("tmpfs", place, "tmpfs", options="mode=700")
    else:
        layer = f"{_LAYERS}/{len(os.listdir(_LAYERS))}"
        upper, work = f"{layer}/upper", f"{layer}/work"
        os.mkdir(layer)
        os.mkdir(upper, os.stat(place).st_mode & 0o7777)
        os.mkdir(work)
        options = f"lowerdir={place},upperdir={upper},workdir={work}"
        # No set-user-ID programs, for the reason that `mount_all` gives.
        system.mount("overlay", place, "overlay", flags=system.MS_NOSUID, options=options)
    if place == "/var":
        _memory_over("/var/tmp")  # it was there before


def _is_readable(place: str) -> bool:
    try:
        os.listdir(place)
    except OSError:
        return False
    return True


def _memory_over(place: str) -> None:
    if not os.path.isdir(place):
        try:
            os.mkdir(place)
        except OSError:
            return  # the host has no such folder: then nobody expects it
    system.mount("tmpfs", place, "tmpfs", options="mode=1777")
