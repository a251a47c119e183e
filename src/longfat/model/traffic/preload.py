"""The libraries of `kernel/shims` that a machine preloads into tools, by which they wait.

No virtual time passes while a program computes, so one that computes until something happens
would do so for ever. iperf3 does, unless it gets its library: from 3.16 on with `-n` and `-k`,
and before that for a round trip.
"""

from __future__ import annotations

import re

IPERF3 = "iperf3_lean"
"""The library for iperf3, by the name of its source file."""

_FOLDER = "/run/longfat/kernel"
_IPERF3_FIRST = re.compile(r"\s*iperf3(?!\S)")


def preload(shim: str) -> dict[str, str]:
    """Return the variables by which a program gets a library; none for no library.

    Args:
        shim: the library, by the name of its source file.
    """
    return {"LD_PRELOAD": f"{_FOLDER}/{shim}.so"} if shim else {}


def preloaded(line: str) -> str:
    """Return a line for a shell by which iperf3, if it is the first command, gets its library.

    Other commands of the line do not get it: it is made for iperf3 alone.
    """
    if not _IPERF3_FIRST.match(line):
        return line
    ((name, file),) = preload(IPERF3).items()
    return f"{name}={file} {line.lstrip()}"
