"""Commands at the nodes of a live network, similar to the standard library's subprocess.

A `Process` runs while time passes, and time passes only while a call waits:
in `run`, `wait`, `sleep` and the like. All timeouts are virtual time.
"""

from __future__ import annotations

import signal
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError, LongfatError
from longfat.model.kinds import Size as SizeKind
from longfat.model.kinds import Time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from longfat.live.session import Session
    from longfat.live.task import Task

Duration = float | str
"""Seconds, or a text such as "20ms"."""

Size = int | str
"""Bytes, or a text such as "25MB"."""

seconds = Time().of
size_bytes = SizeKind().of

_WORDS = 2000


class CommandFailed(LongfatError, subprocess.CalledProcessError):  # noqa: N818  subprocess's word
    """A command with `check` exited with another status than 0.

    Attributes:
        done: the command.
    """

    def __init__(self, done: Completed) -> None:
        self.done = done
        subprocess.CalledProcessError.__init__(
            self, done.returncode, done.args, done.stdout, done.stderr
        )
        words = (done.stderr or done.stdout).strip()[-_WORDS:]
        self.message = f"`{done.line}` exited with status {done.returncode}: {words}"


class TimedOut(LongfatError, subprocess.TimeoutExpired):  # noqa: N818  subprocess's word
    """A command did not do in time what was waited for; `output` is its output until then."""

    def __init__(self, line: str, timeout_s: float, output: str, errors: str, words: str) -> None:
        subprocess.TimeoutExpired.__init__(self, line, timeout_s, output.encode(), errors.encode())
        self.message = f"`{line}` {words}"
        if timeout_s:
            self.message += f" within {timeout_s:g} s of virtual time"


class OutputTooLargeError(LongfatError):
    """A command has written more than is kept of its output, and was killed."""

    def __init__(self, line: str, kept_bytes: int) -> None:
        size = f"{kept_bytes / 2**20:.0f} MB" if kept_bytes >= 2**20 else f"{kept_bytes} bytes"
        super().__init__(
            f"`{line}` was killed: it has written more than {size}, and no more is kept of a "
            "command's output; let it write into a file of the machine"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A command that has ended, like subprocess.CompletedProcess.

    Attributes:
        args: the line, or the program and its arguments.
        returncode: its exit status; -N after signal N.
        stdout: its standard output.
        stderr: its standard error.
        started_s: when it started, in seconds of virtual time since boot.
        ended_s: when it ended, likewise.
    """

    args: str | tuple[str, ...]
    returncode: int
    stdout: str
    stderr: str
    started_s: float
    ended_s: float

    @property
    def line(self) -> str:
        """Return the command as one line."""
        return self.args if isinstance(self.args, str) else " ".join(self.args)

    @property
    def took_s(self) -> float:
        """Return how long it took, in seconds of virtual time."""
        return self.ended_s - self.started_s

    def check_returncode(self) -> None:
        """Check that it succeeded.

        Raises:
            CommandFailed: its exit status is not 0.
        """
        if self.returncode != 0:
            raise CommandFailed(self)


class Process:
    """A command that was started, like subprocess.Popen.

    Attributes:
        args: the line, or the program and its arguments.
        pid: its number in the machine.
        started_s: when it was started, in seconds of virtual time since boot.
    """

    def __init__(self, session: Session, task: Task, args: str | Sequence[str]) -> None:
        self._session = session
        self._task = task
        self.args = args if isinstance(args, str) else tuple(args)
        self.pid = task.pid
        self.started_s = session.now_s
        self._ended_s: float | None = None
        self._lines_from = 0

    @property
    def returncode(self) -> int | None:
        """Its exit status, -N after signal N; None while it runs."""
        return self._task.status

    @property
    def stdout(self) -> str:
        """Its output so far."""
        return self._task.output.decode(errors="replace")

    @property
    def stderr(self) -> str:
        """Its standard error so far."""
        return self._task.errors.decode(errors="replace")

    @property
    def task(self) -> Task:
        """The process in the terms of its session."""
        return self._task

    def poll(self) -> int | None:
        """Return its exit status; None while it runs. No time passes."""
        return self._task.status

    def wait(self, timeout: Duration | None = None) -> int:
        """Let time pass until it has ended.

        Args:
            timeout: the longest to wait, in virtual time; without a limit, if None.

        Returns:
            Its exit status.

        Raises:
            TimedOut: it is still running. It continues when time does.
            OutputTooLargeError: it has written more than is kept, and was killed.
        """
        while self._task.status is None:
            if self._go(timeout, ended=True) == "time":
                raise self._timed_out(timeout, "did not end")
            if self._session.stop_reason == "held" and self._task.status is None:
                raise self._timed_out(0, "was held before it ended")
        self._session.forget(self._task)
        if self._ended_s is None:
            self._ended_s = self._session.now_s
        self._check_output()
        return self._task.status

    def complete(self, timeout: Duration | None = None) -> Completed:
        """Wait as `wait` does, and return all that is known of it.

        Args:
            timeout: the longest to wait, in virtual time; without a limit, if None.

        Raises:
            TimedOut: as `wait` does.
        """
        status = self.wait(timeout)
        return Completed(
            args=self.args,
            returncode=status,
            stdout=self.stdout,
            stderr=self.stderr,
            started_s=self.started_s,
            ended_s=self._session.now_s if self._ended_s is None else self._ended_s,
        )

    def lines(self, timeout: Duration | None = None) -> Iterator[str]:
        """Let time pass, and return the lines of its output as they come, until it ends.

        Args:
            timeout: the longest to wait for each line, in virtual time.

        Raises:
            TimedOut: no line came in time.
        """
        while True:
            end = self._task.output.find(b"\n", self._lines_from)
            if end < 0 and self._task.status is None:
                self._check_output()
                if self._go(timeout, ended=True, output=True) == "time":
                    raise self._timed_out(timeout, "wrote no line")
                continue
            if end < 0:
                end = len(self._task.output)
            if end == self._lines_from == len(self._task.output):
                self._check_output()
                return
            line = bytes(self._task.output[self._lines_from : end])
            self._lines_from = min(end + 1, len(self._task.output))
            yield line.decode(errors="replace")

    def expect(self, text: str, timeout: Duration | None = None) -> None:
        """Let time pass until its output has a text in it.

        Args:
            text: the text.
            timeout: the longest to wait, in virtual time; without a limit, if None.

        Raises:
            TimedOut: it has not, or the process ended without it.
        """
        while text not in self.stdout:
            self._check_output()
            if self._task.status is not None:
                lines = self.stderr.strip().splitlines()
                last = f"; its last line on standard error: {lines[-1]}" if lines else ""
                raise self._timed_out(None, f"ended without writing {text!r}{last}")
            if self._go(timeout, ended=True, output=True) == "time":
                raise self._timed_out(timeout, f"did not write {text!r}")

    def write(self, data: str | bytes) -> None:
        """Give it input, which it reads when time passes.

        Args:
            data: the input.
        """
        if data:
            self._session.write_stdin(self._task, data.encode() if isinstance(data, str) else data)

    def close_input(self) -> None:
        """Close its input."""
        self._session.write_stdin(self._task, b"")

    def send_signal(self, number: int) -> None:
        """Send a signal to it and all processes in its process group.

        Args:
            number: the signal, such as 1 for SIGHUP.

        Raises:
            InputError: there is no signal of this number.
        """
        if not 0 <= number < signal.NSIG:
            raise InputError(f"there is no signal {number}: they go from 1 to {signal.NSIG - 1}")
        self._session.signal(self._task, number)

    def terminate(self) -> None:
        """Ask it to end, by SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it, by SIGKILL; it is gone when `wait` returns, at the same moment."""
        self.send_signal(signal.SIGKILL)

    def _go(self, timeout: Duration | None, *, ended: bool, output: bool = False) -> str:
        until_ns = None
        if timeout is not None:
            until_ns = self._session.now_ns + round(seconds(timeout) * 1e9)
        return self._session.run_until(
            until_ns=until_ns,
            ended=[self._task] if ended else [],
            output=[self._task] if output else [],
        )

    def _check_output(self) -> None:
        if self._task.is_full:
            line = self.args if isinstance(self.args, str) else " ".join(self.args)
            raise OutputTooLargeError(line, self._task.kept_bytes)

    def _timed_out(self, timeout: Duration | None, words: str) -> TimedOut:
        line = self.args if isinstance(self.args, str) else " ".join(self.args)
        return TimedOut(line, seconds(timeout or 0), self.stdout, self.stderr, words)
