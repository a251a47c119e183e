"""The record of a live network: a shell script of executed commands, to be run elsewhere too."""

from __future__ import annotations

import shlex

from longfat.guest.script import at_node

_HEADER = """\
#!/bin/sh
# What was done, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
"""


class Record:
    """A script that grows as commands are executed."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, now_s: float, node: str, command: str, *, background: bool = False) -> None:
        """Record a command that starts now.

        Args:
            now_s: virtual time since boot, in seconds.
            node: where it runs.
            command: the line.
            background: it runs in the background.
        """
        self._lines.append(f"# t={now_s:.6f}")
        self._lines.append(at_node(node, command) + (" &" if background else ""))

    def wait(self, seconds: float) -> None:
        """Record that time has passed."""
        self._lines.append(f"sleep {seconds:g}")

    @property
    def text(self) -> str:
        """Return the script."""
        return _HEADER + "".join(f"{line}\n" for line in self._lines)


def as_line(command: str | tuple[str, ...]) -> str:
    """Return a command as a line for a shell."""
    return command if isinstance(command, str) else shlex.join(command)
