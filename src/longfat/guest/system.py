"""The few system calls of Linux that Python's standard library does not offer."""

from __future__ import annotations

import ctypes
import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MS_SLAVE = 1 << 19
MS_SHARED = 1 << 20

CLONE_NEWNS = 0x00020000
CLONE_NEWPID = 0x20000000

_CLOCK_MONOTONIC, _TIMER_ABSTIME = 1, 1
_PR_SET_TIMERSLACK = 29
_MNT_DETACH = 2
_POWER_OFF = 0x4321FEDC
_NANOSECONDS = b"3b9aca00"  # what /proc/net/psched says of timers in a second
_MIN_SLEEP_S, _MAX_TICKS = 0.001, 10
_RNDRESEEDCRNG = 0x5207  # random(4)

_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: str, kind: str = "", *, flags: int = 0, options: str = "") -> None:
    """Attach one file system to the tree.

    By mount(2) and not by the command: the command is set-user-ID on the
    host, and would lose root to the host's view of its owner.

    Raises:
        OSError: the kernel refused.
    """
    arguments = (text.encode() for text in (source, target, kind))
    _check(_libc.mount(*arguments, ctypes.c_ulong(flags), options.encode()), target)


def unmount(target: str) -> None:
    """Detach what is mounted somewhere, by umount2(2).

    Raises:
        OSError: the kernel refused.
    """
    _check(_libc.umount2(target.encode(), ctypes.c_int(_MNT_DETACH)), target)


def enter_namespace(descriptor: int) -> None:
    """Move this process to the namespace that a descriptor names, by setns(2).

    Raises:
        OSError: the kernel refused.
    """
    _check(_libc.setns(ctypes.c_int(descriptor), ctypes.c_int(0)))


def unshare(kinds: int) -> None:
    """Move this process to namespaces of its own. Source: the manual page of section 2.

    Args:
        kinds: the sum of `CLONE_NEW...`.

    Raises:
        OSError: the kernel refused.
    """
    _check(_libc.unshare(ctypes.c_int(kinds)))


class _Timespec(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_long), ("tv_nsec", ctypes.c_long))


# UML's timers fire a nanosecond late: itimer_next_event() in arch/um/kernel/time.c.
_LATENESS_NS = 1


def sleep_until(when_ns: int) -> None:
    """Sleep until a moment of the monotonic clock, in nanoseconds, by clock_nanosleep(2).

    Sleeping for a time would read the clock first, and end some nanoseconds
    sooner or later with what was done before.
    """
    seconds, nanoseconds = divmod(when_ns - _LATENESS_NS, 1_000_000_000)
    moment = _Timespec(seconds, nanoseconds)
    while _libc.clock_nanosleep(_CLOCK_MONOTONIC, _TIMER_ABSTIME, ctypes.byref(moment), None):
        pass  # a signal


class _Itimerspec(ctypes.Structure):
    _fields_ = (("it_interval", _Timespec), ("it_value", _Timespec))


def timer_descriptor() -> int:
    """Return a descriptor that can be read when a timer has fired, by timerfd_create(2)."""
    descriptor = _libc.timerfd_create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
    _check(min(descriptor, 0))
    return int(descriptor)


def set_timer(descriptor: int, when_ns: int) -> None:
    """Let a timer fire at a moment of the monotonic clock, in nanoseconds; never, if 0."""
    early_ns = max(0, when_ns - _LATENESS_NS)
    times = _Itimerspec(_Timespec(0, 0), _Timespec(*divmod(early_ns, 1_000_000_000)))
    _check(_libc.timerfd_settime(descriptor, _TIMER_ABSTIME, ctypes.byref(times), None))


def run_by_turns(priority: int) -> None:
    """Run this process and its future children by SCHED_RR, sched(7).

    Args:
        priority: 1 to 99; a higher one runs first, equal ones in the order of their waking. Only
            one that does nothing but read the clock is made to wait for others.
    """
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(priority))


def share_by_turns(priority: int) -> None:
    """Let this process and all that it starts run in the order of their waking.

    A CPU that is infinitely fast has nothing to share out, and the ordinary
    scheduler would let a process that only looks on change the order of others.
    Nor may another process's timer wake anybody early: there is no slack, which
    6.1 does not see to by itself.

    Args:
        priority: see `run_by_turns`.
    """
    # The watch over such processes is a timer of its own. They cannot take time
    # away from others: it stands still while they run.
    set_sysctl("kernel/sched_rt_runtime_us", -1)
    set_sysctl("kernel/sched_rr_timeslice_ms", 10)
    set_timer_slack(1)
    run_by_turns(priority)


def put_softirqs_first(priority: int) -> None:
    """Let the kernel finish what it does with packets before any process goes on.

    Now and then it leaves the rest of such work to a thread of its own, which would
    wait until all processes of `share_by_turns` sleep; unless something comes in
    between, such as the waking of one that only looks on. Then the rest is done sooner,
    and looking has changed something.

    Args:
        priority: that of the thread; higher than that of all processes.
    """
    _schedule_threads(b"ksoftirqd/", os.SCHED_FIFO, priority)


def raise_terminals(priority: int) -> None:
    """Let what is typed at terminals come through beside a process that computes for ever.

    The kernel passes it on by threads of its own, which else wait until all processes
    of `share_by_turns` sleep; and that is well, since then much goes at once.

    Args:
        priority: that of the threads, higher than that of all processes; 0 to have all
            as it was.
    """
    _schedule_threads(b"kworker/u", os.SCHED_FIFO if priority else os.SCHED_OTHER, priority)


def _schedule_threads(name: bytes, policy: int, priority: int) -> None:
    """Give threads of the kernel a policy, sched(7).

    Args:
        name: how their names begin.
        policy: such as `os.SCHED_FIFO`.
        priority: see `run_by_turns`.
    """
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if _first_bytes(f"/proc/{pid}/comm").startswith(name):
            os.sched_setscheduler(int(pid), policy, os.sched_param(priority))


def set_sysctl(name: str, value: int) -> None:
    """Set a number of /proc/sys.

    Raises:
        OSError: there is no such, or it cannot have this value.
    """
    write_line(f"/proc/sys/{name}", str(value))


def keep_charges() -> None:
    """Keep packets charged to their sockets as Linux does between namespaces.

    For a packet that crosses bridges only, that is up to the receiving host. Without this, the
    charge ends where a packet leaves its namespace, as between separate computers. See
    kernel/patches/all/30-host-boundary.patch.

    Raises:
        OSError: the kernel was built without that patch.
    """
    write_line("/sys/module/host_boundary/parameters/enabled", "N")


def renew_random_numbers() -> None:
    """Take a new key for the kernel's random numbers from its pool, which the seed alone fills.

    What follows no longer depends on how many numbers were drawn before: at boot by another
    release, or for probes or lines of set-up. See kernel/patches/all/70-random-numbers.patch.

    Raises:
        OSError: the kernel refused.
    """
    descriptor = os.open("/dev/urandom", os.O_RDONLY | os.O_CLOEXEC)
    try:
        _check(_libc.ioctl(ctypes.c_int(descriptor), ctypes.c_ulong(_RNDRESEEDCRNG)))
    finally:
        os.close(descriptor)


def sync_link_changes() -> None:
    """Let a change of a link take effect before the process that made it continues, from now on.

    Commands have a higher priority than the kernel's link watch, so a packet that is sent at once
    after `ip link set up` was lost. A network is built without it, with the random numbers that it
    had before. See kernel/patches/all/90-link-watch.patch.

    Raises:
        OSError: the kernel was built without that patch.
    """
    write_line("/sys/module/link_watch_sync/parameters/enabled", "Y")


def await_fine_timers() -> None:
    """Wait for the ticks with which the kernel turns to timers of high resolution.

    Until then it says that its timers tick (/proc/net/psched), and tc computes by that the burst
    of an htb class that names none: a hundredth of a second at its rate, in place of a packet.
    """
    for _ in range(_MAX_TICKS):
        if _first_bytes("/proc/net/psched").split()[3] == _NANOSECONDS:
            return
        time.sleep(_MIN_SLEEP_S)  # until the next tick


def write_line(path: str, text: str) -> None:
    """Write to a file of /proc or /sys, by a fourth of the system calls of a file of Python's.

    Raises:
        OSError: there is no such file, or the kernel refused.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)


def _first_bytes(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def set_timer_slack(slack_ns: int) -> None:
    """Say how late this process and its future children may be woken by a timer, by prctl(2)."""
    _libc.prctl(ctypes.c_int(_PR_SET_TIMERSLACK), ctypes.c_ulong(slack_ns))


def print_error(file: TextIO) -> None:
    """Print the exception that is being handled.

    Args:
        file: where to; what is printed to `sys.stdout` of PID 1 is kept by the host.
    """
    import traceback  # noqa: PLC0415  it imports much, and is seldom needed

    traceback.print_exc(file=file)
    file.flush()


def power_off() -> None:
    """End the machine at once, by reboot(2)."""
    _libc.sync()
    _libc.reboot(ctypes.c_int(_POWER_OFF))


def _check(result: int, target: str | None = None) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error), target)
