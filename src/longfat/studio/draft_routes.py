"""The ways to drafts: what pages do with them, and how each page hears of the others.

A page that loses the server connects anew, and the first thing that it hears is which studio
this is: the same one, another one of the same workspace, or one of another workspace.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from longfat.studio.live.broadcast import Listener
from longfat.studio.requests import read_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from longfat.studio.drafts import Draft, Drafts


class _Pages:
    """The pages that look at the drafts."""

    def __init__(self) -> None:
        self._all: set[Listener] = set()

    def changed(self, draft: Draft, page: str) -> None:
        """Tell all of a draft that has changed, and which page did it; from any thread."""
        self._tell({"event": "draft", "page": page, "draft": draft.to_json()})

    def forgotten(self, draft: Draft, page: str) -> None:
        """Tell all of a draft that was removed; likewise."""
        self._tell({"event": "forgotten", "page": page, "id": draft.id})

    def _tell(self, event: dict[str, Any]) -> None:
        for listener in list(self._all):
            listener.tell([json.dumps(event)])

    @contextlib.contextmanager
    def listening(self) -> Any:
        """Let somebody hear of what changes."""
        listener = Listener()
        self._all.add(listener)
        try:
            yield listener
        finally:
            self._all.discard(listener)


def draft_routes(drafts: Drafts, *, server: Mapping[str, str]) -> list[BaseRoute]:
    """Return the routes of drafts.

    Args:
        drafts: the drafts.
        server: what this studio is: its `instance`, and the `workspace` with its `path`.
    """
    pages = _Pages()
    drafts.on_change, drafts.on_forget = pages.changed, pages.forgotten

    def whole() -> dict[str, Any]:
        return {**server, "drafts": [draft.to_json() for draft in drafts.all()]}

    async def listed(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(whole))

    async def change(request: Request) -> Response:
        asked = await read_json(request)
        draft, others = await run_in_threadpool(
            lambda: drafts.change(
                request.path_params["number"],
                page=asked.name("page"),
                base=asked.maybe_integer("base", least=0, most=2**53),
                steps=asked.items("steps"),
                fields=asked.object("fields"),
                is_closed=asked.maybe_boolean("closed"),
            )
        )
        # A page knows its own steps; what another one did meanwhile it does not.
        told = {"revision": draft.revision, "draft": draft.to_json() if others else None}
        return JSONResponse(told)

    async def forget(request: Request) -> Response:
        page = request.query_params.get("page", "")
        await run_in_threadpool(drafts.forget, request.path_params["number"], page=page)
        return JSONResponse({})

    async def events(socket: WebSocket) -> None:
        await socket.accept()
        with pages.listening() as listener:
            hello = {"event": "hello", **await run_in_threadpool(whole)}
            tasks = [
                asyncio.ensure_future(one)
                for one in (_tell(socket, hello, listener), _until_gone(socket), listener.cut())
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

    return [
        Route("/api/drafts", listed, methods=["GET"]),
        Route("/api/drafts/{number}", change, methods=["PUT"]),
        Route("/api/drafts/{number}", forget, methods=["DELETE"]),
        WebSocketRoute("/ws/drafts", events),
    ]


async def _tell(socket: WebSocket, hello: dict[str, Any], listener: Listener) -> None:
    await socket.send_text(json.dumps(hello))
    while (said := await listener.next()) is not None:
        if isinstance(said, str):
            await socket.send_text(said)


async def _until_gone(socket: WebSocket) -> None:
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass
