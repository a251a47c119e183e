"""Connections of the studio: how many there may be, and how long a request's head may take.

uvicorn takes every connection, waits without end for what it sends, and at the limit of open files
prints a traceback for each attempt to accept one. Here connections are accepted one by one,
counted in all and by address, and given to uvicorn's protocol with a deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

MAX_CONNECTIONS = 2_000
"""How many connections there may be; fewer, if the process may open few files."""

HEAD_WITHIN_S = 10.0
"""How long the head of a request may take, and the handshake of TLS."""

_SHARE_OF_FILES = 0.5
_SHARE_OF_ADDRESS = 0.5
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_WAIT_S = 0.5
_WARN_EVERY_S = 60.0


class HeadDeadlineProtocol(H11Protocol):
    """uvicorn's protocol of HTTP, which aborts a connection whose request's head does not end."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the head, if it has none."""
        super().data_received(data)
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._clear_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._clear_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_WITHIN_S, self._end)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE:
            self.transport.abort()


class Connections:
    """The open connections of a server.

    Args:
        max_count: how many there may be; None to derive it from how many files may be open.
    """

    def __init__(self, *, max_count: int | None = None) -> None:
        if max_count is None:
            files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            limited = files if files >= 0 else MAX_CONNECTIONS
            max_count = min(MAX_CONNECTIONS, int(_SHARE_OF_FILES * limited))
        self._max_count = max_count
        self._open: dict[socket.socket, str] = {}
        self._warned_s = -_WARN_EVERY_S

    def admit(self, connection: socket.socket, address: str) -> bool:
        """Count a new connection; return whether there may be one more.

        Args:
            connection: its socket.
            address: where it comes from.
        """
        # Whoever has it closes it at its end, as HTTP or as a WebSocket.
        self._open = {one: host for one, host in self._open.items() if one.fileno() >= 0}
        here = Counter(self._open.values())[address]
        if len(self._open) >= self._max_count:
            self.warn(f"there are {self._max_count} connections, as many as possible")
            return False
        if here >= max(1, int(_SHARE_OF_ADDRESS * self._max_count)):
            self.warn(f"{address} has {here} connections, as many as an address may have")
            return False
        self._open[connection] = address
        return True

    def warn(self, what: str) -> None:
        """Print why connections are refused, at most once a minute."""
        now_s = time.monotonic()
        if now_s - self._warned_s >= _WARN_EVERY_S:
            self._warned_s = now_s
            print(f"longfat studio: {what}: others are refused", file=sys.stderr, flush=True)


async def accept_all(
    listening: socket.socket,
    config: uvicorn.Config,
    connections: Connections,
    make_protocol: Callable[[], asyncio.Protocol],
) -> None:
    """Accept connections until cancelled.

    Args:
        listening: the socket that takes connections; not blocking.
        config: the configuration of the server.
        connections: the open ones.
        make_protocol: makes the protocol of one.
    """
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    while True:
        await asyncio.sleep(0)  # others have their turn, however many connections come
        try:
            connection, address = await loop.sock_accept(listening)
        except OSError as error:
            if error.errno in _FULL:
                connections.warn(f"no connection can be accepted ({error.strerror})")
                await asyncio.sleep(_WAIT_S)
            continue
        if not connections.admit(connection, str(address[0])):
            connection.close()
            continue
        task = loop.create_task(_connect(connection, config, make_protocol))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


async def _connect(
    connection: socket.socket, config: uvicorn.Config, make_protocol: Callable[[], asyncio.Protocol]
) -> None:
    loop = asyncio.get_running_loop()
    within_s = None if config.ssl is None else HEAD_WITHIN_S
    try:
        # ssl.SSLError is an OSError.
        with contextlib.suppress(OSError, TimeoutError):
            await loop.connect_accepted_socket(
                make_protocol, connection, ssl=config.ssl, ssl_handshake_timeout=within_s
            )
            return
    except BaseException:
        connection.close()
        raise
    connection.close()
