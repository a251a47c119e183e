"""What a command writes, given to an output of this process."""

from __future__ import annotations

import os
import select
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.live.exec.interrupts import Interrupts

# A pipe that can be written to takes so much without waiting.
_AT_ONCE = select.PIPE_BUF


class Outlet:
    """An output of this process. The machine waits while it takes nothing.

    Args:
        descriptor: the output.
        interrupts: signals, seen to while it takes nothing.
    """

    def __init__(self, descriptor: int, interrupts: Interrupts) -> None:
        self._descriptor = descriptor
        self._interrupts = interrupts
        self._may_wait = not stat.S_ISREG(os.fstat(descriptor).st_mode)

    def write(self, data: bytes) -> None:
        """Write it all.

        Raises:
            BrokenPipeError: nobody reads it any more.
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
            except BlockingIOError:  # somebody set it so that it does not wait
                self._may_wait = True

    def _has_room(self) -> bool:
        told = self._interrupts.told
        readable, writable, _ = select.select([told], [self._descriptor], [])
        if readable:
            self._interrupts.see_to()
        return bool(writable)


def open_what_is_closed() -> None:
    """See that this process has an input and outputs, if only to nowhere.

    Where one was closed by whoever started us, the next thing that we open, such as
    the line to the machine, would take its number.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
