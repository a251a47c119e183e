"""One program, run to its end: what it said, and how it ended."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PRIORITY = 10
_TAIL_CHARACTERS = 4000


class CommandFailed(Exception):  # noqa: N818  the job's outcome, more than an error of ours
    """A command ended badly; `outcome` is for the host: which, and its words."""

    def __init__(self, outcome: dict[str, Any]) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def run(
    argv: list[str], *, given: str = "", environment: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run a program to its end where this process is.

    What it starts in the background may go on.

    Args:
        argv: the program and its arguments.
        given: what it reads.
        environment: its environment; ours, if None.

    Returns:
        Its exit status, and the end of what it wrote.
    """
    path = find_program(argv[0], path=(environment or os.environ)["PATH"])
    if path is None:
        return 127, f"{argv[0]}: command not found"
    return Begun([path, *argv[1:]], name=argv[0], given=given, environment=environment).wait()


def find_program(name: str, *, path: str) -> str | None:
    """Return the file of a program, as a shell finds it, or None.

    `shutil` has the same, and brings libraries for archives with it.

    Args:
        name: the program's name, or its path.
        path: the folders to look in.
    """
    folders = [""] if "/" in name else [f"{folder}/" for folder in path.split(os.pathsep)]
    for folder in folders:
        file = folder + name
        if os.access(file, os.X_OK) and not os.path.isdir(file):
            return file
    return None


class Begun:
    """A program that was begun where this process is.

    Args:
        argv: its file and its arguments.
        name: its name, as argument 0.
        given: what it reads.
        environment: its environment; ours, if None.
    """

    def __init__(
        self,
        argv: list[str],
        *,
        name: str,
        given: str = "",
        environment: dict[str, str] | None = None,
    ) -> None:
        # Files in memory have room for all of it, so that nobody must look after them meanwhile.
        stdin, self._output = os.memfd_create("input"), os.memfd_create("output")
        try:
            data = memoryview(given.encode())
            while data:
                data = data[os.write(stdin, data) :]
            os.lseek(stdin, 0, os.SEEK_SET)
            places = ((stdin, 0), (self._output, 1), (self._output, 2))
            self._pid = os.posix_spawn(
                argv[0],
                [name, *argv[1:]],
                os.environ if environment is None else environment,
                file_actions=[(os.POSIX_SPAWN_DUP2, source, place) for source, place in places],
                setsid=True,
                setsigmask=[],
                scheduler=(os.SCHED_RR, os.sched_param(_PRIORITY)),
            )
        except OSError:
            os.close(self._output)
            raise
        finally:
            os.close(stdin)

    def poll(self) -> tuple[int, str] | None:
        """Return its exit status and the end of what it wrote, once; None as long as it runs."""
        return self._end(os.WNOHANG)

    def wait(self) -> tuple[int, str]:
        """Wait for its end; return what `poll` does."""
        ended = self._end(0)
        assert ended is not None
        return ended

    def _end(self, options: int) -> tuple[int, str] | None:
        pid, status = os.waitpid(self._pid, options)
        if not pid:
            return None
        try:
            size = os.lseek(self._output, 0, os.SEEK_END)
            words = os.pread(self._output, _TAIL_CHARACTERS, max(0, size - _TAIL_CHARACTERS))
            return os.waitstatus_to_exitcode(status), words.decode(errors="replace").strip()
        finally:
            os.close(self._output)
