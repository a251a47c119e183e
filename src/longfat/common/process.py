"""Information about the processes of a machine from /proc."""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

_PEAK = re.compile(rb"^VmHWM:\s+(\d+) kB$", re.MULTILINE)
_PAGE_TABLES = re.compile(rb"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_MAPPING_BYTES, _DESCRIPTOR_BYTES = 256, 4096
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# Not available where the kernel was built without CONFIG_PROC_CHILDREN.
_LISTS_CHILDREN = os.path.exists("/proc/thread-self/children")


@dataclass(frozen=True, slots=True)
class Stat:
    """One line of /proc: a process.

    Attributes:
        pid: its number.
        parent: that of its parent.
        cpu_s: the CPU time that it has used, in seconds.
        state: a letter, such as `R` while it is running or runnable.
    """

    pid: int
    parent: int
    cpu_s: float
    state: str


def stat(pid: int) -> Stat | None:
    """Return the /proc entry of a process; None if it is gone. Source: proc(5)."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Stat(
        pid=pid,
        parent=int(fields[1]),
        cpu_s=(int(fields[11]) + int(fields[12])) / _TICKS_PER_S,
        state=fields[0].decode(),
    )


def peak_bytes(pid: int) -> int:
    """Return the peak memory of a process; 0 if it is gone. Source: proc(5), VmHWM.

    For a machine's kernel that is all memory of the machine: the memory of the
    guest's processes is the kernel's own.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return 0
    found = _PEAK.search(status)
    return int(found[1]) * 1024 if found else 0


def private_bytes(pid: int) -> int:
    """Return the memory that a process shares with no other; 0 if it is gone. Source: proc(5)."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_bytes().split()
    except (OSError, ValueError):
        return 0
    return (int(resident) - int(shared)) * _PAGE_BYTES


def kernel_bytes(pid: int) -> int:
    """Return about how much memory of the host's kernel a process holds; 0 if it is gone.

    Page tables as Linux counts them; of mappings and descriptors, which it does not count, what
    they take on x86-64 with Linux 6: 256 bytes for a mapping (struct vm_area_struct with its
    part of the maple tree), and 4096 for a descriptor, as of a pipe that holds data.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
        mappings = Path(f"/proc/{pid}/maps").read_bytes().count(b"\n")
        descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0
    tables = _PAGE_TABLES.search(status)
    size = int(tables[1]) * 1024 if tables else 0
    return size + mappings * _MAPPING_BYTES + descriptors * _DESCRIPTOR_BYTES


def descendants(root: int) -> list[Stat]:
    """Return all descendants of a process, parents before their children."""
    by_parent = {} if _LISTS_CHILDREN else _children_by_parent()
    tree: list[Stat] = []
    parents = [root]
    while parents:
        parent = parents.pop(0)
        below = _listed_children(parent) if _LISTS_CHILDREN else by_parent.get(parent, [])
        tree += below
        parents += [child.pid for child in below]
    return tree


def _listed_children(pid: int) -> list[Stat]:
    """Return the children of a process as listed by the kernel. Source: proc(5), children."""
    found: list[Stat] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += filter(None, map(stat, map(int, file.read().split())))
    except OSError:  # it has just ended
        pass
    return found


def _children_by_parent() -> dict[int, list[Stat]]:
    """Return all processes of the host by their parents, which is slow where there are many."""
    children: dict[int, list[Stat]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit() and (found := stat(int(name))):
            children.setdefault(found.parent, []).append(found)
    return children


def family(root: int) -> list[Stat]:
    """Return a process and all its descendants; nothing if it is gone."""
    first = stat(root)
    return [first, *descendants(root)] if first is not None else []


def find_program(root: int, program: Path) -> int | None:
    """Return the first of a family that runs `program`; None if there is none yet."""
    wanted = program.stat()
    for candidate in family(root):
        # A sandbox may show the file under another name, but it is the same file.
        with contextlib.suppress(OSError):
            found = Path(f"/proc/{candidate.pid}/exe").stat()
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                return candidate.pid
    return None
