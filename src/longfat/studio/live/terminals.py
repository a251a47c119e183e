"""The terminals of a session: their shells, output, listeners, and the pings typed at them.

A terminal may print more than a page can receive, as `yes` does. The session does not wait for
that page: its output is skipped for a while, up to the end of the available output.

Output arrives some time after it was printed. So the time of a ping's reply is computed from when
the command was typed, the request's number and the interval.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.engine.machine.machine import START_OF_TIME_S
from longfat.errors import InputError
from longfat.live.shell.bash import (
    PLACE,
    NoteReader,
    SetPace,
    Skip,
    bashrc,
    clock_request,
    environment,
)
from longfat.live.shell.server import SHELL
from longfat.live.shell.typed_lint import TypedLint
from longfat.live.shell.work_folder import HOME
from longfat.model.network import ROOT_NAMESPACE

if TYPE_CHECKING:
    from longfat.live import Network
    from longfat.live.task import Task
    from longfat.studio.broadcast import Listener
    from longfat.studio.live.events import TerminalInfo
    from longfat.studio.live.messages import TerminalSize

_TYPED = re.compile(r"(?:at )?(?:[\w-]+ )?ping6?\b([^|;&<>]*)(?:\|\s*tee\b[^|;&<>]*)?")
_INTERVAL = re.compile(r"\s-i\s*([\d.]+)")
_REPLY = re.compile(
    rb"bytes from ([\w.:-]{1,253}?):? .*?icmp_seq=(\d{1,9}) .*?time=(\d{1,9}(?:\.\d{1,9})?) ms"
)
_MAX_LINE_BYTES = 1000
_USUAL_INTERVAL_S = 1.0
_MIN_INTERVAL_S, _MAX_INTERVAL_S = 1e-4, 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReply:
    """A reply.

    Attributes:
        address: who replied.
        sequence: the request's number, from 1.
        time_s: when it came, in seconds of virtual time since boot.
        rtt_s: its round-trip time, in seconds.
    """

    address: str
    sequence: int
    time_s: float
    rtt_s: float


class TypedPing:
    """Parses the ping output of one terminal."""

    def __init__(self) -> None:
        self._start_s: float | None = None
        self._interval_s = _USUAL_INTERVAL_S
        self._rest = b""

    def typed(self, line: str, time_s: float) -> None:
        """Record a typed command and its time, in seconds of virtual time since boot."""
        found = _TYPED.fullmatch(line.strip())
        self._rest = b""
        self._start_s = time_s if found else None
        interval = _INTERVAL.search(found[1]) if found else None
        try:
            self._interval_s = float(interval[1]) if interval else _USUAL_INTERVAL_S
        except ValueError:
            self._start_s = None
        if not _MIN_INTERVAL_S <= self._interval_s <= _MAX_INTERVAL_S:
            self._start_s = None

    def read(self, shown: bytes) -> list[TypedReply]:
        """Return the replies in a terminal's output."""
        if self._start_s is None:
            return []
        *lines, rest = (self._rest + shown).split(b"\n")
        self._rest = rest[-_MAX_LINE_BYTES:]
        found = []
        # Longer lines are not from a ping.
        short = (line for line in lines if len(line) < _MAX_LINE_BYTES)
        for match in filter(None, map(_REPLY.search, short)):
            sequence, rtt_s = int(match[2]), float(match[3]) / 1e3
            sent_s = self._start_s + (sequence - 1) * self._interval_s
            address = match[1].decode()
            found.append(
                TypedReply(address=address, sequence=sequence, time_s=sent_s + rtt_s, rtt_s=rtt_s)
            )
        return found


MAX_SHOWN_BYTES = 1 << 18
"""How much of a terminal's output is kept for new listeners."""

MAX_TYPED_OUTPUT_BYTES = 1 << 20
"""How much is kept of the output of a typed command, its end."""

MAX_TERMINALS = 64
"""The maximum number of terminals, including ended ones that are not closed."""

_BEHIND_BYTES = 1 << 20
"""A page with a longer queue gets no output until it has received nearly all of it."""

_LEFT_OUT = b"\r\n\x1b[0m[some output was skipped: the page was too slow]\r\n"
_NOTE = re.compile(rb"(\d{1,12})[.,](\d{1,9})\s+\d+\*?\s+(.*?)\s*", re.DOTALL)
_STATUS = re.compile(rb"=(\d{1,3})")
_MAX_NOTES = 100
_MAX_REQUESTS = 16
_MAX_REPLIES = 10_000
_TERM = "xterm-256color"


@dataclass(slots=True, kw_only=True)
class Typed:
    """A command that was typed at a terminal.

    Attributes:
        node: its node.
        line: the command.
        at_s: when, in seconds after the run's start, or since boot without a run.
        status: its exit status; None if not known yet.
        output: the end of what its terminal has shown since.
    """

    node: str
    line: str
    at_s: float
    status: int | None = None
    output: bytearray = field(default_factory=bytearray, repr=False)

    def show(self, data: bytes) -> None:
        """Add what its terminal shows."""
        self.output.extend(data)
        del self.output[: len(self.output) - MAX_TYPED_OUTPUT_BYTES]


@dataclass(eq=False, slots=True)
class Terminal:
    """A terminal.

    Attributes:
        number: its id.
        node: the node of its shell.
        task: the shell.
        shown: the end of its output.
        fresh: the output not sent yet.
        listeners: its listeners, and whether each is behind.
        is_end_sent: the end of its shell was reported.
        notes: typed commands that were not taken yet; their times are seconds of
            virtual time since boot.
        last: the last typed command, whose exit status may follow.
        ended: commands with exit statuses that were not taken yet.
        requests: what its shell asked of the clock, and was not taken yet.
        note_reader: separates notes from its output.
        ping: parses the output of pings.
        replies: replies that were not taken yet.
    """

    number: int
    node: str
    task: Task
    shown: bytearray = field(default_factory=bytearray)
    fresh: bytearray = field(default_factory=bytearray)
    listeners: dict[Listener, bool] = field(default_factory=dict)
    is_end_sent: bool = False
    notes: deque[Typed] = field(default_factory=lambda: deque(maxlen=_MAX_NOTES))
    last: Typed | None = None
    ended: deque[Typed] = field(default_factory=lambda: deque(maxlen=_MAX_NOTES))
    requests: deque[Skip | SetPace] = field(default_factory=lambda: deque(maxlen=_MAX_REQUESTS))
    note_reader: NoteReader = field(default_factory=NoteReader)
    ping: TypedPing = field(default_factory=TypedPing)
    replies: deque[TypedReply] = field(default_factory=lambda: deque(maxlen=_MAX_REPLIES))

    def show(self, data: bytes) -> None:
        """Add output; `tell` sends it."""
        data, notes = self.note_reader.read(data)
        # Output and notes of one piece are in no order: it belongs to the command before and after.
        before = self.last
        for note in notes:
            if _STATUS.fullmatch(note) and before is not None and before is self.last:
                before.show(data)
            self._take_note(note)
        if self.last is not None:
            self.last.show(data)
        self.replies += self.ping.read(data)
        for kept in (self.shown, self.fresh):
            kept.extend(data)
            if len(kept) > MAX_SHOWN_BYTES:
                del kept[: len(kept) - len(_end_of(kept))]

    def _take_note(self, note: bytes) -> None:
        """Take a note of its shell."""
        if request := clock_request(note):
            self.requests.append(request)
        elif (status := _STATUS.fullmatch(note)) and self.last is not None:
            self.last.status = int(status[1])
            self.ended.append(self.last)
            self.last = None
        elif typed := _NOTE.fullmatch(note):
            time_s = float(b"%s.%s" % typed.group(1, 2)) - START_OF_TIME_S
            line = typed[3].decode(errors="replace")
            self.last = Typed(node=self.node, line=line, at_s=time_s)
            self.notes.append(self.last)
            self.ping.typed(line, time_s)

    @property
    def is_running(self) -> bool:
        """Return whether a command is in the foreground."""
        return self.last is not None and self.task.status is None

    def watch(self, listener: Listener) -> None:
        """Send a listener its earlier and future output."""
        self.update_listeners()
        if self.shown:
            listener.send([bytes(self.shown)])
        if self.task.status is None:
            self.listeners[listener] = False
        else:
            listener.end()

    def update_listeners(self) -> None:
        """Send new output to all listeners."""
        fresh = bytes(self.fresh)
        self.fresh.clear()
        for listener, is_behind in self.listeners.items():
            waiting_bytes = listener.waiting_bytes
            if is_behind and waiting_bytes < _BEHIND_BYTES // 16:
                listener.send([_LEFT_OUT + _end_of(self.shown)])
                self.listeners[listener] = False
            elif waiting_bytes > _BEHIND_BYTES:
                self.listeners[listener] = True
            elif fresh and not is_behind:
                listener.send([fresh])

    def end(self) -> None:
        """End its listeners."""
        self.update_listeners()
        for listener in self.listeners:
            listener.end()
        self.listeners.clear()

    def to_json(self) -> TerminalInfo:
        """Return its description."""
        return {"id": self.number, "node": self.node, "status": self.task.status}


class Terminals:
    """The terminals of a session; for its thread.

    Args:
        network: the network, built.
        on_change: called with the description of a terminal when it was opened or has ended.
    """

    def __init__(self, network: Network, *, on_change: Callable[[TerminalInfo], None]) -> None:
        self._network = network
        self._on_change = on_change
        self._all: dict[int, Terminal] = {}
        self._last = 0

    def prepare(self) -> None:
        """Write the shells' start-up files; again when nodes were added."""
        text = bashrc(self._network.model, session="", notes=True)
        self._network.session.write_everywhere(PLACE, text.encode())

    def open(self, node: str, *, rows: int = 24, columns: int = 80) -> Terminal:
        """Start a shell in a new terminal.

        Args:
            node: a host, a switch, or root.
            rows: the window's size.
            columns: likewise.

        Raises:
            InputError: there is no such node, there are too many, or it cannot be started.
        """
        self._check(node)
        ended = [number for number, one in self._all.items() if one.task.status is not None]
        if len(self._all) - len(ended) >= MAX_TERMINALS:
            raise InputError(f"there are {MAX_TERMINALS} terminals: close some")
        for number in ended[: max(0, len(self._all) - MAX_TERMINALS + 1)]:
            self.close(number)
        hosts = {host.name for host in self._network.model.hosts}
        place = node if node in hosts else ROOT_NAMESPACE
        task = self._network.session.start(
            SHELL,
            node=place,
            environment=environment(place, term=_TERM),
            folder=HOME,
            terminal=(rows, columns),
        )
        self._last += 1
        lint = TypedLint(self._network.model, kernel=self._network.case().kernel)
        reader = NoteReader(lint.answer)
        terminal = Terminal(number=self._last, node=node, task=task, note_reader=reader)
        task.on_output = lambda _is_error, data: terminal.show(data)
        self._all[terminal.number] = terminal
        self._on_change(terminal.to_json())
        return terminal

    def close(self, number: int) -> None:
        """Close a terminal; its shell gets SIGHUP."""
        terminal = self._all.pop(number, None)
        if terminal is None:
            return
        self._network.session.forget(terminal.task)
        terminal.end()
        self._on_change({**terminal.to_json(), "status": terminal.task.status or 0})

    def type_at(self, number: int, data: bytes) -> bool:
        """Type at a terminal; return whether its shell is still running."""
        terminal = self._all.get(number)
        if terminal is None or terminal.task.status is not None or not data:
            return False
        self._network.session.write_stdin(terminal.task, data)
        return True

    def type_lines(self, node: str, text: str) -> None:
        """Type commands at a terminal of a node whose shell is at its prompt, or at a new one.

        Raises:
            InputError: as `open`.
        """
        self._check(node)
        idle = (
            one
            for one in self._all.values()
            if one.node == node
            and one.task.status is None
            and self._network.session.at_prompt(one.task)
        )
        terminal = next(idle, None) or self.open(node)
        self.type_at(terminal.number, text.encode())

    def resize(self, number: int, size: TerminalSize) -> None:
        """Set the size of a terminal."""
        if terminal := self._all.get(number):
            self._network.session.resize(terminal.task, size.rows, size.columns)

    def watch(self, number: int, listener: Listener) -> None:
        """Send a listener a terminal's earlier and future output."""
        if terminal := self._all.get(number):
            terminal.watch(listener)
        else:
            listener.end()

    def unwatch(self, number: int, listener: Listener) -> None:
        """Stop sending a listener a terminal's output."""
        if terminal := self._all.get(number):
            terminal.listeners.pop(listener, None)

    def running(self) -> list[Terminal]:
        """Return the terminals with a command in the foreground."""
        return [terminal for terminal in self._all.values() if terminal.is_running]

    def is_running(self, number: int) -> bool:
        """Return whether a command that reads no single keys is in a terminal's foreground."""
        terminal = self._all.get(number)
        return (
            terminal is not None
            and terminal.is_running
            and self._network.session.terminal_state(terminal.task) == "running"
        )

    def take_requests(self) -> list[tuple[Task, Skip | SetPace]]:
        """Return what shells asked of the clock."""
        requests = [(one.task, request) for one in self._all.values() for request in one.requests]
        for terminal in self._all.values():
            terminal.requests.clear()
        return requests

    def take_notes(self) -> list[Typed]:
        """Return the typed commands; their exit statuses follow."""
        found = [note for one in self._all.values() for note in one.notes]
        for one in self._all.values():
            one.notes.clear()
        return found

    def take_ended(self) -> list[Typed]:
        """Return the commands that have ended, with their exit statuses."""
        found = [typed for one in self._all.values() for typed in one.ended]
        for one in self._all.values():
            one.ended.clear()
        return found

    def take_replies(self) -> list[tuple[str, TypedReply]]:
        """Return the replies to typed pings, each with its node."""
        found = [(one.node, reply) for one in self._all.values() for reply in one.replies]
        for one in self._all.values():
            one.replies.clear()
        return found

    def poll(self) -> None:
        """Send new output, and which shells have ended."""
        for terminal in self._all.values():
            terminal.update_listeners()
            if terminal.task.status is not None and not terminal.is_end_sent:
                terminal.is_end_sent = True
                terminal.end()
                self._on_change(terminal.to_json())

    def end(self) -> None:
        """End all listeners."""
        for terminal in self._all.values():
            terminal.end()

    def to_json(self) -> list[TerminalInfo]:
        """Return their descriptions."""
        return [one.to_json() for one in self._all.values()]

    def _check(self, node: str) -> None:
        model = self._network.model
        nodes = [
            ROOT_NAMESPACE,
            *(host.name for host in model.hosts),
            *(one.name for one in model.switches),
        ]
        if node not in nodes:
            raise InputError(f"there is no node {node!r} in the running network")


def _end_of(shown: bytearray) -> bytes:
    """Return the end of the output, from the beginning of a line: no escape sequence is cut."""
    start = max(0, len(shown) - MAX_SHOWN_BYTES // 2)
    return bytes(shown[(shown.find(b"\n", start) + 1 or start) if start else 0 :])
