"""What a person changed by hand in a live session before a run."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from longfat.studio.live.replay import CONFIGURING

if TYPE_CHECKING:
    from longfat.studio.live.terminals import Typed

_MAX_CHANGES = 1000
_MAX_LINE_CHARACTERS = 80
_SHOWING = frozenset(("show", "list", "ls", "get", "-s", "-a"))


_MAX_NAMED = 2
_QDISC = re.compile(
    r"tc\s+qdisc\s+(?:add|change|replace)\s+dev\s+(\S+)\s+(?:root|parent\s+\S+)"
    r"(?:\s+handle\s+\S+)?\s+(.+)"
)
_NO_QDISC = re.compile(r"tc\s+qdisc\s+del\s+dev\s+(\S+)\b.*")
_SYSCTL = re.compile(r"sysctl\s+(?:-w\s+)?(?:\S+\.)?(\w+\s?=.*)")


def is_change(typed: Typed) -> bool:
    """Return whether a typed command changed the network, and did not only show it."""
    words = typed.line.split()
    return (
        bool(words)
        and words[0] in CONFIGURING
        and typed.status == 0
        and not _SHOWING & set(words)
        and len(words) > 2
    )


def change_text(line: str) -> str:
    """Return a typed change as a short description, such as `s1-eth2: netem delay 20ms`.

    >>> change_text("tc qdisc replace dev s2-eth2 root handle 1: tbf rate 1gbit limit 2621440")
    's2-eth2: tbf rate 1gbit limit 2621440'
    >>> change_text("sysctl -w net.ipv4.tcp_congestion_control=bbr")
    'tcp_congestion_control=bbr'
    """
    line = " ".join(line.split())
    if found := _QDISC.fullmatch(line):
        text = f"{found[1]}: {found[2]}"
    elif found := _NO_QDISC.fullmatch(line):
        text = f"{found[1]}: no qdisc"
    elif found := _SYSCTL.fullmatch(line):
        text = found[1]
    else:
        text = line
    return text[:_MAX_LINE_CHARACTERS]


class History:
    """The manual changes of a session, the most recent ones.

    Attributes:
        before_run: the commands typed in the session before the current run.
    """

    def __init__(self) -> None:
        self._changes: deque[str] = deque(maxlen=_MAX_CHANGES)
        self._typed: deque[Typed] = deque(maxlen=_MAX_CHANGES)
        self._since_run: deque[Typed | str] = deque(maxlen=_MAX_CHANGES)
        self.before_run: tuple[Typed, ...] = ()

    def add(self, typed: Typed, *, whole: bool = False) -> None:
        """Add a command that was typed.

        Args:
            typed: the command; its exit status may follow.
            whole: a long line is not cut in `differences`.
        """
        self._typed.append(typed)
        self._since_run.append(typed)
        line = typed.line if whole else typed.line[:_MAX_LINE_CHARACTERS]
        self._changes.append(f"{typed.node}: {line}")

    def add_change(self, text: str) -> None:
        """Add a change of the network made on the page, as a short description."""
        self._changes.append(text)
        self._since_run.append(text)

    def label(self) -> str:
        """Return what was changed since the last run began; empty for nothing."""
        changes = [
            one if isinstance(one, str) else change_text(one.line)
            for one in self._since_run
            if isinstance(one, str) or is_change(one)
        ]
        texts = list(dict.fromkeys(changes))
        more = f" and {len(texts) - _MAX_NAMED} more" if len(texts) > _MAX_NAMED else ""
        return ", ".join(texts[-_MAX_NAMED:]) + more

    def begin_run(self) -> None:
        """Note that a run begins."""
        self.before_run = tuple(self._typed)
        self._since_run.clear()

    def differences(self, *, now_s: float, earlier_runs: int) -> tuple[str, ...]:
        """Return why a run's numbers may differ from those of its case in Results.

        Args:
            now_s: when it begins, in seconds of virtual time since boot.
            earlier_runs: how many runs the session had before it.
        """
        found = [
            f"it began at {now_s:.3f} s of a running session; "
            "in Results each case runs in a new machine"
        ]
        if earlier_runs:
            runs = "1 run" if earlier_runs == 1 else f"{earlier_runs} runs"
            found.append(f"{runs} before it: TCP caches metrics of a path")
        if self._changes:
            last = self._changes[-1]
            more = ", ..." if len(self._changes) > 1 else ""
            found.append(f"changed by hand before: {last}{more}")
        return tuple(found)
