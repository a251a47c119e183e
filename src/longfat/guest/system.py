"""The few system calls of Linux that Python's standard library does not offer."""

import ctypes
import os

MS_RDONLY = 1
MS_NOSUID = 2
MS_REMOUNT = 32
MS_BIND = 4096

_CLOCK_MONOTONIC, _TIMER_ABSTIME = 1, 1
_PR_SET_TIMERSLACK = 29
_CLONE_NEWNET = 0x40000000
_POWER_OFF = 0x4321FEDC

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str = "", *, flags: int = 0, options: str = "") -> None:
    """Attach one file system to the tree.

    By mount(2) and not by the command: the command is set-user-ID on the
    host, and would lose root to the host's view of its owner.

    Raises:
        OSError: the kernel refused.
    """
    arguments = (text.encode() for text in (source, target, kind))
    if _libc.mount(*arguments, ctypes.c_ulong(flags), options.encode()) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)


def enter_network_namespace(descriptor: int) -> None:
    """Move this process to the network namespace that a descriptor names, by setns(2).

    Raises:
        OSError: the kernel refused.
    """
    if _libc.setns(ctypes.c_int(descriptor), ctypes.c_int(_CLONE_NEWNET)) != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


def sleep_until(when_ns: int) -> None:
    """Sleep until a moment of the monotonic clock, in nanoseconds, by clock_nanosleep(2).

    Sleeping for a time would read the clock first, and end some nanoseconds
    sooner or later with what was done before.
    """
    seconds, nanoseconds = divmod(when_ns, 1_000_000_000)
    moment = _Timespec(seconds, nanoseconds)
    while _libc.clock_nanosleep(_CLOCK_MONOTONIC, _TIMER_ABSTIME, ctypes.byref(moment), None):
        pass  # a signal


def run_by_turns(priority: int) -> None:
    """Run this process and its future children by SCHED_FIFO, sched(7).

    Args:
        priority: 1 to 99; a higher one runs first, equal ones in the order of their waking.
    """
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


def set_timer_slack(slack_ns: int) -> None:
    """Say how late this process and its future children may be woken by a timer, by prctl(2)."""
    _libc.prctl(ctypes.c_int(_PR_SET_TIMERSLACK), ctypes.c_ulong(slack_ns))


def power_off() -> None:
    """End the machine at once, by reboot(2)."""
    _libc.sync()
    _libc.reboot(ctypes.c_int(_POWER_OFF))
