"""What a host needs beyond an address and links, as shell commands.

Mininet supports one address for a host, one default route and no more, and shapes
of links only in its own way; for Mininet the rest is written as commands.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE, interface_commands

if TYPE_CHECKING:
    from longfat.model.network import Host, Network


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressing:
    """How a host gets its addresses and routes in Mininet.

    Attributes:
        ip: the IPv4 address of its first interface, if it has one.
        gateway: its default route, where that leads through the first interface.
        lines: all other addresses and routes.
    """

    ip: str | None
    gateway: str | None
    lines: tuple[str, ...]


def addressing(network: Network) -> dict[str, Addressing]:
    """Return how each host of a network gets its addresses and routes."""
    given: dict[str, list[tuple[str, str | None]]] = {host.name: [] for host in network.hosts}
    for link, names, pair in zip(
        network.links, network.interfaces(), network.addresses(), strict=True
    ):
        for node, name, address in zip((link.a, link.b), names, pair, strict=True):
            if node in given:
                given[node].append((name, address))
    return {host.name: _of_host(host, given[host.name]) for host in network.hosts}


def _of_host(host: Host, ends: list[tuple[str, str | None]]) -> Addressing:
    first = ends[0][1] if ends else host.address
    ip = first if first is not None and ":" not in first else None
    lines = [
        f"ip addr add {address} dev {name}" + (" nodad" if ":" in address else "")
        for index, (name, address) in enumerate(ends)
        if address is not None and (index or ip is None)
    ]
    gateway = None
    for route in host.routes:
        near = ip is not None and ":" not in route.via
        if (
            near
            and route.to == "default"
            and ipaddress.ip_address(route.via) in ipaddress.ip_interface(ip or "").network
        ):
            gateway = route.via
        else:
            lines.append(f"ip route add {route.to} via {route.via}")
    return Addressing(ip=ip, gateway=gateway, lines=tuple(lines))


def interface_lines(network: Network) -> list[Command]:
    """Return the lines that set MTUs and offloads, for a network that others build."""
    hosts = {host.name for host in network.hosts}
    sizes = [
        Command(
            node=node if node in hosts else ROOT_NAMESPACE,
            line=f"ip link set {name} mtu {link.mtu_bytes}",
        )
        for link, names in zip(network.links, network.interfaces(), strict=True)
        if link.mtu_bytes is not None
        for node, name in zip((link.a, link.b), names, strict=True)
    ]
    return sizes + [Command(node=node, line=line) for node, line in interface_commands(network)]
