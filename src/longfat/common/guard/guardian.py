"""The guard process: runs one command, and ends it when the lifeline closes.

Started by `Guarded` as a script in an isolated interpreter, so it imports the
standard library only:

    guardian.py STATUS_FD CPU SCRATCH FIRST_INHERITED INHERITED -- COMMAND...

STATUS_FD is a pipe; CPU the one to run on, and SCRATCH the folder to remove, each empty
for none; INHERITED the descriptors, with commas between, that the command gets under the
numbers from FIRST_INHERITED on. Its standard input is the lifeline. It reports events
in lines on the pipe:

    started PID       the command runs
    failed MESSAGE    the command could not be started
    ended STATUS      the command ended; 128 + N after signal N

After `ended` it stays until the lifeline closes: the scratch folder must be
removed if our parent dies before it has moved the folder to its place.

It is two processes, either of which may be killed: the second runs the command,
and the first waits for the end of the second. The survivor kills and
removes. The status pipe closes when both are gone.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import sys

# Each machine waits for this program to start, so it avoids modules that take
# longer to import than it takes to begin: argparse, contextlib, signal, subprocess, and typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from longfat.common.guard.remover import remove_tree
else:
    import _signal as signal

    # In isolated mode, it does not find the modules beside it.
    sys.path.append(os.path.dirname(__file__))
    from remover import remove_tree

_PR_SET_CHILD_SUBREAPER = 36
_LIFELINE = 0


def main() -> None:
    """Run the command named by the arguments until it or the lifeline ends."""
    status, cpu, scratch, first, numbers, _, *command = sys.argv[1:]
    status_fd = int(status)
    passed = [int(number) for number in numbers.split(",") if number]
    # Orphans of the command become children of this process and not of init, so none is missed.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # A termination signal must clean up like the end of the lifeline does.
    signal.signal(signal.SIGTERM, _end)
    if cpu:
        os.sched_setaffinity(0, {int(cpu)})
    try:
        first_lives, its_end = os.pipe()
        if (second := os.fork()) != 0:
            for descriptor in (first_lives, *passed):
                os.close(descriptor)
            _wait_readable(_LIFELINE, os.pidfd_open(second))
        else:
            os.close(its_end)
            # The children of the first are not the second's: it has its own orphans.
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
            inherited = _renumbered(passed, first=int(first))
            _run(command, first_lives=first_lives, status_fd=status_fd, inherited=inherited)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _kill_descendants()
        if scratch:
            remove_tree(scratch)


def _end(signum: int, frame: object) -> None:
    del frame
    sys.exit(128 + signum)


def _renumbered(descriptors: list[int], *, first: int) -> list[int]:
    """Give descriptors other numbers, consecutive ones, and return these."""
    numbers = range(first, first + len(descriptors))
    # First to temporary numbers: one of them may have a number that another one will get.
    aside = [fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, numbers.stop) for one in descriptors]
    for descriptor in descriptors:
        os.close(descriptor)
    for descriptor, number in zip(aside, numbers, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return list(numbers)


def _run(command: list[str], *, first_lives: int, status_fd: int, inherited: list[int]) -> None:
    """Run a command until it ends, and then wait; the lifeline's end, or the first's, ends both."""
    # The command inherits nothing else: not the lifeline, which is our standard input, either.
    ends = (os.dup(_LIFELINE), first_lives)
    os.dup2(os.open(os.devnull, os.O_RDONLY), _LIFELINE)
    os.set_inheritable(status_fd, False)
    try:
        child = os.posix_spawnp(
            command[0],
            command,
            os.environ,
            setpgroup=0,
            setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # which Python ignores
        )
    except OSError as error:
        _report(status_fd, f"failed {error}")
        _wait_readable(*ends)
        return
    for descriptor in inherited:
        os.close(descriptor)  # so that the other end detects the command's end
    _report(status_fd, f"started {child}")
    pidfd = os.pidfd_open(child)
    if set(ends) & set(_wait_readable(*ends, pidfd)):
        return
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    # Remaining processes of the command may still write into the scratch folder.
    _kill_descendants()
    _report(status_fd, f"ended {status if status >= 0 else 128 - status}")
    _wait_readable(*ends)


def _report(status_fd: int, line: str) -> None:
    try:
        os.write(status_fd, f"{line}\n".encode())
    except OSError:
        pass  # the reader is gone


def _wait_readable(*fds: int) -> list[int]:
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return [fd for fd, _ in poller.poll()]


def _kill_descendants() -> None:
    """Kill all descendants, and wait until they are gone.

    A process that keeps forking and exiting cannot be caught one by one; a process group is
    killed at once. Commands with hostile code cannot leave their group.
    """
    groups: set[int] = set()
    while _has_children():
        for pid in _children():
            try:
                groups.add(os.getpgid(pid))
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for group in groups - {os.getpgrp()}:
            try:
                os.killpg(group, signal.SIGKILL)
            except ProcessLookupError:
                pass
        os.waitpid(-1, 0)


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _children() -> list[int]:
    """Return children of this process, at least one if there are any."""
    me = os.getpid()
    # The kernel's own list may lack some while others end, and not every kernel has it:
    # proc_tid_children(5). A part is enough, since the caller goes on until there are none.
    # To look at all processes of the host takes milliseconds.
    try:
        with open(f"/proc/{me}/task/{me}/children", "rb") as listed:
            found = [int(pid) for pid in listed.read().split()]
    except OSError:
        found = []
    return found or _search_children(me)


def _search_children(parent: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as stat:
                    # The name in parentheses may contain spaces; the parent is second after it.
                    its_parent = int(stat.read().rpartition(b")")[2].split()[1])
            except OSError:
                continue
            if its_parent == parent:
                found.append(int(name))
    return found


if __name__ == "__main__":
    main()
    os._exit(0)  # the interpreter has nothing to clean up, which takes it milliseconds
