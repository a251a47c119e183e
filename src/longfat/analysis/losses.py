"""The ledger of losses: each packet that a run lost, by place, cause and flow.

The kernel counted the packets that it dropped, with its own reason for each
(`longfat.execution.runs.packet_drops`). Here the reasons become causes that a person can act
on, drops of qdiscs get the qdisc, and addresses and ports get the flow.
"""

from __future__ import annotations

import dataclasses
import math
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.execution.compile import server_ports
from longfat.guest.counters import CONNECTION_TABLE
from longfat.guest.drops import MANAGING_FUNCTIONS, is_below_netem, is_of_qdisc
from longfat.model.flow_path import sender_and_receiver
from longfat.model.flow_path.installed import last_snapshot
from longfat.model.network.routing import target_addresses
from longfat.model.traffic import Ping, Program

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.execution.runs import Run
    from longfat.execution.runs.packet_drops import PacketDrop, QdiscDrops
    from longfat.model.flow_path.installed import InstalledInterface, Snapshot
    from longfat.model.traffic import Flow

_TCP, _UDP = 6, 17
_ICMP = {1, 58}
_PROTOCOLS = {0: "", _TCP: "tcp", _UDP: "udp", **dict.fromkeys(_ICMP, "icmp")}


class Cause(StrEnum):
    """Why packets did not arrive."""

    QUEUE_FULL = "queue full"
    BURST_TOO_SMALL = "burst too small"
    LIMIT_TOO_SMALL = "limit too small"
    QUEUE_MANAGEMENT = "queue management"
    NETEM_LOSS = "netem loss"
    NETEM_LIMIT = "netem limit"
    FILTER = "filter"
    FIREWALL = "firewall"
    CONNECTION_TABLE = "connection table"
    TOO_LARGE = "too large"
    HOP_LIMIT = "hop limit"
    NO_ROUTE = "no route"
    NO_NEIGHBOUR = "no neighbour"
    NOT_FORWARDED = "not forwarded"
    WRONG_MAC = "wrong MAC address"
    INTERFACE_DOWN = "interface down"
    CORRUPTED = "corrupted"
    SOCKET_BUFFER = "socket buffer"
    LISTEN_QUEUE = "listen queue"
    CLOSED = "closed"
    DUPLICATE = "duplicate"
    OTHER = "other"

    @property
    def help(self) -> str:
        """What it means, in a sentence."""
        return _HELP[self]

    @property
    def is_loss(self) -> bool:
        """Whether the receiver would have had a use for the packets."""
        return self not in (Cause.DUPLICATE, Cause.CLOSED)


_HELP = {
    Cause.QUEUE_FULL: "the queue held as much as its limit allows",
    Cause.BURST_TOO_SMALL: "the packet is larger than tbf's `burst`, so it never fits",
    Cause.LIMIT_TOO_SMALL: "the packet is larger than the queue's `limit`, so it never fits",
    Cause.QUEUE_MANAGEMENT: "the queue drops before it is full, as RED, CoDel and PIE do",
    Cause.NETEM_LOSS: "netem drops at random, as it was set to",
    Cause.NETEM_LIMIT: "netem held as many packets as its `limit` allows, those that it delays too",
    Cause.FILTER: "a filter or a policer of tc drops what it matches",
    Cause.FIREWALL: "a rule of the firewall drops it",
    Cause.CONNECTION_TABLE: "the table of connections was full",
    Cause.TOO_LARGE: "the packet is larger than the next link's MTU and may not be fragmented",
    Cause.HOP_LIMIT: "its TTL or hop limit was used up, as in a loop of routes",
    Cause.NO_ROUTE: "there is no route to its destination",
    Cause.NO_NEIGHBOUR: "nobody answered the ARP or neighbour request for the next hop",
    Cause.NOT_FORWARDED: "it is not for this host, which does not forward it",
    Cause.WRONG_MAC: "the MAC address that it was sent to is not that of this interface",
    Cause.INTERFACE_DOWN: "the interface was down, or the qdisc that held it was removed",
    Cause.CORRUPTED: "its checksum or a header was wrong",
    Cause.SOCKET_BUFFER: "the receiving socket's buffer was full",
    Cause.LISTEN_QUEUE: "the listening socket had too many connections that wait",
    Cause.CLOSED: "the connection was closed, or nobody listened",
    Cause.DUPLICATE: "the receiver had it already, or it was outside of its window",
    Cause.OTHER: "see the kernel's reason",
}

# Names of the kernel's enum skb_drop_reason, of the series that longfat knows: where one ends with
# an asterisk, all that begin so. Source: include/net/dropreason-core.h.
_REASONS = {
    Cause.QUEUE_FULL: ("QDISC_DROP", "QDISC_BURST_DROP", "FQ_*"),
    Cause.FILTER: ("TC_INGRESS", "TC_EGRESS", "XDP", "TC_CHAIN_NOTFOUND", "SOCKET_FILTER"),
    Cause.FIREWALL: ("NETFILTER_DROP", "XFRM_POLICY", "BPF_CGROUP_EGRESS"),
    Cause.TOO_LARGE: ("PKT_TOO_BIG",),
    Cause.HOP_LIMIT: ("IP_INHDR", "IPV6_NDISC_HOP_LIMIT"),
    Cause.NO_ROUTE: ("IP_INNOROUTES", "IP_OUTNOROUTES", "IP_INVALID_*", "IP_RPFILTER"),
    Cause.NO_NEIGHBOUR: ("NEIGH_*",),
    Cause.NOT_FORWARDED: ("IP_INADDRERRORS", "BRIDGE_*"),
    Cause.WRONG_MAC: ("OTHERHOST", "UNICAST_IN_L2_MULTICAST"),
    Cause.INTERFACE_DOWN: ("DEV_READY", "DEV_HDR"),
    Cause.CORRUPTED: ("TCP_CSUM", "UDP_CSUM", "IP_CSUM", "ICMP_CSUM", "SKB_CSUM", "PKT_TOO_SMALL"),
    Cause.SOCKET_BUFFER: (
        *("SOCKET_RCVBUFF", "PROTO_MEM", "SOCKET_BACKLOG", "TCP_ZEROWINDOW", "TCP_OFO_QUEUE_PRUNE"),
        *("CPU_BACKLOG", "FULL_RING"),
    ),
    Cause.LISTEN_QUEUE: ("TCP_LISTEN_OVERFLOW",),
    Cause.CLOSED: (
        *("NO_SOCKET", "TCP_CLOSE", "TCP_ABORT*", "TCP_RESET", "SOCKET_CLOSE", "TCP_FASTOPEN"),
        *("QUEUE_PURGE", "TCP_FLAGS"),
    ),
    Cause.DUPLICATE: (
        *("TCP_OLD_DATA", "TCP_OVERWINDOW", "TCP_OFOMERGE", "TCP_OLD_ACK", "TCP_OLD_SEQUENCE"),
        *("TCP_INVALID_SEQUENCE", "TCP_INVALID_SYN", "TCP_INVALID_END_SEQUENCE"),
        *("TCP_INVALID_ACK*", "TCP_TOO_OLD_ACK", "TCP_ACK_UNSENT_DATA", "TCP_RFC7323_*"),
        *("TCP_OFO_DROP", "DUP_FRAG"),
    ),
}
_CAUSES = {reason: cause for cause, reasons in _REASONS.items() for reason in reasons}

# Where the kernel gives no reason, its function that drops.
_FUNCTIONS = {
    **dict.fromkeys(MANAGING_FUNCTIONS, Cause.QUEUE_MANAGEMENT),
    **dict.fromkeys(("ip_error", "ip6_pkt_drop", "dst_discard_out"), Cause.NO_ROUTE),
    "__rtnl_unlock": Cause.INTERFACE_DOWN,
    "wire_reset": Cause.INTERFACE_DOWN,
    "br_handle_frame_finish": Cause.INTERFACE_DOWN,
    "tcp_v4_do_rcv": Cause.CLOSED,
    "tcp_v6_do_rcv": Cause.CLOSED,
    "tcp_v4_rcv": Cause.CLOSED,
    "tcp_v6_rcv": Cause.CLOSED,
    "sk_stream_kill_queues": Cause.CLOSED,
    "inet_sock_destruct": Cause.CLOSED,
    "udp_destruct_common": Cause.CLOSED,
    "skb_rbtree_purge": Cause.CLOSED,
    "skb_queue_purge": Cause.CLOSED,
    "skb_queue_purge_reason": Cause.CLOSED,
}

# Qdiscs with classes drop by themselves only what a filter of theirs drops, and what exceeds the
# queue of an htb for packets of no class.
_CLASSFUL = ("prio", "htb", "hfsc", "drr", "ets", "qfq")

# Qdiscs that drop before their queue is full; red counts these drops by themselves.
_MANAGING = ("pie", "fq_pie", "codel", "fq_codel", "cake", "dualpi2", "sfb", "choke")
_NETEM = "netem"
_ETHERNET_HEADER_BYTES = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """Packets that did not arrive.

    Attributes:
        node: the node that dropped them; empty if that is not known.
        interface: the interface at which they were; empty if they had left it.
        cause: why.
        qdisc: the qdisc that dropped them, with its handle; empty if none did.
        flow: the flow whose packets they were; empty if they were of none.
        is_backward: they were on the way from the flow's receiver to its sender.
        protocol: their transport protocol: `tcp`, `udp`, `icmp`, or its number; empty for none.
        packets: their number; a GSO packet counts as its segments.
        size_bytes: their size with headers from the network's on, in bytes.
        first_s: when the first was dropped, in seconds after the traffic's start.
        last_s: when the last was dropped, likewise.
        reason: the kernel's reason.
        function: the kernel's function that dropped them.
    """

    node: str
    interface: str
    cause: Cause
    qdisc: str
    flow: str
    is_backward: bool
    protocol: str
    packets: int
    size_bytes: int
    first_s: float
    last_s: float
    reason: str
    function: str

    @property
    def place(self) -> str:
        """Where they were dropped: the interface, else the node."""
        return self.interface or self.node or "?"

    @property
    def way(self) -> str:
        """The flow, and its direction if they were on the way back; `-` for none."""
        return f"{self.flow}, backward" if self.is_backward else self.flow or "-"

    @property
    def cause_text(self) -> str:
        """The cause with the qdisc, or the kernel's reason where that is all that is known."""
        if self.qdisc:
            return f"{self.cause} ({self.qdisc})"
        if self.cause is Cause.OTHER:
            return f"{self.cause} ({self.reason}, {self.function})"
        return str(self.cause)

    @property
    def sentence(self) -> str:
        """How many packets were lost, where and why, for a person."""
        packets = f"{self.packets:,} packets were" if self.packets > 1 else "1 packet was"
        back = " on the way back" if self.is_backward else ""
        where = f" at {self.interface or self.node}" if self.interface or self.node else ""
        qdisc = f" ({self.qdisc})" if self.qdisc else ""
        return f"{packets} lost{back}{where}: {self.cause}{qdisc}. {self.explanation}"

    @property
    def explanation(self) -> str:
        """What the cause means; the kernel's reason where that is all that is known."""
        if self.cause is Cause.OTHER:
            return f"The kernel's reason is {self.reason or 'none'}, in {self.function}()."
        return f"{self.cause.help[0].upper()}{self.cause.help[1:]}."

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data, numbers in base units."""
        return {**dataclasses.asdict(self), "is_loss": self.cause.is_loss}


def losses(run: Run, flow: str | None = None) -> tuple[Loss, ...]:
    """Return what a run lost while its traffic played, the most packets first.

    Args:
        run: the run.
        flow: only what this flow lost; None for everything, also what was of no flow.

    Raises:
        InputError: there is no such flow, or the run's kernel does not count what it drops.
    """
    if run.drops is None:
        raise InputError(
            f"{run.folder}: the kernel {run.kernel['release']} of this run does not count the "
            "packets that it drops"
        )
    names = [each.name for each in run.case.flows]
    if flow is not None and flow not in names:
        raise InputError(
            f"{run.folder}: no flow {flow!r} in this run; its flows: {', '.join(names) or 'none'}"
        )
    flows = _Surroundings(run)
    installed = None if run.installed is None else last_snapshot(run.installed)
    sums: dict[tuple[Any, ...], Loss] = {}
    for drop in run.drops:
        loss = _loss(drop, run.qdiscs, flows, installed)
        if flow is not None and loss.flow != flow:
            continue
        key = (
            *(loss.node, loss.interface, loss.cause, loss.qdisc),
            *(loss.flow, loss.is_backward, loss.protocol, loss.reason, loss.function),
        )
        sums[key] = _sum(sums[key], loss) if key in sums else loss
    return tuple(sorted(sums.values(), key=lambda entry: -entry.packets))


def losses_by_flow(run: Run) -> dict[str, tuple[Loss, ...]]:
    """Return what each flow of a run lost, without what its receiver had no use for.

    Args:
        run: the run; of one whose kernel does not count, nothing is known to be lost.
    """
    if run.drops is None:
        return {}
    flows: defaultdict[str, list[Loss]] = defaultdict(list)
    for loss in losses(run):
        if loss.cause.is_loss:
            flows[loss.flow].append(loss)
    return {name: tuple(lost) for name, lost in flows.items()}


def _sum(first: Loss, second: Loss) -> Loss:
    return dataclasses.replace(
        first,
        packets=first.packets + second.packets,
        size_bytes=first.size_bytes + second.size_bytes,
        first_s=min(first.first_s, second.first_s),
        last_s=max(first.last_s, second.last_s),
    )


def _loss(
    drop: PacketDrop,
    qdiscs: Sequence[QdiscDrops],
    flows: _Surroundings,
    installed: Snapshot | None,
) -> Loss:
    flow, is_backward = flows.of(drop)
    cause, qdisc = _cause(drop), ""
    if is_of_qdisc(drop.reason, drop.function):
        dropping = _dropping(
            [each for each in qdiscs if (each.node, each.interface) == (drop.node, drop.interface)],
            is_below_netem=is_below_netem(drop.reason, drop.function)
            or drop.function in MANAGING_FUNCTIONS,
        )
        qdisc = ", ".join(f"{each.kind} {each.handle}" for each in dropping)
        interface = installed.interface(drop.node, drop.interface) if installed else None
        cause = _cause_at_qdiscs(drop, dropping, interface)
    if cause is Cause.FIREWALL and drop.node in flows.nodes_with_full_table:
        cause = Cause.CONNECTION_TABLE
    return Loss(
        node=drop.node,
        interface=drop.interface,
        cause=cause,
        qdisc=qdisc,
        flow=flow,
        is_backward=is_backward,
        protocol=_PROTOCOLS.get(drop.transport, str(drop.transport)),
        packets=drop.packets,
        size_bytes=drop.size_bytes,
        first_s=drop.first_s,
        last_s=drop.last_s,
        reason=drop.reason,
        function=drop.function,
    )


def _cause(drop: PacketDrop) -> Cause:
    if cause := _CAUSES.get(drop.reason):
        return cause
    for pattern, cause in _CAUSES.items():
        if pattern.endswith("*") and drop.reason.startswith(pattern[:-1]):
            return cause
    return _FUNCTIONS.get(drop.function, Cause.OTHER)


def _dropping(qdiscs: Sequence[QdiscDrops], *, is_below_netem: bool) -> list[QdiscDrops]:
    """Return the qdiscs of an interface that dropped themselves, most packets first.

    A qdisc with classes also counts what those below it drop. Of a netem at the root only netem
    itself drops what arrives, and only those below it what it has delayed.
    """
    below: dict[str, int] = defaultdict(int)
    for qdisc in qdiscs:
        if qdisc.parent:
            below[qdisc.parent.partition(":")[0]] += qdisc.drops
    own = {qdisc.handle: qdisc.drops - below[qdisc.handle.partition(":")[0]] for qdisc in qdiscs}
    dropping = [qdisc for qdisc in qdiscs if own[qdisc.handle] > 0]
    if any(qdisc.kind == _NETEM and not qdisc.parent for qdisc in qdiscs):
        dropping = [each for each in dropping if (each.kind != _NETEM) == is_below_netem]
    return sorted(dropping, key=lambda qdisc: -own[qdisc.handle])


def _cause_at_qdiscs(
    drop: PacketDrop, dropping: Sequence[QdiscDrops], interface: InstalledInterface | None
) -> Cause:
    if drop.netem_full:
        return Cause.NETEM_LIMIT
    if drop.function in MANAGING_FUNCTIONS:
        return Cause.QUEUE_MANAGEMENT
    if not dropping:
        return Cause.QUEUE_FULL
    first = dropping[0]
    if first.kind == _NETEM:
        return Cause.NETEM_LOSS
    if first.kind in _MANAGING or 2 * first.early_drops > first.drops:
        return Cause.QUEUE_MANAGEMENT
    return _cause_at_full_queue(drop, first, interface)


def _cause_at_full_queue(
    drop: PacketDrop, qdisc: QdiscDrops, interface: InstalledInterface | None
) -> Cause:
    size_bytes = drop.size_bytes / drop.packets + _ETHERNET_HEADER_BYTES
    if qdisc.kind == "tbf" and size_bytes > qdisc.burst_bytes:
        return Cause.BURST_TOO_SMALL
    if interface is None:
        return Cause.QUEUE_FULL
    filters = [each for each in interface.filters if each.parent == qdisc.handle]
    if qdisc.kind in _CLASSFUL and any(each.rejects or each.policer for each in filters):
        return Cause.FILTER
    limits = [each.limit_bytes for each in interface.qdiscs if each.handle == qdisc.handle]
    if limits and limits[0] is not None and limits[0] < size_bytes:
        return Cause.LIMIT_TOO_SMALL
    return Cause.QUEUE_FULL


class _Surroundings:
    """The flows of a run, found by the addresses and ports of packets."""

    def __init__(self, run: Run) -> None:
        network = run.case.network
        self._ports = server_ports(run.case)
        self._ports |= {
            flow.name: flow.port
            for flow in run.case.flows
            if isinstance(flow, Program) and flow.port
        }
        self._hosts: dict[str, str] = {
            address: host.name
            for host in network.hosts
            for address in sorted(target_addresses(network, host.name))
        }
        self.nodes_with_full_table = {
            each.node for each in run.counts if each.name == CONNECTION_TABLE
        }
        self._times = run.flow_times
        self._flows: Mapping[frozenset[str], list[Flow]] = defaultdict(list)
        for flow in run.case.flows:
            self._flows[frozenset((flow.source, flow.target))].append(flow)

    def of(self, drop: PacketDrop) -> tuple[str, bool]:
        """Return the flow of packets, empty if they are of none, and whether they went back."""
        source, target = self._hosts.get(drop.source), self._hosts.get(drop.target)
        if source is None or target is None:
            return "", False
        flows = self._flows.get(frozenset((source, target)), [])
        if drop.transport in (_TCP, _UDP):
            ends = {(source, drop.source_port), (target, drop.target_port)}
            own = [
                flow
                for flow in flows
                if not isinstance(flow, Ping) and (flow.target, self._ports[flow.name]) in ends
            ]
            # A program may use other ports than the one that its server is known by.
            own = own or [flow for flow in flows if isinstance(flow, Program)]
        else:
            is_icmp = drop.transport in _ICMP
            own = [flow for flow in flows if is_icmp and isinstance(flow, Ping)]
        if not own:
            return "", False
        flow = max(own, key=lambda each: self._shared_s(each, drop))
        return flow.name, source != sender_and_receiver(flow)[0]

    def _shared_s(self, flow: Flow, drop: PacketDrop) -> float:
        """Return how much of the time of some drops a flow ran, in seconds; else negative."""
        time = self._times.get(flow.name)
        if time is None:
            return -math.inf
        return min(time.end_s, drop.last_s) - max(time.start_s, drop.first_s)
