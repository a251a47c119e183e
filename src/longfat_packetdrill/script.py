"""A script that has been read: what happens, when, and where in the file it is written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longfat.errors import Place
from longfat_packetdrill.options import Settings
from longfat_packetdrill.packets import Packet


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When something is to happen.

    Attributes:
        kind: `at`, since the script's start; `after`, since the event before; `any`.
        start_ns: the time, in ns.
        end_ns: the end of a range; None, if it is no range.
    """

    kind: str
    start_ns: int = 0
    end_ns: int | None = None

    def text(self) -> str:
        """Return it in the words of scripts."""
        if self.kind == "any":
            return "*"
        sign = "+" if self.kind == "after" else ""
        end = "" if self.end_ns is None else f"~{sign}{seconds_text(self.end_ns)}"
        return f"{sign}{seconds_text(self.start_ns)}{end}"

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        return {"kind": self.kind, "start_ns": self.start_ns, "end_ns": self.end_ns}


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A system call.

    Attributes:
        name: its name.
        arguments: as plain data.
        result: what it must return.
        errno: the error that it must end with; None for any.
        end_ns: when it must return, counted as the moment of its start; None for a call
            that does not block.
        text: how it is written.
    """

    name: str
    arguments: tuple[Any, ...]
    result: int
    errno: int | None
    end_ns: int | None
    text: str

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        return {
            "name": self.name,
            "arguments": list(self.arguments),
            "result": self.result,
            "errno": self.errno,
            "end_ns": self.end_ns,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line for the shell."""

    line: str

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        return {"line": self.line}


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines of Python, which see the connection's TCP_INFO."""

    source: str

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        return {"source": self.source}


_KINDS = {Packet: "packet", Call: "call", Command: "command", Code: "code"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happens in a script."""

    place: Place
    moment: Moment
    action: Packet | Call | Command | Code

    @property
    def kind(self) -> str:
        """What it is: `packet`, `call`, `command`, `code`."""
        return _KINDS[type(self.action)]

    def text(self) -> str:
        """Return it in a line, as a message shows it."""
        action = self.action
        if isinstance(action, Packet):
            return action.text()
        if isinstance(action, Call):
            return action.text
        lines = (action.line if isinstance(action, Command) else action.source).strip().split("\n")
        more = " ..." if len(lines) > 1 else ""
        mark = "`" if isinstance(action, Command) else ""
        return f"{mark}{lines[0][:80]}{more}{mark}"

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it."""
        plan = {"line": self.place.line, "kind": self.kind, "moment": self.moment.plan()}
        return {**plan, self.kind: self.action.plan()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script.

    Attributes:
        file: its name, as the person gave it.
        settings: what it runs with.
        before: what the shell does before the clock of the script starts.
        events: what happens.
        after: what the shell does at the end, however that comes.
    """

    file: str
    settings: Settings
    before: tuple[Event, ...]
    events: tuple[Event, ...]
    after: Event | None

    def event_at(self, line: int) -> Event | None:
        """Return what is written in a line; None, if nothing is."""
        last = () if self.after is None else (self.after,)
        every = (*self.events, *self.before, *last)
        return next((event for event in every if event.place.line == line), None)

    def plan(self) -> dict[str, Any]:
        """Return what the guest needs of it.

        Raises:
            InputError: its addresses do not go together.
        """
        return {
            "settings": self.settings.plan(),
            "before": [event.plan() for event in self.before],
            "events": [event.plan() for event in self.events],
            "after": None if self.after is None else self.after.plan(),
        }


def seconds_text(time_ns: int) -> str:
    """Return a time in seconds, with µs, and ns where they say more."""
    whole, rest = divmod(abs(time_ns), 1_000_000_000)
    digits = f"{rest:09d}"
    digits = digits[:6] if digits.endswith("000") else digits
    return f"{'-' if time_ns < 0 else ''}{whole}.{digits}"
