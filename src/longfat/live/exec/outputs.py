"""The output of a command, written to an output of this process."""

from __future__ import annotations

import os
import select
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.live.exec.interrupts import Interrupts

# A writable pipe takes this much without blocking.
_AT_ONCE = select.PIPE_BUF


class Outlet:
    """An output of this process. The machine waits while it is blocked.

    Args:
        descriptor: the output.
        interrupts: signals, handled while it is blocked.
    """

    def __init__(self, descriptor: int, interrupts: Interrupts) -> None:
        self._descriptor = descriptor
        self._interrupts = interrupts
        self._may_wait = not stat.S_ISREG(os.fstat(descriptor).st_mode)

    def write(self, data: bytes) -> None:
        """Write it all.

        Raises:
            BrokenPipeError: its reader is gone.
            Interrupted: see `Interrupts`.
            OSError: it cannot be written.
        """
        left = memoryview(data)
        while left:
            if self._may_wait and not self._has_room():
                continue
            size = _AT_ONCE if self._may_wait else len(left)
            try:
                left = left[os.write(self._descriptor, left[:size]) :]
            except BlockingIOError:  # it was set to non-blocking mode
                self._may_wait = True

    def _has_room(self) -> bool:
        wakeup = self._interrupts.wakeup
        readable, writable, _ = select.select([wakeup], [self._descriptor], [])
        if readable:
            self._interrupts.see_to()
        return bool(writable)


def open_what_is_closed() -> None:
    """Make sure that this process has an input and outputs, if only /dev/null.

    Where one was closed by the parent, the next descriptor that we open, such as
    the channel to the machine, would take its number.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
