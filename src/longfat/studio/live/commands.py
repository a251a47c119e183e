"""Commands that a session runs itself: for a page, added set-up lines, and events of the study.

The session is blocked meanwhile, so the time of a command is limited, and so is its output:
`yes` writes a gigabyte before anybody notices.
"""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution.runs import EventTime
from longfat.live.session import LIVE_ENVIRONMENT
from longfat.model.network import ROOT_NAMESPACE
from longfat.model.timeline import timeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.live import Network
    from longfat.model.case import Case
    from longfat.model.timeline import Step

MAX_OUTPUT_BYTES = 1 << 16
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
        on_output=lambda _is_error, data: output.extend(data[: MAX_OUTPUT_BYTES - len(output)]),
    )
    end_s = time.monotonic() + within_wall_s
    session.resume(until_ns=session.now_ns + round(WITHIN_S * 1e9), ended=[task])
    while not session.is_held and len(output) < MAX_OUTPUT_BYTES and time.monotonic() < end_s:
        session.wait(_WAIT_S)
    session.pause()
    status, words = task.status, ""
    if status is None:
        why = f"did not end within {WITHIN_S:g} s of virtual time"
        if session.stop_reason != "time":
            why = f"did not end within {within_wall_s:g} s"
        if len(output) >= MAX_OUTPUT_BYTES:
            why = f"printed more than {MAX_OUTPUT_BYTES // 1024} KB"
        words = f"\n`{line[:200]}` {why}, and was stopped\n"
        session.signal(task, signal.SIGKILL)
        session.run_until(ended=[task])
    session.forget(task)
    return CommandResult(
        node=node, line=line, status=status, text=output.decode(errors="replace") + words
    )


_EARLY_S = 1e-9


class EventPlayer:
    """The events of a run.

    Args:
        case: the case whose events they are.
        start_s: the start of its traffic, in seconds of virtual time since boot.
        end_of: returns the time when a flow ended, likewise; None if it has not.
    """

    def __init__(
        self, case: Case, *, start_s: float, end_of: Callable[[str], float | None]
    ) -> None:
        self._steps = list(timeline(case.network, setup=case.setup, events=case.events))
        self._start_s = start_s
        self._end_of = end_of
        self._lasting: set[int] = set()
        self.times: list[EventTime] = []
        """When events were executed."""

    @property
    def has_changed(self) -> bool:
        """Return whether an event changed the network and was not reverted."""
        return bool(self._lasting)

    def due_s(self) -> float | None:
        """Return when the next one is due, in seconds since boot; None if none is known."""
        times = (self._time_s(step) for step in self._steps)
        return min((time_s for time_s in times if time_s is not None), default=None)

    def play(self, network: Network) -> list[tuple[str, str]]:
        """Execute the events that are due; the machine is held.

        Args:
            network: the network.

        Returns:
            For each step a short description, and the error message, if any.

        Raises:
            MachineError: the machine has ended.
        """
        until_s = network.clock.now + _EARLY_S
        due: list[tuple[float, int, Step]] = []
        later: list[Step] = []
        for number, step in enumerate(self._steps):
            time_s = self._time_s(step)
            if time_s is not None and time_s <= until_s:
                due.append((time_s, number, step))
            else:
                later.append(step)
        self._steps = later
        played = [step for _, _, step in sorted(due, key=lambda one: one[:2])]
        at_s = max(0.0, network.clock.now - self._start_s)
        self.times += [EventTime(event=one.event, at_s=at_s, words=one.words) for one in played]
        return [(step.words, self._type(step, network)) for step in played]

    def _time_s(self, step: Step) -> float | None:
        from_s = self._start_s if step.after is None else self._end_of(step.after)
        return None if from_s is None else from_s + step.at_s

    def _type(self, step: Step, network: Network) -> str:
        if step.restores:
            self._lasting.discard(step.event)
        else:
            self._lasting.add(step.event)
        for command in step.commands:
            if problem := run_line(network, command.node, command.line).problem:
                return problem
        return ""
