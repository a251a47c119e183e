"""Lines from a program as requests, within limits; and errors as JSON-RPC has them.

What a program writes may be damaged, endless or nested without end. So a line has a largest
length, JSON a largest depth, and every parameter is read by its type before anything is done.
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
from longfat.live.session import RefusedError

PROTOCOL_VERSION = 1
"""The version of the protocol; another one, if a program has to be changed for it."""

MOST_LINE_BYTES = 16 << 20
"""The longest line that is read."""

MOST_DEPTH = 32
"""How deep lists and objects of a request may be nested."""

JSONRPC = "2.0"
_MEMBERS = ("jsonrpc", "id", "method", "params")
_LONGEST_ID = 200


class Code(IntEnum):
    """The codes of errors: those of JSON-RPC 2.0, and ours from 1 on."""

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
    RefusedError: Code.REFUSED,
    InputError: Code.INVALID_PARAMS,
    HostError: Code.HOST,
    MachineError: Code.MACHINE,
}


class RequestError(InputError):
    """A line is no request.

    Attributes:
        code: what is wrong with it.
        id: the request's, if it has one that can be read.
        where: which part of it is wrong, such as `params.rate`.
    """

    def __init__(self, message: str, *, code: Code, id: Any = None, where: str = "") -> None:  # noqa: A002
        super().__init__(message)
        self.code = code
        self.id = id
        self.where = where


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request, read and checked as far as it can be without a network.

    Attributes:
        id: what its answer has to name.
        call: what to do.
        params: with which parameters.
    """

    id: str | int
    call: Call
    params: Mapping[str, Any]


def read_request(line: bytes) -> Request:
    """Read a line.

    Raises:
        RequestError: it is no request, or one of a call or of parameters that there are not.
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
    if len(line) > MOST_LINE_BYTES:
        raise RequestError(
            f"the line is too long: at most {MOST_LINE_BYTES:,} bytes are read",
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
        raise RequestError(
            "a request has an id, and this one has none", code=Code.INVALID_REQUEST, where="id"
        )
    if type(number) is int and -(2**63) <= number < 2**63:
        return number
    if isinstance(number, str) and len(number) <= _LONGEST_ID:
        return number
    raise RequestError(
        f"found {describe(number)}, expected a whole number or a text of at most "
        f"{_LONGEST_ID} characters",
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
    if _is_deeper(given, MOST_DEPTH):
        raise invalid(f"they are nested deeper than {MOST_DEPTH} levels")
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


def _is_deeper(data: Any, most: int) -> bool:
    """Return whether data is nested deeper; without recursion, since it may be."""
    level = [data]
    for _ in range(most):
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
