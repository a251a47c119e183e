"""The guest's virtual clock, read from outside.

The kernel keeps its virtual time in the variable `time_travel_time`
(arch/um/kernel/time.c). Reading that from the running kernel's memory costs
the guest nothing, not even virtual time, and works when the guest hangs.
"""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING

from longfat.engine.sandbox.elf import symbol_address

if TYPE_CHECKING:
    from pathlib import Path

_SYMBOL = "time_travel_time"


class VirtualClock:
    """Reads the virtual time of a running kernel.

    Args:
        kernel_pid: the process that runs the kernel.
        binary: the kernel's file, with its symbols.

    Raises:
        MachineError: the file has no such symbol.
        OSError: the process is gone, or may not be looked into.
    """

    def __init__(self, *, kernel_pid: int, binary: Path) -> None:
        self._address = symbol_address(binary, _SYMBOL)
        self._memory = os.open(f"/proc/{kernel_pid}/mem", os.O_RDONLY)

    def now_s(self) -> float | None:
        """Return the virtual time since boot, in seconds; None if the kernel is gone."""
        try:
            data = os.pread(self._memory, 8, self._address)
        except OSError:
            return None
        return struct.unpack("<Q", data)[0] / 1e9 if len(data) == 8 else None

    def close(self) -> None:
        """Let go of the process's memory."""
        os.close(self._memory)
