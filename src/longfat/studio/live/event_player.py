"""The events of a study in a live session: lines that are typed at their times in a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.execution.runs import EventTime
from longfat.model.timeline import timeline
from longfat.studio.live.commands import run_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.live import Network
    from longfat.model.case import Case
    from longfat.model.timeline import Step

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
