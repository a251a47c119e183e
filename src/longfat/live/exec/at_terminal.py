"""A command in this process's terminal: input and output are passed through unchanged.

Time is stopped while a shell or another line editor waits there for a line;
it passes in real time while a program reads key by key, since there a person
decides what comes next; otherwise it passes as fast as it can (`ClockController`).
"""

from __future__ import annotations

import os
import selectors
import signal
from typing import TYPE_CHECKING

from longfat.live.exec.pipes import LAST_GRACE_NS, Interrupted
from longfat.live.shell.clock_controller import ClockController
from longfat.live.shell.terminal import Terminal, end_orderly, signal_descriptor

if TYPE_CHECKING:
    from longfat.live.exec.options import Order
    from longfat.live.session import Session
    from longfat.live.task import Task

_LOOK_EVERY_S = 0.25
# While this much output is pending, the machine waits.
_MAX_UNSENT_BYTES = 1 << 18


def run_at_terminal(session: Session, order: Order, *, until_ns: int | None) -> int | None:
    """Run a command to its end.

    Args:
        session: the machine, held.
        order: the command.
        until_ns: its time limit, in nanoseconds of virtual time since boot.

    Returns:
        Its exit status, -N after signal N; None after the time limit.

    Raises:
        RejectedError: it cannot be started.
        Interrupted: the user quit, or the terminal is gone.
        MachineError: the machine ended or stalls.
    """
    end_orderly()
    terminal = Terminal()
    task = session.start(
        order.argv,
        environment=order.whole_environment(term=terminal.term),
        folder=order.folder,
        terminal=terminal.size(),
        on_output=lambda _, data: terminal.write(data),
    )
    with terminal, signal_descriptor() as signals:
        served = _Served(session, task, terminal, signals)
        clock = ClockController(session, factor=order.factor, until_ns=until_ns)
        if served.serve(clock):
            return task.status
        session.signal(task, signal.SIGTERM)
        served.serve(ClockController(session, factor=None, until_ns=session.now_ns + LAST_GRACE_NS))
        return None


class _Served:
    """The terminal of a running command."""

    def __init__(self, session: Session, task: Task, terminal: Terminal, signals: int) -> None:
        self._session = session
        self._task = task
        self._terminal = terminal
        self._signals = signals

    def serve(self, clock: ClockController) -> bool:
        """Serve it until the command ends or its time is up; return whether it has ended."""
        with selectors.EpollSelector() as selector:
            selector.register(self._terminal.reads, selectors.EVENT_READ)
            selector.register(self._signals, selectors.EVENT_READ)
            while self._task.status is None:
                if self._terminal.is_gone:
                    raise Interrupted(signal.SIGHUP)
                if not self._turn(selector, clock):
                    return False
        return True

    def _turn(self, selector: selectors.EpollSelector, clock: ClockController) -> bool:
        """Wait for events and handle them; return whether there is time left."""
        session, terminal = self._session, self._terminal
        _watch_room(selector, terminal)
        if terminal.unsent_bytes > _MAX_UNSENT_BYTES:
            session.leave()
            events = selector.select(_LOOK_EVERY_S)
        else:
            clock.resume()
            if clock.is_over:
                return False
            session.wait(_LOOK_EVERY_S, also=[selector.fileno()])
            events = selector.select(0)
        ready = [key.fd for key, _ in events]
        if terminal.writes in ready:
            terminal.flush()
        if self._signals in ready:
            if signal.SIGCONT in os.read(self._signals, 4096):
                terminal.make_raw()
            session.resize(self._task, *terminal.size())
            clock.wake()
        if terminal.reads in ready:
            self._read_input()
            clock.wake()
        return True

    def _read_input(self) -> None:
        keys = self._terminal.read()
        if keys == b"":
            raise Interrupted(signal.SIGHUP)
        if keys and self._terminal.is_quit(keys):
            raise Interrupted(signal.SIGQUIT)
        if keys:
            self._session.write_stdin(self._task, keys)


def _watch_room(selector: selectors.EpollSelector, terminal: Terminal) -> None:
    is_watched = terminal.writes in selector.get_map()
    if terminal.unsent_bytes and not is_watched:
        selector.register(terminal.writes, selectors.EVENT_WRITE)
    elif is_watched and not terminal.unsent_bytes:
        selector.unregister(terminal.writes)
