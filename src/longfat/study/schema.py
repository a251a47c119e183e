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
    Bond,
    CpuCosts,
    Host,
    HostTiming,
    Link,
    LinkImpairments,
    Network,
    Tunnel,
)
from longfat.model.network.addressing import Addressing
from longfat.model.probes import PROBES
from longfat.model.traffic import FLOWS
from longfat.study.drawing import COLOURS, Group, Note
from longfat.study.expand import Settings
from longfat.study.published import MAX_RUNS, MAX_YEAR, MIN_YEAR, SourceSummary

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.model.fields import Field

SCHEMA_URL = "https://json-schema.org/draft/2020-12/schema"

# In a grid, any value may be made of its parameters; in a case, none takes a common one back.
_TEMPLATE = {"type": "string", "pattern": r"\$<.*>"}
_ABSENT = {"type": "null"}

TEXT = {"type": "string"}
"""The schema of a text."""

_NAME = {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,63}$"}
LINE = {"type": ["string", "number"]}
"""The schema of a text that may look like a number."""

_ANYTHING: dict[str, Any] = {}


def study_schema() -> dict[str, Any]:
    """Return the JSON Schema of a study file, as plain data."""
    case = object_of({**_settings(), "title": described(TEXT, "what tables call the case")})
    return {
        "$schema": SCHEMA_URL,
        "title": "longfat study",
        "$defs": {"network": _network(), "flow": _flow(), "probe": _probe()},
        **object_of(
            {
                "title": described(TEXT, "what the study is about"),
                "course": described(TEXT, "the course of a lab, by its id in labs/courses.yaml"),
                **_settings(),
                "cases": described(
                    mapping_of({"anyOf": [case, _ABSENT]}), "what is run, each with what differs"
                ),
                "claims": described(
                    {"type": "array", "items": {"anyOf": [mapping_of(LINE), TEXT]}},
                    "what is expected of the results: a sentence with an expression",
                ),
                "published": described(_published(), "what others measured"),
                "layout": described(
                    mapping_of({"type": "array", "items": {"type": "number"}}),
                    "positions of the nodes in a drawing, in pixels",
                ),
                "drawing": described(_drawing(), "notes, groups and colours of a drawing"),
                "grid": described(
                    mapping_of(_ANYTHING),
                    "parameters whose combinations are the cases, in place of `cases`",
                ),
                "lists": described(mapping_of(_ANYTHING), "lists of values with names"),
                "let": described(mapping_of(LINE), "names for expressions of parameters"),
                "where": described(_ANYTHING, "which combinations are cases"),
                "case_title": described(TEXT, "what tables call a case of the grid"),
                "figures": described(
                    {"type": "array", "items": mapping_of(_ANYTHING)},
                    "figures of the results",
                ),
            },
            required=("title",),
        ),
    }


def plain_fields(cls: type) -> dict[str, Any]:
    """Return the schemas of fields that no grid fills in and no case takes back."""
    return {
        field.key: {
            **field.kind.schema(),
            "title": field.about.label,
            "description": field.about.help,
        }
        for field in fields_of(cls).values()
    }


def _published() -> dict[str, Any]:
    required = [field.key for field in fields_of(SourceSummary).values() if field.is_required]
    runs = {"type": "array", "items": LINE, "minItems": 2, "maxItems": MAX_RUNS}
    summary = object_of(plain_fields(SourceSummary), required=required)
    figures = mapping_of({"anyOf": [LINE, runs, summary]})
    texts = ("source", "authors", "address", "place")
    about = {
        **dict.fromkeys(texts, TEXT),
        "year": {"type": "integer", "minimum": MIN_YEAR, "maximum": MAX_YEAR},
        "explained": mapping_of(TEXT),
    }
    return {
        **object_of(about, required=("source",)),
        "additionalProperties": figures,
    }


def _drawing() -> dict[str, Any]:
    place = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
    note = {
        "text": described(LINE, "its text"),
        "at": described(place, "its upper left corner, in pixels"),
        **plain_fields(Note),
    }
    return object_of(
        {
            "colours": described(mapping_of({"enum": list(COLOURS)}), "colours of nodes, by name"),
            "groups": described(
                {"type": "array", "items": object_of(plain_fields(Group), required=("nodes",))},
                "frames around nodes",
            ),
            "notes": described(
                {"type": "array", "items": object_of(note, required=("text", "at"))},
                "texts beside the network",
            ),
        }
    )


def _settings() -> dict[str, Any]:
    """Return the fields that a study has for all cases, and each case for itself."""
    return {
        **_fields(fields_of(Settings).values()),
        "network": described(_ref("network"), "hosts, routers, switches and links"),
        "files": described(mapping_of(_ANYTHING), "files that are put into the machine, by path"),
        "packages": described(
            {"anyOf": [TEXT, {"type": "array", "items": LINE}, _ABSENT]},
            "Python packages for the machine's programs: a lock file, or pinned requirements",
        ),
        "setup": described(
            {"type": "array", "items": {"type": "object"}},
            "lines typed before the traffic starts, each with its node",
        ),
        "flows": described(mapping_of(_ref("flow")), "the traffic"),
        "probes": described(
            {
                "type": "object",
                "properties": {kind: _ref("probe") for kind in PROBES},
                "additionalProperties": _ref("probe"),
            },
            "what is sampled meanwhile",
        ),
        "events": described(
            {"type": "array", "items": _event()}, "what changes while the traffic plays"
        ),
    }


def _network() -> dict[str, Any]:
    host = {
        **_fields(fields_of(Host).values()),
        "address": described(
            TEXT, "the address of its first interface, with prefix length, or slaac"
        ),
        "routes": described(
            mapping_of({"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}),
            "networks, or `default`, with the next router, or several that share the traffic",
        ),
        **_timing(),
    }
    one_way = _fields(fields_of(LinkImpairments).values())
    link = {
        **one_way,
        **_fields(fields_of(Link).values()),
        "addresses": described(
            mapping_of({"anyOf": [TEXT, mapping_of(TEXT)]}),
            "by end, the address of that end's interface, slaac, or its addresses by VLAN",
        ),
        "to": described(
            mapping_of(object_of(one_way)), "by end, properties of the direction towards it"
        ),
    }
    bond = _fields(fields_of(Bond).values())
    tunnel = {
        **_fields(fields_of(Tunnel).values()),
        "addresses": described(mapping_of(TEXT), "by end, the address in the tunnel"),
        "endpoints": described(mapping_of(TEXT), "by end, the outer address"),
    }
    hosts = {
        "anyOf": [
            {"type": "array", "items": TEXT},
            mapping_of({"anyOf": [TEXT, object_of(host), _ABSENT]}),
        ]
    }
    return object_of(
        {
            "hosts": described(
                hosts, "hosts, as a list of names or with the addresses of their first interfaces"
            ),
            "routers": described(hosts, "hosts that forward, likewise"),
            "switches": described({"type": "array", "items": TEXT}, "learning bridges"),
            "bonds": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [
                        TEXT,
                        {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]},
                        object_of(bond, required=("mode",)),
                    ],
                    "minItems": 3,
                    "maxItems": 3,
                },
                "description": "parallel links that are one interface",
            },
            "tunnels": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [
                        TEXT,
                        TEXT,
                        object_of(tunnel, required=("kind", "addresses")),
                    ],
                    "minItems": 3,
                    "maxItems": 3,
                },
                "description": "tunnels between hosts",
            },
            "testbed": described(
                {"anyOf": [object_of(_timing()), _ABSENT]},
                "the timing of one computer that runs the switches and all other hosts",
            ),
            "setup": described(
                {"type": "array", "items": {"type": "object"}},
                "set-up lines that belong to the network, each with its node",
            ),
            **_fields(fields_of(Network).values()),
            **_fields(fields_of(Addressing).values()),
            "links": {
                "type": "array",
                "items": {
                    "type": "array",
                    "prefixItems": [TEXT, TEXT, object_of(link)],
                    "minItems": 2,
                    "maxItems": 3,
                },
            },
        },
    )


def _event() -> dict[str, Any]:
    nodes = {"type": "array", "items": TEXT}
    one_way = _fields(fields_of(LinkImpairments).values())
    link = {
        **_fields(fields_of(LinkChange).values()),
        "link": described({**nodes, "minItems": 2, "maxItems": 2}, "the link, as [NODE, NODE]"),
        **one_way,
        "to": described(
            mapping_of(object_of(one_way)), "by end, properties of the direction towards it"
        ),
    }
    partition = {
        **_fields(fields_of(Partition).values()),
        "partition": described(
            {"type": "array", "items": nodes, "minItems": 2},
            "groups of nodes that are cut off from each other",
        ),
    }
    clock = {
        **_fields(fields_of(ClockChange).values()),
        "clock": described(TEXT, "the host whose clock is set"),
    }
    typed = {
        "type": "object",
        "properties": _fields(fields_of(Event).values()),
        "additionalProperties": {"anyOf": [LINE, {"type": "array", "items": LINE}]},
        "not": {"anyOf": [{"required": [key]} for key in ("link", "partition", "clock")]},
    }
    return {
        "anyOf": [
            object_of(link, required=("link",)),
            object_of(partition, required=("partition",)),
            object_of(clock, required=("clock",)),
            typed,
        ]
    }


def _timing() -> dict[str, Any]:
    costs = object_of(_fields(fields_of(CpuCosts).values()))
    return {
        **_fields(fields_of(HostTiming).values()),
        "cpu": described({"anyOf": [costs, _ABSENT]}, "what the work of its CPU costs"),
        "profile": described(
            {"anyOf": [{"enum": list(PROFILES)}, _TEMPLATE, _ABSENT]},
            "a named timing, for what is not given",
        ),
    }


def _flow() -> dict[str, Any]:
    tools = [
        object_of(
            {
                tool: described(
                    {"type": "string", "pattern": "->"}, f"{tool} from one host to another"
                ),
                **_fields(fields_of(cls)[key] for key in cls.study_keys()),
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
        object_of(
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


def described(schema: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return a schema with a description."""
    return {**schema, "description": text}


def mapping_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with any names, whose values have a schema."""
    return {"type": "object", "additionalProperties": dict(values)}


def object_of(properties: Mapping[str, Any], *, required: Iterable[str] = ()) -> dict[str, Any]:
    """Return the schema of an object with the given properties and no others."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }
