"""Events from the server to connected pages and terminals, over WebSockets.

Events are sent from any thread; listeners wait in the server's event loop. A listener
that does not keep up is disconnected rather than waited for: its page reconnects, first receives
the whole state, and from then on each change.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from starlette.websockets import WebSocketDisconnect

from longfat.studio.http import json_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from starlette.websockets import WebSocket

E = TypeVar("E", bound=Mapping[str, object])

Message: TypeAlias = str | bytes
"""A message of a WebSocket: JSON, or binary."""

MAX_WAITING = 2000
"""The maximum number of messages queued for a listener."""

MAX_WAITING_BYTES = 32 * 1024**2
"""The maximum size of a listener's queue before another message."""


class Listener:
    """A connected page or terminal; to be created in its event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Message | None] = asyncio.Queue()
        self._cut = asyncio.Event()
        self._lock = threading.Lock()
        self._waiting = 0
        self._waiting_bytes = 0
        self._ended = False

    @property
    def waiting_bytes(self) -> int:
        """The size of its queue in bytes; from any thread."""
        return self._waiting_bytes

    def send(self, messages: Iterable[Message]) -> None:
        """Queue messages for it; from any thread."""
        for one in messages:
            self._put(one)

    def end(self) -> None:
        """End it after the queued messages; from any thread."""
        self._put(None)

    async def next(self) -> Message | None:
        """Return the next message; None at the end."""
        found = await self._queue.get()
        with self._lock:
            self._waiting -= 1
            self._waiting_bytes -= len(found or "")
        return found

    async def cut(self) -> None:
        """Wait until it is disconnected because it does not keep up."""
        await self._cut.wait()

    def _put(self, one: Message | None) -> None:
        with self._lock:
            if self._ended:
                return
            is_full = self._waiting >= MAX_WAITING or self._waiting_bytes > MAX_WAITING_BYTES
            self._ended = one is None or is_full
            if not is_full:
                self._waiting += 1
                self._waiting_bytes += len(one or "")
        try:
            if is_full:
                self._loop.call_soon_threadsafe(self._cut_off)
            else:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, one)
        except RuntimeError:
            self._ended = True  # the server has stopped

    def _cut_off(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
        self._cut.set()


class Listeners(Generic[E]):
    """All listeners of a session, which get messages in the same order."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def add(self, listener: Listener) -> None:
        """Add a listener."""
        self._all.append(listener)

    def discard(self, listener: Listener) -> None:
        """Remove a listener."""
        if listener in self._all:
            self._all.remove(listener)

    def event(self, event: E) -> None:
        """Send an event to all."""
        self.send([json_text(event)])

    def send(self, messages: Iterable[Message]) -> None:
        """Send the same messages to all."""
        same = list(messages)
        for listener in self._all:
            listener.send(same)

    def end(self) -> None:
        """End all listeners."""
        for listener in self._all:
            listener.end()
        self._all.clear()


class Pages(Generic[E]):
    """The connected pages."""

    def __init__(self) -> None:
        self._all: set[Listener] = set()

    def send(self, event: E) -> None:
        """Send an event to all; from any thread."""
        for listener in list(self._all):
            listener.send([json_text(event)])

    async def serve(self, socket: WebSocket, hello: Callable[[], Awaitable[E]]) -> None:
        """Serve a page's WebSocket until either side closes it.

        Args:
            socket: the WebSocket.
            hello: returns the event with the whole state, which is sent first.
        """
        await socket.accept()
        with self._listening() as listener:
            # Changes from here on are sent after the state.
            state = json_text(await hello())
            tasks = [
                asyncio.ensure_future(one)
                for one in (
                    _send_events(socket, state, listener),
                    until_gone(socket),
                    listener.cut(),
                )
            ]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in tasks:
                    task.cancel()
                    with contextlib.suppress(
                        asyncio.CancelledError, WebSocketDisconnect, RuntimeError
                    ):
                        await task
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.close()

    @contextlib.contextmanager
    def _listening(self) -> Iterator[Listener]:
        listener = Listener()
        self._all.add(listener)
        try:
            yield listener
        finally:
            self._all.discard(listener)


async def _send_events(socket: WebSocket, hello: str, listener: Listener) -> None:
    await socket.send_text(hello)
    while (message := await listener.next()) is not None:
        if isinstance(message, str):
            await socket.send_text(message)


async def until_gone(socket: WebSocket) -> None:
    """Wait until the page disconnects; it sends no messages."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
