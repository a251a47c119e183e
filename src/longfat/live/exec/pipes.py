"""A command without a terminal: its input and its outputs are passed through separately."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from longfat.live.exec.input import Feed
from longfat.live.exec.outputs import Outlet

if TYPE_CHECKING:
    from longfat.live.exec.interrupts import Interrupts
    from longfat.live.exec.options import Order
    from longfat.live.session import Session
    from longfat.live.task import Task

STDIN, STDOUT, STDERR = 0, 1, 2

LAST_GRACE_NS = 5 * 10**9
"""The grace period of a command after SIGTERM at its time limit."""

_LOOK_EVERY_S = 0.25


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
    if _go(session, task, feed, interrupts=interrupts, until_ns=until_ns):
        return task.status
    session.signal(task, signal.SIGTERM)
    _go(session, task, feed, interrupts=interrupts, until_ns=session.now_ns + LAST_GRACE_NS)
    return None


def _go(
    session: Session,
    task: Task,
    feed: Feed,
    *,
    interrupts: Interrupts,
    until_ns: int | None,
) -> bool:
    """Let time pass until the command ends, or to a moment; return whether it has ended."""
    session.begin(ended=[task], until_ns=until_ns)
    while not session.is_held:
        ready = session.wait(_LOOK_EVERY_S, also=[interrupts.wakeup, *feed.waits_for])
        if interrupts.wakeup in ready:
            interrupts.see_to()
        if feed.waits_for and feed.waits_for[0] in ready:
            feed.come(task)
    return task.status is not None
