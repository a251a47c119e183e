"""The events of a session to its pages: JSON texts on the session's WebSocket.

The first is always `state`. The page's types are generated from these declarations. Times are
seconds of virtual time since the machine's boot unless stated otherwise. The points of series
are binary messages on the same WebSocket; see `longfat.studio.live.series`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

from longfat.studio.live.messages import PaceChoice
from longfat.studio.live.series import SeriesInfo
from longfat.studio.views import Advice

ClockState: TypeAlias = Literal["running", "idle", "held"]
"""Time passes; no process has anything to do; or the user holds the clock."""

FlowState: TypeAlias = Literal["waiting", "running", "done", "failed", "stopped"]
"""The state of a flow in a recording; a flow that the user ended early is `stopped`."""

NodeKind: TypeAlias = Literal["host", "router", "switch", "root"]
"""The kind of a node with a shell; `root` is the machine itself."""


class NodeInfo(TypedDict):
    """A node of a running network.

    Attributes:
        name: its name.
        kind: what it is.
    """

    name: str
    kind: NodeKind


class SessionInfo(TypedDict):
    """A running network.

    Attributes:
        id: identifies the session.
        name: the name of the drawing.
        kernel: its kernel's release.
        seed: decides all random numbers.
        case: the study's case that it is of; None for the bare network.
        nodes: its nodes, the machine itself first.
    """

    id: str
    name: str
    kernel: str
    seed: int
    case: str | None
    nodes: list[NodeInfo]


class Clock(TypedDict):
    """The clock of a session.

    Attributes:
        now_s: the time.
        state: whether time passes.
        speed: virtual seconds in a second of wall time, recently.
        pace: what the user has set.
        commands: the number of terminals with a command in the foreground.
        skipping: time passes as fast as possible until one of these ends.
    """

    now_s: float
    state: ClockState
    speed: float
    pace: PaceChoice
    commands: int
    skipping: bool


class FlowResult(TypedDict):
    """A metric of a flow, human-readable.

    Attributes:
        name: its name without the flow's, such as `receiver_bps`.
        label: its label.
        text: the value with its unit.
    """

    name: str
    label: str
    text: str


class LiveFlow(TypedDict):
    """A flow of a recording.

    Attributes:
        name: its name.
        tool: the program.
        source: the node of the client.
        target: the node of the server.
        state: its state.
        started_s: when it began; null before.
        ended_s: when it ended; null before.
        command: the client's command line.
        words: the tool's error message, if it failed.
        metrics: by name without the flow's, in base units.
        results: the same, human-readable.
        advice: what limited it; null if unknown.
    """

    name: str
    tool: str
    source: str
    target: str
    state: FlowState
    started_s: float | None
    ended_s: float | None
    command: str
    words: str
    metrics: dict[str, float]
    results: list[FlowResult]
    advice: Advice | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """An event in a recording other than traffic.

    Attributes:
        kind: `change` of a link or a set-up line, `command` at a terminal, or `event` of the
            study.
        text: a description.
        at_s: when, after the recording's start.
    """

    kind: Literal["change", "command", "event"]
    text: str
    at_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A reference value of a quantity, valid until the next one for that quantity.

    Attributes:
        quantity: such as `throughput_bps`.
        label: its label.
        value: in the quantity's unit; null if there is none from then on.
        from_s: from when it is valid, after the recording's start.
    """

    quantity: str
    label: str
    value: float | None
    from_s: float


class RecordingInfo(TypedDict):
    """The measurements that start with one press of Run.

    Attributes:
        number: its number in the session.
        case: the case's name, if the study names any.
        start_s: its start.
        end_s: when the last of its flows has ended; null before.
        flows: its flows.
        series: what its lines are; their points are binary messages.
        marks: its events.
        levels: the reference values.
        differences: why its numbers may differ from those of the same case in Results.
        kept: the run directory that it was saved as, below the workspace; null before.
        label: of traffic that is typed at terminals, what was changed since the last recording,
            which may be nothing; null for a press of Run.
    """

    number: int
    case: str | None
    start_s: float
    end_s: float | None
    flows: list[LiveFlow]
    series: list[SeriesInfo]
    marks: list[Mark]
    levels: list[Level]
    differences: list[str]
    kept: str | None
    label: str | None


class TerminalInfo(TypedDict):
    """A terminal.

    Attributes:
        id: its number.
        node: the node of its shell.
        status: the exit status of its shell; null while that runs.
    """

    id: int
    node: str
    status: int | None


class CaptureInfo(TypedDict):
    """A capture of a session, running or finished.

    Attributes:
        number: its number.
        interface: the interface.
        filter: in the syntax of pcap-filter(7).
        going: it is running.
        bytes: its size.
        words: why it has ended, if the user did not stop it.
    """

    number: int
    interface: str
    filter: str
    going: bool
    bytes: int
    words: str


class StateEvent(TypedDict):
    """The whole state, always the first event.

    Attributes:
        session: the session.
        clock: its clock.
        recordings: its recordings; the last one is current.
        terminals: its terminals.
        captures: its captures.
        stale: as of `StaleEvent`.
    """

    event: Literal["state"]
    session: SessionInfo
    clock: Clock
    recordings: list[RecordingInfo]
    terminals: list[TerminalInfo]
    captures: list[CaptureInfo]
    stale: list[str]


class ClockEvent(Clock):
    """The clock has changed."""

    event: Literal["clock"]


class RecordingEvent(TypedDict):
    """A recording has begun or changed."""

    event: Literal["recording"]
    recording: RecordingInfo


class TerminalEvent(TypedDict):
    """A terminal was opened, or its shell has ended."""

    event: Literal["terminal"]
    terminal: TerminalInfo


class TypedEvent(TypedDict):
    """A command typed at a terminal has ended.

    Attributes:
        node: its node.
        line: the command.
        status: its exit status.
    """

    event: Literal["typed"]
    node: str
    line: str
    status: int


class CapturesEvent(TypedDict):
    """Captures have changed."""

    event: Literal["captures"]
    captures: list[CaptureInfo]


class StaleEvent(TypedDict):
    """What the running network cannot apply of the drawing has changed.

    Attributes:
        reasons: those changes: the network has to be restarted for them.
    """

    event: Literal["stale"]
    reasons: list[str]


class RestartNeededEvent(TypedDict):
    """Run was pressed, and the drawn network differs in ways that need a restart.

    Attributes:
        reasons: the differences.
    """

    event: Literal["restart-needed"]
    reasons: list[str]


class MessageEvent(TypedDict):
    """A command failed, or there is a notice.

    Attributes:
        level: how serious it is.
        text: the message.
        about: the name of the command, if it was one.
    """

    event: Literal["message"]
    level: Literal["error", "warning", "info"]
    text: str
    about: str


class AnswerEvent(TypedDict):
    """The output of an `ask`.

    Attributes:
        number: identifies the question.
        text: the output.
    """

    event: Literal["answer"]
    number: int
    text: str


class LiveLoss(TypedDict):
    """Packets that a running network lost at one place, for one cause, between two hosts.

    Attributes:
        node: the node that dropped them.
        interface: the interface at which they were; empty if they had left it.
        packets: their number since the machine's boot.
        cause: why, with the qdisc that did.
        meaning: what the cause means.
        flow: their hosts, such as `h1 -> h2`.
        last_s: when the last was dropped.
    """

    node: str
    interface: str
    packets: int
    cause: str
    meaning: str
    flow: str
    last_s: float


class LossesEvent(TypedDict):
    """Where the network has lost packets, on request.

    Attributes:
        losses: the losses, the most packets first.
    """

    event: Literal["losses"]
    losses: list[LiveLoss]


class EndedEvent(TypedDict):
    """The session has ended, always the last event.

    Attributes:
        words: why.
    """

    event: Literal["ended"]
    words: str


SessionEvent: TypeAlias = (
    StateEvent
    | ClockEvent
    | RecordingEvent
    | TerminalEvent
    | TypedEvent
    | CapturesEvent
    | StaleEvent
    | RestartNeededEvent
    | MessageEvent
    | AnswerEvent
    | LossesEvent
    | EndedEvent
)
"""An event of a session."""
