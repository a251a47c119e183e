"""The terminals of a room: a shell each, what it has shown, and who looks at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.live.shell.bashrc import PLACE, bashrc, environment
from longfat.live.shell.hold import SHELL
from longfat.network import ROOT

if TYPE_CHECKING:
    from longfat.live import Network
    from longfat.live.session import Task
    from longfat.studio.live.hub import Listener

MOST_SHOWN_BYTES = 1 << 18
"""So much of what a terminal has shown is kept for who comes later."""

_HOME = "/root"
_TERM = "xterm-256color"


@dataclass(eq=False, slots=True)
class Terminal:
    """A terminal.

    Attributes:
        number: what page and server call it.
        node: the node of its shell.
        task: the shell.
        shown: the end of what it has shown.
        listeners: who looks at it.
    """

    number: int
    node: str
    task: Task
    shown: bytearray = field(default_factory=bytearray)
    listeners: list[Listener] = field(default_factory=list)

    def show(self, data: bytes) -> None:
        """Show something to all that look, and keep it for those that come."""
        self.shown += data
        if len(self.shown) > MOST_SHOWN_BYTES:
            # Not in the middle of a line, so that no escape sequence is cut.
            start = self.shown.find(b"\n", len(self.shown) - MOST_SHOWN_BYTES // 2) + 1
            del self.shown[:start]
        for listener in self.listeners:
            listener.tell([bytes(data)])

    def to_json(self) -> dict[str, object]:
        """Return it as `TerminalInfo` of the page's `api/types.ts`."""
        return {"id": self.number, "node": self.node, "status": self.task.status}


def prepare(network: Network) -> None:
    """Put in place what every shell reads at its start; anew when the network has grown."""
    network.write_file(PLACE, bashrc(network.model, session=""))


def open_terminal(network: Network, number: int, node: str, *, rows: int, columns: int) -> Terminal:
    """Start a shell in a terminal of its own.

    Args:
        network: the network, built.
        number: what to call it.
        node: a host, a switch, or root.
        rows: the window's size.
        columns: likewise.

    Raises:
        RefusedError: it cannot be started.
    """
    hosts = {host.name for host in network.model.hosts}
    place = node if node in hosts else ROOT
    task = network.session.start(
        SHELL,
        node=place,
        environment=environment(place, term=_TERM),
        folder=_HOME,
        terminal=(rows, columns),
    )
    terminal = Terminal(number=number, node=node, task=task)
    task.on_output = lambda _is_error, data: terminal.show(data)
    return terminal
