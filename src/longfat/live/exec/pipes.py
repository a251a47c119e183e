"""A command without this process's terminal: its input, its outputs, and signals for it.

`run_by_pipes` passes input and outputs through separately. Input that is available when the
command can take it is passed on at once, and takes no virtual time: so from a file, or from a
pipe that was written in time, the same bytes come at the same moments. When there is none yet,
time must pass, since it is unknown whether the command reads at all; it may have been given an
input that never ends and never has data. But once such an input has had data and was read to
its end, the user interacts with the command, and time passes no faster than in reality until
more comes.

`run_typed` gives the command a terminal of its own, at whose prompts lines of our input are
typed. Some programs read commands in a way that only works with a person: Mininet's CLI takes
input while a command runs as keys for that command, and at the end of a pipe it spins. So each
line is typed when the program waits for it with readline (bash, Mininet's CLI, Python, vtysh,
gdb); until then nothing is read, and no time passes until the line is there. So the same lines
give the same bytes, however slowly they come.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import stat
from typing import TYPE_CHECKING

from longfat.engine.machine import Pace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from longfat.live.exec.options import Order
    from longfat.live.session import Session
    from longfat.live.task import Task

_CHUNK = 1 << 16
# The machine waits this long for an interactive input that may have more data.
_GRACE_S = 0.02
_REAL_TIME = 1.0

_TAKEN = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)

# A writable pipe takes this much without blocking.
_AT_ONCE = select.PIPE_BUF
STDIN, STDOUT, STDERR = 0, 1, 2

LAST_GRACE_NS = 5 * 10**9
"""The grace period of a command after SIGTERM at its time limit."""

_LOOK_EVERY_S = 0.25
_ROWS, _COLUMNS = 24, 80
_END = b"\x04"  # Ctrl-D

# A shell with jobs needs a second Ctrl-D.
_MAX_ENDS = 3


class Feed:
    """An input of this process, for a command.

    Args:
        descriptor: the input.
        session: the session that the command runs in.
        is_paced: a pace was specified, and must not be changed here.
    """

    def __init__(self, descriptor: int, session: Session, *, is_paced: bool) -> None:
        self._session = session
        self._is_paced = is_paced
        self._descriptor = None if _is_anothers_terminal(descriptor) else descriptor
        self._is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._is_dry = False
        self._said_something = False

    @property
    def waits_for(self) -> list[int]:
        """Return the descriptor that the command waits for, if it does."""
        return [self._descriptor] if self._is_dry and self._descriptor is not None else []

    def wanted(self, now_ns: int) -> bytes | None:
        """Return input, b"" at its end, or None if there is none yet.

        Args:
            now_ns: the virtual time since boot, in nanoseconds.
        """
        if self._descriptor is None:
            return b""
        grace_s = _GRACE_S if self._said_something else 0.0
        if not self._is_file and not select.select([self._descriptor], [], [], grace_s)[0]:
            self._is_dry = True
            if self._said_something and not self._is_paced:
                self._session.set_pace(Pace(factor=_REAL_TIME, from_s=now_ns / 1e9))
            return None
        return self._read(self._descriptor)

    def come(self, task: Task) -> None:
        """Pass available input to a command that waits for it."""
        if self._descriptor is None:
            return
        data = self._read(self._descriptor)
        if self._is_dry:
            self._is_dry = False
            if not self._is_paced:
                self._session.set_pace(None)
        self._session.write_stdin(task, data)

    def _read(self, descriptor: int) -> bytes:
        data = b""
        with contextlib.suppress(OSError):  # a terminal that is gone
            data = os.read(descriptor, _CHUNK)
        self._said_something = True
        if not data:
            self._descriptor = None
        return data


def _is_anothers_terminal(descriptor: int) -> bool:
    """Return whether it is a terminal that we must not read: we run in the background."""
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:
        return False


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


def run_by_pipes(
    session: Session,
    order: Order,
    *,
    until_ns: int | None,
    interrupts: Interrupts,
) -> int | None:
    """Run a command to its end.

    Args:
        session: the machine, held.
        order: the command.
        until_ns: its time limit, in nanoseconds of virtual time since boot.
        interrupts: signals for it.

    Returns:
        Its exit status, -N after signal N; None after the time limit.

    Raises:
        RejectedError: it cannot be started.
        BrokenPipeError: the reader of its output is gone.
        Interrupted: see `Interrupts`.
        MachineError: the machine ended or stalls.
    """
    outlets = [Outlet(number, interrupts) for number in (STDOUT, STDERR)]
    feed = Feed(STDIN, session, is_paced=order.factor is not None)

    def show(is_error: bool, data: bytes) -> None:
        outlets[is_error].write(data)
        session.leave()  # the machine may have had to wait for the reader

    task = session.start(
        order.argv,
        environment=order.whole_environment(),
        folder=order.folder,
        takes_input=True,
        on_output=show,
        on_wanted=feed.wanted,
    )
    interrupts.pass_on = lambda number: session.signal(task, number)
    if _pass_time(session, task, feed, interrupts=interrupts, until_ns=until_ns):
        return task.status
    session.signal(task, signal.SIGTERM)
    _pass_time(session, task, feed, interrupts=interrupts, until_ns=session.now_ns + LAST_GRACE_NS)
    return None


def _pass_time(
    session: Session,
    task: Task,
    feed: Feed,
    *,
    interrupts: Interrupts,
    until_ns: int | None,
) -> bool:
    """Let time pass until the command ends, or to a moment; return whether it has ended."""
    session.resume(ended=[task], until_ns=until_ns)
    while not session.is_held:
        ready = session.wait(_LOOK_EVERY_S, also=[interrupts.wakeup, *feed.waits_for])
        if interrupts.wakeup in ready:
            interrupts.see_to()
        if feed.waits_for and feed.waits_for[0] in ready:
            feed.come(task)
    return task.status is not None


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
    while True:
        reason = _pass_time_to_prompt(session, task, interrupts=interrupts, until_ns=until_ns)
        if task.status is not None:
            return task.status
        if reason != "prompts":
            break
        session.write_stdin(task, lines.take())
    session.signal(task, signal.SIGTERM)
    # A shell's prompt ends it too: no more lines will be typed.
    _pass_time_to_prompt(
        session, task, interrupts=interrupts, until_ns=session.now_ns + LAST_GRACE_NS
    )
    return None


def _pass_time_to_prompt(
    session: Session, task: Task, *, interrupts: Interrupts, until_ns: int | None
) -> str:
    """Let time pass until a line is waited for, or the command has ended, or to a moment."""
    if task.status is None:
        # What it left running may never be idle, so its end counts too.
        session.resume(ended=[task], prompts=True, until_ns=until_ns)
    while not session.is_held:
        if session.wait(_LOOK_EVERY_S, also=[interrupts.wakeup]):
            interrupts.see_to()
    return session.stop_reason


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
        if self._ends > _MAX_ENDS:
            raise Interrupted(signal.SIGHUP)
        return _END
