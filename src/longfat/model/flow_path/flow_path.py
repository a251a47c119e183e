"""The path of a flow: its bottleneck and its idle round-trip time, each with its source.

A rate is never measured here, since the window arithmetic is to explain the measured rate;
it is in the lines that shape links, in the set-up lines after them, or unknown. The
round-trip time is that of a ping which ended before the flow began; without one, the sum of
the delays that the set-up lines add.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from longfat.model.flow_path.setup_lines import (
    QueueLine,
    has_typed_rate,
    qdisc_lines,
    queue_line,
    shaping,
)
from longfat.model.network import NoRouteError, follow_links, shaped_interfaces, trace_route
from longfat.model.network.routing import target_addresses
from longfat.model.typed_line import NotUnderstoodError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.model.case import Case
    from longfat.model.flow_path.setup_lines import Shaping
    from longfat.model.network import Network
    from longfat.model.tc import QdiscLine
    from longfat.model.traffic import Bulk, Flow, Ping


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


def queue_limits(case: Case) -> dict[str, int]:
    """Return the queue limits of interfaces, in bytes, where a set-up line specifies them."""
    limits: dict[str, int] = {}
    for interface in shaped_interfaces(case.network):
        with contextlib.suppress(NotUnderstoodError):
            line = queue_line(qdisc_lines(interface, case.setup))
            if line is not None and line.limit_bytes is not None:
                limits[interface.name] = line.limit_bytes
    return limits


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
    """

    node: str
    interface: str
    rate_bps: float
    rate_origin: str
    queue: QueueLine | None
    loss: float


def bottleneck(case: Case, flow: Flow) -> Bottleneck | None:
    """Return the interface on the way of a flow's data that leaves each stream the least.

    What an interface leaves is its rate over the streams of bulk traffic that cross it and may
    run at one time; of several that leave as much, the first on the way, where the queue builds.

    Args:
        case: the case.
        flow: the flow.

    Returns:
        The interface; None where no line limits a rate on the way.

    Raises:
        NotUnderstoodError: a set-up line shapes the path in a form that cannot
            be read with certainty.
    """
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
    origin = "a set-up line" if has_typed_rate(lines, rate_bps) else "its link"
    loss = 0.0
    for _, one in shapings:
        loss += one.loss - loss * one.loss
    return Bottleneck(
        node=node,
        interface=interface,
        rate_bps=rate_bps,
        rate_origin="a policer" if is_policed else origin,
        queue=None if is_policed else queue_line(lines),
        loss=loss,
    )


def idle_rtt(case: Case, flow: Flow, metrics: Mapping[str, float]) -> tuple[float, str]:
    """Return the round-trip time of a flow's idle path in seconds, and where it is from.

    Args:
        case: the case.
        flow: the flow.
        metrics: what the case's run measured, by `FLOW.METRIC`.

    Raises:
        NotUnderstoodError: as for `bottleneck`.
    """
    if ping := _idle_ping(case, flow):
        return metrics.get(f"{ping.name}.min_s", 0.0), f"the least of the flow {ping.name}"
    ways = _shapings(case, flow) + _shapings(case, flow, is_back=True)
    return sum(s.delay_s for _, s in ways), "the delay that they add"


def flow_path(case: Case, flow: Flow, metrics: Mapping[str, float]) -> FlowPath | None:
    """Return the path of a flow, or None where its rate or RTT is not known.

    Args:
        case: the case.
        flow: the flow.
        metrics: what the case's run measured, by `FLOW.METRIC`.

    Raises:
        NotUnderstoodError: a set-up line shapes the path in a form that cannot
            be read with certainty.
    """
    slowest = bottleneck(case, flow)
    rtt_s, source = idle_rtt(case, flow, metrics)
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
