"""The JSON Schema of a session's lines: requests, answers, and messages that answer none."""

from __future__ import annotations

from typing import Any

from longfat.live.rpc.calls import CALLS, Call
from longfat.live.rpc.parameters import object_schema
from longfat.live.rpc.requests import JSONRPC, PROTOCOL_VERSION, Code
from longfat.study.schema import SCHEMA_URL

_ID = {"type": ["integer", "string"], "description": "the answer has the same"}
_VERSION = {"const": JSONRPC}
_TEXT = {"type": "string"}


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
