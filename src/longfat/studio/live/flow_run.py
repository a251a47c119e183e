"""One press of Run: the flows of a drawing, started at their times, their results and limits."""

from __future__ import annotations

import math
import shlex
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from longfat.errors import LongfatError
from longfat.live.process import CommandFailed
from longfat.model.addresses import target_address
from longfat.model.traffic import Ping, Program
from longfat.model.traffic.ping import parse_replies
from longfat.model.units import format_quantity
from longfat.studio.live.commands import EventPlayer
from longfat.studio.live.events import Level, Mark
from longfat.studio.live.series import SeriesInfo, SeriesSet
from longfat.studio.live.typed_traffic import is_in_background, measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.execution.runs import EventTime
    from longfat.live import Network
    from longfat.live.flows import Measured, Started
    from longfat.live.task import Task
    from longfat.model.case import Case
    from longfat.model.traffic import Flow
    from longfat.studio.live.events import FlowState, LiveFlow, RecordingInfo
    from longfat.studio.live.replay import Change
    from longfat.studio.live.sample_log import SampleLog
    from longfat.studio.live.terminals import Typed
    from longfat.studio.views import Advice


MAX_MARKS = 500
"""The maximum number of marks of a recording."""

MAX_MARK_LETTERS = 200
"""The maximum length of a mark's text."""


@dataclass(eq=False, slots=True)
class PlayedFlow:
    """A flow of a recording, and its state.

    Attributes:
        flow: the flow.
        state: its state.
        started: its processes, when they run.
        started_s: when it began, in seconds of virtual time since boot.
        ended_s: when it ended, likewise.
        words: why it failed.
        measured: its measurements.
        advice: what limited it; None until the run was saved.
        replies_end: the offset up to which a ping's replies were read.
        replies: the number of the last one of them.
        replied_s: when it came, in seconds after the recording's start.
        typed: the line at a terminal that it is; None for a flow of the study.
        server: the address and port that it connects to, if a typed line names them.
    """

    flow: Flow
    command: str
    state: FlowState = "waiting"
    started: Started | None = None
    started_s: float | None = None
    ended_s: float | None = None
    words: str = ""
    measured: Measured | None = None
    advice: Advice | None = None
    replies_end: int = 0
    replies: int = 0
    replied_s: float = 0.0
    typed: Typed | None = None
    server: tuple[str, int] | None = None

    def has_ended_typed(self, *, is_idle: bool) -> bool:
        """Return whether it is typed traffic that has ended; see `Recording.end_typed`."""
        if self.typed is None or self.typed.status is None:
            return False
        return is_idle or not is_in_background(self.typed.line)

    def to_json(self) -> LiveFlow:
        """Return it as an event has it."""
        metrics: Mapping[str, float] = self.measured.metrics if self.measured else {}
        return {
            "name": self.flow.name,
            "tool": self.flow.tool,
            "source": self.flow.source,
            "target": self.flow.target,
            "state": self.state,
            "started_s": self.started_s,
            "ended_s": self.ended_s,
            "command": self.command,
            "words": self.words,
            "metrics": dict(metrics),
            "results": [
                {
                    "name": metric.name,
                    "label": metric.title,
                    "text": format_quantity(metrics[metric.name], metric.unit),
                }
                for metric in self.flow.metrics
                if metric.name in metrics
            ],
            "advice": self.advice,
        }


class Recording:
    """The measurements from one moment on.

    Args:
        number: its number in the session, from 0. The first is not of a press of Run, but of
            the traffic from terminals before.
        case: the case that is run; its flows.
        name: the case's name, if the study names any.
        start_s: its start, in seconds of virtual time since boot.
        differences: why its numbers may differ from those of the same case in a new machine.
        label: of traffic that is typed at terminals, what was changed since the last recording;
            None for a press of Run.

    Attributes:
        start_s: likewise.
        series: the series of the probes.
        levels: the reference values.
        flows: its flows.
        end_s: when the last of them has ended; None before.
        changes: the changes of the network made on the page; times are seconds since boot.
        typed: the lines that were typed at terminals, likewise.
        samples: all samples of the probes, as a run stores them; None without a press of Run.
        began_wall_s: the start by the monotonic clock of this computer.
        kept: the run directory that it was saved as, below the workspace; None before.
    """

    def __init__(
        self,
        number: int,
        *,
        case: Case | None,
        name: str | None,
        start_s: float,
        differences: tuple[str, ...] = (),
        label: str | None = None,
    ) -> None:
        self.number = number
        self.start_s = start_s
        self.end_s: float | None = None
        self.series = SeriesSet()
        self.levels: list[Level] = []
        self.changes: list[Change] = []
        self.typed: deque[Typed] = deque(maxlen=MAX_MARKS)
        self.samples: SampleLog | None = None
        self.began_wall_s = time.monotonic()
        self.kept: str | None = None
        self._marks: deque[Mark] = deque(maxlen=MAX_MARKS)
        self._differences = differences
        self.label = label
        self._events: EventPlayer | None = None
        self.flows: list[PlayedFlow] = []
        self._reported: set[str] = set()
        self._name = name
        self._case = case
        if case is not None:
            for flow in case.flows:
                client = flow.processes(address=target_address(case, flow), port=5201)[-1]
                self.flows.append(PlayedFlow(flow, shlex.join(client.typed)))
            self._events = EventPlayer(case, start_s=start_s, end_of=self._ended_s)

    @property
    def case(self) -> Case | None:
        """The case that is run; None before the first traffic."""
        if self._case is None or self.label is None:
            return self._case
        return replace(self._case, flows=tuple(one.flow for one in self.flows))

    @property
    def is_typed(self) -> bool:
        """Return whether it is of traffic that is typed at terminals."""
        return self.label is not None

    @property
    def name(self) -> str | None:
        """The case's name, if the study names any."""
        return self._name

    @property
    def event_times(self) -> list[EventTime]:
        """When events of the study were executed."""
        return self._events.times if self._events is not None else []

    @property
    def is_over(self) -> bool:
        """Return whether all its flows and events have ended."""
        return all(one.state not in ("waiting", "running") for one in self.flows)

    def running(self) -> list[PlayedFlow]:
        """Return the flows that run now."""
        return [one for one in self.flows if one.state == "running"]

    def awaited(self) -> list[Task]:
        """Return the processes to wait for."""
        return [task for one in self.running() if one.started for task in one.started.awaited]

    def due_s(self) -> float | None:
        """Return the time of the next action since boot: a start, or the end of a wait."""
        starts = (self._due_s(one) for one in self.flows)
        ends = (_given_up_s(one) for one in self.running())
        event_s = self._events.due_s() if self._events and self.end_s is None else None
        return min((due for due in (*starts, *ends, event_s) if due is not None), default=None)

    @property
    def has_changed_network(self) -> bool:
        """Return whether an event changed the network and was not reverted."""
        return self._events is not None and self._events.has_changed

    @property
    def has_had_events(self) -> bool:
        """Return whether an event of the study was executed in it."""
        return any(one.kind == "event" for one in self._marks)

    def add_typed(self, typed: Typed, flow: Program, *, server: tuple[str, int] | None) -> None:
        """Add traffic that was typed at a terminal, and runs.

        Args:
            typed: the line.
            flow: the same as a flow.
            server: the address and port that it connects to, if they are known.
        """
        start_s = max(self.start_s, typed.at_s)
        self.flows.append(
            PlayedFlow(
                replace(flow, start_s=round(start_s - self.start_s, 6)),
                typed.line,
                state="running",
                started_s=start_s,
                typed=typed,
                server=server,
            )
        )

    def has_ended_typed(self, *, is_idle: bool) -> bool:
        """Return whether `end_typed` would measure any."""
        return any(one.has_ended_typed(is_idle=is_idle) for one in self.running())

    def end_typed(self, now_s: float, *, is_idle: bool) -> bool:
        """Measure typed traffic that has ended; return whether there was any.

        Args:
            now_s: the time, in seconds of virtual time since boot.
            is_idle: no process has anything to do: what ran in the background has ended, too.
        """
        ended = [one for one in self.running() if one.has_ended_typed(is_idle=is_idle)]
        for one in ended:
            assert one.typed is not None
            assert one.typed.status is not None
            assert isinstance(one.flow, Program)
            assert one.started_s is not None
            one.ended_s, one.state = now_s, "done"
            one.measured = measure(
                one.flow,
                bytes(one.typed.output),
                elapsed_s=now_s - one.started_s,
                status=one.typed.status,
            )
            one.flow = one.measured.flow
        return bool(ended)

    def mark(self, kind: Literal["change", "command", "event"], text: str, *, now_s: float) -> None:
        """Add a mark; see `Mark`.

        Args:
            kind: its kind.
            text: its text.
            now_s: its time, in seconds of virtual time since boot.
        """
        words = " ".join(text.split())[:MAX_MARK_LETTERS]
        at_s = max(0.0, now_s - self.start_s)
        self._marks.append(Mark(kind=kind, text=words, at_s=at_s))

    def play_events(self, network: Network) -> list[str] | None:
        """Execute the events that are due; the machine is held.

        Returns:
            The errors; None if nothing was due.
        """
        if self._events is None or self.end_s is not None:
            return None
        now_s = network.clock.now
        played = self._events.play(network)
        for words, _ in played:
            self.mark("event", words, now_s=now_s)
        return [wrong for _, wrong in played if wrong] if played else None

    def start_due(self, network: Network) -> bool:
        """Start the flows that are due; return whether there were any. The machine is held."""
        began = False
        for one in self.flows:
            due_s = self._due_s(one)
            if due_s is None or due_s > network.clock.now + 1e-9:
                continue
            began = True
            try:
                one.started = network.start(one.flow)
            except LongfatError as error:
                one.state, one.words = "failed", str(error)
                continue
            one.state, one.started_s = "running", network.clock.now
        return began

    def reap(self, network: Network) -> bool:
        """Measure flows that have ended; return whether there were any. The machine is held."""
        self.read_replies()
        ended = [one for one in self.running() if one.started and one.started.is_over]
        for one in ended:
            assert one.started is not None
            if one.ended_s is None:
                one.ended_s = network.clock.now
            # Its servers need some more time, which passes as all time does: a step must have
            # the requested length.
            if one.started.awaited:
                if network.clock.now < (_given_up_s(one) or 0.0):
                    continue
                one.started.kill()
            self._measure(one)
        return any(one.state != "running" for one in ended)

    def stop(self, network: Network) -> None:
        """Stop all running flows, and start no more. The machine is held."""
        for one in self.flows:
            if one.state in ("waiting", "running"):
                if one.started is not None:
                    one.started.drop()
                    one.ended_s = one.ended_s or network.clock.now
                one.state, one.words = "stopped", "stopped before its end"

    def take_failures(self) -> list[PlayedFlow]:
        """Return the flows that have failed since the last call."""
        failed = [one for one in self.flows if one.state == "failed"]
        fresh = [one for one in failed if one.flow.name not in self._reported]
        self._reported |= {one.flow.name for one in fresh}
        return fresh

    def close(self, now_s: float) -> None:
        """Mark it as ended."""
        self.end_s = now_s

    def save(self, path: str, advice: Mapping[str, Advice]) -> None:
        """Take where it was saved, and what limited its flows by what the saved run has."""
        self.kept = path
        for one in self.flows:
            one.advice = advice.get(one.flow.name)

    def to_json(self) -> RecordingInfo:
        """Return it as an event has it."""
        return {
            "number": self.number,
            "case": self._name,
            "start_s": self.start_s,
            "end_s": self.end_s,
            "flows": [one.to_json() for one in self.flows],
            "series": self.series.infos,
            "marks": list(self._marks),
            "levels": list(self.levels),
            "differences": list(self._differences),
            "kept": self.kept,
            "label": self.label,
        }

    def _ended_s(self, name: str) -> float | None:
        return next((one.ended_s for one in self.flows if one.flow.name == name), None)

    def _due_s(self, one: PlayedFlow) -> float | None:
        if one.state != "waiting" or self._case is None:
            return None
        from_s: float | None = self.start_s
        for before in self.flows:
            if before.flow.name == one.flow.after:
                from_s = before.ended_s
                if before.state == "failed":
                    one.state = "failed"
                    one.words = f"{before.flow.name}, which it waits for, failed"
                    return None
        return None if from_s is None else from_s + one.flow.drawn_start_s(self._case.seed)

    def _measure(self, one: PlayedFlow) -> None:
        assert one.started is not None
        try:
            one.measured = one.started.result()
        except CommandFailed as failed:
            one.state, one.words = "failed", failed.message
        except LongfatError as error:
            one.state, one.words = "failed", str(error)
        else:
            one.state = "done"

    def read_replies(self) -> None:
        """Add new replies of the pings to their series."""
        for one in self.running():
            self._read_replies(one)

    def _read_replies(self, one: PlayedFlow) -> None:
        if not isinstance(one.flow, Ping) or one.started is None or one.started_s is None:
            return
        output = one.started.client.task.output
        start, one.replies_end = one.replies_end, output.rfind(b"\n") + 1
        if start >= one.replies_end:
            return
        key = f"ping:{one.flow.name}:rtt_s"
        info = SeriesInfo(
            key=key, kind="ping", of=one.flow.name, quantity="rtt_s", unit="s", label=one.flow.name
        )
        for reply in parse_replies(output[start : one.replies_end].decode(errors="replace")):
            sent_s = one.started_s + (reply.sequence - 1) * one.flow.interval_s
            if reply.sequence > one.replies + 1:  # a line across missing replies would be wrong
                lost_s = one.started_s + one.replies * one.flow.interval_s - self.start_s
                self.series.add(info, max(lost_s, one.replied_s), math.nan)
            one.replies = reply.sequence
            one.replied_s = sent_s + reply.rtt_s - self.start_s
            self.series.add(info, one.replied_s, reply.rtt_s)


def _given_up_s(one: PlayedFlow) -> float | None:
    """Return the deadline for a flow's servers to end, since boot; None if there is none."""
    if one.started is None:
        return None
    if one.ended_s is None:
        # Another flow's start takes time, in which this one may have ended unnoticed.
        return one.started_s if one.started.is_over else None
    return one.ended_s + one.started.grace_s
