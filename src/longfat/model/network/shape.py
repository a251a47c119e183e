"""The qdiscs that shape one direction of a link, and the properties that become given ones.

The sending end's interface shapes what leaves through it:

* delay, jitter, loss, duplication, corruption and reordering are a netem;
* a rate is a wire, the discipline of longfat's own kernels that carries one packet after the
  other for its length by the rate; its limit is the queue in front of it. With a burst it is a
  token bucket filter, which idle time gives a credit of that size;
* delay and rate are the netem with the wire below it. So packets first travel and then
  queue: the bottleneck is at the far end of the line, and what waits in its
  queue has the delay behind it. Round-trip times and rates are the same in
  either order, and netem's own count of packets then holds none that queue;
* a trace is the discipline of longfat's own kernels that follows one, in the wire's place;
  until it has begun, with the traffic, it holds nothing up;
* a queueing discipline that the study names is below all and replaces the wire's own
  queue. `longfat.model.network.qdisc` lists which there are.

A GSO packet is one packet of up to 64 KB for the hosts and queues, and many frames for a wire
(kernel/patches/all/50-link-qdiscs.patch). It is cut into frames where it would be more than an
eighth of the queue, since a queue takes or drops a packet as a whole, or more than 4 ms of the
wire. Where another wire follows on each way, a wire hands it on when its first frame has left.

Jitter is normally distributed, as the delay's standard deviation should be.
Every packet draws its own delay, so with jitter packets overtake each other,
as netem does it. A packet that netem sends at once, to reorder it, leaves the
interface at once: it passes by the wire and the queue below the netem, too.

Sources: tc-netem(8), tc-tbf(8); tc's numbers are 32 bits wide where it counts
packets and bytes (`struct tc_netem_qopt`, `struct tc_tbf_qopt`).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.model.fields import fields_of
from longfat.model.network.impairments import HEADER_BYTES, MAX_BYTES, LinkImpairments
from longfat.model.network.model import DEFAULT_MTU_BYTES, ROOT_NAMESPACE
from longfat.model.network.qdisc import qdisc_problem
from longfat.model.network.tc import BYTES, RATE, ROOT, TIME, Interface, Option, Qdisc, parse_qdisc
from longfat.theory.bdp import bdp_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from longfat.model.network.model import Network

FRAME_BYTES = 1514
"""A full packet of Linux's own MTU with its Ethernet header."""

MIN_QUEUE_PACKETS = 100
"""How many full packets a queue holds at least by default."""

QUEUE_S = 0.01
"""How long a full queue takes to empty, in seconds, where neither a queue nor a delay is given."""

GSO_BYTES = 65_536
"""The largest GSO packet, but for BIG TCP."""

THROUGH = "through"
"""The option of a wire that hands a GSO packet on from its first frame on."""

TRACE = "trace"
"""The kind of the qdisc that follows a trace; see kernel/patches."""

WIRE = "wire"
"""The kind of the qdisc of a rate; see kernel/patches."""

_WITH_CLASS = frozenset(("tbf", TRACE, WIRE))
"""The kinds whose queue is in a class of theirs; a netem's is shown without."""

# A GSO packet that stays in one piece is at most so much of the queue, and of the wire's time.
_QUEUE_SHARE = 8
_MAX_PIECE_S = 0.004

# Unlike what people type: so a bucket in a wire's place is known again.
_MIN_BUCKET_BYTES = 66_000
_BUCKET_S = 0.001

# A delay line holds what a sender puts into it, at any rate: the queue comes
# after it. The number costs no memory, so it is one that is never reached.
_NETEM_PACKETS = 1_000_000_000

_NORMAL = Option("distribution normal")


def shaped_interfaces(
    network: Network, names: Collection[str] | None = None
) -> tuple[Interface, ...]:
    """Return the interfaces of a network with the qdiscs that its links' properties become.

    Args:
        network: the network.
        names: the interfaces to return; all, if None.

    Returns:
        The two ends of each link, in the links' order.
    """
    hosts = {host.name for host in network.hosts}
    at_hosts = _arrivals_at_hosts(network)
    return tuple(
        Interface(
            name=name,
            node=node if node in hosts else ROOT_NAMESPACE,
            qdiscs=shape_qdiscs(
                shape,
                mtu_bytes=link.mtu_bytes or DEFAULT_MTU_BYTES,
                passes_frames=is_wire(shape) and (peer, index) not in at_hosts,
            ),
        )
        for index, (link, ends) in enumerate(zip(network.links, network.interfaces(), strict=True))
        for name, node, peer, shape in zip(
            ends, (link.a, link.b), (link.b, link.a), (link.a_to_b, link.b_to_a), strict=True
        )
        if names is None or name in names
    )


def is_wire(shape: LinkImpairments) -> bool:
    """Return whether a direction carries packets at a rate, and not by a bucket or a trace."""
    return shape.rate_bps is not None and shape.burst_bytes is None and shape.trace is None


def _arrivals_at_hosts(network: Network) -> set[tuple[str, int]]:
    """Return where packets arrive from which a host can be reached without another wire.

    A host that forwards is a way on, though packets may end there.

    Returns:
        Nodes with the number of the link by which packets arrive.
    """
    ends = {host.name for host in network.hosts if not host.forwards}
    links: dict[str, list[int]] = {name: [] for name in network.node_names()}
    slack: dict[tuple[str, int], str] = {}  # the node before, by arrival over what is no wire
    reached: list[tuple[str, int]] = []
    for index, link in enumerate(network.links):
        for node, peer, shape in ((link.a, link.b, link.a_to_b), (link.b, link.a, link.b_to_a)):
            links[node].append(index)
            if not is_wire(shape):
                slack[peer, index] = node
            if peer in ends or shape.trace is not None:
                reached.append((peer, index))
    reached += [(node, index) for node, own in links.items() for index in own if len(own) == 1]
    arrivals = set(reached)
    while reached:
        peer, by = reached.pop()
        before = slack.get((peer, by))
        if before is not None:
            earlier = {(before, index) for index in links[before] if index != by} - arrivals
            arrivals |= earlier
            reached += earlier
    return arrivals


def shape_qdiscs(
    shape: LinkImpairments,
    *,
    mtu_bytes: int = DEFAULT_MTU_BYTES,
    passes_frames: bool = False,
) -> tuple[Qdisc, ...]:
    """Return the qdiscs that a shape becomes, each below the one before.

    Args:
        shape: what happens to packets; without any property there is no qdisc.
        mtu_bytes: the interface's MTU in bytes.
        passes_frames: a wire hands a GSO packet on when its first frame has left, not its
            last; another wire has to follow on each way.
    """
    queue = parse_qdisc(shape.qdisc.split()) if shape.qdisc else None
    follows = Qdisc(kind=TRACE) if shape.trace else None
    if follows and shape.queue_bytes:
        queue = Qdisc(kind="bfifo", options=(Option("limit", (shape.queue_bytes,)),))
    placed: list[Qdisc] = []
    rate = _rate(shape, mtu_bytes=mtu_bytes, passes_frames=passes_frames)
    for qdisc in (_netem(shape), follows, rate, queue):
        if qdisc is not None:
            parent = ROOT
            if placed:
                parent = f"{placed[-1].handle}{'1' if placed[-1].kind in _WITH_CLASS else ''}"
            placed.append(replace(qdisc, parent=parent, handle=f"{len(placed) + 1}:"))
    return tuple(placed)


def with_buckets(qdiscs: Sequence[Qdisc]) -> tuple[Qdisc, ...]:
    """Return qdiscs for other kernels than longfat's: each wire is a token bucket.

    Its burst is one that such kernels can keep the rate with: 1 ms of it, and at least a GSO
    packet.
    """
    return tuple(_bucket_of(qdisc) if qdisc.kind == WIRE else qdisc for qdisc in qdiscs)


def _bucket_of(wire: Qdisc) -> Qdisc:
    rate_bps = wire.number("rate", RATE)
    numbers = {
        "rate": rate_bps,
        "burst": max(_MIN_BUCKET_BYTES, math.ceil(rate_bps / 8 * _BUCKET_S)),
        "limit": wire.number("limit", BYTES),
    }
    options = tuple(Option(name, (number,)) for name, number in numbers.items())
    return replace(wire, kind="tbf", options=options, typed="")


def infer_impairments(
    qdiscs: Sequence[Qdisc], *, mtu_bytes: int = DEFAULT_MTU_BYTES
) -> LinkImpairments | None:
    """Return the shape that becomes given qdiscs: the way back of `shape_qdiscs`.

    Args:
        qdiscs: the qdiscs, from the root downwards.
        mtu_bytes: the interface's MTU in bytes.

    Returns:
        The shape; None if no link may have one that becomes the very same words, by itself or
        `with_buckets`.
    """
    fields: dict[str, Any] = {}
    try:
        for qdisc in qdiscs:
            fields |= _impairments(qdisc)
    except InputError:
        return None
    passes = any(qdisc.kind == WIRE and qdisc.get(THROUGH) for qdisc in qdiscs)
    for left in ({"burst_bytes", "queue_bytes"}, {"burst_bytes"}, {"queue_bytes"}, set[str]()):
        shape = LinkImpairments(**{key: fields[key] for key in fields if key not in left})
        if any(shape.problems(mtu_bytes=mtu_bytes)):
            continue
        made = shape_qdiscs(shape, mtu_bytes=mtu_bytes, passes_frames=passes)
        if _lines_of(qdiscs) in (_lines_of(made), _lines_of(with_buckets(made))):
            return shape
    return None


def _lines_of(qdiscs: Sequence[Qdisc]) -> list[tuple[str, str, str]]:
    return [(qdisc.place, qdisc.handle, qdisc.words) for qdisc in qdiscs]


def _impairments(qdisc: Qdisc) -> dict[str, Any]:
    """Return the properties that a qdisc sets, by attribute.

    Raises:
        InputError: it sets what no link has, or an option has no such value.
    """
    if qdisc.kind == "tbf":
        return {
            "rate_bps": qdisc.number("rate", RATE),
            "queue_bytes": qdisc.number("limit", BYTES),
            "burst_bytes": qdisc.number("burst", BYTES),
        }
    if qdisc.kind == WIRE:
        return {
            "rate_bps": qdisc.number("rate", RATE),
            "queue_bytes": qdisc.number("limit", BYTES),
        }
    if qdisc.kind != "netem":
        if problem := qdisc_problem(qdisc.words):
            raise InputError(problem)
        return {"qdisc": qdisc.words}
    by_option = {field.about.tc: field for field in fields_of(LinkImpairments).values()}
    fields: dict[str, Any] = {}
    for option in qdisc.options:
        if option.name == "delay":
            fields["delay_s"] = qdisc.number("delay", TIME)
            if len(option.values) > 1:
                fields["jitter_s"] = qdisc.number("delay", TIME, at=1)
        elif field := by_option.get(option.name):
            fields[field.name] = field.kind.parse(qdisc.text(option))
        elif option != _NORMAL and option.name != "limit":
            raise InputError(f"a link has no option {option.name!r} of netem")
    return fields


def default_queue_bytes(shape: LinkImpairments) -> int:
    """Return the default queue of a shape with a rate, in bytes.

    One bandwidth-delay product, estimated as if the reverse direction had the same delay.
    If the delay is on other links, what is sent in `QUEUE_S`. At least
    `MIN_QUEUE_PACKETS` full packets.

    Args:
        shape: the shape; its rate is set.

    Raises:
        ValueError: it has no rate.
    """
    if shape.rate_bps is None:
        raise ValueError("a queue needs a rate")
    rtt_s = 2 * shape.delay_s if shape.delay_s else QUEUE_S
    product = math.ceil(bdp_bytes(rate_bps=shape.rate_bps, rtt_s=rtt_s))
    return min(MAX_BYTES, max(MIN_QUEUE_PACKETS * FRAME_BYTES, product))


def _netem(shape: LinkImpairments) -> Qdisc | None:
    options: list[Option] = []
    if shape.delay_s and shape.jitter_s:
        options += [Option("delay", (shape.delay_s, shape.jitter_s)), _NORMAL]
    elif shape.delay_s:
        options.append(Option("delay", (shape.delay_s,)))
    for field in fields_of(LinkImpairments).values():
        if field.about.tc and (value := getattr(shape, field.name)):
            values = tuple(value.split()) if isinstance(value, str) else (value,)
            options.append(Option(field.about.tc, values))
    if not options:
        return None
    return Qdisc(kind="netem", options=(Option("limit", (_NETEM_PACKETS,)), *options))


def _rate(shape: LinkImpairments, *, mtu_bytes: int, passes_frames: bool) -> Qdisc | None:
    """Return the wire or the token bucket of a rate."""
    if shape.rate_bps is None:
        return None
    queue = default_queue_bytes(shape) if shape.queue_bytes is None else shape.queue_bytes
    options = [Option("rate", (shape.rate_bps,))]
    if shape.burst_bytes is not None:
        options += [Option("burst", (shape.burst_bytes,)), Option("limit", (queue,))]
        return Qdisc(kind="tbf", options=tuple(options))
    piece = shape.rate_bps / 8 * _MAX_PIECE_S
    if shape.qdisc is None:
        piece = min(piece, queue / _QUEUE_SHARE)
    options += [Option("limit", (queue,))]
    if shape.policer is not None:
        piece = 0.0  # it would drop all of a GSO packet
    if piece < GSO_BYTES:
        options += [Option("cut", (max(math.floor(piece), mtu_bytes + HEADER_BYTES),))]
    if passes_frames:
        options += [Option(THROUGH)]
    return Qdisc(kind=WIRE, options=tuple(options))
