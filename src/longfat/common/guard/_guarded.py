"""The parent's side of a guard: start a command under it, wait for it, end it."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

from longfat.errors import HostError

_CHECK_EVERY_S = 0.2
_GUARDIAN = Path(__file__).with_name("guardian.py")

FIRST_INHERITED = 1000
"""The number of the first descriptor that a command inherits: more than are ever open here."""


class Guarded:
    """A command that runs under a guard; use it as a context manager.

    Leaving the context kills the command and all its descendants, and
    removes `scratch` if it still exists.

    Args:
        command: the program and its arguments.
        scratch: a folder that must not outlive this process under this name.
        cpu: the one CPU to run on; any, if None.
        inherited: descriptors that the command inherits, under the numbers
            from `FIRST_INHERITED` on: they must not depend on which ones are free here.
        cwd: the folder to run in.
        env: the whole environment; that of this process, if None.
        umask: its file mode creation mask (umask(2)); that of this process, if None.
        stdout: the destination of the command's standard output; /dev/null, if None.
        stderr: that of its standard error; with stdout, if None.

    Raises:
        HostError: the command cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        scratch: Path | None = None,
        cpu: int | None = None,
        inherited: Sequence[int] = (),
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        umask: int | None = None,
        stdout: IO[bytes] | int | None = None,
        stderr: IO[bytes] | int | None = None,
    ) -> None:
        self._status: int | None = None
        self._unread = b""
        self._status_fd, far_status = os.pipe()
        argv = [
            *(sys.executable, "-I", "-S", str(_GUARDIAN), str(far_status)),
            *("" if value is None else str(value) for value in (cpu, scratch, FIRST_INHERITED)),
            ",".join(str(descriptor) for descriptor in inherited),
        ]
        try:
            # A session of its own protects it from the terminal's Ctrl-C: this process decides.
            self._guard = subprocess.Popen(
                [*argv, "--", *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL if stdout is None else stdout,
                stderr=subprocess.STDOUT if stderr is None else stderr,
                cwd=cwd,
                env=env,
                umask=-1 if umask is None else umask,
                pass_fds=(far_status, *inherited),
                start_new_session=True,
            )
        finally:
            os.close(far_status)
        line = self._read_line(timeout_s=None)
        if line is None or not line.startswith("started "):
            self.close()
            reason = line.removeprefix("failed ") if line else "its guard ended"
            raise HostError(f"cannot start {command[0]}: {reason}")
        self.pid = int(line.removeprefix("started "))

    def __enter__(self) -> Guarded:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait(self, *, timeout_s: float | None = None) -> int | None:
        """Wait for the command to end.

        Args:
            timeout_s: how long to wait, in seconds of wall time; without a limit, if None.

        Returns:
            The exit status, 128 + N after signal N; None if it is still running.
        """
        if self._status is None:
            line = self._read_line(timeout_s=timeout_s)
            if line == "":
                self._status = 128 + 9  # the guard itself was killed, and killed everything with it
            elif line is not None:
                self._status = int(line.removeprefix("ended "))
        return self._status

    def lines(self, fd: int) -> Iterator[bytes]:
        """Yield the command's output line by line, until it has ended.

        The end of the pipe is not the command's end: its guard holds the pipe open.

        Args:
            fd: the near end of the pipe that the command writes to.
        """
        unread = b""
        while True:
            ended = self.wait(timeout_s=0)
            while select.select([fd], [], [], 0 if ended is not None else _CHECK_EVERY_S)[0]:
                data = os.read(fd, 65536)
                if not data:
                    break
                *lines, unread = (unread + data).split(b"\n")
                yield from lines
            if ended is not None:
                return

    def close(self) -> None:
        """Kill what is still running, remove the scratch folder, and wait until both are gone."""
        if self._guard.stdin is not None and not self._guard.stdin.closed:
            self._guard.stdin.close()
            self._guard.wait()
            # The guard is two processes, and only one of them is our child. If that one
            # was killed, the other may not be done yet.
            while os.read(self._status_fd, 4096):
                pass
            os.close(self._status_fd)

    def _read_line(self, *, timeout_s: float | None) -> str | None:
        """Return the next line, "" at the end of the pipe, None after the timeout."""
        end_s = None if timeout_s is None else time.monotonic() + timeout_s
        while b"\n" not in self._unread:
            left_s = None if end_s is None else max(0.0, end_s - time.monotonic())
            if not select.select([self._status_fd], [], [], left_s)[0]:
                return None
            data = os.read(self._status_fd, 4096)
            if not data:
                return ""
            self._unread += data
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode(errors="replace")
