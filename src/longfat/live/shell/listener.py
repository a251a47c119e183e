"""The listener of a session: connections of other processes' terminals, and queries."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any, Protocol

from longfat.live.session import RejectedError
from longfat.live.shell.clients import RemoteTerminal
from longfat.live.shell.protocol import ANSWER, HELLO, VERSION, Wire, WireError, fields_of, size_of
from longfat.live.shell.registry import is_own

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from longfat.live.shell.clients import Screen, TerminalClient

_TERM = re.compile(r"[A-Za-z0-9._+-]{1,64}")


class Host(Protocol):
    """The process of a session; see `longfat.live.shell.server`."""

    def on(self, descriptor: int, do: Callable[[], None]) -> None:
        """Call a function whenever a descriptor is readable."""

    def off(self, descriptor: int) -> None:
        """Remove the function of a descriptor."""

    def place(self, node: str) -> str:
        """Return where a node's commands run."""

    def sit(
        self, screen: Screen, place: str, *, rows: int, columns: int, term: str
    ) -> TerminalClient:
        """Start a shell in a terminal."""

    def about(self) -> dict[str, Any]:
        """Return the session's description."""


class Acceptor:
    """Accepts connections and answers their first frame."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, and read its first frame when it comes."""
        try:
            connection, _ = listener.accept()
        except OSError:
            return  # it has disconnected
        if not is_own(connection):
            connection.close()
            return
        wire = Wire(connection)
        self._host.on(wire.fileno(), functools.partial(self._greet, wire))

    def _greet(self, wire: Wire) -> None:
        """Read the first frame of a connection, and act on it."""
        try:
            frames = wire.receive()
            if not frames:
                return
            self._host.off(wire.fileno())
            kind, payload = frames[0]
            if kind != HELLO:
                raise WireError("the first frame is not a greeting")
            self._answer(wire, fields_of(payload))
        except WireError:
            self._host.off(wire.fileno())
            wire.close()

    def _answer(self, wire: Wire, hello: dict[str, Any]) -> None:
        rejected = ""
        if hello.get("version") != VERSION:
            rejected = "it was started by another version of longfat"
        elif hello.get("do") == "attach":
            try:
                self._attach(wire, hello)
            except RejectedError as error:
                rejected = str(error)
            else:
                return
        if rejected:
            wire.send_json(ANSWER, rejected=rejected)
        else:
            wire.send_json(ANSWER, **self._host.about())
        wire.close()

    def _attach(self, wire: Wire, hello: dict[str, Any]) -> None:
        rows, columns = size_of(hello)
        node, term = hello.get("node"), hello.get("term")
        if not isinstance(node, str) or not isinstance(term, str) or not _TERM.fullmatch(term):
            raise WireError("a greeting is incomplete")
        place = self._host.place(node)
        wire.send_json(ANSWER, node=place)
        self._host.sit(RemoteTerminal(wire), place, rows=rows, columns=columns, term=term)
