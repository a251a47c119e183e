"""The path of a flow: its bottleneck and its idle round-trip time, each with its source.

A rate is never measured here, since the window arithmetic is to explain the measured rate. Of a
run it is what the kernel had installed (`longfat.model.flow_path.installed`), whatever installed
it. Of a case that was not run, and of runs that were made before that was read, it is in the lines
that shape links, in the set-up lines after them, or unknown. The round-trip time is that of a ping
which ended before the flow began; without one, the sum of the delays on both ways.
"""

from __future__ import annotations

import contextlib
import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.model.addresses import target_address
from longfat.model.flow_path.installed import first_snapshot, last_snapshot, snapshots
from longfat.model.flow_path.installed_path import (
    Packets,
    Passage,
    PolicerAt,
    arriving,
    leaving,
    queue_of,
)
from longfat.model.flow_path.setup_lines import (
    QueueLine,
    has_typed_rate,
    qdisc_lines,
    queue_line,
    shaping,
)
from longfat.model.network import NoRouteError, follow_links, shaped_interfaces, trace_route
from longfat.model.network.routing import target_addresses
from longfat.model.traffic.bulk import DEFAULT_PORT, Bulk
from longfat.model.typed_line import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.model.case import Case
    from longfat.model.flow_path.installed import InstalledInterface, InstalledNode, Snapshot
    from longfat.model.flow_path.setup_lines import Shaping
    from longfat.model.network import Network
    from longfat.model.network.tc import QdiscLine
    from longfat.model.traffic import Flow, Ping

A_POLICER = "a policer"
A_LINE = "a set-up line"
ITS_LINK = "its link"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPath:
    """What a flow's data goes through.

    Attributes:
        rate_bps: the rate of its bottleneck, in bit/s.
        rate_source: the interface that limits it, such as `s1-eth2`.
        rate_origin: what gives it that rate, see `Bottleneck`.
        rtt_s: the round-trip time while it is idle, in seconds.
        rtt_source: where that is from, in words.
    """

    rate_bps: float
    rate_source: str
    rate_origin: str
    rtt_s: float
    rtt_source: str


def interface_lines(case: Case, name: str) -> list[QdiscLine]:
    """Return the lines that made the qdiscs of an interface before the traffic starts.

    Args:
        case: the case.
        name: the interface.

    Raises:
        NotUnderstoodError: a set-up line cannot be read with certainty.
    """
    (interface,) = shaped_interfaces(case.network, {name})
    return qdisc_lines(interface, case.setup)


def interface_queue(
    case: Case, name: str, *, installed: Sequence[InstalledNode] | None = None
) -> QueueLine | None:
    """Return the queue in front of an interface's rate at the traffic's start; None without one.

    Args:
        case: the case.
        name: the interface.
        installed: what its run's kernel had installed; None to read the set-up lines.

    Raises:
        NotUnderstoodError: a set-up line cannot be read with certainty.
    """
    if installed is None:
        return queue_line(interface_lines(case, name))
    (interface,) = shaped_interfaces(case.network, {name})
    return queue_of(first_snapshot(installed).interface(interface.node, name))


def queue_limits(case: Case, *, installed: Sequence[InstalledNode] | None = None) -> dict[str, int]:
    """Return the queue limits of interfaces, in bytes, where they have one in bytes.

    Args:
        case: the case.
        installed: what its run's kernel had installed; None to read the set-up lines.
    """
    limits: dict[str, int] = {}
    now = first_snapshot(installed) if installed is not None else None
    for interface in shaped_interfaces(case.network):
        if now is not None:
            queue = queue_of(now.interface(interface.node, interface.name))
            if queue is not None and queue.limit_bytes is not None:
                limits[interface.name] = queue.limit_bytes
            continue
        with contextlib.suppress(NotUnderstoodError):
            line = queue_line(qdisc_lines(interface, case.setup))
            if line is not None and line.limit_bytes is not None:
                limits[interface.name] = line.limit_bytes
    return limits


def path_interfaces(
    case: Case, flow: Flow, installed: Sequence[InstalledNode], *, is_back: bool = False
) -> list[tuple[str, InstalledInterface]]:
    """Return what is installed at the interfaces that a flow's data leaves by, with their nodes.

    Args:
        case: the case.
        flow: the flow.
        installed: what its run's kernel had installed.
        is_back: those of its acknowledgements.
    """
    now = first_snapshot(installed)
    places = flow_interfaces(case.network, flow, is_back=is_back) or []
    return [(node, now.interface(node, name)) for node, name in places]


def sender_and_receiver(flow: Flow) -> tuple[str, str]:
    """Return the hosts that send and receive a flow's data."""
    return (flow.target, flow.source) if flow.reverse else (flow.source, flow.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bottleneck:
    """The interface on a flow's way that leaves each stream the least.

    Attributes:
        node: where it is: a host, or `longfat.model.network.ROOT_NAMESPACE`.
        interface: the interface, such as `s1-eth2`.
        rate_bps: its rate, in bit/s.
        rate_origin: what gives it that rate, such as `its link`.
        queue: what queues in front of it; None if no line sets it, or the rate is a policer's.
        loss: the share of packets that netem loses on the whole way, 0 to 1.
        limited_by: the qdisc or class that has the rate, such as `htb 1:10`, `fq` or `police`;
            empty if only set-up lines were read.
        burst_bytes: what that sends at once after a pause; None if it has no bucket.
        policer: the policer that has the rate, which may be at ingress of the next node; None if
            none does, or only set-up lines were read.
        is_per_stream: the rate is that of each stream (fq's maxrate), times their number.
        rates: its rates, and since when each holds, in seconds after the traffic's start; infinite
            where nothing limits it. Empty if only set-up lines were read.
    """

    node: str
    interface: str
    rate_bps: float
    rate_origin: str
    queue: QueueLine | None
    loss: float
    limited_by: str = ""
    burst_bytes: int | None = None
    policer: PolicerAt | None = None
    is_per_stream: bool = False
    rates: tuple[tuple[float, float], ...] = ()


def bottleneck(
    case: Case, flow: Flow, *, installed: Sequence[InstalledNode] | None = None
) -> Bottleneck | None:
    """Return the interface on the way of a flow's data that leaves each stream the least.

    What an interface leaves is its rate over the streams of bulk traffic that cross it and may
    run at one time; of several that leave as much, the first on the way, where the queue builds.

    Args:
        case: the case.
        flow: the flow.
        installed: what its run's kernel had installed; None to read the set-up lines. Where
            nothing limits a rate at the traffic's start, that of the first time when something
            does counts.

    Returns:
        The interface; None where nothing limits a rate on the way.

    Raises:
        NotUnderstoodError: what shapes the path is not known with certainty.
    """
    if installed is not None:
        times = snapshots(installed)
        for now in times:
            found = _installed_bottleneck(case, flow, now, times[-1])
            if found is not None:
                return replace(found, rates=_rates_at(case, flow, found, times))
        return None
    shapings = _shapings(case, flow)
    limits = [(place, s.rate_bps) for place, s in shapings if s.rate_bps is not None]
    if not limits:
        return None
    crossing = _crossing(case.network, case.bulk_flows)
    own = next((one.parallel for one in case.bulk_flows if one.name == flow.name), 1)

    def left_bps(limit: tuple[tuple[str, str], float]) -> float:
        place, rate_bps = limit
        others = (one for one in crossing.get(place, ()) if _compete(case, flow, one))
        return rate_bps / (own + sum(one.parallel for one in others))

    (node, interface), rate_bps = min(limits, key=left_bps)
    policed_bps = _policed_bps(case.network).get(interface)
    is_policed = policed_bps is not None and policed_bps <= rate_bps
    lines = interface_lines(case, interface)
    origin = A_LINE if has_typed_rate(lines, rate_bps) else ITS_LINK
    loss = 0.0
    for _, one in shapings:
        loss += one.loss - loss * one.loss
    return Bottleneck(
        node=node,
        interface=interface,
        rate_bps=rate_bps,
        rate_origin=A_POLICER if is_policed else origin,
        queue=None if is_policed else queue_line(lines),
        loss=loss,
    )


@dataclass(frozen=True, slots=True)
class _Limit:
    """A rate on the way of a flow."""

    place: tuple[str, str]
    rate_bps: float
    passage: Passage
    policer: PolicerAt | None = None
    is_per_stream: bool = False


def _installed_bottleneck(
    case: Case, flow: Flow, now: Snapshot, counted: Snapshot
) -> Bottleneck | None:
    passages = _passages(case, flow, now=now, counted=counted)
    limits: list[_Limit] = []
    passed = 1.0
    for place, passage in passages:
        if passage.unknown_rate:
            raise NotUnderstoodError("", reason=passage.unknown_rate)
        passed *= 1 - passage.loss
        limits += _limits(place, passage)
    if not limits:
        return None
    crossing = _crossing(case.network, case.bulk_flows)
    own = _streams(flow)

    def left_bps(limit: _Limit) -> float:
        if limit.is_per_stream:
            return limit.rate_bps
        others = (one for one in crossing.get(limit.place, ()) if _compete(case, flow, one))
        return limit.rate_bps / (own + sum(one.parallel for one in others))

    least = min(limits, key=left_bps)
    (node, interface), passage = least.place, least.passage
    return Bottleneck(
        node=node,
        interface=interface,
        rate_bps=least.rate_bps * (own if least.is_per_stream else 1),
        rate_origin=A_POLICER if least.policer else _origin(case, interface, least.rate_bps),
        queue=None if least.policer else _typed_queue(case, interface, passage.queue),
        loss=1 - passed,
        limited_by=_limiter(least),
        burst_bytes=least.policer.burst_bytes if least.policer else passage.burst_bytes,
        policer=least.policer,
        is_per_stream=least.is_per_stream,
    )


def _limiter(limit: _Limit) -> str:
    if limit.policer is not None:
        return "police"
    return "fq" if limit.is_per_stream else limit.passage.limited_by


def _streams(flow: Flow) -> int:
    return flow.parallel if isinstance(flow, Bulk) else 1


def _limits(place: tuple[str, str], passage: Passage) -> Iterator[_Limit]:
    if passage.rate_bps is not None:
        yield _Limit(place, passage.rate_bps, passage)
    if passage.stream_bps is not None:
        yield _Limit(place, passage.stream_bps, passage, is_per_stream=True)
    for each in passage.policers:
        yield _Limit(place, each.rate_bps, passage, each)


def _rates_at(
    case: Case, flow: Flow, slowest: Bottleneck, times: Sequence[Snapshot]
) -> tuple[tuple[float, float], ...]:
    """Return what the place of a bottleneck leaves a flow, and since when."""
    streams = _streams(flow)
    packets = flow_packets(case, flow)
    place = slowest.node, slowest.interface
    rates: list[tuple[float, float]] = []
    for now in times:
        passage = _passage(case, place, packets, now=now, counted=times[-1])
        rate_bps = min(
            (
                limit.rate_bps * (streams if limit.is_per_stream else 1)
                for limit in _limits(place, passage)
            ),
            default=math.inf,
        )
        if not rates or rate_bps != rates[-1][1]:
            rates.append((now.at_s if rates else -math.inf, rate_bps))
    return tuple(rates)


def _origin(case: Case, interface: str, rate_bps: float) -> str:
    """Return what gives an interface its rate: its link, unless anything else does."""
    (made,) = shaped_interfaces(case.network, {interface})
    with contextlib.suppress(NotUnderstoodError):
        own = shaping(made.lines).rate_bps
        if own is not None and abs(own - rate_bps) <= max(8.0, own * 1e-6):
            return ITS_LINK
    return A_LINE


def _typed_queue(case: Case, interface: str, queue: QueueLine | None) -> QueueLine | None:
    """Return a queue that was read back with the line that made it, where that is understood."""
    if queue is None:
        return None
    with contextlib.suppress(NotUnderstoodError):
        typed = queue_line(interface_lines(case, interface))
        if typed is not None and typed.kind == queue.kind:
            same = typed.limit_bytes == queue.limit_bytes
            return replace(queue, line=typed.line) if same else queue
    return queue


def idle_rtt(
    case: Case,
    flow: Flow,
    metrics: Mapping[str, float],
    *,
    installed: Sequence[InstalledNode] | None = None,
) -> tuple[float, str]:
    """Return the round-trip time of a flow's idle path in seconds, and where it is from.

    Args:
        case: the case.
        flow: the flow.
        metrics: what the case's run measured, by `FLOW.METRIC`.
        installed: as for `bottleneck`.

    Raises:
        NotUnderstoodError: as for `bottleneck`.
    """
    if ping := _idle_ping(case, flow):
        return metrics.get(f"{ping.name}.min_s", 0.0), f"the least of the flow {ping.name}"
    if installed is not None:
        now, counted = first_snapshot(installed), last_snapshot(installed)
        passages = [
            passage
            for is_back in (False, True)
            for _, passage in _passages(case, flow, now=now, counted=counted, is_back=is_back)
        ]
        if reason := next((each.unknown_delay for each in passages if each.unknown_delay), ""):
            raise NotUnderstoodError("", reason=reason)
        return sum(each.delay_s for each in passages), "the delay that they add"
    ways = _shapings(case, flow) + _shapings(case, flow, is_back=True)
    return sum(s.delay_s for _, s in ways), "the delay that they add"


def flow_path(
    case: Case,
    flow: Flow,
    metrics: Mapping[str, float],
    *,
    installed: Sequence[InstalledNode] | None = None,
) -> FlowPath | None:
    """Return the path of a flow, or None where its rate or RTT is not known.

    Args:
        case: the case.
        flow: the flow.
        metrics: what the case's run measured, by `FLOW.METRIC`.
        installed: as for `bottleneck`.

    Raises:
        NotUnderstoodError: as for `bottleneck`.
    """
    slowest = bottleneck(case, flow, installed=installed)
    rtt_s, source = idle_rtt(case, flow, metrics, installed=installed)
    if slowest is None or rtt_s <= 0:
        return None
    return FlowPath(
        rate_bps=slowest.rate_bps,
        rate_source=slowest.interface,
        rate_origin=slowest.rate_origin,
        rtt_s=rtt_s,
        rtt_source=source,
    )


def egress_interfaces(
    network: Network, start: str, end: str, *, address: str | None = None
) -> list[tuple[str, str]] | None:
    """Return what data leaves through on its way, as (node or `ROOT_NAMESPACE`, interface).

    The way is the one that routes give; where they give none, and set-up lines
    must, a shortest one through switches and hosts that forward.

    Args:
        network: the network.
        start: the host that the way starts at.
        end: the host that it leads to.
        address: the address of `end` that data is sent to; that which it is called by, if None,
            or if this is no interface's.

    Returns:
        The interfaces in their order; None where there is no way.
    """
    if address is not None and address not in target_addresses(network, end):
        address = None
    try:
        return trace_route(network, start, end, address=address)
    except NoRouteError:
        return follow_links(network, start, end)


def flow_interfaces(
    network: Network, flow: Flow, *, is_back: bool = False
) -> list[tuple[str, str]] | None:
    """Return what a flow's data leaves through, see `egress_interfaces`.

    Args:
        network: the network.
        flow: the flow.
        is_back: the way of its acknowledgements.
    """
    sender, receiver = sender_and_receiver(flow)
    if is_back:
        sender, receiver = receiver, sender
    address = flow.address if receiver == flow.target else None
    return egress_interfaces(network, sender, receiver, address=address)


def _shapings(
    case: Case, flow: Flow, *, is_back: bool = False
) -> list[tuple[tuple[str, str], Shaping]]:
    interfaces = flow_interfaces(case.network, flow, is_back=is_back) or []
    policed = _policed_bps(case.network)
    shapings = []
    for place in interfaces:
        shaped = shaping(interface_lines(case, place[1]))
        rates = [rate for rate in (shaped.rate_bps, policed.get(place[1])) if rate is not None]
        shapings.append((place, replace(shaped, rate_bps=min(rates, default=None))))
    return shapings


def _passages(
    case: Case, flow: Flow, *, now: Snapshot, counted: Snapshot, is_back: bool = False
) -> list[tuple[tuple[str, str], Passage]]:
    """Return the interfaces that a flow's packets leave by, and what they go through at each.

    What is at ingress of the next node counts as the interface's.
    """
    packets = flow_packets(case, flow, is_back=is_back)
    return [
        (place, _passage(case, place, packets, now=now, counted=counted))
        for place in flow_interfaces(case.network, flow, is_back=is_back) or []
    ]


def _passage(
    case: Case, place: tuple[str, str], packets: Packets, *, now: Snapshot, counted: Snapshot
) -> Passage:
    passage = leaving(*place, packets, now=now, counted=counted)
    peer = _link_ends(case.network).get(place)
    if peer is None:
        return passage
    return _joined(passage, arriving(*peer, packets, now=now, counted=counted))


def _joined(first: Passage, then: Passage) -> Passage:
    """Return two passages as one."""
    slower = then.rate_bps is not None and (
        first.rate_bps is None or then.rate_bps < first.rate_bps
    )
    streams = [rate for rate in (first.stream_bps, then.stream_bps) if rate is not None]
    limit = then if slower else first
    return Passage(
        rate_bps=limit.rate_bps,
        stream_bps=min(streams, default=None),
        limited_by=limit.limited_by,
        burst_bytes=limit.burst_bytes,
        delay_s=first.delay_s + then.delay_s,
        loss=1 - (1 - first.loss) * (1 - then.loss),
        queue=limit.queue,
        policers=first.policers + then.policers,
        unknown_rate=first.unknown_rate or then.unknown_rate,
        unknown_delay=first.unknown_delay or then.unknown_delay,
    )


_TCP, _UDP, _ICMP, _ICMPV6 = 6, 17, 1, 58
_TRANSPORTS = {"cbr": _UDP, "requests": _TCP, "transfer": _TCP, "video": _TCP}


def flow_packets(case: Case, flow: Flow, *, is_back: bool = False) -> Packets:
    """Return what is known of the headers of a flow's data.

    Args:
        case: the case.
        flow: the flow.
        is_back: those of its acknowledgements.
    """
    try:
        target: str | None = target_address(case, flow)
    except KeyError:
        target = None
    own = target_addresses(case.network, flow.source)
    source = next(iter(own)) if len(own) == 1 else None
    transport = _TRANSPORTS.get(flow.tool)
    if isinstance(flow, Bulk):
        transport = _TCP if flow.has_tcp_sockets else _UDP
    if flow.tool == "ping" and target is not None:
        transport = _ICMPV6 if ":" in target else _ICMP
    port = _server_port(case, flow) if transport in {_TCP, _UDP} else None
    if flow.reverse != is_back:
        return Packets(source=target, target=source, transport=transport, source_port=port)
    return Packets(source=source, target=target, transport=transport, target_port=port)


def _server_port(case: Case, flow: Flow) -> int | None:
    """Return the port of a flow's server; None for a program, which chooses its own."""
    if flow.tool == "program":
        return None
    port = DEFAULT_PORT
    for other in case.flows:
        if other.name == flow.name:
            return port
        if other.target == flow.target:
            port += any(one.listens for one in other.processes(address="::", port=port))
    return None


@functools.lru_cache(maxsize=8)
def _link_ends(network: Network) -> Mapping[tuple[str, str], tuple[str, str]]:
    """Return the other end of each link's end, as node and interface."""
    ends = [(interface.node, interface.name) for interface in shaped_interfaces(network)]
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    return {**dict(pairs), **{b: a for a, b in pairs}}


@functools.lru_cache(maxsize=8)
def _policed_bps(network: Network) -> Mapping[str, float]:
    """Return the rates that what leaves by an interface is policed to, by interface."""
    return {
        interface: shape.policer.rate_bps
        for link, names in zip(network.links, network.interfaces(), strict=True)
        for interface, shape in zip(names, (link.a_to_b, link.b_to_a), strict=True)
        if shape.policer is not None
    }


@functools.lru_cache(maxsize=8)
def _crossing(
    network: Network, flows: tuple[Bulk, ...]
) -> Mapping[tuple[str, str], tuple[Bulk, ...]]:
    """Return the flows whose data leaves by each interface."""
    found: dict[tuple[str, str], tuple[Bulk, ...]] = {}
    for flow in flows:
        for place in flow_interfaces(network, flow) or ():
            found[place] = (*found.get(place, ()), flow)
    return found


def _compete(case: Case, flow: Flow, other: Bulk) -> bool:
    """Return whether another flow may take what a flow could have."""
    return (
        other.name != flow.name
        and other.rate_bps is None
        and not _waits_for(case, flow, other)
        and not _waits_for(case, other, flow)
    )


def _waits_for(case: Case, flow: Flow, other: Flow) -> bool:
    """Return whether a flow begins after another has ended."""
    if flow.after is None:
        return False
    flows = {one.name: one for one in case.flows}
    before: Flow | None = flow
    while before is not None and before.after is not None:
        before = flows.get(before.after)
        if before is not None and before.name == other.name:
            return True
    return False


def _idle_ping(case: Case, flow: Flow) -> Ping | None:
    """Return a ping between the same hosts which ended before the flow began."""
    flows = {other.name: other for other in case.flows}
    before: Flow | None = flow
    while before is not None:
        before = flows.get(before.after) if before.after is not None else None
        for ping in case.pings:
            if ping is before and {ping.source, ping.target} == {flow.source, flow.target}:
                return ping
    return None
