"""Commands that a session runs itself: for a page, and added set-up lines.

The session is blocked meanwhile, so the time of a command is limited, and so is its output:
`yes` writes a gigabyte before anybody notices.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from longfat.live import Network

MOST_OUTPUT_BYTES = 1 << 16
"""A command with more output is stopped."""

WITHIN_S = 5.0
"""The time limit of a command, in seconds of virtual time."""

WITHIN_WALL_S = 2.0
"""The time limit in seconds of wall time: time may be paced, and the page must stay responsive."""

_WAIT_S = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """The result of a command.

    Attributes:
        node: the node.
        line: the command.
        status: its exit status; None if it did not end by itself.
        text: its output and standard error, and why it was stopped, if it was.
    """

    node: str
    line: str
    status: int | None
    text: str

    @property
    def problem(self) -> str:
        """The error message with the command; empty if it exited with 0."""
        if self.status == 0:
            return ""
        return f"{self.node}: `{self.line}`: {self.text.strip() or 'it failed without output'}"


def run_line(
    network: Network, node: str, line: str, *, within_wall_s: float = WITHIN_WALL_S
) -> CommandResult:
    """Run a command at a node, advancing virtual time as far as it needs.

    Args:
        network: the network, built; its machine is held, before and after.
        node: a host, a switch, or root.
        line: the command.
        within_wall_s: its time limit, in seconds of wall time.

    Raises:
        InputError: there is no such node, or the line cannot be run.
    """
    model, session = network.model, network.session
    hosts = [host.name for host in model.hosts]
    nodes = [ROOT_NAMESPACE, *hosts, *(switch.name for switch in model.switches)]
    if node not in nodes:
        raise InputError(f"there is no node {node!r} (there are: {', '.join(nodes)})")
    output = bytearray()
    task = session.start(
        ["/bin/sh", "-c", line],
        node=node if node in hosts else ROOT_NAMESPACE,
        environment=LIVE_ENVIRONMENT,
        on_output=lambda _is_error, data: output.extend(data[: MOST_OUTPUT_BYTES - len(output)]),
    )
    end_s = time.monotonic() + within_wall_s
    session.resume(until_ns=session.now_ns + round(WITHIN_S * 1e9), ended=[task])
    while not session.is_held and len(output) < MOST_OUTPUT_BYTES and time.monotonic() < end_s:
        session.wait(_WAIT_S)
    session.pause()
    status, words = task.status, ""
    if status is None:
        why = f"did not end within {WITHIN_S:g} s of virtual time"
        if session.stop_reason != "time":
            why = f"did not end within {within_wall_s:g} s"
        if len(output) >= MOST_OUTPUT_BYTES:
            why = f"printed more than {MOST_OUTPUT_BYTES // 1024} KB"
        words = f"\n`{line[:200]}` {why}, and was stopped\n"
        session.signal(task, signal.SIGKILL)
        session.run_until(ended=[task])
    session.forget(task)
    return CommandResult(
        node=node, line=line, status=status, text=output.decode(errors="replace") + words
    )
