"""The routes of logins: the page with its key, and logout."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import BaseRoute, Route

from longfat.errors import HostError
from longfat.studio.auth import key_tag, session_of
from longfat.studio.http_error import HttpError
from longfat.studio.requests import read_json
from longfat.studio.threads import run_in_threadpool

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from longfat.studio.auth import Keys

_INDEX = "index.html"
_HEAD_END = "</head>"


def login_routes(keys: Keys, *, static: Path) -> list[BaseRoute]:
    """Return the routes.

    Args:
        keys: what grants access.
        static: the folder of the built page.
    """

    async def page(request: Request) -> Response:
        """Return the page, with the key by which it verifies its server from then on."""
        try:
            text = await run_in_threadpool((static / _INDEX).read_text, encoding="utf-8")
        except OSError as error:
            raise HostError(f"the studio's page cannot be read: {error.strerror}") from None
        return HTMLResponse(text.replace(_HEAD_END, key_tag(request, keys) + _HEAD_END, 1))

    async def log_out(request: Request) -> Response:
        body = await read_json(request)
        others = body.boolean("others")
        if (session := session_of(request)) is None:
            raise HttpError(
                "a token has no session to end; for a new token restart the studio with "
                "--new-token",
                status=HTTPStatus.CONFLICT,
            )
        if others:
            return JSONResponse({"ended": keys.credentials.sessions.end_others(session)})
        keys.credentials.sessions.end(session)
        response = JSONResponse({"ended": 1})
        keys.delete_cookie(response)
        return response

    return [
        Route("/", page, methods=["GET"]),
        Route(f"/{_INDEX}", page, methods=["GET"]),
        Route("/api/log-out", log_out, methods=["POST"]),
    ]
