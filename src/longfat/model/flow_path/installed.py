"""What the kernel had installed on the path of traffic, while a run was made: values.

`longfat.guest.installed` reads it, `tc_messages` decodes it, a run's manifest keeps it, and
`installed_path` finds in it what a flow's packets go through. A qdisc or filter of a kind that is
not known here has its kind and no numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from types import MappingProxyType
from typing import Any

MTU_BYTES, QUEUE_PACKETS = 1500, 1000
"""What an interface has unless it is set: its MTU, and its own queue in packets (txqueuelen)."""

ROOT, INGRESS, EGRESS = "root", "ingress", "egress"
"""Where a qdisc without a parent is, and the filters of `ingress` and `clsact`."""

_NONE: Mapping[str, float] = MappingProxyType({})
_MAX_TIME_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledQdisc:
    """A qdisc.

    Attributes:
        kind: which it is, such as `tbf`.
        handle: its handle, such as `1:`.
        parent: `root`, `ingress`, or the class that it is in, such as `1:10`.
        rate_bps: the rate that it limits what passes it to, of fq that of each flow, in bit/s;
            None if it limits none, or its classes do.
        burst_bytes: what it sends at once after a pause.
        limit_bytes: how much it holds; None if its limit is in packets or is not known.
        limit_packets: how many packets it holds.
        delay_s: by how much it delays each packet.
        loss: the share of packets that it loses at random, 0 to 1, with those that it corrupts.
        parameters: its other numbers by name, such as `min_bytes` and `max_bytes` of red, or
            `target_s` of codel.
    """

    kind: str
    handle: str
    parent: str
    rate_bps: float | None = None
    burst_bytes: int | None = None
    limit_bytes: int | None = None
    limit_packets: int | None = None
    delay_s: float = 0.0
    loss: float = 0.0
    parameters: Mapping[str, float] = field(default_factory=lambda: _NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledClass:
    """A class of a qdisc.

    Attributes:
        kind: that of its qdisc.
        handle: its name, such as `1:10`.
        parent: `root`, or the class above it.
        rate_bps: the rate that it is assured of; None if it has none.
        ceil_bps: the most that it may send; None if nothing limits it.
        burst_bytes: what it sends at once after a pause, beyond that.
        sent_bytes: what it has sent; 0 if that was not read.
    """

    kind: str
    handle: str
    parent: str
    rate_bps: float | None = None
    ceil_bps: float | None = None
    burst_bytes: int | None = None
    sent_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Policer:
    """A police action, which drops what exceeds its rate.

    Attributes:
        rate_bps: its rate, in bit/s; None if it counts packets only.
        burst_bytes: the size of its bucket; None likewise.
        rate_pps: its rate in packets per second; None if it counts bytes.
        drops: what exceeds the rate is dropped.
        continues: other filters see what does not.
    """

    rate_bps: float | None = None
    burst_bytes: int | None = None
    rate_pps: float | None = None
    drops: bool = True
    continues: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderMatch:
    """Bits of a packet that a filter compares.

    Attributes:
        offset: where their word of 32 bits begins, in bytes after the start of the IP header.
        mask: which bits of it.
        value: their value.
    """

    offset: int
    mask: int
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledFilter:
    """A filter.

    Attributes:
        kind: which it is, such as `u32`; `unknown` if it is none that can be followed.
        parent: `ingress`, `egress`, or the qdisc or class that it is at.
        priority: its place among those of its parent: the least is first.
        protocol: the number of the network protocol that it is for, as Ethernet has it; 3 is any.
        target: the class of what it matches; empty if it names none.
        matches: what must all be equal; None if that is not known.
        policer: its police action; None without one.
        actions: the kinds of its actions, such as `police`.
        redirect: the interface that it sends what it matches to; empty for none.
        rejects: it drops all that it matches.
    """

    kind: str
    parent: str
    priority: int = 0
    protocol: int = 3
    target: str = ""
    matches: tuple[HeaderMatch, ...] | None = ()
    policer: Policer | None = None
    actions: tuple[str, ...] = ()
    redirect: str = ""
    rejects: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledInterface:
    """What is installed at an interface.

    Attributes:
        name: its name, such as `s1-eth2`.
        mtu_bytes: its MTU.
        queue_packets: the length of its own queue, which classes without a qdisc have.
        qdiscs: its qdiscs that have a handle.
        classes: their classes.
        filters: the filters at ingress and egress, and those at its qdiscs and classes.
    """

    name: str = ""
    mtu_bytes: int = MTU_BYTES
    queue_packets: int = QUEUE_PACKETS
    qdiscs: tuple[InstalledQdisc, ...] = ()
    classes: tuple[InstalledClass, ...] = ()
    filters: tuple[InstalledFilter, ...] = ()

    @property
    def without_counters(self) -> InstalledInterface:
        """It, without what its classes have sent."""
        return replace(self, classes=tuple(replace(each, sent_bytes=0) for each in self.classes))


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledNode:
    """What is installed at a node at a time, as far as it differs from the time before.

    At first, an interface that is not listed has Linux's own values, and a sysctl that is not
    listed is as the first node has it: the root, from which hosts take theirs. Those of hosts
    without processes of flows are not read.

    Attributes:
        at_s: the time, in seconds after the traffic's start.
        node: a host, or `longfat.model.network.ROOT_NAMESPACE`.
        interfaces: its interfaces that differ.
        sysctls: its sysctls that differ, such as `net.ipv4.tcp_rmem`.
    """

    at_s: float
    node: str
    interfaces: tuple[InstalledInterface, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_time(self.at_s)


def _check_time(at_s: float) -> None:
    if not -_MAX_TIME_S <= at_s <= _MAX_TIME_S:
        raise ValueError("it contains an impossible time")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was installed at one time.

    Attributes:
        at_s: since when, in seconds after the traffic's start.
        interfaces: the interfaces at which something is installed, by node and name.
        sysctls: the sysctls by node.
        first_sysctls: those of a node that is not listed.
    """

    at_s: float
    interfaces: Mapping[tuple[str, str], InstalledInterface]
    sysctls: Mapping[str, Mapping[str, str]]
    first_sysctls: Mapping[str, str]

    def interface(self, node: str, name: str) -> InstalledInterface:
        """Return an interface; one at which nothing is installed if it is not known."""
        return self.interfaces.get((node, name)) or InstalledInterface(name=name)

    def sysctl(self, node: str, name: str) -> str | None:
        """Return a sysctl of a node as it was read; None if it was not.

        A limit of sockets' buffers is of the whole machine, and kernels show it at root only.
        """
        own = self.sysctls.get(node, self.first_sysctls)
        return own.get(name) or self.first_sysctls.get(name)


def snapshots(installed: Sequence[InstalledNode]) -> list[Snapshot]:
    """Return what was installed at each time that it was read, the first at the traffic's start.

    Args:
        installed: what a run has, in the order of its times.
    """
    interfaces: dict[tuple[str, str], InstalledInterface] = {}
    first = installed[0].sysctls if installed else {}
    sysctls: dict[str, Mapping[str, str]] = {}
    found: list[Snapshot] = []
    for index, part in enumerate(installed):
        for interface in part.interfaces:
            interfaces[part.node, interface.name] = interface
        sysctls[part.node] = {**sysctls.get(part.node, first), **part.sysctls}
        if index + 1 == len(installed) or installed[index + 1].at_s != part.at_s:
            found.append(Snapshot(part.at_s, dict(interfaces), dict(sysctls), first))
    return found


def first_snapshot(installed: Sequence[InstalledNode]) -> Snapshot:
    """Return what was installed at the traffic's start."""
    begin = [part for part in installed if part.at_s == installed[0].at_s]
    return snapshots(begin)[0] if begin else Snapshot(0.0, {}, {}, {})


def last_snapshot(installed: Sequence[InstalledNode]) -> Snapshot:
    """Return what was installed at the traffic's end, with what classes have sent."""
    return snapshots(installed)[-1] if installed else Snapshot(0.0, {}, {}, {})


def differences(parts: Sequence[InstalledNode]) -> Iterator[InstalledNode]:
    """Leave out of each part what is as it was before, but for the last counts of classes.

    Args:
        parts: what was read, in the order of its times.
    """
    last_s = parts[-1].at_s if parts else 0.0
    first = parts[0].sysctls if parts else {}
    interfaces: dict[tuple[str, str], InstalledInterface] = {}
    sysctls: dict[str, dict[str, str]] = {}
    for part in parts:
        kept = []
        for interface in part.interfaces:
            key = part.node, interface.name
            before = interfaces.get(key) or InstalledInterface(name=interface.name)
            now = interface if part.at_s == last_s else interface.without_counters
            if now != before:
                kept.append(now)
                interfaces[key] = now
        known = sysctls.setdefault(part.node, {} if part is parts[0] else dict(first))
        changed = {name: text for name, text in part.sysctls.items() if known.get(name) != text}
        known |= changed
        if kept or changed:
            yield replace(part, interfaces=tuple(kept), sysctls=changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _PackedNode:
    """A node of `PackedInstalled`: its interfaces by the place of their contents there."""

    at_s: float
    node: str
    interfaces: Mapping[str, int] = field(default_factory=dict)
    sysctls: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_time(self.at_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedInstalled:
    """What was installed, as a manifest keeps it: what many interfaces have is there once.

    Attributes:
        contents: what interfaces have, without their names.
        nodes: the nodes and times.
    """

    contents: tuple[InstalledInterface, ...] = ()
    nodes: tuple[_PackedNode, ...] = ()

    def __post_init__(self) -> None:
        used = {index for node in self.nodes for index in node.interfaces.values()}
        if not used <= set(range(len(self.contents))):
            raise ValueError("an interface has none of the contents")

    def unpack(self) -> tuple[InstalledNode, ...]:
        """Return what was installed."""
        return tuple(
            InstalledNode(
                at_s=node.at_s,
                node=node.node,
                interfaces=tuple(
                    replace(self.contents[index], name=name)
                    for name, index in node.interfaces.items()
                ),
                sysctls=node.sysctls,
            )
            for node in self.nodes
        )


def pack(installed: Sequence[InstalledNode]) -> dict[str, Any]:
    """Return what was installed as plain data, which decodes to a `PackedInstalled`."""
    places: dict[str, int] = {}
    contents: list[InstalledInterface] = []
    nodes = []
    for part in installed:
        indices: dict[str, int] = {}
        for interface in part.interfaces:
            content = replace(interface, name="")
            place = places.setdefault(repr(content), len(contents))
            if place == len(contents):
                contents.append(content)
            indices[interface.name] = place
        nodes.append(
            _PackedNode(at_s=part.at_s, node=part.node, interfaces=indices, sysctls=part.sysctls)
        )
    data: dict[str, Any] = _to_json(PackedInstalled(contents=tuple(contents), nodes=tuple(nodes)))
    return data


def _to_json(value: Any) -> Any:
    """Return a value of these as plain data, without what has its default."""
    if isinstance(value, tuple):
        return [_to_json(each) for each in value]
    if isinstance(value, Mapping):
        return dict(value)
    if not is_dataclass(value):
        return value
    known = {one.name: getattr(value, one.name) for one in fields(value)}
    defaults = {
        one.name: one.default_factory() if callable(one.default_factory) else one.default
        for one in fields(value)
    }
    return {name: _to_json(part) for name, part in known.items() if part != defaults[name]}
