"""The calls of a session: methods of the Python API, with their parameters and results.

A call is named after its object and method: `link.change` is `LiveLink.change`. Its object
is a parameter of its own: `{"link": 2, "loss": "1%"}`. Messages identify links, processes and
traffic by numbers (`Handles`). To offer another method, add it to `_RESULTS`.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.live.clock import Clock
from longfat.live.flows import Started
from longfat.live.links import LiveLink
from longfat.live.network import Network
from longfat.live.nodes import LiveHost, Node
from longfat.live.process import Completed, Process
from longfat.live.rpc.parameters import (
    Base64,
    Parameter,
    json_types,
    object_schema,
    parameters_of,
    schema_of,
)
from longfat.model.network import ROOT_NAMESPACE

T = TypeVar("T")


class Numbered(Generic[T]):
    """Objects by their numbers, counted from 1.

    Args:
        what: their kind, for messages.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._things: list[T] = []
        self._numbers: dict[int, int] = {}  # by identity

    def number(self, thing: T) -> int:
        """Return the number of an object, which is assigned one if it has none."""
        if id(thing) not in self._numbers:
            self._things.append(thing)
            self._numbers[id(thing)] = len(self._things)
        return self._numbers[id(thing)]

    def find(self, number: int) -> T:
        """Return the object with a number.

        Raises:
            InputError: there is none.
        """
        if not 1 <= number <= len(self._things):
            raise InputError(f"there is no {self._what} {number} (so far: {len(self._things)})")
        return self._things[number - 1]


class Handles:
    """The objects of a session.

    Args:
        network: its network.

    Attributes:
        processes: the spawned processes.
        traffic: the started traffic.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.processes: Numbered[Process] = Numbered("process")
        self.traffic: Numbered[Started] = Numbered("traffic")

    def node(self, name: str) -> Node:
        """Return a node, or root.

        Raises:
            InputError: there is none with this name.
        """
        return self.network.root if name == ROOT_NAMESPACE else self.network[name]

    def host(self, name: str) -> LiveHost:
        """Return a host or router.

        Raises:
            InputError: there is none with this name.
        """
        hosts = {host.name: host for host in self.network.hosts}
        if name not in hosts:
            raise InputError(
                f"there is no host {name!r}{nearest(name, hosts)} (there are: {listed(hosts)})"
            )
        return hosts[name]

    def link(self, link: LiveLink) -> int:
        """Return the number of a link, counted from 1 in the order of the network."""
        return self.network.links.index(link) + 1

    def find_link(self, number: int) -> LiveLink:
        """Return the link with a number.

        Raises:
            InputError: there is none.
        """
        links = self.network.links
        if not 1 <= number <= len(links):
            raise InputError(f"there is no link {number} (there are: {len(links)})")
        return links[number - 1]


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
            **{name: schema_of(kind) for name, kind in json_types(Completed).items()},
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

_TEXT, _COUNT, _SECONDS = schema_of(str), schema_of(int), schema_of(float)
LOSSES = Result(
    schema={
        "type": "array",
        "items": object_schema(
            {
                **dict.fromkeys(("node", "interface", "cause", "qdisc", "flow"), _TEXT),
                "is_backward": schema_of(bool),
                "protocol": _TEXT,
                **dict.fromkeys(("packets", "size_bytes"), _COUNT),
                **dict.fromkeys(("first_s", "last_s"), _SECONDS),
                **dict.fromkeys(("reason", "function"), _TEXT),
                "is_loss": schema_of(bool),
            }
        ),
    },
    write=lambda losses, _: [loss.to_json() for loss in losses],
)

TRAFFIC = Result(
    schema=object_schema({"traffic": {"type": "integer", "description": "what calls name it by"}}),
    write=lambda started, handles: {"traffic": handles.traffic.number(started)},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Object:
    """An object that calls operate on.

    Attributes:
        cls: its class in the Python API.
        find: returns it, given the parameter that identifies it, if there is one.
        parameter: that parameter.
    """

    cls: type
    find: Callable[[Handles, Any], Any]
    parameter: Parameter | None = None


def _named(name: str, kind: type, help: str) -> Parameter:  # noqa: A002
    return Parameter(name=name, kind=kind, help=help, is_required=True)


OBJECTS: Mapping[str, Object] = {
    "network": Object(cls=Network, find=lambda handles, _: handles.network),
    "clock": Object(cls=Clock, find=lambda handles, _: handles.network.clock),
    "node": Object(
        cls=Node,
        find=lambda handles, name: handles.node(name),
        parameter=_named("node", str, "the name of a host or switch; or root"),
    ),
    "host": Object(
        cls=LiveHost,
        find=lambda handles, name: handles.host(name),
        parameter=_named("host", str, "the name of a host or router"),
    ),
    "link": Object(
        cls=LiveLink,
        find=lambda handles, number: handles.find_link(number),
        parameter=_named("link", int, "the number of a link: the first of the network is 1"),
    ),
    "process": Object(
        cls=Process,
        find=lambda handles, number: handles.processes.find(number),
        parameter=_named("process", int, "the number of a process that was spawned"),
    ),
    "traffic": Object(
        cls=Started,
        find=lambda handles, number: handles.traffic.find(number),
        parameter=_named("traffic", int, "the number of traffic that was started"),
    ),
}


_RESULTS: Mapping[str, Mapping[str, Result]] = {
    "network": {
        "host": NODE,
        "router": NODE,
        "switch": NODE,
        "link": LINK,
        "add": NOTHING,
        "sleep": NOTHING,
        "tc": TEXT,
        "partition": NOTHING,
        "heal": NOTHING,
        "losses": LOSSES,
        "save": NOTHING,
    },
    "clock": {"now": NUMBER, "pace": NOTHING},
    "node": {
        "run": COMPLETED,
        "spawn": PROCESS,
        "sysctl": TEXT,
        "write_file": NOTHING,
        "read_file": CONTENT,
    },
    "host": {
        "address": TEXT,
        "start": TRAFFIC,
        "ping": MEASURED,
        "iperf3": MEASURED,
        "transfer": MEASURED,
        "pause": NOTHING,
        "resume": NOTHING,
        "kill": NOTHING,
        "restart": PROCESSES,
        "set_clock": NOTHING,
    },
    "link": {"change": NOTHING, "down": NOTHING, "up": NOTHING, "offloads": NOTHING},
    "process": {
        "stdout": TEXT,
        "stderr": TEXT,
        "poll": STATUS,
        "wait": STATUS,
        "complete": COMPLETED,
        "expect": NOTHING,
        "write": NOTHING,
        "close_input": NOTHING,
        "send_signal": NOTHING,
        "terminate": NOTHING,
        "kill": NOTHING,
    },
    "traffic": {"is_over": FLAG, "result": MEASURED, "kill": NOTHING},
}


@dataclass(frozen=True, kw_only=True)
class Call:
    """A call.

    Attributes:
        name: its name in requests.
        of: the object.
        member: the method, or the property.
        result: its result.
        takes_more: it takes fields that its signature does not contain, and checks them itself.
    """

    name: str
    of: Object
    member: Any
    result: Result
    takes_more: bool

    @functools.cached_property
    def own(self) -> Mapping[str, Parameter]:
        """The parameters of the method, by name."""
        if isinstance(self.member, property):
            return {}
        return {one.name: one for one in parameters_of(self.member)}

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """All parameters, by name."""
        of = self.of.parameter
        return {**({} if of is None else {of.name: of}), **self.own}

    @property
    def summary(self) -> str:
        """Its description, a sentence."""
        return (inspect.getdoc(self.member) or "").partition("\n")[0]

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of its parameters."""
        found = object_schema(
            {name: one.schema() for name, one in self.parameters.items()},
            required=tuple(name for name, one in self.parameters.items() if one.is_required),
        )
        return {**found, "additionalProperties": True} if self.takes_more else found

    def do(self, handles: Handles, given: Mapping[str, Any]) -> Any:
        """Call it, with parsed parameters.

        Raises:
            LongfatError: as the method does.
        """
        values = dict(given)
        of = self.of.parameter
        target = self.of.find(handles, None if of is None else values.pop(of.name))
        if isinstance(self.member, property):
            return self.result.write(self.member.__get__(target), handles)
        repeated = [name for name, one in self.own.items() if one.is_repeated]
        positional = values.pop(repeated[0], []) if repeated else []
        method = getattr(target, self.member.__name__)
        return self.result.write(method(*positional, **values), handles)


def _call(kind: str, method: str, result: Result) -> Call:
    of = OBJECTS[kind]
    member = getattr(of.cls, method)
    return Call(
        name=f"{kind}.{method}",
        of=of,
        member=member,
        result=result,
        takes_more=not isinstance(member, property)
        and any(
            one.kind is one.VAR_KEYWORD for one in inspect.signature(member).parameters.values()
        ),
    )


CALLS: Mapping[str, Call] = {
    f"{kind}.{method}": _call(kind, method, result)
    for kind, methods in _RESULTS.items()
    for method, result in methods.items()
}
"""The calls, by name."""
