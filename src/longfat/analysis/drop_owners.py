"""Whose packets were dropped: flows of a run, or hosts of a live network, found by addresses."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Protocol

from longfat.execution.compile import server_ports
from longfat.guest.counters import CONNECTION_TABLE
from longfat.model.flow_path import sender_and_receiver
from longfat.model.network.routing import target_addresses
from longfat.model.traffic import Ping, Program

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from longfat.execution.runs import Run
    from longfat.execution.runs.packet_drops import PacketDrop
    from longfat.model.traffic import Flow

TCP, UDP = 6, 17
ICMP = {1, 58}
"""Numbers of transport protocols."""


class DropOwners(Protocol):
    """What knows whose packets were dropped."""

    @property
    def nodes_with_full_table(self) -> Collection[str]:
        """The nodes whose table of connections is full."""

    def of(self, drop: PacketDrop) -> tuple[str, bool]:
        """Return the flow of packets, empty if they are of none, and whether they went back."""


class HostPairs:
    """The hosts of a live network, whose flows nobody named: a flow is `h1 -> h2`."""

    nodes_with_full_table = ()

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names

    def of(self, drop: PacketDrop) -> tuple[str, bool]:
        """Return the hosts of packets; empty if they are not known."""
        if not drop.source and not drop.target:
            return "", False
        source, target = (
            self._names.get(address, address) or "?" for address in (drop.source, drop.target)
        )
        return f"{source} -> {target}", False


class RunFlows:
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
        if drop.transport in (TCP, UDP):
            ends = {(source, drop.source_port), (target, drop.target_port)}
            own = [
                flow
                for flow in flows
                if not isinstance(flow, Ping) and (flow.target, self._ports[flow.name]) in ends
            ]
            # A program may use other ports than the one that its server is known by.
            own = own or [flow for flow in flows if isinstance(flow, Program)]
        else:
            is_icmp = drop.transport in ICMP
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
