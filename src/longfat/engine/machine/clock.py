"""The guest's virtual clock, read from outside.

The kernel keeps its virtual time in the variable `time_travel_time`
(arch/um/kernel/time.c). Reading that from the running kernel's memory costs
the guest nothing, not even virtual time, and works when the guest hangs.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

from longfat.engine.sandbox.elf import symbol_address

_SYMBOL = "time_travel_time"

_AT_RANDOM = 25
"""The entry of the auxiliary vector that points to 16 random bytes. Source: getauxval(3)."""


class VirtualClock:
    """Reads the virtual time of a running kernel.

    Args:
        kernel_pid: the process that runs the kernel.
        binary: the kernel's file, with its symbols.

    Attributes:
        execution: identifies this execution of the program among those of the process:
            random bytes that the host gave it.

    Raises:
        MachineError: the file has no such symbol.
        OSError: the process is gone, is not accessible, or has not executed the program yet.
    """

    def __init__(self, *, kernel_pid: int, binary: Path) -> None:
        self._address = symbol_address(binary, _SYMBOL)
        self._memory = os.open(f"/proc/{kernel_pid}/mem", os.O_RDONLY)
        try:
            self.execution = _random_bytes(kernel_pid, self._memory)
        except OSError:
            self.close()
            raise

    def now_s(self) -> float | None:
        """Return the virtual time since boot, in seconds; None if no kernel is there."""
        try:
            data = os.pread(self._memory, 8, self._address)
        except OSError:
            return None
        return struct.unpack("<Q", data)[0] / 1e9 if len(data) == 8 else None

    def close(self) -> None:
        """Close the process's memory."""
        os.close(self._memory)


def _random_bytes(pid: int, memory: int) -> bytes:
    """Return the random bytes that a process got when it executed its program."""
    vector = Path(f"/proc/{pid}/auxv").read_bytes()
    for kind, value in struct.iter_unpack("@LL", vector[: len(vector) // 16 * 16]):
        if kind == _AT_RANDOM and (found := os.pread(memory, 16, value)):
            return found
    raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
