"""The record of a live network: a shell script of what was done, to read or to run elsewhere."""

from __future__ import annotations

import shlex

from longfat.guest.script import at_node

_HEADER = """\
#!/bin/sh
# What was done, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
"""


class Record:
    """A script that grows as things are done."""

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
            background: nobody waits for it.
        """
        self._lines.append(f"# t={now_s:.6f}")
        self._lines.append(at_node(node, command) + (" &" if background else ""))

    def wait(self, seconds: float) -> None:
        """Record that time was let pass."""
        self._lines.append(f"sleep {seconds:g}")

    @property
    def text(self) -> str:
        """Return the script."""
        return _HEADER + "".join(f"{line}\n" for line in self._lines)


def as_line(command: str | tuple[str, ...]) -> str:
    """Return a command as a line for a shell."""
    return command if isinstance(command, str) else shlex.join(command)
