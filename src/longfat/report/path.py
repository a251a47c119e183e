"""The path of a flow: its bottleneck and its idle round-trip time, each with its source.

A rate is never measured here, for a measured rate is what the window
arithmetic is to explain; it stands in the set-up lines or is unknown. The
round-trip time is that of a ping which ended before the flow began; without
one, the sum of the delays that the set-up lines add.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.network import ROOT
from longfat.report.setup_lines import Shaping, shaping
from longfat.traffic import Ping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.case import Case
    from longfat.network import Network
    from longfat.traffic import Flow, Iperf3


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPath:
    """What a flow's data goes through.

    Attributes:
        rate_bps: the rate of its bottleneck, in bit/s.
        rate_source: the interface that limits it, such as `s1-eth2`.
        rtt_s: the round-trip time while it is idle, in seconds.
        rtt_source: where that is from, in words.
    """

    rate_bps: float
    rate_source: str
    rtt_s: float
    rtt_source: str


def sender_and_receiver(flow: Iperf3) -> tuple[str, str]:
    """Return the hosts that send and receive a flow's data."""
    return (flow.target, flow.source) if flow.reverse else (flow.source, flow.target)


def flow_path(case: Case, flow: Iperf3, metrics: Mapping[str, float]) -> FlowPath | None:
    """Return the path of a flow, or None where its rate or RTT is not known.

    Args:
        case: the case.
        flow: the flow.
        metrics: what the case's run measured, by `FLOW.METRIC`.

    Raises:
        NotUnderstoodError: a set-up line shapes the path in a form that cannot
            be read with certainty.
    """
    sender, receiver = sender_and_receiver(flow)
    there = _shapings(case, sender, receiver)
    back = _shapings(case, receiver, sender)
    limits = [(s.rate_bps, device) for device, s in there if s.rate_bps is not None]
    if not limits:
        return None
    rate_bps, device = min(limits)
    if ping := _idle_ping(case, flow):
        rtt_s, source = metrics.get(f"{ping.name}.min_s", 0.0), f"the least of the flow {ping.name}"
    else:
        rtt_s, source = sum(s.delay_s for _, s in there + back), "the delay that they add"
    if rtt_s <= 0:
        return None
    return FlowPath(rate_bps=rate_bps, rate_source=device, rtt_s=rtt_s, rtt_source=source)


def egress_interfaces(network: Network, start: str, end: str) -> list[tuple[str, str]] | None:
    """Return what data leaves through on its way, as (node or `ROOT`, interface).

    Hosts do not forward, so the way leads through switches only.

    Args:
        network: the network.
        start: the host that the way starts at.
        end: the host that it leads to.

    Returns:
        The interfaces in their order; None where there is no way.
    """
    hosts = {host.name for host in network.hosts}
    leaving: dict[str, list[tuple[str, str]]] = {}
    for link, (at_a, at_b) in zip(network.links, network.interfaces(), strict=True):
        leaving.setdefault(link.a, []).append((at_a, link.b))
        leaving.setdefault(link.b, []).append((at_b, link.a))
    ways: dict[str, list[tuple[str, str]]] = {start: []}
    waiting = [start]
    for node in waiting:
        if node in hosts and node != start:
            continue
        for interface, neighbour in leaving.get(node, ()):
            if neighbour not in ways:
                ways[neighbour] = [*ways[node], (node if node in hosts else ROOT, interface)]
                waiting.append(neighbour)
    return ways.get(end)


def _shapings(case: Case, start: str, end: str) -> list[tuple[str, Shaping]]:
    interfaces = egress_interfaces(case.network, start, end) or []
    return [(device, shaping(case.setup, node, device)) for node, device in interfaces]


def _idle_ping(case: Case, flow: Iperf3) -> Ping | None:
    """Return a ping between the same hosts which ended before the flow began."""
    flows = {other.name: other for other in case.flows}
    before: Flow | None = flow
    while before is not None:
        before = flows.get(before.after) if before.after is not None else None
        if isinstance(before, Ping) and {before.source, before.target} == {
            flow.source,
            flow.target,
        }:
            return before
    return None
