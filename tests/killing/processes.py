"""The processes of this PID namespace, and which of them is what."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """A process that runs; a zombie does not.

    Attributes:
        pid: its number.
        parent: that of its parent.
        group: its process group.
        session: its session.
        name: the name of its program, as the kernel keeps it.
        command: its arguments.
    """

    pid: int
    parent: int
    group: int
    session: int
    name: str
    command: str

    @property
    def is_bwrap(self) -> bool:
        return self.name == "bwrap"

    @property
    def is_guard(self) -> bool:
        return "guard/guardian.py" in self.command

    @property
    def is_remover(self) -> bool:
        return "guard/remover.py" in self.command

    @property
    def is_kernel(self) -> bool:
        return "/kernel/linux" in self.command and not self.is_bwrap and not self.is_guard

    def kill(self, number: int = signal.SIGKILL) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def living() -> list[Process]:
    """Return all processes but this one and the namespace's first, old ones first."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) not in (1, os.getpid()):
            with contextlib.suppress(OSError, ValueError):
                found.append(_read(entry))
    return sorted((one for one in found if one is not None), key=lambda one: one.pid)


def _read(entry: Path) -> Process | None:
    head, _, rest = (entry / "stat").read_text(errors="replace").rpartition(")")
    state, parent, group, session, *_ = rest.split()
    if state in "ZX":
        return None
    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    name = head.partition("(")[2]
    return Process(int(entry.name), int(parent), int(group), int(session), name, command.strip())


def kill_all(processes: Iterable[Process]) -> None:
    """Kill processes at one moment: none of them lives to see another one's end."""
    chosen = list(processes)
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in chosen:
            one.kill(number)
