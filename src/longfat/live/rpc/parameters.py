"""Parameters of the Python API, read from JSON: their types are those of its signatures.

Python types without an equivalent in JSON are encoded: a node is its name, bytes are a text or
`{"base64": ...}`, and a callback for output is `true`, which requests messages.
"""

from __future__ import annotations

import base64
import binascii
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from longfat.common.decoding import decode
from longfat.errors import InputError
from longfat.live.process import Duration, Size
from longfat.model.fields import fields_taken

if typing.TYPE_CHECKING:
    from longfat.model.fields import Field


class Base64(TypedDict):
    """Bytes that are not text."""

    base64: str


class _Callback:
    """The JSON equivalent of a callback: whether to send messages."""

    def __class_getitem__(cls, _signature: object) -> type[bool]:
        return bool


_TYPES = {
    "Callable": _Callback,
    "Duration": Duration,
    "LiveHost": str,
    "LiveSwitch": str,
    "Loss": dict,
    "Mapping": dict,
    "Path": str,
    "Sequence": list,
    "Size": Size,
    "bytes": Base64,
    "object": Any,
}
"""What names in the API's annotations are in JSON; others are themselves."""

_SCHEMAS: Mapping[Any, Mapping[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    type(None): {"type": "null"},
    Any: {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a call.

    Attributes:
        name: its name.
        help: its description.
        is_required: it is mandatory.
        is_repeated: it represents all positional arguments.
        kind: its type in JSON; None for a declared field.
        field: the declared field that it is, if any.
    """

    name: str
    help: str
    is_required: bool
    is_repeated: bool = False
    kind: Any = None
    field: Field | None = None

    def read(self, data: Any) -> Any:
        """Return its value for the method.

        Raises:
            InputError: it is invalid; without the parameter's name.
        """
        if self.field is not None:
            if data is not None:
                self.field.kind.of(data)
            return data
        value = decode(self.kind, data, where="", error=_without_place)
        return _bytes(value) if Base64 in typing.get_args(self.kind) else value

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its values."""
        if self.field is not None:
            found = {"anyOf": [self.field.kind.schema(), {"type": "null"}]}
        else:
            found = schema_of(self.kind)
        return {**found, "description": self.help} if self.help else found


def parameters_of(method: Callable[..., Any]) -> tuple[Parameter, ...]:
    """Return the parameters of a method of the API, except for `self`."""
    helps = _described(inspect.getdoc(method) or "")
    fields = fields_taken(method)
    kinds = json_types(method)
    found = []
    for one in list(inspect.signature(method).parameters.values())[1:]:
        field = fields.get(one.name)
        repeated = one.kind is one.VAR_POSITIONAL
        if one.kind is one.VAR_KEYWORD:
            continue
        kind = kinds.get(one.name, Any)
        found.append(
            Parameter(
                name=one.name,
                help=field.about.help if field is not None else helps.get(one.name, ""),
                is_required=(field.is_required if field else repeated or one.default is one.empty),
                is_repeated=repeated,
                kind=list[kind] if repeated else kind,  # type: ignore[valid-type]
                field=field,
            )
        )
    return tuple(found)


def json_types(annotated: Callable[..., Any]) -> dict[str, Any]:
    """Return the types in JSON of a function's parameters or of a class's fields, by name."""
    return typing.get_type_hints(annotated, localns=_TYPES)


def schema_of(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type that `decode` reads."""
    if kind in _SCHEMAS:
        return dict(_SCHEMAS[kind])
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is tuple and arguments[1:] == (...,):
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is tuple:
        count = len(arguments)
        items = [schema_of(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": count, "maxItems": count}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in arguments]}
    hints = typing.get_type_hints(kind)
    return object_schema({name: schema_of(one) for name, one in hints.items()})


def object_schema(
    properties: Mapping[str, Any], *, required: tuple[str, ...] | None = None
) -> dict[str, Any]:
    """Return the JSON Schema of an object with these fields.

    Args:
        properties: their schemas, by name.
        required: those that it must have; all, if None.
    """
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def _without_place(message: str) -> InputError:
    return InputError(message.removeprefix(": "))


def _bytes(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    try:
        return base64.b64decode(value["base64"], validate=True)
    except (binascii.Error, ValueError):
        raise InputError("base64: this is not base64 (RFC 4648)") from None


def _described(doc: str) -> dict[str, str]:
    """Return a docstring's descriptions of the parameters."""
    section = doc.partition("\nArgs:\n")[2].partition("\n\n")[0]
    return dict(_entries(section))


def _entries(section: str) -> Iterator[tuple[str, str]]:
    for entry in re.split(r"\n(?=    \S)", section):
        name, _, text = entry.partition(":")
        yield name.strip(), " ".join(text.split())
