"""The ledger of losses: each packet that a run lost, by place, cause and flow.

The kernel counted the packets that it dropped, with its own reason for each
(`longfat.execution.runs.packet_drops`). Here the reasons become causes that a person can act
on, drops of qdiscs get the qdisc, and addresses and ports get the flow.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.drop_owners import ICMP, TCP, UDP, HostPairs, RunFlows
from longfat.analysis.loss_causes import Cause, cause_of
from longfat.errors import InputError
from longfat.execution.runs.packet_drops import QdiscDrops
from longfat.guest.counters import UNANSWERED_ECHOES
from longfat.guest.drops import MANAGING_FUNCTIONS, is_below_netem, is_of_qdisc
from longfat.model.flow_path.installed import ROOT, snapshots
from longfat.model.traffic import Ping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from longfat.analysis.drop_owners import DropOwners
    from longfat.execution.runs import Run
    from longfat.execution.runs.packet_drops import PacketDrop
    from longfat.model.flow_path.installed import InstalledInterface, Snapshot

_PROTOCOLS = {0: "", TCP: "tcp", UDP: "udp", **dict.fromkeys(ICMP, "icmp")}


# Qdiscs with classes drop by themselves only what a filter of theirs drops, and what exceeds the
# queue of an htb for packets of no class.
_CLASSFUL = ("prio", "htb", "hfsc", "drr", "ets", "qfq")

# Qdiscs that drop before their queue is full; red counts these drops by themselves.
_MANAGING = ("pie", "fq_pie", "codel", "fq_codel", "cake", "dualpi2", "sfb", "choke")
_NETEM = "netem"
_INGRESS = ("ingress", "clsact")
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
    def key(self) -> tuple[object, ...]:
        """What losses have in common that are counted as one: all but numbers and times."""
        return (
            *(self.node, self.interface, self.cause, self.qdisc),
            *(self.flow, self.is_backward, self.protocol, self.reason, self.function),
        )

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
    check_flow(run, flow)
    return total_losses((*LossReader(run).losses, *_missing_replies(run)), flow)


class LossReader:
    """The losses of a run, one for each drop that the kernel counted.

    Args:
        run: the run.

    Attributes:
        losses: the losses, in the order of the run's drops.

    Raises:
        InputError: the run's kernel does not count what it drops.
    """

    def __init__(self, run: Run) -> None:
        if run.drops is None:
            raise InputError(
                f"{run.folder}: the kernel {run.kernel['release']} of this run does not count the "
                "packets that it drops"
            )
        self._qdiscs = run.qdiscs
        self._flows = RunFlows(run)
        self._snapshots = snapshots(run.installed or ())
        self.losses = tuple(self.read(drop) for drop in run.drops)

    def read(self, drop: PacketDrop) -> Loss:
        """Return the loss that a drop is."""
        return _loss(drop, self._qdiscs, self._flows, self._snapshots)


def total_losses(losses: Iterable[Loss], flow: str | None = None) -> tuple[Loss, ...]:
    """Return losses with those of a place, cause and flow as one, the most packets first.

    Args:
        losses: the losses.
        flow: only those of this flow; None for all.
    """
    sums: dict[tuple[Any, ...], Loss] = {}
    for loss in losses:
        if flow is None or loss.flow == flow:
            sums[loss.key] = _sum(sums[loss.key], loss) if loss.key in sums else loss
    return tuple(sorted(sums.values(), key=lambda entry: -entry.packets))


def check_flow(run: Run, flow: str | None) -> None:
    """Check that a run has a flow.

    Raises:
        InputError: it has not.
    """
    names = [each.name for each in run.case.flows]
    if flow is not None and flow not in names:
        raise InputError(
            f"{run.folder}: no flow {flow!r} in this run; its flows: {', '.join(names) or 'none'}"
        )


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
    owners: DropOwners,
    installed: Sequence[Snapshot],
) -> Loss:
    flow, is_backward = owners.of(drop)
    cause, qdisc = cause_of(drop.reason, drop.function), ""
    if is_of_qdisc(drop.reason, drop.function):
        interface = installed[-1].interface(drop.node, drop.interface) if installed else None
        is_below = is_below_netem(drop.reason, drop.function) or drop.function in MANAGING_FUNCTIONS
        dropping = _dropping(
            [each for each in qdiscs if (each.node, each.interface) == (drop.node, drop.interface)],
            is_below_netem=is_below,
        )
        if not dropping:
            then = [each for each in installed if each.at_s <= max(drop.last_s, 0)]
            if then:
                interface = then[-1].interface(drop.node, drop.interface)
                dropping = _removed(drop, interface, is_below_netem=is_below)
        qdisc = ", ".join(f"{each.kind} {each.handle}" for each in dropping)
        cause = _cause_at_qdiscs(drop, dropping, interface)
    if cause is Cause.FIREWALL and drop.node in owners.nodes_with_full_table:
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


def _removed(
    drop: PacketDrop, interface: InstalledInterface, *, is_below_netem: bool
) -> list[QdiscDrops]:
    """Return the qdisc that dropped at an interface, and whose counters went when it was removed.

    Args:
        drop: what it dropped.
        interface: what was installed there when it dropped the last.
        is_below_netem: what dropped is below a netem.
    """
    parents = {each.parent.partition(":")[0] for each in interface.qdiscs}
    leaves = [
        each
        for each in interface.qdiscs
        if each.kind not in _INGRESS and each.handle.partition(":")[0] not in parents
    ]
    if not is_below_netem:
        netems = [each for each in interface.qdiscs if (each.kind, each.parent) == (_NETEM, ROOT)]
        leaves = netems or leaves
    return [
        QdiscDrops(
            node=drop.node,
            interface=drop.interface,
            kind=each.kind,
            handle=each.handle,
            parent="" if each.parent == ROOT else each.parent,
            drops=drop.packets,
            early_drops=0,
            burst_bytes=each.burst_bytes or 0,
        )
        for each in leaves
        if len(leaves) == 1
    ]


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


def _missing_replies(run: Run) -> Iterator[Loss]:
    """Yield the replies to ping that hosts did not make, which are no packets that were dropped."""
    for count in run.counts:
        if count.name != UNANSWERED_ECHOES:
            continue
        flows = [
            flow.name
            for flow in run.case.flows
            if isinstance(flow, Ping) and flow.target == count.node
        ]
        times = [run.flow_times[name] for name in flows]
        yield Loss(
            node=count.node,
            interface="",
            cause=Cause.NO_REPLY,
            qdisc="",
            flow=flows[0] if len(flows) == 1 else "",
            is_backward=len(flows) == 1,
            protocol="icmp",
            packets=count.count,
            size_bytes=0,
            first_s=min((time.start_s for time in times), default=0.0),
            last_s=max((time.end_s for time in times), default=0.0),
            reason="",
            function="",
        )


def live_losses(
    drops: Iterable[PacketDrop], qdiscs: Sequence[QdiscDrops], names: Mapping[str, str]
) -> tuple[Loss, ...]:
    """Return the losses of a live network, the most packets first.

    Args:
        drops: what its kernel dropped.
        qdiscs: those of the interfaces at which a qdisc dropped packets.
        names: the hosts by their addresses.

    Returns:
        The losses; the flow of each is the hosts of its packets, such as `h1 -> h2`.
    """
    owners = HostPairs(names)
    return total_losses(_loss(drop, qdiscs, owners, ()) for drop in drops)
