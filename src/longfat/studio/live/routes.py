"""The routes of live sessions: creating and ending them, and their WebSockets."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from longfat.errors import InputError
from longfat.studio.broadcast import Listener
from longfat.studio.documents import DocumentRequest
from longfat.studio.http import HttpError, JsonAnswer, Name, query_texts, read_request
from longfat.studio.live.messages import read_size
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from concurrent.futures import Future

    from starlette.requests import Request

    from longfat.studio.live.session import LiveSession, LiveSessions
    from longfat.studio.workspace import Workspace

_NOT_OF_FILES = re.compile(r"[^A-Za-z0-9._-]+")

GONE = 4404
"""The WebSocket's status if there is no such session, or no longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRequest(DocumentRequest):
    """A request to start a session.

    Attributes:
        case: the chosen case; null for the only one, or the bare network.
    """

    case: Name | None = None


def live_routes(sessions: LiveSessions, *, workspace: Workspace) -> list[BaseRoute]:
    """Return the routes of live sessions."""

    async def create(request: Request) -> JsonAnswer:
        body = await read_request(request, SessionRequest)
        beside = body.files_beside(workspace)
        live = await run_in_threadpool(
            lambda: sessions.create(name=body.name, text=body.text, case=body.case, beside=beside)
        )
        return JsonAnswer(live.info(), status_code=201)

    async def end(request: Request) -> JsonAnswer:
        # It waits for nothing: many of them would hold all threads.
        if not sessions.end(request.path_params["number"]):
            raise HttpError("there is no such session", status=HTTPStatus.NOT_FOUND)
        return JsonAnswer({})

    def found(request: Request) -> LiveSession:
        live = sessions.find(request.path_params["number"])
        if live is None:
            raise HttpError("there is no such session", status=HTTPStatus.NOT_FOUND)
        return live

    async def files(request: Request) -> JsonAnswer:
        return JsonAnswer(await run_in_threadpool(found(request).files))

    async def file(request: Request) -> Response:
        (path, *_) = query_texts(request, "path")
        live = found(request)
        content = await run_in_threadpool(lambda: live.read_file(path))
        name = _NOT_OF_FILES.sub("-", PurePosixPath(path).name)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, media_type="application/octet-stream", headers=headers)

    async def session(socket: WebSocket) -> None:
        await _serve(socket, sessions, _session)

    async def terminal(socket: WebSocket) -> None:
        await _serve(socket, sessions, _terminal)

    return [
        Route("/api/sessions", create, methods=["POST"]),
        Route("/api/sessions/{number}", end, methods=["DELETE"]),
        Route("/api/sessions/{number}/files", files, methods=["GET"]),
        Route("/api/sessions/{number}/file", file, methods=["GET"]),
        WebSocketRoute("/ws/sessions/{number}", session),
        WebSocketRoute("/ws/sessions/{number}/terminals/{terminal:int}", terminal),
    ]


Talk = Callable[[WebSocket, "LiveSession", Listener], Coroutine[None, None, None]]


async def _serve(socket: WebSocket, sessions: LiveSessions, talk: Talk) -> None:
    """Serve a WebSocket until either side closes it."""
    await socket.accept()
    live = sessions.find(socket.path_params["number"])
    if live is None:
        await socket.close(GONE, "the session no longer exists")
        return
    listener = Listener()
    tasks = [
        asyncio.ensure_future(one)
        for one in (_pass_on(socket, listener), talk(socket, live, listener), listener.cut())
    ]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await task
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):  # the page has disconnected
            await socket.close()


async def _pass_on(socket: WebSocket, listener: Listener) -> None:
    while (said := await listener.next()) is not None:
        if isinstance(said, str):
            await socket.send_text(said)
        else:
            await socket.send_bytes(said)


async def _session(socket: WebSocket, live: LiveSession, listener: Listener) -> None:
    live.join(listener)
    try:
        while True:
            # Commands are processed one by one: a page that sends thousands has to wait.
            await _done(live.do(await _text(socket)))
    finally:
        live.leave(listener)


async def _terminal(socket: WebSocket, live: LiveSession, listener: Listener) -> None:
    number = socket.path_params["terminal"]
    live.watch(number, listener)
    try:
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            if message.get("bytes") is not None:
                await _done(live.type_at(number, message["bytes"]))
            else:
                with contextlib.suppress(InputError):
                    await _done(live.resize(number, read_size(message.get("text") or "")))
    finally:
        live.unwatch(number, listener)


async def _done(posted: Future[None]) -> None:
    await asyncio.wrap_future(posted)


async def _text(socket: WebSocket) -> str:
    message = await socket.receive()
    if message["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(message.get("code", 1000))
    return message.get("text") or ""
