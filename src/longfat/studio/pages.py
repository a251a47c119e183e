"""The connected pages of a workspace, and the events between them.

A page that loses the server reconnects, and first receives the whole state; from then on each
change.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocketDisconnect

from longfat.studio.live.broadcast import Listener

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from starlette.websockets import WebSocket


class Pages:
    """The connected pages."""

    def __init__(self) -> None:
        self._all: set[Listener] = set()

    def send(self, event: str, /, **fields: Any) -> None:
        """Send an event to all; from any thread."""
        for listener in list(self._all):
            listener.send([json.dumps({"event": event, **fields})])

    async def serve(
        self, socket: WebSocket, hello: Callable[[], Awaitable[dict[str, Any]]]
    ) -> None:
        """Serve a page's WebSocket until either side closes it.

        Args:
            socket: the WebSocket.
            hello: returns the whole state, which is sent first.
        """
        await socket.accept()
        with self._listening() as listener:
            # Changes from here on are sent after the state.
            state = {"event": "hello", **await hello()}
            tasks = [
                asyncio.ensure_future(one)
                for one in (
                    _send_events(socket, state, listener),
                    _until_gone(socket),
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


async def _send_events(socket: WebSocket, hello: dict[str, Any], listener: Listener) -> None:
    await socket.send_text(json.dumps(hello))
    while (message := await listener.next()) is not None:
        if isinstance(message, str):
            await socket.send_text(message)


async def _until_gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
