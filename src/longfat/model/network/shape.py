"""The qdiscs that shape one direction of a link, and the properties that become given ones.

The sending end's interface shapes what leaves through it:

* delay, jitter, loss, duplication, corruption and reordering are a netem;
* a rate is a token bucket filter, whose limit is the queue in front of it;
* both are the netem with the filter below it. So packets first travel and then
  queue: the bottleneck is at the far end of the line, and what waits in its
  queue has the delay behind it. Round-trip times and rates are the same in
  either order, and netem's own count of packets then holds none that queue;
* a trace is the discipline of longfat's own kernels that follows one, in the filter's place;
  until it has begun, with the traffic, it holds nothing up;
* a queueing discipline that the study names is below all and replaces the filter's own
  queue. `longfat.model.network.qdisc` lists which there are.

Jitter is normally distributed, as the delay's standard deviation should be.
Every packet draws its own delay, so with jitter packets overtake each other,
as netem does it. A packet that netem sends at once, to reorder it, leaves the
interface at once: it passes by the filter and the queue below the netem, too.

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
from longfat.model.tc import BYTES, RATE, ROOT, TIME, Interface, Option, Qdisc, parse_qdisc
from longfat.theory import tbf
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

TRACE = "trace"
"""The kind of the qdisc that follows a trace; see kernel/patches."""

_HZ = 250

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
    return tuple(
        Interface(
            name=name,
            node=node if node in hosts else ROOT_NAMESPACE,
            qdiscs=shape_qdiscs(shape, mtu_bytes=link.mtu_bytes or DEFAULT_MTU_BYTES),
        )
        for link, ends in zip(network.links, network.interfaces(), strict=True)
        for name, node, shape in zip(
            ends, (link.a, link.b), (link.a_to_b, link.b_to_a), strict=True
        )
        if names is None or name in names
    )


def shape_qdiscs(
    shape: LinkImpairments, *, mtu_bytes: int = DEFAULT_MTU_BYTES
) -> tuple[Qdisc, ...]:
    """Return the qdiscs that a shape becomes, each below the one before.

    Args:
        shape: what happens to packets; without any property there is no qdisc.
        mtu_bytes: the interface's MTU in bytes: a burst holds one such packet.
    """
    queue = parse_qdisc(shape.qdisc.split()) if shape.qdisc else None
    follows = Qdisc(kind=TRACE) if shape.trace else None
    if follows and shape.queue_bytes:
        queue = Qdisc(kind="bfifo", options=(Option("limit", (shape.queue_bytes,)),))
    placed: list[Qdisc] = []
    for qdisc in (_netem(shape), follows, _tbf(shape, mtu_bytes=mtu_bytes), queue):
        if qdisc is not None:
            parent = ROOT
            if placed:
                # A tbf has one class, in which its queue is; a netem is shown without.
                parent = f"{placed[-1].handle}{'1' if placed[-1].kind in {'tbf', TRACE} else ''}"
            placed.append(replace(qdisc, parent=parent, handle=f"{len(placed) + 1}:"))
    return tuple(placed)


def infer_impairments(
    qdiscs: Sequence[Qdisc], *, mtu_bytes: int = DEFAULT_MTU_BYTES
) -> LinkImpairments | None:
    """Return the shape that becomes given qdiscs: the way back of `shape_qdiscs`.

    Args:
        qdiscs: the qdiscs, from the root downwards.
        mtu_bytes: the interface's MTU in bytes.

    Returns:
        The shape; None if no link may have one that becomes the very same words.
    """
    fields: dict[str, Any] = {}
    try:
        for qdisc in qdiscs:
            fields |= _impairments(qdisc)
    except InputError:
        return None
    words = [(qdisc.place, qdisc.handle, qdisc.words) for qdisc in qdiscs]
    for left in ({"queue_bytes"}, set()):
        shape = LinkImpairments(**{key: fields[key] for key in fields if key not in left})
        if any(shape.problems(mtu_bytes=mtu_bytes)):
            continue
        made = shape_qdiscs(shape, mtu_bytes=mtu_bytes)
        if [(qdisc.place, qdisc.handle, qdisc.words) for qdisc in made] == words:
            return shape
    return None


def _impairments(qdisc: Qdisc) -> dict[str, Any]:
    """Return the properties that a qdisc sets, by attribute.

    Raises:
        InputError: it sets what no link has, or an option has no such value.
    """
    if qdisc.kind == "tbf":
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


def _tbf(shape: LinkImpairments, *, mtu_bytes: int) -> Qdisc | None:
    if shape.rate_bps is None:
        return None
    queue = default_queue_bytes(shape) if shape.queue_bytes is None else shape.queue_bytes
    # An offloaded packet that is larger than the burst is cut up; a whole one
    # that is larger than the queue would never get in.
    burst = min(math.ceil(tbf.burst_bytes(rate_bps=shape.rate_bps, hz=_HZ)), queue)
    burst = max(burst, mtu_bytes + HEADER_BYTES)
    numbers = {"rate": shape.rate_bps, "burst": burst, "limit": queue}
    return Qdisc(kind="tbf", options=tuple(Option(key, (numbers[key],)) for key in numbers))
