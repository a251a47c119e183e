"""One program, run to its end: what it said, and how it ended."""

import os
import shutil
from typing import Any

_PRIORITY = 10
_TAIL_CHARACTERS = 4000


class CommandFailed(Exception):  # noqa: N818  the job's outcome, more than an error of ours
    """A command ended badly; `outcome` tells the host which, and its words."""

    def __init__(self, outcome: dict[str, Any]) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def run(argv: list[str], *, given: str = "") -> tuple[int, str]:
    """Run a program to its end where this process is.

    What it starts in the background may go on.

    Args:
        argv: the program and its arguments.
        given: what it reads.

    Returns:
        Its exit status, and the end of what it wrote.
    """
    path = shutil.which(argv[0], path=os.environ["PATH"])
    if path is None:
        return 127, f"{argv[0]}: command not found"
    # Files in memory have room for all of it, so that nobody must look after them meanwhile.
    stdin, output = os.memfd_create("input"), os.memfd_create("output")
    try:
        data = memoryview(given.encode())
        while data:
            data = data[os.write(stdin, data) :]
        os.lseek(stdin, 0, os.SEEK_SET)
        places = ((stdin, 0), (output, 1), (output, 2))
        pid = os.posix_spawn(
            path,
            argv,
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, source, place) for source, place in places],
            setsid=True,
            setsigmask=[],
            scheduler=(os.SCHED_RR, os.sched_param(_PRIORITY)),
        )
        _, status = os.waitpid(pid, 0)
        size = os.lseek(output, 0, os.SEEK_END)
        words = os.pread(output, _TAIL_CHARACTERS, max(0, size - _TAIL_CHARACTERS))
        return os.waitstatus_to_exitcode(status), words.decode(errors="replace").strip()
    finally:
        os.close(stdin)
        os.close(output)
