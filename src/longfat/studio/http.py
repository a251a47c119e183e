"""Requests and responses of the studio's HTTP interface: fields, errors, and their status.

A client with the token may send invalid data, by mistake or by a bug; a message then names the
field and the expected value. An `InputError` is the client's error and has a status of 4xx; a
`HostError` is a 503. Anything else is a bug: the response is one sentence, the log has the
traceback, and the server continues.
"""

from __future__ import annotations

import dataclasses
import json
from http import HTTPStatus
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NotRequired,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
)
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from longfat.common.decoding import Decoder, Length, decode, parse_json
from longfat.errors import HostError, InputError, LongfatError
from longfat.output.report.record import PAGE
from longfat.study.text import LanguageChoice

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


class HttpError(InputError):
    """The request cannot be fulfilled.

    Args:
        message: what was found, and what was expected.
        status: the HTTP status of the response, 4xx.
        is_queued: the request is queued, and is to be repeated in a moment.
    """

    def __init__(self, message: str, *, status: HTTPStatus, is_queued: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.is_queued = is_queued


def conflict(what: str, *, is_known: bool = True) -> HttpError:
    """Return the error of a save that is based on another version than the one that is stored.

    Args:
        what: what was to be saved.
        is_known: the page has read it before.
    """
    changed = "has changed since it was opened" if is_known else "is there already"
    return HttpError(f"{what} {changed}: overwrite it?", status=HTTPStatus.CONFLICT)


class Problem(TypedDict):
    """An error or warning about a text.

    Attributes:
        message: the message.
        line: counted from 1; null where the problem has no position in the text.
        column: likewise.
        field: such as `network.links[2].delay`; empty where there is none.
        has_repair: whether the check's `repair` fixes it.
    """

    message: str
    line: int | None
    column: int | None
    field: str
    has_repair: NotRequired[bool]


class ErrorAnswer(TypedDict):
    """Every error answer of the server, with a status of 4xx or 5xx.

    Attributes:
        error: the message.
        problem: the same with its position in a text; null without one.
        queued: the request is queued, and is to be repeated in a moment.
    """

    error: str
    problem: Problem | None
    queued: NotRequired[bool]


def json_text(value: object) -> str:
    """Return the JSON text of plain data, which may contain dataclasses, in ASCII."""
    return json.dumps(value, default=_fields)


def _fields(value: object) -> dict[str, Any]:
    if not dataclasses.is_dataclass(value):
        raise TypeError(f"{type(value).__name__} has no JSON")
    return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}


class JsonAnswer(JSONResponse):
    """A response with JSON: plain data, which may contain dataclasses."""

    def render(self, content: object) -> bytes:
        """Return its body."""
        text = json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_fields
        )
        return text.encode()


def problem_of(error: LongfatError) -> Problem:
    """Return an error as a problem: with its position, if it has one."""
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
    message: str, *, status: int, problem: Problem | None = None, queued: bool = False
) -> JsonAnswer:
    # This response bypasses the middleware that adds this header to the others.
    headers = {"X-Content-Type-Options": "nosniff"}
    answer: ErrorAnswer = {"error": message, "problem": problem}
    if queued:
        answer["queued"] = True
    return JsonAnswer(answer, status, headers)


MAX_BYTES = 4 * 1024**2
"""The largest body of a request."""

MAX_LANGUAGES = 20
"""How many languages a page may prefer; the rest is ignored."""

_MAX_NAME = 200
_REQUEST = "the request"
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


def _check_not_blank(name: str) -> None:
    if not name.strip():
        raise ValueError("found an empty text, expected a name")


Name: TypeAlias = Annotated[str, Length(maximum=_MAX_NAME), _check_not_blank]
"""A short text that is not empty."""

PageName: TypeAlias = Annotated[str, Length(maximum=_MAX_NAME)]
"""The page that sends a request; empty for a client that is none."""

Names: TypeAlias = Annotated[tuple[Name, ...], Length(maximum=1000)]
"""Some names."""

Languages: TypeAlias = Annotated[tuple[Name, ...], Length(maximum=MAX_LANGUAGES)]
"""The preferred languages of a page, the most preferred first."""

_Request = TypeVar("_Request")


async def read_request(request: Request, kind: type[_Request]) -> _Request:
    """Read a request's body.

    Args:
        request: the request.
        kind: the declaration of its body.

    Raises:
        InputError: it is too large, not JSON, or does not fit.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HttpError(
                f"the request is larger than {MAX_BYTES // 1024**2} MB",
                status=_TOO_LARGE,
            )
    return decode(kind, parse_json(body, where=_REQUEST), where=_REQUEST)


def query_text(request: Request, name: str) -> str | None:
    """Return a parameter of the URL's query, or None if it is not given."""
    value = request.query_params.get(name)
    return None if value is None else _parameter(name, value)


def query_texts(request: Request, name: str) -> tuple[str, ...]:
    """Return all parameters of a name in the URL's query.

    Raises:
        InputError: there is none.
    """
    values = request.query_params.getlist(name)
    if not values:
        raise InputError(f"the URL's query needs {name}=..., once or more")
    return tuple(_parameter(name, value) for value in values)


def query_languages(request: Request) -> LanguageChoice:
    """Return the preferred languages of a page, from the URL's query: languages=..."""
    values = request.query_params.getlist("languages")[:MAX_LANGUAGES]
    return LanguageChoice(wanted=_LANGUAGES.decode(values, where="the URL's query: languages"))


def _parameter(name: str, value: str) -> str:
    return _PARAMETER.decode(value, where=f"the URL's query: {name}")


_LANGUAGES: Decoder[tuple[str, ...]] = Decoder(cast("Any", Languages))
_PARAMETER: Decoder[str] = Decoder(cast("Any", Annotated[str, Length(maximum=4096)]))


RUNS = "runs"
"""The folder of the runs, with a folder for each study in it, as `longfat run` has it."""


def report_url(folder: str) -> str:
    """Return the path of the URL at which the report of a folder of runs is read.

    Args:
        folder: the folder, below the workspace.
    """
    return f"/api/report/{quote(folder)}/{PAGE}"
