"""The teacher's pages: the state of all students, new links, and logout.

They work without scripts. Their script verifies the server before they send anything.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from longfat.errors import LongfatError
from longfat.studio.auth import LOGGED_OUT_PATH, AuthMiddleware, key_tag, page_policy, session_of
from longfat.studio.http import HttpError, longfat_error
from longfat.studio.threads import run_in_threadpool
from longfat_class.studio.classroom.page import SCRIPT_PATH, class_page, link_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from starlette.requests import Request

    from longfat.studio.auth import Keys

TEACHERS_PAGE = "/class"
"""The path of the teacher's page; all paths that do not begin so are the students'."""

SCRIPT = "teacher.js"
"""The file of the pages' script in the folder of the built page."""

_STATE = "/api/class"
_LINK_PAGE = f"{TEACHERS_PAGE}/new-link"
_LOG_OUT = f"{TEACHERS_PAGE}/log-out"
_MAX_FORM_BYTES = 4096

_HEADERS = {
    "Content-Security-Policy": page_policy(form_action="'self'"),
    # With "no-referrer" browsers send forms with the Origin "null".
    "Referrer-Policy": "same-origin",
}


def is_teachers(path: str) -> bool:
    """Return whether a path is one of the teacher's."""
    return path in (TEACHERS_PAGE, _STATE) or path.startswith(f"{TEACHERS_PAGE}/")


def teachers_app(
    *,
    summary: Callable[[], dict[str, Any]],
    renew_link: Callable[[str], object],
    keys: Keys,
    static: Path,
) -> Starlette:
    """Return the application.

    Args:
        summary: returns the state of all students; called in other threads.
        renew_link: makes a new link for a student, by the folder.
        keys: the teacher's.
        static: the folder of the built page, with the script of these.
    """
    pages = _Pages(summary, renew_link, keys=keys, script=static / SCRIPT)
    return Starlette(
        routes=[
            Route(TEACHERS_PAGE, pages.students, methods=["GET"]),
            Route(_STATE, pages.state, methods=["GET"]),
            Route(_LINK_PAGE, pages.confirm_link, methods=["GET"]),
            Route(_LINK_PAGE, pages.renew_link, methods=["POST"]),
            Route(SCRIPT_PATH, pages.script, methods=["GET"]),
            Route(_LOG_OUT, pages.log_out, methods=["POST"]),
        ],
        middleware=[Middleware(AuthMiddleware, keys=keys)],
        exception_handlers={LongfatError: longfat_error},
    )


class _Pages:
    """The endpoints."""

    def __init__(
        self,
        summary: Callable[[], dict[str, Any]],
        renew_link: Callable[[str], object],
        *,
        keys: Keys,
        script: Path,
    ) -> None:
        self._students_state = summary
        self._renew_link = renew_link
        self._keys = keys
        self._script = script

    async def state(self, request: Request) -> Response:
        """Return the state of all students as JSON."""
        del request
        return JSONResponse(await self._summary())

    async def script(self, request: Request) -> Response:
        """Return the pages' script."""
        del request
        return FileResponse(self._script, media_type="text/javascript")

    async def students(self, request: Request) -> Response:
        """Return the page of all students."""
        text = class_page(
            await self._summary(),
            key_tag=key_tag(request, self._keys),
            renewed=request.query_params.get("renewed"),
            has_ended_others="ended" in request.query_params,
        )
        return HTMLResponse(text, headers=_HEADERS)

    async def confirm_link(self, request: Request) -> Response:
        """Return the question before a new link."""
        student = await self._student(request.query_params.get("student"))
        return HTMLResponse(
            link_page(student, key_tag=key_tag(request, self._keys)), headers=_HEADERS
        )

    async def renew_link(self, request: Request) -> Response:
        """Make a new link for a student, and show it."""
        form = await _read_form(request)
        student = await self._student(form.get("student"))
        self._renew_link(student["folder"])
        query = urlencode({"renewed": student["folder"]})
        return RedirectResponse(f"{TEACHERS_PAGE}?{query}", HTTPStatus.SEE_OTHER)

    async def log_out(self, request: Request) -> Response:
        """End the session of this browser, or those of all others."""
        form = await _read_form(request)
        if (session := session_of(request)) is None:
            raise HttpError("a token has no session to end", status=HTTPStatus.CONFLICT)
        sessions = self._keys.credentials.sessions
        if "others" in form:
            sessions.end_others(session)
            return RedirectResponse(f"{TEACHERS_PAGE}?ended=others", HTTPStatus.SEE_OTHER)
        sessions.end(session)
        response = RedirectResponse(LOGGED_OUT_PATH, HTTPStatus.SEE_OTHER)
        self._keys.delete_cookie(response)
        return response

    async def _summary(self) -> dict[str, Any]:
        return await run_in_threadpool(self._students_state)

    async def _student(self, folder: str | None) -> dict[str, Any]:
        for student in (await self._summary())["students"]:
            if student["folder"] == folder:
                return dict(student)
        raise HttpError("the class has no such student", status=HTTPStatus.NOT_FOUND)


async def _read_form(request: Request) -> dict[str, str]:
    """Return the fields of a form.

    Raises:
        HttpError: it is too large.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_FORM_BYTES:
            raise HttpError(
                f"the form is larger than {_MAX_FORM_BYTES} bytes",
                status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            )
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))
