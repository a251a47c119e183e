"""Detects that virtual time stalls, and names the guest process that causes it.

A guest process that spins without reading the clock stops virtual time
indefinitely, which nothing in the guest can detect. From outside it can be: the
machine uses CPU and its clock does not move. CPU time and not wall time is
measured, so that a busy host does not look like a stall.
"""

from __future__ import annotations

import itertools
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from longfat.common.process import descendants, stat

STALL_CPU_S = 20.0
"""CPU seconds without a tick of virtual time that count as a stall."""

STALL_IDLE_S = 120.0
"""Wall seconds without a tick and without CPU use that count as one."""

_IDLE_CPU_S = 1.0  # the kernel's own bookkeeping

_PAGE_BYTES = 4096
_STACK_PAGES = 4
_STRING = re.compile(rb"[\t\n\x20-\x7e\x80-\xff]+")
_ENVIRONMENT = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*=")
_FILE_NAME = re.compile(rb"[\w./+-]+")
_BELOW = re.compile(rb"(.*[^\x20-\x7e].*)?x86_64", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Stall:
    """A stall of virtual time.

    Attributes:
        virtual_s: the virtual time of the stall, in seconds.
        cpu_s: the CPU time that was used meanwhile, in seconds.
        spinner: the command line of the guest process that used most of it,
            empty if it is not known.
    """

    virtual_s: float
    cpu_s: float
    spinner: str

    def __str__(self) -> str:
        if self.cpu_s < _IDLE_CPU_S:
            return (
                f"virtual time stalls at {self.virtual_s:.6f} s: the machine waits for"
                " an event that does not occur"
            )
        who = f"the guest process `{self.spinner}` spins" if self.spinner else "a process spins"
        return (
            f"virtual time stalls at {self.virtual_s:.6f} s: {who} without waiting"
            f" ({self.cpu_s:.0f} s of CPU time used). In virtual time a program that never"
            " sleeps never ends; give it something to wait for."
        )


class Watchdog:
    """Watches one machine.

    Args:
        kernel_pid: the process that runs the kernel.
        stall_cpu_s: CPU seconds without a tick that count as a stall.
    """

    def __init__(self, *, kernel_pid: int, stall_cpu_s: float = STALL_CPU_S) -> None:
        self._pid = kernel_pid
        self._limit_s = stall_cpu_s
        self._tick_s = -1.0
        self._cpu_s = 0.0
        self._wall_s = 0.0

    def check(self, virtual_s: float) -> Stall | None:
        """Compare the clock with that of the last call.

        Args:
            virtual_s: the virtual time, in seconds.

        Returns:
            The stall, if this is one.
        """
        now_s = time.monotonic()
        if virtual_s != self._tick_s:
            self._tick_s, self._cpu_s, self._wall_s = virtual_s, self._machine_cpu_s(), now_s
            return None
        cpu_s = self._machine_cpu_s() - self._cpu_s
        if cpu_s < self._limit_s and (cpu_s >= _IDLE_CPU_S or now_s - self._wall_s < STALL_IDLE_S):
            return None
        return Stall(virtual_s=virtual_s, cpu_s=cpu_s, spinner=find_spinner(self._pid))

    def start_anew(self) -> None:
        """Restart the timeout: the machine was held until now and could not tick."""
        self._wall_s = time.monotonic()

    def _machine_cpu_s(self) -> float:
        kernel = stat(self._pid)
        own_s = kernel.cpu_s if kernel else 0.0
        return own_s + sum(process.cpu_s for process in descendants(self._pid))


def find_spinner(kernel_pid: int, *, watch_s: float = 0.5) -> str:
    """Return the command line of the guest process that uses most CPU now.

    Every guest process is a host process below the kernel's, so the host's
    accounting finds it, and its command line is at the top of its stack.

    Args:
        kernel_pid: the process that runs the kernel.
        watch_s: how long to watch, in seconds of wall time.
    """
    before = {process.pid: process.cpu_s for process in descendants(kernel_pid)}
    time.sleep(watch_s)
    used = {p.pid: p.cpu_s - before.get(p.pid, 0.0) for p in descendants(kernel_pid)}
    busiest = max(used, key=lambda pid: used[pid], default=None)
    return command_line(busiest) if busiest is not None else ""


def command_line(pid: int) -> str:
    """Return the guest's command line of the host process that runs a guest process.

    The kernel puts arguments, environment and file name, as strings, at the
    top of a new program's stack, and 8 zero bytes above them (fs/exec.c). No
    other mapping ends like that.
    """
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(encoding="ascii").splitlines()
        memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    except OSError:
        return ""
    try:
        # Mappings with a name in brackets are the host's, such as the kernel process's own stack.
        guest = [line.split()[0] for line in maps if not line.endswith("]")]
        tops = [int(span.partition("-")[2], 16) for span in guest]
        candidates = (arguments_of(_read_down(memory, top)) for top in reversed(tops))
        return next((found for found in candidates if found), "")
    finally:
        os.close(memory)


def _read_down(memory: int, top: int) -> bytes:
    """Return what is mapped just below `top`, a few pages at most."""
    data = b""
    for page in range(1, _STACK_PAGES + 1):
        try:
            data = os.pread(memory, _PAGE_BYTES, top - page * _PAGE_BYTES) + data
        except (OSError, OverflowError):
            break
    return data


def arguments_of(stack: bytes) -> str:
    """Return the arguments of a program, joined by spaces.

    Args:
        stack: the top of its stack, to the last byte.

    Returns:
        The arguments, or an empty string if this is not such a stack.
    """
    if not stack.endswith(bytes(9)) or stack.endswith(bytes(10)):
        return ""
    above: list[bytes] = []
    for text in reversed(stack[:-9].split(b"\0")):
        # Below the first argument come padding or, without any, AT_PLATFORM's text
        # with AT_RANDOM's bytes before it (fs/binfmt_elf.c).
        if not _STRING.fullmatch(text) or _BELOW.fullmatch(text):
            break
        above.append(text)
    if not above or not _FILE_NAME.fullmatch(above[0]):
        return ""
    rest = list(itertools.dropwhile(_ENVIRONMENT.match, above[1:]))
    return b" ".join(reversed(rest)).decode(errors="replace")
