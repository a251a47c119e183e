"""A terminal at a session, as the session's process sees it.

It is this process's own terminal, or another process's that attached by a
socket; both are read, written to and ended alike.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Protocol

from longfat.live.shell.protocol import (
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
    from longfat.live.session import Task
    from longfat.live.shell.terminal import Terminal


_LAST_WORDS_WITHIN_S = 1.0


class Gone(Exception):  # noqa: N818  what has happened, more than an error
    """The terminal is gone, or its person wants to be let out."""


Said = bytes | tuple[int, int]
"""What came from a terminal: keys, or its window's new rows and columns."""


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
        """How much waits to be shown."""

    def read(self) -> list[Said]:
        """Return what has come from it.

        Raises:
            Gone: see there.
        """

    def write(self, data: bytes) -> None:
        """Show something, now or with `flush`."""

    def flush(self) -> None:
        """Show of what waits what there is room for."""

    def end(self, *, status: int, words: str) -> None:
        """Tell it that its shell is over.

        Args:
            status: the shell's exit status.
            words: why, for the person; "" if the shell has ended by itself.
        """

    def close(self) -> None:
        """Let go of it."""


class OwnScreen:
    """The terminal of the process that holds the session."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self.reads = terminal.reads
        self.writes = terminal.writes

    @property
    def is_gone(self) -> bool:
        """Return whether nothing can be shown any more."""
        return self._terminal.is_gone

    @property
    def unsent_bytes(self) -> int:
        """See `Screen`, as for all below."""
        return self._terminal.unsent_bytes

    def read(self) -> list[Said]:
        """Return what was typed."""
        keys = self._terminal.read()
        if keys == b"" or (keys and self._terminal.is_quit(keys)):
            raise Gone
        return [keys] if keys else []

    def write(self, data: bytes) -> None:
        """Show something."""
        self._terminal.write(data)

    def flush(self) -> None:
        """Show what waits."""
        self._terminal.flush()

    def end(self, *, status: int, words: str) -> None:
        """Do nothing: who holds the session says it."""

    def close(self) -> None:
        """Do nothing: who made it closes it."""


class RemoteTerminal:
    """A terminal that attached."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.reads = wire.fileno()
        # The same connection under another number: it is waited for on its own.
        self._again = socket.fromfd(self.reads, socket.AF_UNIX, socket.SOCK_STREAM)
        self.writes = self._again.fileno()

    @property
    def unsent_bytes(self) -> int:
        """See `Screen`, as for all below."""
        return self._wire.unsent_bytes

    def read(self) -> list[Said]:
        """Return what was typed, and the window's sizes."""
        said: list[Said] = []
        try:
            for kind, payload in self._wire.receive():
                if kind == INPUT:
                    said.append(payload)
                elif kind == SIZE:
                    said.append(size_of(fields_of(payload)))
        except WireError:
            raise Gone from None
        return said

    def write(self, data: bytes) -> None:
        """Show something."""
        self._wire.send(OUTPUT, data)

    def flush(self) -> None:
        """Send what waits."""
        self._wire.flush()

    def end(self, *, status: int, words: str) -> None:
        """Tell it."""
        self._wire.tell(END, status=status, words=words)

    def close(self) -> None:
        """Close the connection, when what waits has been sent."""
        self._wire.finish(within_s=_LAST_WORDS_WITHIN_S)
        self._again.close()
        self._wire.close()


class TerminalClient:
    """A screen with the shell that runs in it.

    Attributes:
        node: the node that the shell is at.
        screen: the screen.
        task: the shell.
        full_since_s: since when it has not taken what it was sent, by the host's clock.
    """

    def __init__(self, *, node: str, screen: Screen, task: Task) -> None:
        self.node = node
        self.screen = screen
        self.task = task
        self.full_since_s: float | None = None
