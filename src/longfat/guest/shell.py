"""One command line, run to its end: what it said, and how it ended."""

import subprocess
from typing import Any

_TAIL_CHARACTERS = 4000


class CommandFailed(Exception):  # noqa: N818  the job's outcome, more than an error of ours
    """A command ended badly; `outcome` tells the host which, and its words."""

    def __init__(self, outcome: dict[str, Any]) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def run_line(line: str, *, told: dict[str, Any]) -> str:
    """Run a line by the shell and wait for it.

    Args:
        line: the line.
        told: what the outcome must say besides, if it fails.

    Returns:
        What it printed on standard output.

    Raises:
        CommandFailed: its exit status is not 0.
    """
    return run(["/bin/sh", "-c", line], line=line, told=told)


def run(argv: list[str], *, line: str, told: dict[str, Any], stdin: str = "") -> str:
    """Run a command and wait for it; see `run_line`."""
    done = subprocess.run(
        argv, input=stdin, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()[-_TAIL_CHARACTERS:]
        raise CommandFailed({**told, "line": line, "status": done.returncode, "words": words})
    return done.stdout
