"""The JSON Schema of study files, for the completion and the checks of editors.

What single fields may hold comes from their declarations (`longfat.model.fields`); this
module defines how they nest. A schema checks one value at a time: missing hosts of a flow,
or fields that conflict, are reported when the study is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.model.events import ClockChange, Event, LinkChange, Partition
from longfat.model.fields import fields_of
from longfat.model.network import (
    PROFILES,
    CpuCosts,
    Host,
    HostTiming,
    Link,
    LinkImpairments,
    Network,
)
from longfat.model.probes import PROBES
from longfat.model.traffic import FLOWS
from longfat.study.drawing import COLOURS, Group, Note
from longfat.study.expand import Settings
from longfat.study.grading.model import Exercise, Grading, Late, Limits, Part, PartKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.model.fields import Field

SCHEMA_URL = "https://json-schema.org/draft/2020-12/schema"

# In a grid, any value may be made of its parameters; in a case, none takes a common one back.
_TEMPLATE = {"type": "string", "pattern": r"\$<.*>"}
_ABSENT = {"type": "null"}

_TEXT = {"type": "string"}
_NAME = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,63}$"}
_LINE = {"type": ["string", "number"]}
_ANYTHING: dict[str, Any] = {}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study file, as plain data."""
    case = _object({**_settings(), "title": _about(_TEXT, "what tables call the case")})
    return {
        "$schema": SCHEMA_URL,
        "title": "longfat study",
        "$defs": {"network": _network(), "flow": _flow(), "probe": _probe()},
        **_object(
            {
                "title": _about(_TEXT, "what the study is about"),
                "course": _about(_TEXT, "the course of a lab, by its id in labs/courses.yaml"),
                **_settings(),
                "cases": _about(
                    _mapping({"anyOf": [case, _ABSENT]}), "what is run, each with what differs"
                ),
                "claims": _about(
                    {"type": "array", "items": {"anyOf": [_mapping(_LINE), _TEXT]}},
                    "what is expected of the results: a sentence with an expression",
                ),
                "published": _about(_mapping(_ANYTHING), "what others measured"),
                "layout": _about(
                    _mapping({"type": "array", "items": {"type": "number"}}),
                    "positions of the nodes in a drawing, in pixels",
                ),
                "drawing": _about(_drawing(), "notes, groups and colours of a drawing"),
                "grid": _about(
                    _mapping(_ANYTHING),
                    "parameters whose combinations are the cases, in place of `cases`",
                ),
                "lists": _about(_mapping(_ANYTHING), "lists of values with names"),
                "let": _about(_mapping(_LINE), "names for expressions of parameters"),
                "where": _about(_ANYTHING, "which combinations are cases"),
                "case_title": _about(_TEXT, "what tables call a case of the grid"),
                "figures": _about(
                    {"type": "array", "items": _mapping(_ANYTHING)},
                    "figures of a grid",
                ),
            },
            required=("title",),
        ),
    }


def grading_schema() -> dict[str, Any]:
    """Return the JSON Schema of an instructor's file (grading.yaml), as plain data."""
    file = {"type": "string", "minLength": 1}
    files = {"anyOf": [file, {"type": "array", "items": file, "minItems": 1}]}
    parts = [
        _object(
            {
                kind: _about(files if kind is PartKind.IPERF3 else file, "its file"),
                **_plain_fields(Part),
            },
            required=(kind,),
        )
        for kind in PartKind
    ]
    exercise = _object(
        {
            "claim": _about(
                {"anyOf": [_TEXT, {**_mapping(_LINE), "minProperties": 1, "maxProperties": 1}]},
                "what has to hold: an expression, or a sentence with an expression",
            ),
            **_plain_fields(Exercise),
        },
        required=(key for key, field in fields_of(Exercise).items() if field.is_required),
    )
    return {
        "$schema": SCHEMA_URL,
        "title": "longfat grading",
        **_object(
            {
                **_plain_fields(Grading),
                "study": _about(_TEXT, "the file of the instructor's study"),
                "late": _about(_object(_plain_fields(Late)), "what a late submission costs"),
                "limits": _about(_object(_plain_fields(Limits)), "what a submission may take"),
                "parts": _about(_mapping({"oneOf": parts}), "what students hand in"),
                "exercises": _about(_mapping(exercise), "what gives points"),
            },
            required=("title", "study", "parts", "exercises"),
        ),
    }


def _plain_fields(cls: type) -> dict[str, Any]:
    """Return the schemas of fields that no grid fills in and no case takes back."""
    return {
        field.key: {
            **field.kind.schema(),
            "title": field.about.label,
            "description": field.about.help,
        }
        for field in fields_of(cls).values()
    }


def _drawing() -> dict[str, Any]:
    place = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    note = {
        "text": _about(_LINE, "its text"),
        "at": _about(place, "its upper left corner, in pixels"),
        **_plain_fields(Note),
    }
    return _object(
        {
            "colours": _about(_mapping({"enum": list(COLOURS)}), "colours of nodes, by name"),
            "groups": _about(
                {"type": "array", "items": _object(_plain_fields(Group), required=("nodes",))},
                "frames around nodes",
            ),
            "notes": _about(
                {"type": "array", "items": _object(note, required=("text", "at"))},
                "texts beside the network",
            ),
        }
    )


def _settings() -> dict[str, Any]:
    """Return the fields that a study has for all cases, and each case for itself."""
    return {
        **_fields(fields_of(Settings).values()),
        "network": _about(_ref("network"), "hosts, routers, switches and links"),
        "files": _about(_mapping(_ANYTHING), "files that are put into the machine, by path"),
        "packages": _about(
            {"anyOf": [_TEXT, {"type": "array", "items": _LINE}, _ABSENT]},
            "Python packages for the machine's programs: a lock file, or pinned requirements",
        ),
        "setup": _about(
            {"type": "array", "items": {"type": "object"}},
            "lines typed before the traffic starts, each with its node",
        ),
        "flows": _about(_mapping(_ref("flow")), "the traffic"),
        "probes": _about(
            {
                "type": "object",
                "properties": {kind: _ref("probe") for kind in PROBES},
                "additionalProperties": _ref("probe"),
            },
            "what is sampled meanwhile",
        ),
        "events": _about(
            {"type": "array", "items": _event()}, "what changes while the traffic plays"
        ),
    }


def _network() -> dict[str, Any]:
    host = {
        **_fields(fields_of(Host).values()),
        "address": _about(_TEXT, "the address of its first interface, with prefix length"),
        "routes": _about(_mapping(_TEXT), "networks, or `default`, with the next router"),
        **_timing(),
    }
    one_way = _fields(fields_of(LinkImpairments).values())
    link = {
        **one_way,
        **_fields(fields_of(Link).values()),
        "addresses": _about(_mapping(_TEXT), "by end, the address of that end's interface"),
        "to": _about(_mapping(_object(one_way)), "by end, properties of the direction towards it"),
    }
    return _object(
        {
            "hosts": _about(
                _mapping({"anyOf": [_TEXT, _object(host), _ABSENT]}),
                "hosts with the addresses of their first interfaces",
            ),
            "switches": _about({"type": "array", "items": _TEXT}, "learning bridges"),
            "testbed": _about(
                {"anyOf": [_object(_timing()), _ABSENT]},
                "the timing of one computer that runs the switches and all other hosts",
            ),
            "setup": _about(
                {"type": "array", "items": {"type": "object"}},
                "set-up lines that belong to the network, each with its node",
            ),
            **_fields(fields_of(Network).values()),
            "links": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [_TEXT, _TEXT, _object(link)],
                    "minItems": 2,
                    "maxItems": 3,
                },
            },
        },
        required=("hosts",),
    )


def _event() -> dict[str, Any]:
    nodes = {"type": "array", "items": _TEXT}
    one_way = _fields(fields_of(LinkImpairments).values())
    link = {
        **_fields(fields_of(LinkChange).values()),
        "link": _about({**nodes, "minItems": 2, "maxItems": 2}, "the link, as [NODE, NODE]"),
        **one_way,
        "to": _about(_mapping(_object(one_way)), "by end, properties of the direction towards it"),
    }
    partition = {
        **_fields(fields_of(Partition).values()),
        "partition": _about(
            {"type": "array", "items": nodes, "minItems": 2},
            "groups of nodes that are cut off from each other",
        ),
    }
    clock = {
        **_fields(fields_of(ClockChange).values()),
        "clock": _about(_TEXT, "the host whose clock is set"),
    }
    typed = {
        "type": "object",
        "properties": _fields(fields_of(Event).values()),
        "additionalProperties": {"anyOf": [_LINE, {"type": "array", "items": _LINE}]},
        "not": {"anyOf": [{"required": [key]} for key in ("link", "partition", "clock")]},
    }
    return {
        "anyOf": [
            _object(link, required=("link",)),
            _object(partition, required=("partition",)),
            _object(clock, required=("clock",)),
            typed,
        ]
    }


def _timing() -> dict[str, Any]:
    costs = _object(_fields(fields_of(CpuCosts).values()))
    return {
        **_fields(fields_of(HostTiming).values()),
        "cpu": _about({"anyOf": [costs, _ABSENT]}, "what the work of its CPU costs"),
        "profile": _about(
            {"anyOf": [{"enum": list(PROFILES)}, _TEMPLATE, _ABSENT]},
            "a named timing, for what is not given",
        ),
    }


def _flow() -> dict[str, Any]:
    tools = [
        _object(
            {
                tool: _about(
                    {"type": "string", "pattern": "->"}, f"{tool} from one host to another"
                ),
                **_fields(fields_of(cls).values()),
            },
            required=(tool, *(key for key, field in fields_of(cls).items() if field.is_required)),
        )
        for tool, cls in FLOWS.items()
    ]
    # In a case, single fields override those of the common flow.
    every: dict[str, Any] = {key: {} for cls in FLOWS.values() for key in fields_of(cls)}
    override = {"type": "object", "properties": every, "additionalProperties": False}
    return {"anyOf": [*tools, override, _ABSENT]}


def _probe() -> dict[str, Any]:
    kinds = [
        _object(
            {"kind": {"const": kind}, **_fields(fields_of(cls).values())},
            required=[key for key, field in fields_of(cls).items() if field.is_required],
        )
        for kind, cls in PROBES.items()
    ]
    return {"anyOf": [*kinds, _ABSENT]}


def _fields(fields: Iterable[Field]) -> dict[str, Any]:
    return {
        field.key: {
            "anyOf": [field.kind.schema(), _TEMPLATE, _ABSENT],
            "title": field.about.label,
            "description": field.about.help,
        }
        for field in fields
    }


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{name}"}


def _about(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    return {**schema, "description": text}


def _mapping(values: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "additionalProperties": dict(values)}


def _object(properties: Mapping[str, Any], *, required: Iterable[str] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
