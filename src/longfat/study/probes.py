"""The `probes` field: what is sampled, where and how often.

As with flows, what depends on the network and the flows is checked last
(`check_probes`), when the whole case is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from longfat.common.suggest import listed, nearest
from longfat.model.network import Network
from longfat.model.probes import PROBES, Capture, Probe, Queue, Rate, Tcp
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES
from longfat.model.traffic import Bulk, Flow
from longfat.model.units import LARGEST_INTEGER
from longfat.study.node import Node

LEAST_EVERY_S = 1e-3
MOST_EVERY_S = 1.0
DEFAULT_EVERY_S = 0.1

_SAMPLED: Mapping[str, type[Queue | Tcp | Rate]] = {"queue": Queue, "tcp": Tcp, "rate": Rate}
_FIELDS = {
    **dict.fromkeys(_SAMPLED, ("of", "every")),
    "capture": ("of", "filter", "snap", "packets"),
}
_OF = {
    "queue": "an interface (such as s1-eth1), or a list of them",
    "tcp": "the name of a flow over TCP, or a list of them",
    "rate": "an interface (such as s1-eth1), or a list of them",
    "capture": "an interface (such as h1-eth0)",
}


@dataclass(frozen=True, slots=True)
class Written:
    """A probe and where it is written."""

    probe: Probe
    node: Node
    of: tuple[Node, ...]


def read_probe(name: str, node: Node) -> Written:
    """Read a probe.

    Args:
        name: its name; where it is that of a kind, the field `kind` can be left out.
        node: a mapping of its fields.

    Raises:
        InputError: a field is missing, unknown or wrong.
    """
    what = "a probe (such as {of: s1-eth1, every: 100ms})"
    every_field = dict.fromkeys(field for fields in _FIELDS.values() for field in fields)
    given = node.fields(what, allowed=("kind", *every_field))
    kind = given["kind"].line("a kind of probe") if "kind" in given else name
    if kind not in PROBES:
        where = given.get("kind", node)
        raise where.error(
            f"there is no kind of probe {kind!r}{nearest(kind, PROBES)} (there are: "
            f"{listed(PROBES)}); a probe of another name says its kind: {{kind: queue, ...}}"
        )
    fields = node.fields(what, allowed=("kind", *_FIELDS[kind]))
    if "of" not in fields:
        raise node.error(f"the probe {name!r} does not say what it is of: write of: {_OF[kind]}")
    of = _targets(fields["of"], kind)
    names = tuple(one.line(_OF[kind]) for one in of)
    if len(set(names)) < len(names):
        raise fields["of"].error("here is a name written twice")
    if kind == "capture":
        return Written(_read_capture(name, names[0], fields), node, of)
    every_s = _every_s(fields["every"]) if "every" in fields else DEFAULT_EVERY_S
    return Written(_SAMPLED[kind](name=name, of=names, every_s=every_s), node, of)


def _targets(node: Node, kind: str) -> tuple[Node, ...]:
    if not node.is_sequence:
        return (node,)
    nodes = tuple(node.sequence(_OF[kind]))
    if not nodes or (kind == "capture" and len(nodes) > 1):
        raise node.expected(_OF[kind])
    return nodes


def _every_s(node: Node) -> float:
    value = node.time_s()
    if not LEAST_EVERY_S <= value <= MOST_EVERY_S:
        raise node.error(f"{value:g}s is outside of what is allowed: 1ms to 1s")
    return value


def _read_capture(name: str, interface: str, fields: Mapping[str, Node]) -> Capture:
    snap_bytes = DEFAULT_SNAP_BYTES
    if "snap" in fields:
        node = fields["snap"]
        # 262144 is tcpdump's own limit, MAXIMUM_SNAPLEN of libpcap.
        snap_bytes = node.within(node.size_bytes(), least=64, most=262144, unit=" bytes")
    packets = None
    if "packets" in fields:
        packets = fields["packets"].integer(least=1, most=LARGEST_INTEGER)
    text = fields["filter"].line("a filter (such as tcp port 5201)") if "filter" in fields else ""
    if text.startswith("-"):
        raise fields["filter"].error("a filter does not begin with a hyphen")
    return Capture(name=name, of=interface, filter=text, snap_bytes=snap_bytes, packets=packets)


def check_probes(probes: Iterable[Written], flows: Iterable[Flow], network: Network) -> None:
    """Check what depends on the flows and on the network.

    Raises:
        InputError: a probe has a flow's name, or is of what is not there.
    """
    interfaces = [name for pair in network.interfaces() for name in pair]
    by_name = {flow.name: flow for flow in flows}
    for written in probes:
        if written.probe.name in by_name:
            raise written.node.error(
                f"the probe {written.probe.name!r} has the name of a flow, and claims could not "
                "tell them apart"
            )
        for node in written.of:
            name = node.line("a name")
            if isinstance(written.probe, Tcp):
                _check_flow(node, name, by_name)
            elif name not in interfaces:
                raise node.error(
                    f"there is no interface {name!r}{nearest(name, interfaces)} "
                    f"(there are: {listed(interfaces)})"
                )


def _check_flow(node: Node, name: str, flows: Mapping[str, Flow]) -> None:
    if name not in flows:
        raise node.error(
            f"there is no flow {name!r}{nearest(name, flows)} (there are: {listed(flows)})"
        )
    flow = flows[name]
    if not isinstance(flow, Bulk) or flow.udp:
        raise node.error(f"the flow {name!r} has no TCP sockets to sample")
