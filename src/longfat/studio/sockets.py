"""WebSockets that the server closes when the credentials that opened them end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY_VIOLATION = 1008
"""The status of a WebSocket that nothing entitles to any more."""


async def serve_until(
    ended: Coroutine[Any, Any, None], app: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve a WebSocket by an application, and close it at once when its credentials end.

    From then on the application receives that the client has disconnected, and what it sends is
    dropped, so it need not know about credentials.

    Args:
        ended: returns at the end of the credentials.
        app: the application.
        scope: the scope of the WebSocket.
        receive: receives a message of the client.
        send: sends one to it.
    """
    end = asyncio.ensure_future(ended)

    async def close() -> None:
        await asyncio.wait([end])
        # The client may have gone at the same moment.
        with contextlib.suppress(RuntimeError, OSError):
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": ""})

    closing = asyncio.ensure_future(close())

    async def receive_until() -> Message:
        message = asyncio.ensure_future(receive())
        try:
            await asyncio.wait([message, end], return_when=asyncio.FIRST_COMPLETED)
            if end.done():
                return {"type": "websocket.disconnect", "code": POLICY_VIOLATION}
            return message.result()
        finally:
            message.cancel()

    async def send_until(message: Message) -> None:
        if not end.done():
            await send(message)

    try:
        await app(scope, receive_until, send_until)
        if end.done():
            await closing
    finally:
        for task in (end, closing):
            task.cancel()
