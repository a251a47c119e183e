"""The door of a session: terminals of other processes come in here, and their questions."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Protocol

from longfat.live.session import RefusedError
from longfat.live.shell.clients import RemoteTerminal
from longfat.live.shell.protocol import ANSWER, HELLO, VERSION, Wire, WireError, fields_of, size_of
from longfat.live.shell.registry import is_own

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from longfat.live.shell.clients import Screen, TerminalClient

_TERM = re.compile(r"[A-Za-z0-9._+-]{1,64}")


class Host(Protocol):
    """Who holds the session; see `longfat.live.shell.server`."""

    def on(self, descriptor: int, do: Callable[[], None]) -> None:
        """Do something whenever a descriptor can be read."""

    def off(self, descriptor: int) -> None:
        """Do nothing for a descriptor any more."""

    def place(self, node: str) -> str:
        """Return where a node's commands run."""

    def sit(
        self, screen: Screen, place: str, *, rows: int, columns: int, term: str
    ) -> TerminalClient:
        """Start a shell in a terminal."""

    def about(self) -> dict[str, Any]:
        """Return what is told of the session."""


class Door:
    """Hears what a new connection wants, and sees to it."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def accept(self, listener: socket.socket) -> None:
        """Take in a connection, and hear what it wants when it says so."""
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # it has gone again
        if not is_own(connection):
            connection.close()
            return
        wire = Wire(connection)
        self._host.on(wire.fileno(), functools.partial(self._greet, wire))

    def _greet(self, wire: Wire) -> None:
        """Hear what a new connection wants, and do it."""
        try:
            frames = wire.receive()
            if not frames:
                return
            self._host.off(wire.fileno())
            kind, payload = frames[0]
            if kind != HELLO:
                raise WireError("the first frame is no greeting")
            self._answer(wire, fields_of(payload))
        except WireError:
            self._host.off(wire.fileno())
            wire.close()

    def _answer(self, wire: Wire, hello: dict[str, Any]) -> None:
        refused = ""
        if hello.get("version") != VERSION:
            refused = "it was started by another version of longfat"
        elif hello.get("do") == "attach":
            try:
                self._attach(wire, hello)
            except RefusedError as error:
                refused = str(error)
            else:
                return
        if refused:
            wire.tell(ANSWER, refused=refused)
        else:
            wire.tell(ANSWER, **self._host.about())
        wire.close()

    def _attach(self, wire: Wire, hello: dict[str, Any]) -> None:
        rows, columns = size_of(hello)
        node, term = hello.get("node"), hello.get("term")
        if not isinstance(node, str) or not isinstance(term, str) or not _TERM.fullmatch(term):
            raise WireError("a greeting is not whole")
        place = self._host.place(node)
        wire.tell(ANSWER, node=place)
        self._host.sit(RemoteTerminal(wire), place, rows=rows, columns=columns, term=term)
