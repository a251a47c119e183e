"""The calls of a session: methods of the Python API, with their parameters.

A call is named after its object and method: `link.change` is `LiveLink.change`. Its object
is a parameter of its own: `{"link": 2, "loss": "1%"}`. To offer another method, add it
here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.live.clock import Clock
from longfat.live.flows import Started
from longfat.live.links import LiveLink
from longfat.live.network import Network
from longfat.live.nodes import LiveHost, Node
from longfat.live.process import Process
from longfat.live.rpc.parameters import Parameter, object_schema, parameters_of
from longfat.live.rpc.results import (
    COMPLETED,
    CONTENT,
    FLAG,
    LINK,
    MEASURED,
    NODE,
    NOTHING,
    NUMBER,
    PROCESS,
    PROCESSES,
    STATUS,
    TEXT,
    TRAFFIC,
    Result,
)

if TYPE_CHECKING:
    from longfat.live.rpc.handles import Handles


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
