"""Signals to this process that are forwarded to the command."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_TAKEN = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):  # noqa: N818  an order of the person's, more than an error
    """The user insists on quitting: the machine is to end.

    Attributes:
        number: the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Interrupts:
    """Signals, the first of which is forwarded to the command, and the second ends the machine.

    Args:
        pass_on: forwards a signal to the command.

    Attributes:
        wakeup: a descriptor that is readable when there is something to `see_to`.
    """

    def __init__(self, wakeup: int) -> None:
        self.wakeup = wakeup
        self.pass_on: Callable[[int], None] | None = None
        self._had_one = False

    def see_to(self) -> None:
        """Handle pending signals.

        Raises:
            Interrupted: it is the second, or there is no command yet.
        """
        try:
            numbers = os.read(self.wakeup, 256)
        except BlockingIOError:
            return
        for number in numbers:
            if self._had_one or self.pass_on is None:
                raise Interrupted(number)
            self._had_one = True
            self.pass_on(number)


@contextlib.contextmanager
def interrupts() -> Iterator[Interrupts]:
    """Handle signals for as long as the context lasts; only in the main thread."""
    reads, writes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    # Signals that the parent ignores (nohup, a shell's background jobs) stay ignored.
    taken = [number for number in _TAKEN if signal.getsignal(number) != signal.SIG_IGN]
    former_fd = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    former = [signal.signal(number, _nothing) for number in taken]
    try:
        yield Interrupts(reads)
    finally:
        for number, handler in zip(taken, former, strict=True):
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_fd)
        os.close(reads)
        os.close(writes)


def _nothing(_number: int, _frame: FrameType | None) -> None:
    """Do nothing; without a handler, the signal would not wake us."""
