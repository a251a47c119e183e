"""What the kernel dropped while traffic played, as the guest counted it."""

from __future__ import annotations

from dataclasses import dataclass

_MAX_TIME_S = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketDrop:
    """Packets of one flow that were dropped at one place, for one reason.

    Attributes:
        node: the node whose kernel dropped them; empty if that is not known.
        interface: the interface at which they were; empty if they had left it.
        reason: the kernel's reason, a name of its enum skb_drop_reason.
        function: the kernel's function that dropped them.
        netem_full: a netem of the interface held as many packets as its limit allows.
        network: the number of the network protocol, as Ethernet has it.
        transport: the number of the transport protocol, as IP has it; 0 if there is none.
        source: the sender's address; empty if it is not known.
        target: the receiver's address, likewise.
        source_port: the sender's port; 0 if the transport has none.
        target_port: the receiver's port, likewise.
        packets: their number; a GSO packet counts as its segments.
        size_bytes: their size with headers from the network's on, in bytes.
        first_s: when the first was dropped, in seconds after the traffic's start.
        last_s: when the last was dropped, likewise.
    """

    node: str
    interface: str
    reason: str
    function: str
    netem_full: bool
    network: int
    transport: int
    source: str
    target: str
    source_port: int
    target_port: int
    packets: int
    size_bytes: int
    first_s: float
    last_s: float

    @property
    def kind(self) -> tuple[object, ...]:
        """What drops have in common that are counted as one: all but numbers and times."""
        return (
            *(self.node, self.interface, self.reason, self.function, self.netem_full),
            *(self.network, self.transport, self.source, self.target),
            *(self.source_port, self.target_port),
        )

    def __post_init__(self) -> None:
        if self.packets < 1 or self.size_bytes < 0:
            raise ValueError("it counts no packets")
        if not all(-_MAX_TIME_S <= time_s <= _MAX_TIME_S for time_s in (self.first_s, self.last_s)):
            raise ValueError("it contains an impossible time")


@dataclass(frozen=True, slots=True, kw_only=True)
class DropSection:
    """What was dropped between two moments.

    Attributes:
        end_s: when the section ended, in seconds after the traffic's start: when an event's lines
            had run. It began when the section before it ended, or with the traffic.
        drops: what was dropped meanwhile.
    """

    end_s: float
    drops: tuple[PacketDrop, ...]

    def __post_init__(self) -> None:
        if not 0 <= self.end_s <= _MAX_TIME_S:
            raise ValueError("it contains an impossible time")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCount:
    """What a node counted while traffic played.

    Attributes:
        node: the node.
        interface: the interface that it is of; empty for the node itself.
        name: the counter, such as `ListenOverflows` of Linux's TcpExt, or `sent bytes`.
        count: by how much it grew.
    """

    node: str
    interface: str
    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QdiscDrops:
    """What a qdisc dropped since it was made, by its own counters.

    Attributes:
        node: the node of its interface.
        interface: its interface.
        kind: which qdisc it is, such as `tbf`.
        handle: its handle, such as `1:`.
        parent: the handle of its parent's class; empty for a root.
        drops: the packets that it and the qdiscs below it dropped.
        early_drops: of RED and its kin, those before the queue was full.
        burst_bytes: of tbf, the size of its bucket in bytes; 0 for others.
    """

    node: str
    interface: str
    kind: str
    handle: str
    parent: str
    drops: int
    early_drops: int
    burst_bytes: int
