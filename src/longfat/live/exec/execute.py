"""Boot a machine, run one command in it, and end it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.engine.machine import Pace
from longfat.live.exec.compat import check_open_vswitch, install_shims, start_open_vswitch
from longfat.live.exec.pipes import (
    STDIN,
    STDOUT,
    interrupts,
    open_what_is_closed,
    run_by_pipes,
    run_typed,
)
from longfat.live.programs import package_folders
from longfat.live.session import Session

if TYPE_CHECKING:
    from longfat.live.exec.options import Order

TIMED_OUT = 124
"""The exit status of a command that exceeded its time limit, like timeout(1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command ended.

    Attributes:
        status: its exit status in a shell: 128 + N after signal N, 124 after the time
            limit.
        virtual_s: the virtual time that it took, in seconds.
        wall_s: the wall time that it took, in seconds, without the machine's boot.
    """

    status: int
    virtual_s: float
    wall_s: float


def execute(order: Order) -> Ending:
    """Run a command in a fresh machine, with this process's input and outputs.

    It has a terminal if input and output are one, and we are in its foreground; or if lines
    are to be typed. Processes that it left running end with the machine.

    Args:
        order: the command.

    Returns:
        How it ended.

    Raises:
        RejectedError: it cannot be started.
        BrokenPipeError: the reader of its output is gone.
        Interrupted: the user ended it.
        MachineError: the machine ended or stalls.
        HostError: the host lacks the kernel, Open vSwitch, or what a sandbox needs.
    """
    open_what_is_closed()
    if order.open_vswitch:
        check_open_vswitch()
    with Session(
        kernel=order.kernel,
        seed=order.seed,
        memory_bytes=order.memory_bytes,
        folders=(*package_folders(), *order.folders),
        shared_kernel=not order.separate_kernels,
        stall_cpu_s=order.stall_cpu_s,
    ) as session:
        if order.open_vswitch:
            start_open_vswitch(session)
        shims = install_shims(session, order.folders)
        order = replace(order, environment={**shims, **order.environment})
        if order.factor is not None:
            session.set_pace(Pace(factor=order.factor, from_s=session.now_s))
        from_ns, from_s = session.now_ns, time.monotonic()
        until_ns = None if order.timeout_s is None else from_ns + round(order.timeout_s * 1e9)
        if _has_terminal() and not order.is_typed:
            # It shares much with the shells, whose import takes as long as booting a machine.
            from longfat.live.exec.at_terminal import run_at_terminal  # noqa: PLC0415

            status = run_at_terminal(session, order, until_ns=until_ns)
        else:
            run = run_typed if order.is_typed else run_by_pipes
            with interrupts() as handled:
                status = run(session, order, until_ns=until_ns, interrupts=handled)
        return Ending(
            status=_exit_status(status),
            virtual_s=(session.now_ns - from_ns) / 1e9,
            wall_s=time.monotonic() - from_s,
        )


def _has_terminal() -> bool:
    """Return whether input and output are a terminal, and we are in its foreground."""
    try:
        both = os.isatty(STDIN) and os.isatty(STDOUT)
        return both and os.tcgetpgrp(STDIN) == os.getpgrp()
    except OSError:
        return False


def _exit_status(status: int | None) -> int:
    if status is None:
        return TIMED_OUT
    return status if status >= 0 else 128 - status
