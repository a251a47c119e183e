"""The record of what was done: a shell script that a person can run on a real machine.

Every command stands in it in the order and the form in which it was run, under
the virtual time at which it started; what set-up lines and events printed follows as comments.
Planned waits become `sleep`, and waiting for a flow becomes `wait`, so the script keeps the
case's timing.
"""

from __future__ import annotations

import shlex
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

ROOT_NAMESPACE = "root"

SLAAC_PROGRAM = "python3 -m longfat.guest.slaac"
"""How `longfat.guest.slaac` is typed."""

_HEADER = """\
#!/bin/sh
# What this case did, in order; t is virtual time since boot, in seconds.
# On a real Linux machine, as root: sh commands.sh
mkdir -p raw
"""

_TBF_FOR_WIRE = """\
# Links have the qdisc `wire` of longfat's kernels. Elsewhere a tbf comes nearest to it.
tc() {
    command tc $(echo "$*" | sed -E 's/ wire (rate [^ ]+)/ tbf \\1 burst 256kb/
        s/ cut [0-9]+//; s/ through$//')
}
"""

# Outside of these, a word means the same to the shell at root and to one at the host.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-+=:,./%@'^")


class Script:
    """A script that grows as things are done.

    Args:
        path: the file to write.
        has_wires: links of it have the qdisc `wire`, which other kernels do not have.
    """

    def __init__(self, path: str, *, has_wires: bool) -> None:
        self._file = open(path, "w", encoding="utf-8")  # noqa: SIM115  open as long as we live
        self._file.write(_HEADER + (_TBF_FOR_WIRE if has_wires else ""))
        self._reached_s = 0.0  # when whoever runs the script comes to its end

    def title(self, text: str) -> None:
        """Start a part of the script."""
        self._write([f"\n# {text}"])

    def record(self, lines: Iterable[str]) -> None:
        """Record lines that start now."""
        now_s = time.monotonic()
        self._reached_s = now_s
        self._write([f"# t={now_s:.6f}", *lines])

    def note(self, lines: Iterable[str], *, at_s: float) -> None:
        """Record lines that started at a time; what is written now takes no virtual time.

        Args:
            lines: the lines.
            at_s: when they started, in seconds of virtual time since boot.
        """
        self.note_wait_until(at_s)
        self._file.writelines(f"{line}\n" for line in (f"# t={at_s:.6f}", *lines))

    def note_output(self, text: str) -> None:
        """Note the output of the line before, as comments; it is written out with what follows."""
        for line in text.splitlines():
            shown = "".join(mark if mark.isprintable() else " " for mark in line.expandtabs())
            self._file.write(f"#> {shown}".rstrip() + "\n")

    def note_wait_until(self, when_s: float) -> None:
        """Note a planned wait until a virtual time since boot, as far as one is needed.

        Args:
            when_s: the time, in seconds.
        """
        left_s = round(when_s - self._reached_s, 3)
        if left_s > 0:
            self._file.write(f"sleep {left_s:g}\n")
        self._reached_s = max(when_s, self._reached_s)

    def write_out(self) -> None:
        """Write what was noted to the file, so that it is there if the machine is stopped."""
        self._file.flush()

    def wait(self, seconds: float) -> None:
        """Record a planned wait."""
        self._reached_s += seconds
        self._write([f"sleep {seconds:g}"])

    def close(self) -> None:
        """Write out what is left."""
        self._file.close()

    def _write(self, lines: Sequence[str]) -> None:
        self._file.writelines(f"{line}\n" for line in lines)
        # A machine that is stopped from outside leaves what it did so far.
        self._file.flush()


def at_root_of(order: dict[str, Any], node: str, line: str) -> str:
    """Return `line` as one types it at root to run it at a host with the host's own root."""
    changed = f"cd {shlex.quote(order['folder'])}; {line}" if order["folder"] != "/" else line
    variables = [f"{name}={value}" for name, value in order["environment"].items()]
    env = f" {shlex.join(['env', *variables])}" if variables else ""
    return f"ip netns exec {node} chroot {order['at']}{env} sh -c {shlex.quote(changed)}"


def at_node(node: str, line: str) -> str:
    """Return `line` as one types it at root to run it at `node`."""
    if node == ROOT_NAMESPACE:
        return line
    first = line.split(maxsplit=1)[0] if line.strip() else ""
    if set(line) <= _PLAIN and "=" not in first:
        return f"ip netns exec {node} {line}"
    return f"ip netns exec {node} sh -c {shlex.quote(line)}"
