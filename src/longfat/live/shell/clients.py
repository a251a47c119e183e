"""A terminal of a session, in the session's process.

It is this process's own terminal, or another process's that attached by a
socket; all are read, written to and ended alike.
"""

from __future__ import annotations

import socket
from collections import deque
from typing import TYPE_CHECKING, Protocol

from longfat.live.shell.bash import (
    NOTE,
    NOTE_END,
    NoteReader,
    SetPace,
    ShowLosses,
    Skip,
    clock_request,
    losses_request,
)
from longfat.live.shell.connection import (
    END,
    INPUT,
    OUTPUT,
    SIZE,
    Wire,
    WireError,
    fields_of,
    size_of,
)

if TYPE_CHECKING:
    from longfat.live.shell.terminal import Terminal
    from longfat.live.shell.typed_lint import TypedLint
    from longfat.live.task import Task


_LAST_WORDS_WITHIN_S = 1.0
_MAX_REQUESTS = 16
# Where an answer of the host will be. No note is left in the output of a shell.
_ANSWER = NOTE + NOTE_END


class Gone(Exception):  # noqa: N818  what has happened, more than an error
    """The terminal is gone, or the user wants to leave."""


Received = bytes | tuple[int, int]
"""Input from a terminal: keys, or its window's new rows and columns."""


class Screen(Protocol):
    """A terminal, wherever it is."""

    @property
    def reads(self) -> int:
        """The descriptor to wait for before `read`."""

    @property
    def writes(self) -> int:
        """The descriptor to wait for before `flush`; another one than `reads`."""

    @property
    def unsent_bytes(self) -> int:
        """The number of pending output bytes."""

    def read(self) -> list[Received]:
        """Return new input from it.

        Raises:
            Gone: the terminal is gone.
        """

    def write(self, data: bytes) -> None:
        """Write output, now or with `flush`."""

    def flush(self) -> None:
        """Write pending output as far as possible."""

    def end(self, *, status: int, words: str) -> None:
        """End it after its shell.

        Args:
            status: the shell's exit status.
            words: the reason, for the user; "" if the shell has ended by itself.
        """

    def close(self) -> None:
        """Close it."""


class OwnScreen:
    """The terminal of the process that holds the session."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.reads = terminal.reads
        self.writes = terminal.writes

    @property
    def is_gone(self) -> bool:
        """Return whether output is not possible any more."""
        return self._terminal.is_gone

    @property
    def unsent_bytes(self) -> int:
        """See `Screen`, as for all below."""
        return self._terminal.unsent_bytes

    def read(self) -> list[Received]:
        """Return what was typed."""
        keys = self._terminal.read()
        if keys == b"" or (keys and self._terminal.is_quit(keys)):
            raise Gone
        return [keys] if keys else []

    def write(self, data: bytes) -> None:
        """Write output."""
        self._terminal.write(data)

    def flush(self) -> None:
        """Write pending output."""
        self._terminal.flush()

    def end(self, *, status: int, words: str) -> None:
        """Do nothing: the session's process reports it."""

    def close(self) -> None:
        """Do nothing: its creator closes it."""


class RemoteTerminal:
    """A terminal that attached."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.reads = wire.fileno()
        # A duplicate of the descriptor: it is waited for separately.
        self._again = socket.fromfd(self.reads, socket.AF_UNIX, socket.SOCK_STREAM)
        self.writes = self._again.fileno()

    @property
    def unsent_bytes(self) -> int:
        """See `Screen`, as for all below."""
        return self._wire.unsent_bytes

    def read(self) -> list[Received]:
        """Return what was typed, and the window's sizes."""
        received: list[Received] = []
        try:
            for kind, payload in self._wire.receive():
                if kind == INPUT:
                    received.append(payload)
                elif kind == SIZE:
                    received.append(size_of(fields_of(payload)))
        except WireError:
            raise Gone from None
        return received

    def write(self, data: bytes) -> None:
        """Write output."""
        self._wire.send(OUTPUT, data)

    def flush(self) -> None:
        """Send pending data."""
        self._wire.flush()

    def end(self, *, status: int, words: str) -> None:
        """Send the ending."""
        self._wire.send_json(END, status=status, words=words)

    def close(self) -> None:
        """Close the connection, after sending pending data."""
        self._wire.finish(within_s=_LAST_WORDS_WITHIN_S)
        self._again.close()
        self._wire.close()


class TerminalClient:
    """A screen with the shell that runs in it.

    Attributes:
        node: the node of the shell.
        screen: the screen.
        task: the shell.
        columns: the width of its window, in characters.
        requests: what its shell asked of the host, and has not got yet.
        full_since_s: since when it has not read its output, by the host's clock.
    """

    def __init__(
        self, *, node: str, screen: Screen, task: Task, lint: TypedLint, columns: int
    ) -> None:
        self.columns = columns
        self.node = node
        self.screen = screen
        self.task = task
        self.requests: deque[Skip | SetPace | ShowLosses] = deque(maxlen=_MAX_REQUESTS)
        self.full_since_s: float | None = None
        self._lint = lint
        self._notes = NoteReader(self._in_place_of)
        self._held: bytes | None = None
        task.on_output = self._show

    def _in_place_of(self, note: bytes) -> bytes:
        return _ANSWER if losses_request(note) else self._lint.answer(note)

    def _show(self, _is_error: bool, data: bytes) -> None:
        shown, notes = self._notes.read(data)
        for note in notes:
            if request := clock_request(note) or losses_request(note):
                self.requests.append(request)
        self._write(shown)

    def _write(self, data: bytes) -> None:
        """Write output up to the next answer that is still to come."""
        if self._held is not None:
            self._held += data
            return
        shown, mark, rest = data.partition(_ANSWER)
        self.screen.write(shown)
        self._held = rest if mark else None

    def answer(self, text: str) -> None:
        """Show an answer of the host, and what came after the note that asked for it."""
        self.screen.write(text.replace("\n", "\r\n").encode())
        held, self._held = self._held, None
        self._write(held or b"")
