"""The routes of drafts: changes by pages, and their notification of other pages.

A page that loses the server reconnects, and first learns which server this is: the same one,
another one of the same workspace, or one of another workspace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute

from longfat.studio.pages import Pages
from longfat.studio.requests import read_json
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from longfat.studio.drafts import Draft, Drafts


def draft_routes(drafts: Drafts, *, server: Mapping[str, str]) -> list[BaseRoute]:
    """Return the routes of drafts.

    Args:
        drafts: the drafts.
        server: the identity of this server: its `instance`, and the `workspace` with its `path`.
    """
    pages = Pages()

    def changed(draft: Draft, page: str) -> None:
        pages.send("draft", page=page, draft=draft.to_json())

    def forgotten(draft: Draft, page: str) -> None:
        pages.send("forgotten", page=page, id=draft.id)

    drafts.on_change, drafts.on_forget = changed, forgotten

    def whole() -> dict[str, Any]:
        return {**server, "drafts": [draft.to_json() for draft in drafts.all()]}

    async def listed(request: Request) -> Response:
        del request
        return JSONResponse(await run_in_threadpool(whole))

    async def change(request: Request) -> Response:
        body = await read_json(request)
        draft, others = await run_in_threadpool(
            lambda: drafts.change(
                request.path_params["number"],
                page=body.name("page"),
                base=body.maybe_integer("base", least=0, most=2**53),
                steps=body.items("steps"),
                fields=body.object("fields"),
                is_closed=body.maybe_boolean("closed"),
            )
        )
        # A page has its own steps, but not those of another one.
        answer = {"revision": draft.revision, "draft": draft.to_json() if others else None}
        return JSONResponse(answer)

    async def begin(request: Request) -> Response:
        body = await read_json(request)
        draft = await run_in_threadpool(
            lambda: drafts.begin(
                page=body.name("page"),
                text=body.text("text"),
                is_first=body.boolean("first"),
            )
        )
        return JSONResponse(draft.to_json())

    async def forget(request: Request) -> Response:
        page = request.query_params.get("page", "")
        await run_in_threadpool(drafts.forget, request.path_params["number"], page=page)
        return JSONResponse({})

    async def state() -> dict[str, Any]:
        return await run_in_threadpool(whole)

    async def events(socket: WebSocket) -> None:
        await pages.serve(socket, state)

    return [
        Route("/api/drafts", listed, methods=["GET"]),
        Route("/api/drafts", begin, methods=["POST"]),
        Route("/api/drafts/{number}", change, methods=["PUT"]),
        Route("/api/drafts/{number}", forget, methods=["DELETE"]),
        WebSocketRoute("/ws/drafts", events),
    ]
