"""Which typed lines of a case fail: they are typed in its network, and nothing ends at a failure.

For studies that come from elsewhere: Mininet, for one, ignores how a line ends, and a case ends at
the first that fails.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.common.terminal_text import printable_line
from longfat.execution.case_runner import run_case
from longfat.model.case import Command
from longfat.model.events import TypedLine
from longfat.model.traffic import Program

if TYPE_CHECKING:
    from longfat.model.case import Case

_STATUS_FILE = "/tmp/.longfat-trial"
_MAX_WORDS = 200


def failing_lines(case: Case, lines: Iterable[Command] = ()) -> dict[Command, str]:
    """Return the set-up lines of a case that fail, and what they print.

    Args:
        case: the case; its traffic is not played.
        lines: more lines, which are typed after its set-up lines.

    Raises:
        InputError: the network has fewer than two hosts that links join, or a file is missing.
        HostError: no kernel is built, or the host lacks a tool.
        MachineError: the machine failed.
    """
    commands = (*case.setup, *lines)
    names = [host.name for host in case.network.hosts]
    if not commands or len(names) < 2:
        return {}
    shown = Program(name="trial", source=names[0], target=names[1], run=f"cat {_STATUS_FILE}")
    tried = replace(
        case,
        setup=(
            Command(node=names[0], line=f": > {_STATUS_FILE}"),
            *(_tried(command, index) for index, command in enumerate(commands)),
        ),
        flows=(shown,),
        probes=(),
        events=(),
    )
    with scratch_folder() as folder:
        run = run_case(tried, name="trial", out=folder)
        text = (run.folder / "raw/trial.client.txt").read_text(errors="replace")
    failing: dict[Command, str] = {}
    for line in text.splitlines():
        index, _, words = line.partition(" ")
        if index.isdecimal() and int(index) < len(commands):
            failing.setdefault(commands[int(index)], printable_line(words)[:_MAX_WORDS])
    return failing


def failing_case_lines(case: Case) -> dict[Command, str]:
    """Return the lines of a case that fail, of its set-up and of its events; `failing_lines`."""
    return failing_lines(
        case,
        [
            Command(node=event.node, line=event.line)
            for event in case.events
            if isinstance(event, TypedLine)
        ],
    )


def _tried(command: Command, index: int) -> Command:
    """Return a line that notes how another one ends."""
    error = f"{_STATUS_FILE}.{index}"
    noted = f'echo "{index} $(tail -n 1 {error})" >> {_STATUS_FILE}'
    return replace(command, line=f"eval {shlex.quote(command.line)} 2> {error} || {noted}")
