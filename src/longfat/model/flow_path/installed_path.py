"""What the packets of a flow go through at an interface, from what the kernel had installed.

A classful qdisc puts packets into a class by filters, which are followed here as far as they
compare addresses, protocols and ports that are known. Where they compare anything else, the
class that carried nearly all is taken, by the counters that were read at the end; else the rate is
that of the class at the root. What is not certain is never guessed: it has a reason.

Sources: htb_classify() in sch_htb.c, hfsc_classify() in sch_hfsc.c, prio_classify() in sch_prio.c,
ets_classify() in sch_ets.c, u32_classify() in cls_u32.c; tc-mirred(8), tc-police(8).
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from longfat.model.flow_path.installed import EGRESS, INGRESS, ROOT
from longfat.model.flow_path.setup_lines import QueueLine
from longfat.model.network.tc import Qdisc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.flow_path.installed import (
        InstalledClass,
        InstalledFilter,
        InstalledInterface,
        InstalledQdisc,
        Policer,
        Snapshot,
    )

_CLASSFUL = frozenset(("htb", "hfsc", "drr", "qfq", "ets", "prio"))
# Those that do not limit a rate or add a delay unless their numbers say so.
_KNOWN = _CLASSFUL | frozenset(
    (
        *("bfifo", "cake", "choke", "codel", "dualpi2", "fq", "fq_codel", "fq_pie", "gred", "hhf"),
        *("mq", "multiq", "netem", "noqueue", "pfifo", "pfifo_fast", "pfifo_head_drop", "pie"),
        *("red", "sfb", "sfq", "skbprio", "tbf", "wire", "ingress", "clsact"),
    )
)
_NEARLY_ALL = 0.9
_MAX_DEPTH = 16
_IP, _IPV6, _ANY = 0x0800, 0x86DD, 0x0003


@dataclass(frozen=True, slots=True, kw_only=True)
class Packets:
    """What the headers of a flow's packets have, one way; None is not known.

    Attributes:
        source: the sender's address.
        target: the receiver's address.
        transport: the number of the transport protocol, as IP has it.
        source_port: the sender's port.
        target_port: the receiver's port.
    """

    source: str | None = None
    target: str | None = None
    transport: int | None = None
    source_port: int | None = None
    target_port: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicerAt:
    """A policer that a flow's packets pass.

    Attributes:
        node: where it is.
        interface: its interface.
        direction: `ingress`, `egress`, or the qdisc or class whose filter it is at.
        rate_bps: its rate, in bit/s.
        burst_bytes: the size of its bucket.
    """

    node: str
    interface: str
    direction: str
    rate_bps: float
    burst_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """What a flow's packets go through at an interface.

    Attributes:
        rate_bps: the least rate of its qdiscs and classes; None where nothing limits them.
        stream_bps: the rate that each stream is limited to (fq's maxrate); None likewise.
        limited_by: what has the least rate, such as `htb 1:10`.
        burst_bytes: what that sends at once after a pause; None if it has no bucket.
        delay_s: the delay that its qdiscs add.
        loss: the share of packets that they lose at random.
        queue: what queues in front of the rate.
        policers: the policers.
        unknown_rate: why it is not certain what limits them; empty if it is.
        unknown_delay: likewise of delay and loss.
    """

    rate_bps: float | None = None
    stream_bps: float | None = None
    limited_by: str = ""
    burst_bytes: int | None = None
    delay_s: float = 0.0
    loss: float = 0.0
    queue: QueueLine | None = None
    policers: tuple[PolicerAt, ...] = ()
    unknown_rate: str = ""
    unknown_delay: str = ""


class _Rate(NamedTuple):
    """A rate, what has it, and what that sends at once after a pause."""

    rate_bps: float
    limited_by: str = ""
    burst_bytes: int | None = None


@dataclass(slots=True)
class _Way:
    """A passage that is being followed."""

    rates: list[_Rate] = field(default_factory=list)
    stream_bps: float | None = None
    delay_s: float = 0.0
    passed: float = 1.0
    leaf: InstalledQdisc | None = None
    leaf_class: InstalledClass | None = None
    policers: list[PolicerAt] = field(default_factory=list)
    unknown_rate: str = ""
    unknown_delay: str = ""


def leaving(
    node: str, name: str, packets: Packets, *, now: Snapshot, counted: Snapshot | None = None
) -> Passage:
    """Return what packets go through that leave by an interface.

    Args:
        node: the node.
        name: its interface.
        packets: what their headers have.
        now: what is installed.
        counted: what was installed at the end, with what classes had sent.
    """
    way = _Way()
    _leave(way, node, name, packets, now=now, counted=counted, depth=0)
    return _passage(way, now.interface(node, name))


def arriving(
    node: str, name: str, packets: Packets, *, now: Snapshot, counted: Snapshot | None = None
) -> Passage:
    """Return what packets go through at ingress that arrive at an interface; see `leaving`."""
    way = _Way()
    interface = now.interface(node, name)
    redirect = _hook(way, node, interface, INGRESS, packets)
    if redirect:
        _leave(way, node, redirect, packets, now=now, counted=counted, depth=1)
    return _passage(way, now.interface(node, redirect or name))


def total_rate(interface: InstalledInterface) -> float | None:
    """Return the most that leaves an interface, whatever its class, in bit/s; None for no limit.

    Policers at its egress count.
    """
    rates: list[float] = []
    for qdisc in interface.qdiscs:
        if qdisc.parent == ROOT or _is_chained(interface, qdisc):
            if qdisc.rate_bps is not None and qdisc.kind != "fq":
                rates.append(qdisc.rate_bps)
            if qdisc.kind in {"htb", "hfsc"} and (most := _root_rate(interface, qdisc)):
                rates.append(most)
    for each in interface.filters:
        if each.parent == EGRESS and each.policer and each.matches == () and each.policer.drops:
            rates += [each.policer.rate_bps] if each.policer.rate_bps else []
    return min(rates, default=None)


def queue_of(interface: InstalledInterface) -> QueueLine | None:
    """Return the queue of an interface that has one for all packets; None otherwise."""
    leaf = None
    for qdisc in interface.qdiscs:
        if qdisc.parent == ROOT or _is_chained(interface, qdisc):
            if qdisc.kind in _CLASSFUL:
                return None
            if qdisc.kind != "netem" or leaf is None:
                leaf = qdisc
    return None if leaf is None or leaf.kind == "netem" else _queue(interface, leaf, None)


def _is_chained(interface: InstalledInterface, qdisc: InstalledQdisc) -> bool:
    """Return whether all that leaves passes a qdisc below another: none above has classes."""
    above = {each.handle: each for each in interface.qdiscs}
    for _ in range(_MAX_DEPTH):
        if qdisc.parent == ROOT:
            return True
        parent = above.get(_major(qdisc.parent))
        if parent is None or parent.kind in _CLASSFUL:
            return False
        qdisc = parent
    return False


def _leave(
    way: _Way,
    node: str,
    name: str,
    packets: Packets,
    *,
    now: Snapshot,
    counted: Snapshot | None,
    depth: int,
) -> None:
    interface = now.interface(node, name)
    redirect = _hook(way, node, interface, EGRESS, packets)
    if redirect and depth < _MAX_DEPTH:
        _leave(way, node, redirect, packets, now=now, counted=counted, depth=depth + 1)
        return
    qdisc = next((each for each in interface.qdiscs if each.parent == ROOT), None)
    for _ in range(_MAX_DEPTH):
        if qdisc is None:
            return
        way.leaf, way.leaf_class = qdisc, None
        _pass_qdisc(way, interface, qdisc)
        parent = None
        if qdisc.kind in _CLASSFUL:
            parent = _pass_classes(way, node, interface, qdisc, packets, counted=counted)
        qdisc = _child(interface, qdisc, parent)


def _child(
    interface: InstalledInterface, qdisc: InstalledQdisc, parent: str | None
) -> InstalledQdisc | None:
    if qdisc.kind in _CLASSFUL:
        return next((each for each in interface.qdiscs if each.parent == parent), None)
    below = [each for each in interface.qdiscs if _major(each.parent) == qdisc.handle]
    return below[0] if len(below) == 1 and below[0] is not qdisc else None


def _major(handle: str) -> str:
    return handle.partition(":")[0] + ":"


def _pass_qdisc(way: _Way, interface: InstalledInterface, qdisc: InstalledQdisc) -> None:
    """Take into account what a qdisc does by itself."""
    title = f"{qdisc.kind} {qdisc.handle}"
    if qdisc.kind == "trace":
        way.unknown_rate = way.unknown_delay = (
            f"`{title} at {interface.name}` follows a trace, whose rate changes"
        )
    elif qdisc.kind not in _KNOWN:
        way.unknown_rate = way.unknown_delay = (
            f"`{title} at {interface.name}` is of a kind that is not known"
        )
    if qdisc.kind == "fq":
        limits = [rate for rate in (way.stream_bps, qdisc.rate_bps) if rate is not None]
        way.stream_bps = min(limits, default=None)
    elif qdisc.rate_bps is not None:
        way.rates.append(_Rate(qdisc.rate_bps, title, qdisc.burst_bytes))
    way.delay_s += qdisc.delay_s
    way.passed *= 1 - qdisc.loss


def _pass_classes(
    way: _Way,
    node: str,
    interface: InstalledInterface,
    qdisc: InstalledQdisc,
    packets: Packets,
    *,
    counted: Snapshot | None,
) -> str | None:
    """Take into account what the classes of a qdisc do; return that of the packets, if known."""
    for policer in _policers(way, interface, qdisc.handle, packets):
        _police(way, node, interface, policer, qdisc.handle)
    handle, is_known = _class_of(interface, qdisc, packets)
    if not is_known and counted is not None:
        handle = _busiest(counted.interface(node, interface.name), qdisc)
        is_known = bool(handle)
    classes = {each.handle: each for each in interface.classes}
    if is_known:
        own = classes.get(handle)
        way.leaf_class = own
        for _ in range(_MAX_DEPTH):  # the guest could have sent a circle
            if own is None:
                break
            if (most := _most_bps(own)) is not None:
                way.rates.append(_Rate(most, f"{own.kind} {own.handle}", own.burst_bytes))
            own = classes.get(own.parent)
        return handle
    title = f"{qdisc.kind} {qdisc.handle}"
    reason = (
        f"`{title} at {interface.name}` has classes, and it is not known in which of them"
        " the flow is"
    )
    if any(_major(each.parent) == qdisc.handle for each in interface.qdiscs):
        way.unknown_delay = reason
    most = _root_rate(interface, qdisc)
    if most is None:
        way.unknown_rate = reason
    else:
        way.rates.append(_Rate(most, title))
    return None


def _most_bps(each: InstalledClass) -> float | None:
    """Return the most that a class may send: of hfsc, only an upper limit limits it."""
    return each.ceil_bps if each.kind == "hfsc" else each.ceil_bps or each.rate_bps


def _root_rate(interface: InstalledInterface, qdisc: InstalledQdisc) -> float | None:
    """Return the sum of the rates of the classes at the root; None if one has none."""
    tops = [
        each
        for each in interface.classes
        if _major(each.handle) == qdisc.handle
        and each.parent in {ROOT, qdisc.handle}
        and each.handle != qdisc.handle
    ]
    known = [rate for rate in map(_most_bps, tops) if rate is not None]
    return sum(known) if known and len(known) == len(tops) else None


def _busiest(interface: InstalledInterface, qdisc: InstalledQdisc) -> str:
    """Return the class that has sent nearly all, by its counters; empty if none has."""
    inner = {each.parent for each in interface.classes}
    sent = {
        each.handle: each.sent_bytes
        for each in interface.classes
        if _major(each.handle) == qdisc.handle and each.handle not in inner
    }
    total = sum(sent.values())
    most = max(sent, key=sent.__getitem__, default="")
    return most if total and sent[most] >= _NEARLY_ALL * total else ""


def _class_of(
    interface: InstalledInterface, qdisc: InstalledQdisc, packets: Packets
) -> tuple[str, bool]:
    """Return the class that packets are put into, empty for none, and whether it is certain."""
    inner = {each.parent for each in interface.classes}
    parent, major = qdisc.handle, _major(qdisc.handle)
    for _ in range(_MAX_DEPTH):
        targets, is_certain = _targets(interface, parent, packets)
        if not is_certain:
            return "", False
        if not targets:
            break
        parent = targets
        if parent not in inner:
            return parent, True
    default = qdisc.parameters.get("default")
    return (f"{major}{round(default):x}", True) if default else ("", True)


def _targets(interface: InstalledInterface, parent: str, packets: Packets) -> tuple[str, bool]:
    """Return the class that the filters of a qdisc or class choose, and whether it is certain."""
    possible: set[str] = set()
    for each in _ordered(interface, parent):
        fits = _fits(each, packets)
        if fits is False or (fits and not each.target):
            continue
        target = f"{_major(parent)}{each.target[1:]}" if each.target[:1] == ":" else each.target
        possible.add(target)
        if fits:
            return target, len(possible) == 1
    return "", not possible


def _ordered(interface: InstalledInterface, parent: str) -> list[InstalledFilter]:
    return sorted(
        (each for each in interface.filters if each.parent == parent),
        key=lambda each: each.priority,
    )


def _hook(
    way: _Way, node: str, interface: InstalledInterface, direction: str, packets: Packets
) -> str:
    """Take filters at ingress or egress into account; return where they send packets to."""
    for policer in _policers(way, interface, direction, packets):
        _police(way, node, interface, policer, direction)
    for each in _ordered(interface, direction):
        fits = _fits(each, packets)
        if each.redirect and fits is None:
            way.unknown_rate = way.unknown_delay = (
                f"`{each.kind}` at {direction} of {interface.name} redirects some packets"
            )
        if fits:
            return each.redirect
    return ""


def _policers(
    way: _Way, interface: InstalledInterface, parent: str, packets: Packets
) -> Iterator[Policer]:
    """Yield the policers of a place that packets pass."""
    for each in _ordered(interface, parent):
        fits = _fits(each, packets)
        if fits is None and (each.policer is not None or each.kind == "unknown"):
            kind = "a filter" if each.kind == "unknown" else f"a {each.kind} filter"
            way.unknown_rate = (
                f"{kind} at {parent} of {interface.name} is of a kind that is not known"
                if each.kind == "unknown"
                else f"{kind} at {parent} of {interface.name} polices some packets"
            )
        if fits:
            if each.policer is not None and each.policer.drops:
                yield each.policer
            if each.policer is None or not each.policer.continues:
                return


def _police(
    way: _Way, node: str, interface: InstalledInterface, policer: Policer, direction: str
) -> None:
    if policer.rate_bps is None:
        way.unknown_rate = f"a policer at {direction} of {interface.name} counts packets"
        return
    way.policers.append(
        PolicerAt(
            node=node,
            interface=interface.name,
            direction=direction,
            rate_bps=policer.rate_bps,
            burst_bytes=policer.burst_bytes or 0,
        )
    )


def _passage(way: _Way, interface: InstalledInterface) -> Passage:
    least = min(way.rates, default=None, key=lambda each: each.rate_bps)
    return Passage(
        rate_bps=least.rate_bps if least is not None else None,
        limited_by=least.limited_by if least is not None else "",
        burst_bytes=least.burst_bytes if least is not None else None,
        stream_bps=way.stream_bps,
        delay_s=way.delay_s,
        loss=1 - way.passed,
        queue=_queue(interface, way.leaf, way.leaf_class) if way.leaf is not None else None,
        policers=tuple(way.policers),
        unknown_rate=way.unknown_rate,
        unknown_delay=way.unknown_delay,
    )


def _queue(
    interface: InstalledInterface, leaf: InstalledQdisc, own: InstalledClass | None
) -> QueueLine:
    """Return the last qdisc of a passage, or the queue of a class that has no qdisc."""
    if leaf.kind in _CLASSFUL:
        parent = own.handle if own is not None else leaf.handle
        limit = interface.queue_packets
        line = f"tc qdisc add dev {interface.name} parent {parent} pfifo limit {limit}"
        qdisc = Qdisc(kind="pfifo", parent=parent)
        return QueueLine(qdisc=qdisc, limit_bytes=None, line=line, limit_packets=limit)
    return QueueLine(
        qdisc=Qdisc(kind=leaf.kind, parent=leaf.parent, handle=leaf.handle),
        limit_bytes=leaf.limit_bytes if leaf.kind != "cake" else None,
        line=_line(interface.name, leaf),
        limit_packets=leaf.limit_packets,
        parameters=leaf.parameters,
    )


def _line(device: str, qdisc: InstalledQdisc) -> str:
    """Return a line of tc that gives a qdisc the rate and the limit that it has."""
    parent = qdisc.parent if qdisc.parent == ROOT else f"parent {qdisc.parent}"
    options = []
    if qdisc.rate_bps is not None and qdisc.kind in {"tbf", "wire"}:
        options.append(f"rate {qdisc.rate_bps:.0f}bit")
    if qdisc.burst_bytes is not None:
        options.append(f"burst {qdisc.burst_bytes}")
    limit = qdisc.limit_bytes if qdisc.limit_bytes is not None else qdisc.limit_packets
    if limit is not None:
        options.append(f"limit {limit}")
    words = ["tc qdisc change dev", device, parent, "handle", qdisc.handle, qdisc.kind, *options]
    return " ".join(words)


def _fits(each: InstalledFilter, packets: Packets) -> bool | None:
    """Return whether a filter matches a flow's packets; None if that is not known."""
    header = _header(packets)
    if header is None:
        is_any = each.protocol == _ANY and each.matches == ()
        return True if is_any else None
    protocol, value, known = header
    if each.protocol not in {_ANY, protocol}:
        return False
    if each.matches is None:
        return None
    is_certain = True
    for match in each.matches:
        want, have, sure = match.value & match.mask, 0, 0
        if match.offset >= 0 and match.offset + 4 <= len(value):
            have = int.from_bytes(value[match.offset : match.offset + 4], "big")
            sure = int.from_bytes(known[match.offset : match.offset + 4], "big") & match.mask
        if (have ^ want) & sure:
            return False
        is_certain = is_certain and sure == match.mask
    return True if is_certain else None


def _header(packets: Packets) -> tuple[int, bytes, bytes] | None:
    """Return the protocol of packets, their headers, and which bits of these are known."""
    addresses = (packets.source, packets.target)
    known = [ipaddress.ip_address(each) for each in addresses if each is not None]
    if not known:
        return None
    is_new = known[0].version == 6
    start = 40 if is_new else 20
    value, mask = bytearray(start + 20), bytearray(start + 20)

    def put(at: int, data: bytes) -> None:
        value[at : at + len(data)] = data
        mask[at : at + len(data)] = b"\xff" * len(data)

    size = 16 if is_new else 4
    for at, address in zip((8, 24) if is_new else (12, 16), addresses, strict=True):
        if address is not None:
            packed = ipaddress.ip_address(address).packed
            if len(packed) == size:
                put(at, packed)
    if not is_new:
        put(0, b"\x45")
    if packets.transport is not None:
        put(6 if is_new else 9, bytes([packets.transport]))
    for at, port in ((start, packets.source_port), (start + 2, packets.target_port)):
        if port is not None:
            put(at, port.to_bytes(2, "big"))
    return (_IPV6 if is_new else _IP), bytes(value), bytes(mask)
