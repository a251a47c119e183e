"""Error responses: `ErrorAnswer` of the page's `api/types.ts`.

An `InputError` is the client's error and has a status of 4xx; a `HostError` is a 503. Anything
else is a bug: the response is one sentence, the log has the traceback, and the server
continues.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from longfat.errors import HostError, InputError, LongfatError
from longfat.studio.http_error import HttpError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def problem_of(error: LongfatError) -> dict[str, Any]:
    """Return an error as `Problem` of the page: with its position, if it has one."""
    place = error.place if isinstance(error, InputError) else None
    message = str(error) if isinstance(error, HostError) else error.message
    return {
        "message": message,
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
        "field": "" if place is None else place.field,
    }


async def longfat_error(request: Request, error: Exception) -> Response:
    """Respond to one of longfat's errors, with the status for its class."""
    del request
    assert isinstance(error, LongfatError)
    status = HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, InputError):
        status = error.status if isinstance(error, HttpError) else HTTPStatus.BAD_REQUEST
    problem = problem_of(error)
    placed = problem if problem["line"] is not None else None
    queued = isinstance(error, HttpError) and error.is_queued
    return _json(problem["message"], status=status, problem=placed, queued=queued)


async def http_error(request: Request, error: Exception) -> Response:
    """Respond to errors of the router: an unknown path or method."""
    assert isinstance(error, HTTPException)
    message = f"{request.method} {request.url.path}: {error.detail}"
    return _json(message, status=error.status_code)


async def bug(request: Request, error: Exception) -> Response:
    """Respond to an unexpected error; the server's log has the traceback."""
    message = (
        f"{request.method} {request.url.path}: internal error "
        f"({type(error).__name__}); the terminal of `longfat studio` shows more"
    )
    return _json(message, status=HTTPStatus.INTERNAL_SERVER_ERROR)


def _json(
    message: str, *, status: int, problem: object = None, queued: bool = False
) -> JSONResponse:
    # This response bypasses the middleware that adds this header to the others.
    headers = {"X-Content-Type-Options": "nosniff"}
    content = {"error": message, "problem": problem} | ({"queued": True} if queued else {})
    return JSONResponse(content, status, headers)
