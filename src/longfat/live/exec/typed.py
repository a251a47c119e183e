"""A command in a terminal of its own, at whose prompts lines of our input are typed.

Some programs read commands in a way that only works with a person: Mininet's
CLI takes input while a command runs as keys for that command, and at the
end of a pipe it spins. So each line is typed when the program waits for it with
readline (bash, Mininet's CLI, Python, vtysh, gdb); until then nothing is read,
and while we wait for the line no time passes. So the same lines give the same
bytes, however slowly they come.
"""

from __future__ import annotations

import os
import select
import signal
from typing import TYPE_CHECKING

from longfat.live.exec.interrupts import Interrupted
from longfat.live.exec.outputs import Outlet
from longfat.live.exec.pipes import LAST_GRACE_NS, STDIN, STDOUT

if TYPE_CHECKING:
    from longfat.live.exec.interrupts import Interrupts
    from longfat.live.exec.options import Order
    from longfat.live.session import Session
    from longfat.live.task import Task

_ROWS, _COLUMNS = 24, 80
_LOOK_EVERY_S = 0.25
_CHUNK = 1 << 16
_END = b"\x04"  # Ctrl-D
# A shell with jobs needs a second Ctrl-D.
_MOST_ENDS = 3


def run_typed(
    session: Session, order: Order, *, until_ns: int | None, interrupts: Interrupts
) -> int | None:
    """Run a command to its end; see `run_by_pipes`.

    Raises:
        RejectedError: it cannot be started.
        BrokenPipeError: the reader of its output is gone.
        Interrupted: see `Interrupts`; or it does not end when its input does.
        MachineError: the machine ended or stalls.
    """
    outlet = Outlet(STDOUT, interrupts)
    lines = _Lines(STDIN, interrupts)

    def show(_is_error: bool, data: bytes) -> None:
        outlet.write(data)
        session.leave()  # the machine may have had to wait for the reader

    task = session.start(
        order.argv,
        environment=order.whole_environment(term="dumb"),
        folder=order.folder,
        terminal=(_ROWS, _COLUMNS),
        on_output=show,
    )
    interrupts.pass_on = lambda number: session.signal(task, number)
    while _go(session, task, interrupts=interrupts, until_ns=until_ns) == "prompts":
        if task.status is not None:
            return task.status
        session.write_stdin(task, lines.take())
    session.signal(task, signal.SIGTERM)
    # A shell's prompt ends it too: no more lines will be typed.
    _go(session, task, interrupts=interrupts, until_ns=session.now_ns + LAST_GRACE_NS)
    return None


def _go(session: Session, task: Task, *, interrupts: Interrupts, until_ns: int | None) -> str:
    """Let time pass until a line is waited for, or the command has ended, or to a moment."""
    if task.status is None:
        session.begin(prompts=True, until_ns=until_ns)
    while not session.is_held:
        if session.wait(_LOOK_EVERY_S, also=[interrupts.wakeup]):
            interrupts.see_to()
    return session.why


class _Lines:
    """The lines of our input, followed by the end-of-file key."""

    def __init__(self, descriptor: int, interrupts: Interrupts) -> None:
        self._descriptor: int | None = descriptor
        self._interrupts = interrupts
        self._unread = b""
        self._ends = 0

    def take(self) -> bytes:
        """Wait for a line and return it; at the end of all lines, the end-of-file key.

        Raises:
            Interrupted: see `Interrupts`; or that key had no effect.
        """
        while b"\n" not in self._unread and self._descriptor is not None:
            ready = select.select([self._descriptor, self._interrupts.wakeup], [], [])[0]
            if self._interrupts.wakeup in ready:
                self._interrupts.see_to()
            elif not (data := os.read(self._descriptor, _CHUNK)):
                self._descriptor = None
            else:
                self._unread += data
        line, newline, self._unread = self._unread.partition(b"\n")
        if line or newline:
            return line + b"\r"
        self._ends += 1
        if self._ends > _MOST_ENDS:
            raise Interrupted(signal.SIGHUP)
        return _END
