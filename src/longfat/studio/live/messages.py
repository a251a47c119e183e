"""The commands of a page to a session: JSON texts on the session's WebSocket.

A command has its name in the field `do`. The page's types are generated from these declarations.
A terminal has a WebSocket of its own: binary both ways, output and input, and sizes
(`TerminalSize`) from the page. Earlier output comes first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from longfat.common.decoding import Decoder, parse_json
from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR
from longfat.errors import InputError
from longfat.studio.views import SetupLine

MAX_STEP_S = 3600.0
"""The largest step of the clock."""

MIN_STEP_S = 1e-6

MAX_ROWS = 1000
"""The maximum number of rows, and of columns, of a terminal."""

MAX_ID = 2**31
"""The largest number of a terminal, a capture or a question."""

_MAX_NAME_CHARACTERS = 40

PaceChoice: TypeAlias = Literal["max"] | float | None
"""Virtual seconds per second of wall time; "max" is as fast as possible. None is real time while
a command typed at a terminal runs, else as fast as possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Start the flows of the case in a new recording, after the lines have run.

    Attributes:
        flows: the names of the flows to start; None for all.
        text: the drawing, as of `Update`; None if it has not changed.
        case: likewise.
        lines: commands to run first.
    """

    flows: list[str] | None = None
    text: str | None = None
    case: str | None = None
    lines: list[SetupLine] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Apply the drawing to the running network: it was changed.

    Attributes:
        text: the text of the study.
        case: the chosen case; None for the only one, or the bare network.
    """

    text: str
    case: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """End the current recording with its flows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Hold the clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """Resume time after `hold`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Let time advance, and hold it.

    Attributes:
        by_s: by how much.
    """

    by_s: float

    def __post_init__(self) -> None:
        if not MIN_STEP_S <= self.by_s <= MAX_STEP_S:
            raise ValueError(f"by_s is {MIN_STEP_S:g} to {MAX_STEP_S:g}, but got {self.by_s}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPace:
    """Set how fast time passes.

    Attributes:
        factor: the pace.
    """

    factor: PaceChoice

    def __post_init__(self) -> None:
        if isinstance(self.factor, int | float) and not MIN_FACTOR <= self.factor <= MAX_FACTOR:
            raise ValueError(f"factor is {MIN_FACTOR:g} to {MAX_FACTOR:g}, but got {self.factor}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Pass time as fast as possible until a command typed at a terminal ends; or stop that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TerminalSize:
    """The size of a terminal's window.

    Attributes:
        rows: in characters.
        columns: in characters.
    """

    rows: int
    columns: int

    def __post_init__(self) -> None:
        for name, count in (("rows", self.rows), ("columns", self.columns)):
            if not 1 <= count <= MAX_ROWS:
                raise ValueError(f"{name} is 1 to {MAX_ROWS}, but got {count}")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTerminal(TerminalSize):
    """Start a shell in a new terminal.

    Attributes:
        node: a host, a switch, or root.
    """

    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CloseTerminal:
    """Close a terminal; its shell gets SIGHUP.

    Attributes:
        id: its number.
    """

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeLines:
    """Type commands at a terminal of each node whose shell is at its prompt, or at a new one.

    Attributes:
        nodes: the nodes.
        text: the commands.
    """

    nodes: list[str]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """Run a command at a node, advancing time only as far as it needs; see `AnswerEvent`.

    Attributes:
        number: identifies the answer.
        node: the node.
        line: the command.
    """

    number: int
    node: str
    line: str

    def __post_init__(self) -> None:
        if not 0 <= self.number <= MAX_ID:
            raise ValueError(f"number is 0 to {MAX_ID}, but got {self.number}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLosses:
    """Send where the network has lost packets since its boot; see `LossesEvent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCapture:
    """Capture packets at an interface.

    Attributes:
        interface: the interface.
        filter: in the syntax of pcap-filter(7); empty for all packets.
    """

    interface: str
    filter: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndCapture:
    """Stop a capture; its packets are kept.

    Attributes:
        id: its number.
    """

    id: int


Command: TypeAlias = (
    Run
    | Update
    | Stop
    | Hold
    | Resume
    | Step
    | SetPace
    | Skip
    | OpenTerminal
    | CloseTerminal
    | TypeLines
    | Ask
    | ReadLosses
    | StartCapture
    | EndCapture
)
"""A command of a page."""

COMMANDS: dict[str, type[Any]] = {
    "run": Run,
    "update": Update,
    "stop": Stop,
    "hold": Hold,
    "go": Resume,
    "step": Step,
    "pace": SetPace,
    "skip": Skip,
    "open-terminal": OpenTerminal,
    "close-terminal": CloseTerminal,
    "type": TypeLines,
    "ask": Ask,
    "losses": ReadLosses,
    "capture": StartCapture,
    "end-capture": EndCapture,
}
"""The commands by what a message has in its field `do`."""

_DECODERS = {name: Decoder(command) for name, command in COMMANDS.items()}
_SIZE = Decoder(TerminalSize)


class InvalidCommandError(InputError):
    """A message is not a command.

    Args:
        message: what was found, and what was expected.
        about: the command, if its name is known.
    """

    def __init__(self, message: str, *, about: str = "") -> None:
        super().__init__(message)
        self.about = about


def read_command(text: str) -> tuple[str, Command]:
    """Parse a command.

    Returns:
        Its name, and the command.

    Raises:
        InvalidCommandError: it is none.
    """
    data = parse_json(text.encode(errors="replace"), where="a command", error=InvalidCommandError)
    name = data.pop("do", None) if isinstance(data, dict) else None
    if not isinstance(name, str):
        raise InvalidCommandError("a command must be a JSON object with a field 'do'")
    name = name[:_MAX_NAME_CHARACTERS]
    if name not in COMMANDS:
        raise InvalidCommandError(f"there is no command {name!r}", about=name)

    def invalid(message: str) -> InvalidCommandError:
        return InvalidCommandError(message, about=name)

    command: Command = _DECODERS[name].decode(data, where=f"the command {name!r}", error=invalid)
    return name, command


def read_size(text: str) -> TerminalSize:
    """Parse the size of a terminal.

    Raises:
        InputError: it is none.
    """
    where = "the size of a terminal"
    return _SIZE.decode(parse_json(text.encode(errors="replace"), where=where), where=where)
