"""Detects that virtual time stalls, and names what causes it.

A guest process that spins without reading the clock stops virtual time
indefinitely, and so do packets that circulate in the guest's kernel, which nothing
in the guest can detect. From outside it can be: the
machine uses CPU and its clock does not move. CPU time and not wall time is
measured, so that a busy host does not look like a stall.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from longfat.common.process import family
from longfat.engine.sandbox.elf import symbol_address
from longfat.errors import MachineError

STALL_CPU_S = 20.0
"""CPU seconds without a tick of virtual time that count as a stall."""

STALL_IDLE_S = 120.0
"""Wall seconds without a tick and without CPU use that count as one."""

_IDLE_CPU_S = 1.0  # the kernel's own bookkeeping

_MAX_PROCESS_SHARE = 0.05
"""What a process uses of a machine's CPU time, at most, if the kernel itself is the cause.

A process that sends packets without end uses about half of it, and none ran while packets
circulated. One in a long system call comes back from it now and then."""

_SOFTIRQS = "kstat"
_NET_RX = struct.Struct("<Q12xI")
"""The counter of received packets' softirqs in struct kernel_stat (linux/kernel_stat.h)."""

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
            empty if none used any, or if it is not known.
        is_kernel: guest processes used hardly any, so it was the guest's kernel.
        receives_packets: the guest's kernel received packets all the time.
    """

    virtual_s: float
    cpu_s: float
    spinner: str = ""
    is_kernel: bool = False
    receives_packets: bool = False

    def __str__(self) -> str:
        if self.cpu_s < _IDLE_CPU_S:
            return (
                f"virtual time stalls at {self.virtual_s:.6f} s: the machine waits for"
                " an event that does not occur"
            )
        start = f"virtual time stalls at {self.virtual_s:.6f} s:"
        used = f"{self.cpu_s:.0f} s of CPU time used"
        if self.is_kernel and self.receives_packets:
            return (
                f"{start} the guest's kernel receives packets without end ({used}, none of it by"
                " a process). Packets circulate for ever in a loop of switches without spanning"
                " tree, and where no link has a delay or a rate, that takes no virtual time."
                " Enable STP on the switches (`ip link set BRIDGE type bridge stp_state 1`), or"
                " remove a link of the loop."
            )
        if self.is_kernel:
            return (
                f"{start} the guest's kernel computes without end ({used}, none of it by a"
                " process itself), as in a system call that never returns."
            )
        who = f"the guest process `{self.spinner}` spins" if self.spinner else "a process spins"
        return (
            f"{start} {who} without waiting ({used}). In virtual time a program that never"
            " sleeps never ends; give it something to wait for."
        )


class Watchdog:
    """Watches one machine.

    Args:
        kernel_pid: the process that runs the kernel.
        binary: the kernel's file, with its symbols.
        stall_cpu_s: CPU seconds without a tick that count as a stall.
    """

    def __init__(self, *, kernel_pid: int, binary: Path, stall_cpu_s: float = STALL_CPU_S) -> None:
        self._pid = kernel_pid
        self._binary = binary
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
        return find_cause(self._pid, self._binary, virtual_s=virtual_s, cpu_s=cpu_s)

    def start_anew(self) -> None:
        """Restart the timeout: the machine was held until now and could not tick."""
        self._wall_s = time.monotonic()

    def _machine_cpu_s(self) -> float:
        return sum(process.cpu_s for process in family(self._pid))


def find_cause(
    kernel_pid: int, binary: Path, *, virtual_s: float, cpu_s: float, watch_s: float = 0.5
) -> Stall:
    """Return a stall with what uses the machine's CPU now.

    Every guest process is a host process below the kernel's, so the host's
    accounting finds the one that uses most, and its command line is at the top of its stack.
    Where they use hardly any, the kernel computes for itself: it is the host process above them.

    Args:
        kernel_pid: the process that runs the kernel.
        binary: the kernel's file, with its symbols.
        virtual_s: the virtual time of the stall, in seconds.
        cpu_s: the CPU time that was used meanwhile, in seconds.
        watch_s: how long to watch, in seconds of wall time.
    """
    received = _receive_softirqs(kernel_pid, binary)
    before = {process.pid: process.cpu_s for process in family(kernel_pid)}
    time.sleep(watch_s)
    used = {p.pid: p.cpu_s - before.get(p.pid, 0.0) for p in family(kernel_pid)}
    receives_packets = _receive_softirqs(kernel_pid, binary) != received
    total_s = sum(used.values())
    kernel_s = used.pop(kernel_pid, 0.0)
    busiest = max(used, key=lambda pid: used[pid], default=None)
    busiest_s = used[busiest] if busiest is not None else 0.0
    is_kernel = kernel_s > 0 and busiest_s <= _MAX_PROCESS_SHARE * total_s
    return Stall(
        virtual_s=virtual_s,
        cpu_s=cpu_s,
        spinner=command_line(busiest) if busiest is not None and not is_kernel else "",
        is_kernel=is_kernel,
        receives_packets=receives_packets,
    )


def _receive_softirqs(kernel_pid: int, binary: Path) -> int:
    """Return how often the kernel has handled received packets; 0 where it is not known."""
    try:
        address = symbol_address(binary, _SOFTIRQS)
        with Path(f"/proc/{kernel_pid}/mem").open("rb", buffering=0) as memory:
            data = os.pread(memory.fileno(), _NET_RX.size, address)
    except (OSError, MachineError):
        return 0
    return int(_NET_RX.unpack(data)[1]) if len(data) == _NET_RX.size else 0


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
