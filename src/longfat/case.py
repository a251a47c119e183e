"""The case: everything that decides a result, as one frozen value.

`run(case)` is a pure function, so two cases that are equal give equal bytes.
The digest names a case: the SHA-256 of its canonical JSON. What does not
decide the result (the case's name, the place of a line in a file) is kept out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from longfat.network import Host, Link, Network, Route, Shape, Switch
from longfat.probe import PROBES, Probe
from longfat.traffic import FLOWS, Flow

CASE_FORMAT = 3
"""The version of the canonical JSON; it changes when the meaning of a field does."""

# Properties of links that came later: a case without them keeps its digest.
_LEFT_OUT = ("duplicate", "corrupt", "reorder", "qdisc")

DEFAULT_MEMORY_BYTES = 2 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A line that a person typed, run verbatim by a shell.

    Attributes:
        node: the host it is typed at, or `longfat.network.ROOT`.
        line: the line.
    """

    node: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to run.

    Attributes:
        kernel: the kernel's version, such as `6.1`.
        network: hosts, switches and links.
        setup: lines that run in this order before the traffic starts.
        flows: the traffic, in the order of the study.
        probes: what is sampled meanwhile.
        seed: decides every random number of the guest kernel, and the flows'
            random starts.
        memory_bytes: the machine's memory.
    """

    kernel: str
    network: Network
    setup: tuple[Command, ...] = ()
    flows: tuple[Flow, ...] = ()
    probes: tuple[Probe, ...] = ()
    seed: int = 1
    memory_bytes: int = DEFAULT_MEMORY_BYTES

    def to_json(self) -> dict[str, Any]:
        """Return the case as plain data; flows carry their tool's name, probes their kind."""
        data = dataclasses.asdict(self)
        for link in data["network"]["links"]:
            for way in ("a_to_b", "b_to_a"):
                for name in _LEFT_OUT:
                    if link[way][name] is None:
                        del link[way][name]
        data["flows"] = [{"tool": flow.tool, **dataclasses.asdict(flow)} for flow in self.flows]
        data["probes"] = [{"kind": one.kind, **dataclasses.asdict(one)} for one in self.probes]
        return {"format": CASE_FORMAT, **data}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """Return the case that `to_json` wrote.

        Raises:
            ValueError: the data is of another format, or is not what `to_json` writes.
        """
        found = data.get("format")
        if found != CASE_FORMAT:
            raise ValueError(f"its case has the format {found!r}; this longfat reads {CASE_FORMAT}")
        fields = {name: value for name, value in data.items() if name != "format"}
        try:
            fields["network"] = _network(fields["network"])
            fields["setup"] = tuple(Command(**command) for command in fields["setup"])
            fields["flows"] = tuple(_value(FLOWS, "tool", flow) for flow in fields["flows"])
            fields["probes"] = tuple(_value(PROBES, "kind", probe) for probe in fields["probes"])
            return cls(**fields)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"its case is not whole: {type(error).__name__} {error}") from None

    @property
    def digest(self) -> str:
        """Return the case's name: the SHA-256 of its canonical JSON, in hexadecimal."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _network(data: Mapping[str, Any]) -> Network:
    return Network(
        hosts=tuple(
            Host(**{**host, "routes": tuple(Route(**route) for route in host["routes"])})
            for host in data["hosts"]
        ),
        switches=tuple(Switch(**switch) for switch in data["switches"]),
        links=tuple(
            Link(**{**link, **{way: Shape(**link[way]) for way in ("a_to_b", "b_to_a")}})
            for link in data["links"]
        ),
    )


_Value = TypeVar("_Value")


def _value(classes: Mapping[str, type[_Value]], key: str, data: Mapping[str, Any]) -> _Value:
    """Make the flow or probe that `data` describes; `key` names its class."""
    # JSON knows no tuples.
    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in data.items()
        if name != key
    }
    return classes[data[key]](**fields)
