"""Lines of JSON-RPC: parsed into requests, within limits; errors; and the JSON Schema of all.

A program's input may be damaged, endless or nested without end. So a line has a maximum
length, JSON a maximum depth, and every parameter is checked against its type first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from longfat.common.decoding import describe, parse_json, quoted
from longfat.common.suggest import listed, nearest
from longfat.errors import HostError, InputError, LongfatError, MachineError
from longfat.live.process import CommandFailed, TimedOut
from longfat.live.rpc.calls import CALLS, Call
from longfat.live.rpc.parameters import object_schema
from longfat.live.task import RejectedError
from longfat.study.schema import SCHEMA_URL

PROTOCOL_VERSION = 1
"""The version of the protocol; incremented if programs have to be changed for it."""

MAX_LINE_BYTES = 16 << 20
"""The longest line that is read."""

MAX_DEPTH = 32
"""The maximum nesting depth of lists and objects of a request."""

JSONRPC = "2.0"
_MEMBERS = ("jsonrpc", "id", "method", "params")
_MAX_ID = 200

_ID = {"type": ["integer", "string"], "description": "the answer has the same"}
_VERSION = {"const": JSONRPC}
_TEXT = {"type": "string"}


class Code(IntEnum):
    """The error codes: those of JSON-RPC 2.0, and longfat's from 1 on."""

    NOT_JSON = -32700
    INVALID_REQUEST = -32600
    NO_METHOD = -32601
    INVALID_PARAMS = -32602
    COMMAND_FAILED = 1
    TIMED_OUT = 2
    REFUSED = 3
    HOST = 4
    MACHINE = 5


_OF_ERRORS: Mapping[type[LongfatError], Code] = {
    CommandFailed: Code.COMMAND_FAILED,
    TimedOut: Code.TIMED_OUT,
    RejectedError: Code.REFUSED,
    InputError: Code.INVALID_PARAMS,
    HostError: Code.HOST,
    MachineError: Code.MACHINE,
}


class RequestError(InputError):
    """A line is not a valid request.

    Attributes:
        code: the kind of error.
        id: the request's, if it has one that can be read.
        where: the part of it that is wrong, such as `params.rate`.
    """

    def __init__(self, message: str, *, code: Code, id: Any = None, where: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.id = id
        self.where = where


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, parsed and checked as far as possible without a network.

    Attributes:
        id: the id for its answer.
        call: the call.
        params: its parameters.
    """

    id: str | int
    call: Call
    params: Mapping[str, Any]


def read_request(line: bytes) -> Request:
    """Parse a line.

    Raises:
        RequestError: it is not a request, or its call or parameters are unknown.
    """
    data = _read_object(line)
    number = _id(data)
    try:
        call = _call(data)
        return Request(id=number, call=call, params=_params(call, data.get("params", {})))
    except RequestError as error:
        error.id = number
        raise


def _read_object(line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise RequestError(
            f"the line is too long: the maximum is {MAX_LINE_BYTES:,} bytes",
            code=Code.INVALID_REQUEST,
        )
    try:
        data = parse_json(line, where="the line")
    except LongfatError as error:
        raise RequestError(error.message, code=Code.NOT_JSON) from None
    if not isinstance(data, dict):
        raise RequestError(
            f"found {describe(data)}, expected a request: an object in a line of its own",
            code=Code.INVALID_REQUEST,
        )
    return data


def _call(data: Mapping[str, Any]) -> Call:
    """Return the call that a request names."""
    if unknown := [key for key in data if key not in _MEMBERS]:
        raise RequestError(
            f"a request has no {quoted(unknown[0])} (it has: {listed(_MEMBERS)})",
            code=Code.INVALID_REQUEST,
        )
    if data.get("jsonrpc") != JSONRPC:
        raise RequestError(
            f"found {describe(data.get('jsonrpc'))}, expected the text '{JSONRPC}'",
            code=Code.INVALID_REQUEST,
            where="jsonrpc",
        )
    method = data.get("method")
    if not isinstance(method, str):
        raise RequestError(
            f"found {describe(method)}, expected the name of a call",
            code=Code.INVALID_REQUEST,
            where="method",
        )
    if method not in CALLS:
        raise RequestError(
            f"there is no call {quoted(method)}{nearest(method, CALLS)} "
            f"(there are: {', '.join(CALLS)})",
            code=Code.NO_METHOD,
            where="method",
        )
    return CALLS[method]


def _id(data: Mapping[str, Any]) -> str | int:
    number = data.get("id")
    if "id" not in data:
        raise RequestError("a request needs an id", code=Code.INVALID_REQUEST, where="id")
    if type(number) is int and -(2**63) <= number < 2**63:
        return number
    if isinstance(number, str) and len(number) <= _MAX_ID:
        return number
    raise RequestError(
        f"found {describe(number)}, expected a whole number or a text of at most "
        f"{_MAX_ID} characters",
        code=Code.INVALID_REQUEST,
        where="id",
    )


def _params(call: Call, given: Any) -> dict[str, Any]:
    """Return the parameters of a call, read."""

    def invalid(message: str, name: str = "") -> RequestError:
        where = f"params.{name}" if name else "params"
        return RequestError(message, code=Code.INVALID_PARAMS, where=where)

    if not isinstance(given, dict):
        raise invalid(f"found {describe(given)}, expected an object with parameters by name")
    if _is_deeper(given, MAX_DEPTH):
        raise invalid(f"they are nested deeper than {MAX_DEPTH} levels")
    known = call.parameters
    for name in given:
        if name not in known and not call.takes_more:
            raise invalid(
                f"{call.name} has no parameter {quoted(name)}{nearest(name, known)} "
                f"(there are: {listed(known)})"
            )
    for name, parameter in known.items():
        if parameter.is_required and name not in given:
            raise invalid(f"{call.name} needs {name}: {parameter.help}", name)
    values = {}
    for name, value in given.items():
        try:
            values[name] = known[name].read(value) if name in known else value
        except InputError as error:
            raise invalid(error.message, name) from None
    return values


def _is_deeper(data: Any, maximum: int) -> bool:
    """Return whether data is nested deeper; without recursion, since it may be."""
    level = [data]
    for _ in range(maximum):
        level = [
            one
            for value in level
            if isinstance(value, (dict, list))
            for one in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return any(isinstance(one, (dict, list)) for one in level)


def code_of(error: LongfatError) -> Code:
    """Return the code of an error."""
    if isinstance(error, RequestError):
        return error.code
    return next((code for cls, code in _OF_ERRORS.items() if isinstance(error, cls)), Code.HOST)


def where_of(error: LongfatError) -> str:
    """Return which part of a request an error is about, such as `params.rate`; empty for all."""
    if isinstance(error, RequestError):
        return error.where
    place = getattr(error, "place", None)
    return f"params.{place.field}" if place is not None and place.field else ""


def session_schema() -> dict[str, Any]:
    """Return the JSON Schema of a session's lines, as plain data.

    `$defs.request` and `$defs.answer` are all lines to and from it; `$defs.results` has what each
    call gives, by its name.
    """
    return {
        "$schema": SCHEMA_URL,
        "title": f"longfat session, protocol {PROTOCOL_VERSION}",
        "$defs": {
            "request": {"oneOf": [_request(call) for call in CALLS.values()]},
            "answer": {"oneOf": [_success(), _failure(), _ready(), _output()]},
            "results": {name: call.result.schema for name, call in CALLS.items()},
        },
        "anyOf": [{"$ref": "#/$defs/request"}, {"$ref": "#/$defs/answer"}],
    }


def _request(call: Call) -> dict[str, Any]:
    params = call.schema()
    return {
        "title": call.name,
        "description": call.summary,
        **object_schema(
            {"jsonrpc": _VERSION, "id": _ID, "method": {"const": call.name}, "params": params},
            required=("jsonrpc", "id", "method", *(["params"] if params["required"] else [])),
        ),
    }


def _success() -> dict[str, Any]:
    results = [{"$ref": f"#/$defs/results/{name}"} for name in CALLS]
    return object_schema({"jsonrpc": _VERSION, "id": _ID, "result": {"anyOf": results}})


def _failure() -> dict[str, Any]:
    data = object_schema(
        {
            "kind": {"enum": [code.name.lower() for code in Code]},
            "where": {**_TEXT, "description": "the part of the request, such as params.rate"},
            "completed": CALLS["node.run"].result.schema,
            "stdout": {**_TEXT, "description": "of a command that took too long"},
            "stderr": _TEXT,
            "hint": _TEXT,
        },
        required=("kind", "where"),
    )
    error = object_schema({"code": {"enum": list(Code)}, "message": _TEXT, "data": data})
    number = {"type": ["integer", "string", "null"], "description": "null, if the line has none"}
    return object_schema({"jsonrpc": _VERSION, "id": number, "error": error})


def _ready() -> dict[str, Any]:
    return _message(
        "ready",
        {
            "protocol": {"const": PROTOCOL_VERSION},
            "longfat": _TEXT,
            "kernel": _TEXT,
            "seed": {"type": "integer"},
            "now_s": {"type": "number"},
        },
    )


def _output() -> dict[str, Any]:
    return _message("output", {"request": _ID, "text": _TEXT})


def _message(method: str, params: dict[str, Any]) -> dict[str, Any]:
    return object_schema(
        {"jsonrpc": _VERSION, "method": {"const": method}, "params": object_schema(params)}
    )
