"""Hosts, switches and links as values, and the names of their interfaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ROOT = "root"
"""The shell where the switches' interfaces are visible; no node may have this name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A network namespace with an address.

    Attributes:
        name: a short name such as `h1`; interfaces are named after it.
        address: IPv4 or IPv6 address with prefix length, such as `10.0.0.1/8`,
            of the host's first interface.
    """

    name: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A learning bridge in the root namespace."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A veth pair between two nodes, named by their names."""

    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Nodes and links. Interfaces are numbered per node in the order of the links.

    Hosts count from 0 (`h1-eth0`) and switches from 1 (`s1-eth1`), as Mininet
    and MiniEdit do, so that the labs' commands fit.
    """

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]

    def interfaces(self) -> list[tuple[str, str]]:
        """Return the interface names of both ends of each link, in the links' order."""
        count = {host.name: 0 for host in self.hosts}
        count |= {switch.name: 1 for switch in self.switches}
        pairs = []
        for link in self.links:
            ends = []
            for node in (link.a, link.b):
                ends.append(f"{node}-eth{count[node]}")
                count[node] += 1
            pairs.append((ends[0], ends[1]))
        return pairs

    def interfaces_by_node(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return interfaces grouped by where they are visible: a host, or `ROOT`.

        Args:
            names: names of interfaces of this network.

        Raises:
            KeyError: there is no such interface.
        """
        hosts = {host.name for host in self.hosts}
        homes = {
            name: node if node in hosts else ROOT
            for link, pair in zip(self.links, self.interfaces(), strict=True)
            for node, name in zip((link.a, link.b), pair, strict=True)
        }
        grouped: dict[str, list[str]] = {}
        for name in names:
            grouped.setdefault(homes[name], []).append(name)
        return grouped
