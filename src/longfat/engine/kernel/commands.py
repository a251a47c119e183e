"""Commands of a build, and their common log."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from longfat.errors import HostError

_LAST_LINES = 12


class CommandFailedError(HostError):
    """A command of a build failed, and not since the disk is full.

    Args:
        message: what failed, with the command's last lines and the path of the log that is kept.
        last: the last lines alone.
    """

    def __init__(self, message: str, *, last: str) -> None:
        super().__init__(message)
        self.last = last


class Log:
    """The log of one build; it runs the commands that fill it.

    Args:
        path: the log while the build runs.
        kept_as: where the parent of the build keeps it if the build fails.
        env: the environment of every command.
    """

    def __init__(self, path: Path, *, kept_as: Path, env: Mapping[str, str]) -> None:
        self._path = path
        self._kept_as = kept_as
        self._env = env

    def run(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        doing: str,
        on_line: Callable[[str], None] | None = None,
        out: IO[bytes] | None = None,
    ) -> str:
        """Run a command to its end.

        Args:
            command: the program and its arguments.
            cwd: the folder to run in.
            doing: the purpose of the command, for error messages.
            on_line: called with each line of output as it comes.
            out: where standard output goes, if not into the log.

        Returns:
            Its output.

        Raises:
            CommandFailedError: it failed; the message has its last lines and
                the path of the log that is kept.
            HostError: the disk is full.
        """
        output = []
        with (
            self._path.open("a", encoding="utf-8", errors="replace") as log,
            subprocess.Popen(
                command,
                cwd=cwd,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if out is None else out,
                stderr=subprocess.STDOUT if out is None else subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            ) as process,
        ):
            log.write(f"$ {' '.join(command)}\n")
            stream = process.stdout if out is None else process.stderr
            assert stream is not None
            for line in stream:
                log.write(line)
                output.append(line)
                if on_line is not None:
                    on_line(line)
        if process.returncode != 0:
            raise self._failure(doing, output)
        return "".join(output)

    def _failure(self, doing: str, output: list[str]) -> HostError:
        last = "".join(f"\n    {line.rstrip()}" for line in output[-_LAST_LINES:])
        if any("No space left on device" in line for line in output):
            return HostError(f"{doing} failed: the disk is full ({self._path.parent})")
        message = f"{doing} failed:{last}\n  full log: {self._kept_as}"
        return CommandFailedError(message, last=last)
