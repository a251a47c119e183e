"""The results of calls as JSON, with their JSON Schema."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.live.process import Completed
from longfat.live.rpc.parameters import Base64, object_schema, read_annotation, schema_of

if TYPE_CHECKING:
    from longfat.live.rpc.handles import Handles

Write = Callable[[Any, "Handles"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of a call.

    Attributes:
        schema: its JSON Schema.
        write: returns a method's result as plain data.
    """

    schema: dict[str, Any]
    write: Write


def _plain(kind: Any) -> Result:
    return Result(schema=schema_of(kind), write=lambda value, _: value)


NOTHING = _plain(type(None))
TEXT = _plain(str)
NUMBER = _plain(float)
FLAG = _plain(bool)
STATUS = Result(
    schema={"type": ["integer", "null"], "description": "exit status; -N after signal N"},
    write=lambda value, _: value,
)


def _content(value: bytes, _: Handles) -> Any:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


CONTENT = Result(
    schema={
        **schema_of(str | Base64),
        "description": "a text if it is UTF-8, else base64",
    },
    write=_content,
)

NODE = Result(
    schema={"type": "string", "description": "the node's name"},
    write=lambda node, _: node.name,
)

LINK = Result(
    schema=object_schema(
        {
            "link": {"type": "integer", "description": "what calls name it by"},
            "a": {"type": "string", "description": "its interface at the first node"},
            "b": {"type": "string", "description": "its interface at the second"},
        }
    ),
    write=lambda link, handles: {"link": handles.link(link), "a": link.a, "b": link.b},
)


def _process(process: Any, handles: Handles) -> Any:
    number = handles.processes.number(process)
    return {"process": number, "pid": process.pid, "started_s": process.started_s}


PROCESS = Result(
    schema=object_schema(
        {
            "process": {"type": "integer", "description": "what calls name it by"},
            "pid": {"type": "integer", "description": "its number in the machine"},
            "started_s": {"type": "number", "description": "virtual time since boot"},
        }
    ),
    write=_process,
)

PROCESSES = Result(
    schema={"type": "array", "items": PROCESS.schema},
    write=lambda processes, handles: [_process(one, handles) for one in processes],
)


def completed(done: Completed) -> dict[str, Any]:
    """Return a command that has ended as plain data."""
    return {**dataclasses.asdict(done), "took_s": done.took_s}


COMPLETED = Result(
    schema=object_schema(
        {
            **{
                one.name: schema_of(read_annotation(str(one.type)))
                for one in dataclasses.fields(Completed)
            },
            "took_s": {"type": "number", "description": "seconds of virtual time"},
        }
    ),
    write=lambda done, _: completed(done),
)

MEASURED = Result(
    schema=object_schema(
        {
            "metrics": {
                "type": "object",
                "additionalProperties": {"type": "number"},
                "description": "in base units, by name",
            },
            "raw": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "what the tools printed",
            },
        }
    ),
    write=lambda measured, _: {"metrics": dict(measured.metrics), "raw": dict(measured.raw)},
)

TRAFFIC = Result(
    schema=object_schema({"traffic": {"type": "integer", "description": "what calls name it by"}}),
    write=lambda started, handles: {"traffic": handles.traffic.number(started)},
)
