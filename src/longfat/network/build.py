"""The `ip` lines that build a network, and what else follows from its values.

Lines are grouped in batches, one for each namespace, because one process can
run many lines but only in one namespace.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.network.model import ROOT

if TYPE_CHECKING:
    from longfat.network.model import Network


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines of `ip`, without the word `ip`, for one node (a host or `ROOT`)."""

    node: str
    lines: tuple[str, ...]


def build_batches(network: Network) -> list[Batch]:
    """Return the lines that build a network, in the order in which they must run.

    Switches are bridges in the root namespace without spanning tree, as
    Linux makes them; both ends of every link are up at the end.
    """
    hosts = {host.name for host in network.hosts}
    root = ["link set lo up"]
    root += [f"netns add {host.name}" for host in network.hosts]
    for switch in network.switches:
        root += [f"link add {switch.name} type bridge", f"link set {switch.name} up"]
    inside: dict[str, list[str]] = {host.name: ["link set lo up"] for host in network.hosts}
    for link, names in zip(network.links, network.interfaces(), strict=True):
        ends = list(zip((link.a, link.b), names, strict=True))
        homes = [f" netns {node}" if node in hosts else "" for node, _ in ends]
        root.append(
            f"link add {names[0]}{homes[0]} type veth peer name {names[1]}{homes[1]}",
        )
        for node, name in ends:
            if node in hosts:
                inside[node].append(f"link set {name} up")
            else:
                root += [f"link set {name} master {node}", f"link set {name} up"]
    for host in network.hosts:
        first = f"{host.name}-eth0"
        if f"link set {first} up" in inside[host.name]:
            inside[host.name].insert(1, f"addr add {host.address} dev {first}")
    batches = [Batch(ROOT, tuple(root))]
    return batches + [Batch(name, tuple(lines)) for name, lines in inside.items()]


def hosts_file(network: Network) -> str:
    """Return the text of /etc/hosts, so that hosts can be called by their names."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{host.address.partition('/')[0]} {host.name}" for host in network.hosts]
    return "".join(f"{line}\n" for line in lines)
