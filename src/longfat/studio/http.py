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
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from longfat.errors import HostError, InputError, LongfatError
from longfat.output.report.record import PAGE
from longfat.study.text import LanguageChoice

if TYPE_CHECKING:
    from collections.abc import Mapping

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
_TOO_LARGE = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class RequestBody:
    """The fields of a JSON object that was sent.

    Args:
        data: the object.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data

    def text(self, name: str, *, maximum: int = MAX_BYTES) -> str:
        """Return a text, which may be empty.

        Args:
            name: the field.
            maximum: how many characters it may have.

        Raises:
            InputError: it is missing, not a text, or too long.
        """
        value = self._data.get(name)
        if not isinstance(value, str):
            raise _wrong(name, "a text", value)
        return _sound(name, value, maximum=maximum)

    def maybe_text(self, name: str) -> str | None:
        """Return a text, or None if there is none."""
        return None if self._data.get(name) is None else self.text(name)

    def name(self, name: str) -> str:
        """Return a short text that is not empty."""
        value = self.text(name, maximum=_MAX_NAME)
        if not value.strip():
            raise InputError(f"{name}: found an empty text, expected a name")
        return value

    def maybe_name(self, name: str) -> str | None:
        """Return a short text, or None if there is none."""
        return None if self._data.get(name) is None else self.name(name)

    def names(self, name: str, *, maximum: int = 1000) -> tuple[str, ...]:
        """Return a list of short texts; an empty one where there is none."""
        value = self._data.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > maximum:
            raise _wrong(name, f"a list of at most {maximum} texts", value)
        for each in value:
            if not isinstance(each, str):
                raise _wrong(name, "a list of texts", value)
        return tuple(_sound(name, each, maximum=_MAX_NAME) for each in value)

    def boolean(self, name: str) -> bool:
        """Return true or false; false where there is none."""
        value = self._data.get(name, False)
        if not isinstance(value, bool):
            raise _wrong(name, "true or false", value)
        return value

    def maybe_boolean(self, name: str) -> bool | None:
        """Return true or false, or None if there is none."""
        return None if self._data.get(name) is None else self.boolean(name)

    def items(self, name: str, *, maximum: int = 1000) -> list[Any]:
        """Return a list, whose entries are not checked; an empty one where there is none."""
        value = self._data.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or len(value) > maximum:
            raise _wrong(name, f"a list of at most {maximum} entries", value)
        return value

    def object(self, name: str) -> dict[str, Any]:
        """Return an object, whose fields are not checked; an empty one where there is none."""
        value = self._data.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise _wrong(name, "an object", value)
        return value

    def maybe_integer(self, name: str, *, minimum: int, maximum: int) -> int | None:
        """Return a whole number within limits, or None if there is none."""
        value = self._data.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise _wrong(name, f"a whole number from {minimum} to {maximum}", value)
        return value


async def read_json(request: Request) -> RequestBody:
    """Read a request's body.

    Raises:
        InputError: it is not a JSON object, or too large.
    """
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BYTES:
            raise HttpError(
                f"the request is larger than {MAX_BYTES // 1024**2} MB",
                status=_TOO_LARGE,
            )
    try:
        data = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        raise InputError("the request's body is not JSON in UTF-8") from None
    if not isinstance(data, dict):
        raise InputError("the request's body is not a JSON object: send {...}")
    return RequestBody(data)


def asked_name(request: Request, name: str) -> str | None:
    """Return a parameter of the URL's query, or None if it is not given."""
    value = request.query_params.get(name)
    return None if value is None else _sound(name, value, maximum=4096)


def asked_names(request: Request, name: str) -> tuple[str, ...]:
    """Return all parameters of a name in the URL's query.

    Raises:
        InputError: there is none.
    """
    values = request.query_params.getlist(name)
    if not values:
        raise InputError(f"the URL's query needs {name}=..., once or more")
    return tuple(_sound(name, value, maximum=4096) for value in values)


def asked_language(request: Request) -> LanguageChoice:
    """Return the preferred languages of a page, from the URL's query: languages=..."""
    values = request.query_params.getlist("languages")[:MAX_LANGUAGES]
    return LanguageChoice(
        wanted=tuple(_sound("languages", one, maximum=_MAX_NAME) for one in values)
    )


def _sound(name: str, value: str, *, maximum: int) -> str:
    if len(value) > maximum:
        raise InputError(f"{name}: {len(value)} characters, and at most {maximum} are allowed")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"{name}: the text holds half of a surrogate pair") from None
    return value


def _wrong(name: str, wanted: str, found: object) -> InputError:
    if found is None:
        return InputError(f"{name}: is missing; expected {wanted}")
    shown = repr(found)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return InputError(f"{name}: found {shown}, expected {wanted}")


RUNS = "runs"
"""The folder of the runs, with a folder for each study in it, as `longfat run` has it."""


def report_url(folder: str) -> str:
    """Return the path of the URL at which the report of a folder of runs is read.

    Args:
        folder: the folder, below the workspace.
    """
    return f"/api/report/{quote(folder)}/{PAGE}"
