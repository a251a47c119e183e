"""One press of Run: the flows of a drawing, started at their times, their results and limits."""

from __future__ import annotations

import math
import shlex
import time
from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from longfat.analysis.advice.diagnosis import diagnose
from longfat.common.guard import scratch_folder
from longfat.engine import kernel as kernels
from longfat.errors import LongfatError
from longfat.execution.runs import FlowTime, Run
from longfat.execution.runs.run import RAW, sums_of
from longfat.live.process import CommandFailed
from longfat.model.addresses import target_address
from longfat.model.traffic import Ping
from longfat.model.traffic.ping import parse_replies
from longfat.model.units import format_quantity
from longfat.studio.live.commands import EventPlayer
from longfat.studio.live.events import Level, Mark
from longfat.studio.live.series import SeriesInfo, SeriesSet
from longfat.studio.views import Advice, advice_of

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


def advise(measured: Measured, case: Case) -> Advice | None:
    """Diagnose a live flow.

    Args:
        measured: its measurements.
        case: the network and its set-up, with this flow only.

    Returns:
        What limited it; None if that cannot be determined.
    """
    if not case.bulk_flows:
        return None
    try:
        return _advise(measured, case)
    except (LongfatError, OSError):  # no diagnosis is possible
        return None


def _advise(measured: Measured, case: Case) -> Advice:
    name = measured.flow.name
    with scratch_folder() as folder:
        raw = folder / RAW
        raw.mkdir()
        for file, text in measured.raw.items():
            (raw / file).write_text(text, encoding="utf-8")
        run = Run(
            folder=folder,
            name=name,
            case=case,
            case_digest="",
            digest="",
            kernel={
                "digest": "",
                "release": kernels.find(case.kernel).release,
                "binary_sha256": "",
            },
            tools={},
            seed=case.seed,
            flow_times={name: FlowTime(start_s=0.0, end_s=measured.flow.duration_s())},
            epoch_s=0.0,
            virtual_s=0.0,
            wall_s=0.0,
            peak_bytes=0,
            sandbox="",
            metrics={f"{name}.{metric}": value for metric, value in measured.metrics.items()},
            files=sums_of(folder),
        )
        (found,) = diagnose(run, name)
    return advice_of(found)


MAX_MARKS = 500
"""The maximum number of marks of a recording."""

MAX_MARK_LETTERS = 200
"""The maximum length of a mark's text."""


@dataclass(eq=False, slots=True)
class PlayedFlow:
    """A flow of a recording, and its state.

    Attributes:
        flow: the flow.
        state: waiting, running, done or failed.
        started: its processes, when they run.
        started_s: when it began, in seconds of virtual time since boot.
        ended_s: when it ended, likewise.
        words: why it failed.
        measured: its measurements.
        advice: what limited it.
        replies_end: the offset up to which a ping's replies were read.
        replies: the number of the last one of them.
        replied_s: when it came, in seconds after the recording's start.
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
        self._events: EventPlayer | None = None
        self.flows: list[PlayedFlow] = []
        self._name = name
        self._case = case
        if case is not None:
            for flow in case.flows:
                client = flow.processes(address=target_address(case, flow), port=5201)[-1]
                self.flows.append(PlayedFlow(flow, shlex.join(client.typed)))
            self._events = EventPlayer(case, start_s=start_s, end_of=self._ended_s)

    @property
    def case(self) -> Case | None:
        """The case that is run; None without a press of Run."""
        return self._case

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
        return all(one.state in ("done", "failed") for one in self.flows)

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
            self._measure(one, network)
        return any(one.state != "running" for one in ended)

    def stop(self, network: Network) -> None:
        """Stop all running flows, and start no more. The machine is held."""
        for one in self.flows:
            if one.state in ("waiting", "running"):
                if one.started is not None:
                    one.started.drop()
                    one.ended_s = one.ended_s or network.clock.now
                one.state, one.words = "failed", "stopped before its end"

    def close(self, now_s: float) -> None:
        """Mark it as ended."""
        self.end_s = now_s

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

    def _measure(self, one: PlayedFlow, network: Network) -> None:
        assert one.started is not None
        try:
            one.measured = one.started.result()
        except CommandFailed as failed:
            one.state, one.words = "failed", failed.message
        except LongfatError as error:
            one.state, one.words = "failed", str(error)
        else:
            one.state = "done"
            if self._case is not None:
                case = replace(network.case(), flows=(one.flow,), probes=())
                one.advice = advise(one.measured, case)

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
    if one.started is None or one.ended_s is None:
        return None
    return one.ended_s + one.started.grace_s
