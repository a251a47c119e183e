"""One end of a flow of any program: a line for a shell, run within limits, and what it gave.

    program.py ORDER [ROOT]

ORDER is JSON: `end` (client or server), `line`, `environment` (NAME=VALUE), `output_bytes` (the
most that it may print); of a client `time_s` (it is stopped then, which is its end), `limit_s`
(it has to have ended by then), `statuses` (the good ones) and `metrics` (see
`longfat.guest.extract`); and of both, where one waits for the other, `meeting` (a name), `ready`
(a kind and what it is about) and `ready_s` (how long that may take).

ROOT is JSON, too, of a host with a root of its own (`longfat.guest.roots`): the line runs with it,
and files are those in it; we stay outside.

What the line prints goes where our own output goes, as it is. Of a client one more line follows
on standard error, our report: exit status, elapsed virtual time and metrics, as JSON. It exits
with 0 if the line exited with a good status, else with the line's.

The line and all that it starts are of our process group. When the line has ended, or has to, what
is left of the group is ended, too: first by SIGTERM, then by SIGKILL.

A server makes a FIFO and writes to it when it is ready, and the client reads it. It looks whether
it is ready after a time that is a tenth of how long it has looked already: soon at first, and
seldom after a minute.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import resource
import select
import signal
import stat
import sys
import time

# As for `main`: nothing else of longfat is there in a machine.
sys.path.insert(0, os.path.abspath(f"{__file__}/../../.."))
from longfat.guest.extract import ExtractionError, extract
from longfat.guest.toolset import SHELL, host_environment

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_GRACE_S = 1.0
_LOOK_S, _LOOK_SHARE = 0.001, 0.1
_FAILED = 1
_NOT_ENDED = 124  # as of timeout(1)
_NOT_FOUND = 127
_SIGNALLED = 128
_PRIORITY = 10
_LISTENS, _UDP_BOUND = "0A", "07"
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM}


class _EndError(Exception):
    """The end of a flow, and why; `status` is the exit status."""

    def __init__(self, words: str, *, status: int = _FAILED) -> None:
        super().__init__(words)
        self.status = status


class _Output:
    """Standard output or error, and where the line's goes.

    That is the same, if it is a file that can be read again; else a file in memory, which is
    passed on at the end.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            self.target = descriptor
            self._file = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        else:
            self.target = self._file = os.memfd_create("output")
        self._passed = 0

    @property
    def size(self) -> int:
        """How much there is, in bytes."""
        return os.fstat(self._file).st_size

    def read(self) -> bytes:
        """Return all of it."""
        parts = []
        at = 0
        while part := os.pread(self._file, 1 << 20, at):
            parts.append(part)
            at += len(part)
        return b"".join(parts)

    def pass_on(self) -> None:
        """Write what is in memory to where it belongs."""
        if self.target != self._descriptor:
            data = self.read()[self._passed :]
            self._passed += len(data)
            _write(self._descriptor, data)


def _write(descriptor: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


class _Line:
    """The line that runs.

    Args:
        order: the order.
        outputs: where its output and its errors go.
    """

    def __init__(self, order: dict[str, Any], outputs: tuple[_Output, _Output]) -> None:
        self._order = order
        self._outputs = outputs
        self.status: int | None = None
        variables = dict(text.split("=", 1) for text in order["environment"])
        null = os.open(os.devnull, os.O_RDONLY)
        places = ((null, 0), (outputs[0].target, 1), (outputs[1].target, 2))
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["output_bytes"], most))
        self.began_ns = time.monotonic_ns()
        with _at_root(order):
            program, argv, environment = _command(order, variables)
            try:
                self._pid = os.posix_spawn(
                    program,
                    argv,
                    environment,
                    file_actions=[(os.POSIX_SPAWN_DUP2, source, place) for source, place in places],
                    setsigmask=[],
                    setsigdef=[signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM],
                    scheduler=(os.SCHED_RR, os.sched_param(_PRIORITY)),
                )
            except OSError as error:  # of a host's own root, which may have no such program
                raise _EndError(f"{argv[0]}: {error.strerror}", status=_NOT_FOUND) from None
        # What we write ourselves comes after what it was allowed to.
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    def wait(self, seconds: float | None) -> str:
        """Wait for something.

        Args:
            seconds: how long at most; without end, if None.

        Returns:
            `end`: it has ended; `stop`: we are to; `time`: the time is over.
        """
        until_s = None if seconds is None else time.monotonic() + seconds
        while True:
            if self.poll():
                return "end"
            left_s = 1e9 if until_s is None else until_s - time.monotonic()
            if left_s <= 0:
                return "time"
            info = signal.sigtimedwait(_SIGNALS, left_s)
            if info is not None and info.si_signo == signal.SIGTERM:
                return "stop"

    def poll(self) -> bool:
        """Return whether it has ended; others of the group are none of its business."""
        if self.status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                self.elapsed_ns = time.monotonic_ns() - self.began_ns
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def stop(self) -> None:
        """End it and all of its group."""
        if not self.poll() or _others():
            os.killpg(0, signal.SIGTERM)  # which we have blocked
            end_s = time.monotonic() + _GRACE_S
            while _others() and (left_s := end_s - time.monotonic()) > 0:
                signal.sigtimedwait({signal.SIGCHLD}, min(left_s, 0.01))
                self.poll()
            while others := _others():
                for pid in others:
                    _kill(pid)
                self.poll()
                time.sleep(0.001)
        self.poll()

    def check_output(self) -> None:
        """Check that it did not print too much.

        Raises:
            _EndError: it did.
        """
        most = self._order["output_bytes"]
        if self.status == -signal.SIGXFSZ or max(one.size for one in self._outputs) >= most:
            raise _EndError(
                f"it printed, or wrote to a file, more than {most} bytes; `output_limit` says how "
                "much it may"
            )


def _at_root(order: dict[str, Any]) -> contextlib.AbstractContextManager[None]:
    """Be in the host's own root, if it has one, for as long as the context lasts."""
    if "root" not in order:
        return contextlib.nullcontext()
    from longfat.guest.roots import inside  # noqa: PLC0415  see `longfat.guest.main`

    return inside(order["root"])


def _command(
    order: dict[str, Any], variables: dict[str, str]
) -> tuple[str, list[str], dict[str, str]]:
    """Return the program that runs the line, its arguments and its environment, where we are.

    Raises:
        _EndError: the host's own root has no such program.
    """
    if "root" not in order:
        return SHELL, ["sh", "-c", order["line"]], {**os.environ, **variables}
    from longfat.guest.roots import program_of, without_shell  # noqa: PLC0415  likewise

    environment = {**host_environment(order["root"]["environment"]), **variables}
    argv = without_shell(["/bin/sh", "-c", order["line"]])
    try:
        return program_of(argv, environment), argv, environment
    except FileNotFoundError as error:
        raise _EndError(str(error.strerror), status=_NOT_FOUND) from None


def _others() -> list[int]:
    """Return the processes of our group, without ourselves and those that have ended."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    words = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has gone
            if words[0] not in (b"Z", b"X") and int(words[2]) == os.getpgrp():
                found.append(int(name))
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _signal_words(number: int) -> str:
    try:
        return f"{signal.Signals(number).name} ended it"
    except ValueError:
        return f"signal {number} ended it"


def main(words: list[str]) -> None:
    """Do what the order says; `words` are those after the program's name."""
    order: dict[str, Any] = json.loads(words[0])
    if len(words) > 1:
        order["root"] = json.loads(words[1])
        order["line"] = order["root"]["line"]
    if os.getpgrp() != os.getpid():
        os.setsid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    outputs = _Output(1), _Output(2)
    try:
        if order["end"] == "server":
            _serve(order, outputs)
        else:
            _run(order, outputs)
    except _EndError as error:
        for one in outputs:
            one.pass_on()
        text = str(error)
        _write(2, f"longfat: {text}\n".encode() if text else b"")
        sys.stdout.flush()
        os._exit(error.status)


def _run(order: dict[str, Any], outputs: tuple[_Output, _Output]) -> None:
    if "meeting" in order:
        _wait_ready(order)
    line = _Line(order, outputs)
    how = line.wait(order["time_s"] if order["time_s"] is not None else order["limit_s"])
    line.stop()
    line.check_output()
    if how == "stop" or (how == "time" and order["time_s"] is None):
        raise _EndError(
            f"it did not end within {order['limit_s']:g} s of virtual time", status=_NOT_ENDED
        )
    if how == "end":
        _check_status(line.status, order["statuses"])
    for one in outputs:
        one.pass_on()

    def read(of: str) -> bytes:
        if of in ("stdout", "stderr"):
            return outputs[of == "stderr"].read()
        with _at_root(order), open(of, "rb") as file:
            return file.read(order["output_bytes"])

    try:
        metrics = extract(order["metrics"], read)
    except ExtractionError as error:
        raise _EndError(str(error)) from None
    report = {
        "program": "longfat program",
        "elapsed_ns": line.elapsed_ns,
        "status": line.status if how == "end" else None,
        "metrics": metrics,
    }
    newline = "\n" if outputs[1].size else ""
    _write(2, f"{newline}{json.dumps(report)}\n".encode())


def _check_status(status: int | None, good: list[int]) -> None:
    assert status is not None
    if status in good:
        return
    if status < 0:
        raise _EndError(_signal_words(-status), status=_SIGNALLED - status)
    if status == 0:
        raise _EndError(f"it exited with status 0, where {' or '.join(map(str, good))} is expected")
    # A shell says so of a program that a signal ended.
    words = _signal_words(status - _SIGNALLED) if status > _SIGNALLED else ""
    raise _EndError(words, status=status)


def _serve(order: dict[str, Any], outputs: tuple[_Output, _Output]) -> None:
    meeting = _open_meeting(order) if "meeting" in order else None
    line = _Line(order, outputs)
    how = "" if meeting is None else _tell_ready(order, line, outputs, meeting)
    if not how:
        how = line.wait(None)
    if how == "end" and line.status == 0:
        # It may have left others to serve, as daemons do.
        while signal.sigwait(_SIGNALS) != signal.SIGTERM:
            pass
    line.stop()
    line.check_output()
    for one in outputs:
        one.pass_on()
    if how == "end":
        _check_status(line.status, [0])


def _open_meeting(order: dict[str, Any]) -> int:
    path = _meeting(order)
    if os.path.lexists(path):
        os.unlink(path)  # of an earlier flow of a live network
    os.mkfifo(path)
    # Open for both, so that what is written stays until somebody reads it.
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _tell_ready(
    order: dict[str, Any], line: _Line, outputs: tuple[_Output, _Output], meeting: int
) -> str:
    """Look until it is ready, and notify the client.

    Returns:
        `end`: it failed before; `stop`: we are to stop; empty: it is ready.

    Raises:
        _EndError: it takes too long.
    """
    began_s = time.monotonic()
    while not _is_ready(order, outputs):
        if line.poll() and line.status != 0:
            return "end"
        looked_s = time.monotonic() - began_s
        left_s = order["ready_s"] - looked_s
        if left_s <= 0:
            line.stop()
            what = " ".join(order["ready"])
            raise _EndError(f"it was not ready within {order['ready_s']:g} s: {what}")
        pause_s = min(max(_LOOK_S, _LOOK_SHARE * looked_s), left_s)
        info = signal.sigtimedwait(_SIGNALS, pause_s)
        if info is not None and info.si_signo == signal.SIGTERM:
            return "stop"
    _write(meeting, b"!")
    return ""


def _meeting(order: dict[str, Any]) -> str:
    return f"/run/longfat-{order['meeting']}"


def _wait_ready(order: dict[str, Any]) -> None:
    """Wait until the server is ready.

    Raises:
        _EndError: it is not, or has ended.
    """
    try:
        meeting = os.open(_meeting(order), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _EndError(f"its server was not started: {os.strerror(error.errno or 0)}") from None
    poll = select.poll()
    poll.register(meeting, select.POLLIN)
    # The server gives up sooner, and then its end is what wakes us.
    ready = poll.poll((order["ready_s"] + 5 * _GRACE_S) * 1000)
    if not ready or not _read_byte(meeting):
        raise _EndError("its server ended before it was ready")
    os.close(meeting)


def _read_byte(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1)
    except OSError as error:
        if error.errno != errno.EAGAIN:
            raise
        return b""


def _is_ready(order: dict[str, Any], outputs: tuple[_Output, _Output]) -> bool:
    kind, what = order["ready"]
    if kind == "file":
        with _at_root(order):
            return os.path.exists(what)
    if kind == "output":
        text = b"\n".join(one.read() for one in outputs).decode(errors="replace")
        return re.search(what, text, re.MULTILINE) is not None
    state = _LISTENS if kind == "tcp" else _UDP_BOUND
    port = f":{int(what):04X}"
    for name in (kind, f"{kind}6"):
        try:
            with open(f"/proc/self/net/{name}", encoding="ascii") as file:
                rows = [row.split() for row in file.readlines()[1:]]
        except OSError:
            continue  # no IPv6
        if any(row[1].endswith(port) and row[3] == state for row in rows):
            return True
    return False


if __name__ == "__main__":
    main(sys.argv[1:])
