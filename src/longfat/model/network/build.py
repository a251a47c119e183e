"""The lines that build a network, and what else follows from its values.

Lines are grouped in batches, one for each program and namespace, because one process can
run many lines but only in one namespace. Building is mostly the time of processes and
lines, so as much as possible is done from the root namespace, and a veth pair is made with
both ends in their namespaces by one line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from longfat.model.network.devices import device_stem
from longfat.model.network.model import ROOT_NAMESPACE
from longfat.model.network.nat import nat_lines
from longfat.model.network.police import FRAMES_ONLY, police_lines
from longfat.model.network.routing import tunnel_ends
from longfat.model.network.shape import shaped_interfaces, with_buckets
from longfat.model.network.slaac import SLAAC
from longfat.model.network.vlans import host_lines, ports_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from longfat.model.network.model import Link, Network
    from longfat.model.network.slaac import SlaacSubnet
    from longfat.model.network.tc import QdiscLine
    from longfat.model.network.vlans import Port

Program = Literal["ip", "tc", "sh", "slaac"]

FORWARD_LINE = "sysctl -w net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1"
"""What makes a router of a host."""

MULTIPATH_LINE = "sysctl -w " + " ".join(
    f"net.{family}.fib_multipath_hash_policy=3 net.{family}.fib_multipath_hash_fields=0x37"
    for family in ("ipv4", "ipv6")
)
"""What lets a host choose among next hops by addresses and ports, and not by addresses alone.

Policy 1 is meant for that, but prefers a hash that comes with a packet to one of its headers. A
veth pair leaves the sender's with it, and a connection that drops packets in its own queue has
been seen to have several: it changes its path (`tests/belief/test_multipath.py`). A router that
is a computer of its own never sees that hash. Policy 3 looks at the packet alone; the fields are
source and destination address, protocol, source and destination port (ip-sysctl).
"""

_OFFLOADS = "ethtool -K "
_GRO_ON = re.compile(r"(?:^| )(?:gro|rx-gro|generic-receive-offload) on")


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that one program runs at one node.

    Attributes:
        program: `ip` or `tc`, whose lines omit that word and are run by one
            process with `-batch`; `sh`: each line is run by the shell; or `slaac`: each is run by
            `longfat.guest.slaac`.
        node: the host, or `ROOT_NAMESPACE`.
        lines: the lines, in their order.
    """

    program: Program
    node: str
    lines: tuple[str, ...]


def build_batches(network: Network) -> list[Batch]:
    """Return the lines that build a network, in the order in which they must run.

    Switches are bridges in the root namespace without spanning tree, as
    Linux makes them; both ends of every link are up at the end.
    """
    inside: dict[str, list[str]] = {host.name: ["link set lo up"] for host in network.hosts}
    root = ["link set lo up"]
    root += [f"netns add {host.name}" for host in network.hosts]
    bridges = {switch.name: device_stem(switch.name) for switch in network.switches}
    ports = ports_of(network)
    filtering = " vlan_filtering 1" if any(port is not None for port in ports) else ""
    root += [f"link add {bridge} type bridge{filtering}" for bridge in bridges.values()]
    root += [f"link set {bridge} up" for bridge in bridges.values()]
    full = network.full_interface_names()
    bonded = network.bond_devices()
    host_bonds = {end.slaves[0]: end for end in network.bond_ends() if end.node in inside}
    every_end = zip(network.links, network.interfaces(), network.written_addresses(), strict=True)
    subnets = network.slaac_subnets()
    link_layers = {end.interface: end.link_layer for subnet in subnets for end in subnet.hosts}
    for link, names, addresses in every_end:
        root += _link_lines(link, names, inside, bridges, bonded, link_layers=link_layers)
        for node, name, address in zip((link.a, link.b), names, addresses, strict=True):
            device = bonded.get(name, name)
            if name in host_bonds:
                inside[node] += host_bonds[name].lines(mtu_bytes=link.mtu_bytes)
            if address not in {None, SLAAC}:
                # Until IPv6 has looked for others with the same address, which takes
                # seconds, it would not use it; here all addresses are known to differ.
                sure = " nodad" if ":" in str(address) else ""
                inside[node].append(f"addr add {address} dev {device}{sure}")
            own = link.a_vlan_addresses if name == names[0] else link.b_vlan_addresses
            inside.get(node, root).extend(host_lines(device, own))
            if name in full:
                inside.get(node, root).append(_altname_line(name, full[name]))
    root += _switch_bond_lines(network, bridges)
    root += [_altname_line(bridges[name], name) for name in bridges if bridges[name] != name]
    ends = tunnel_ends(network) if network.tunnels else ()
    for end in ends:
        inside[end.node] += end.lines
    batches = [Batch("ip", ROOT_NAMESPACE, tuple(root))]
    batches += [Batch("sh", ROOT_NAMESPACE, (line,)) for line in _port_lines(network, ports)]
    for host in network.hosts:
        if host.forwards:
            batches.append(Batch("sh", host.name, (FORWARD_LINE,)))
        if any(route.others for route in host.routes):
            batches.append(Batch("sh", host.name, (MULTIPATH_LINE,)))
        inside[host.name] += [f"route add {route.words}" for route in host.routes]
        batches.append(Batch("ip", host.name, tuple(inside[host.name])))
    keys = ((end.node, end.key_line) for end in ends)
    batches += [Batch("sh", node, (line,)) for node, line in keys if line is not None]
    batches += [Batch("sh", node, lines) for node, lines in _interface_lines(network).items()]
    batches += [Batch("sh", node, (line,)) for node, line in _nat_lines(network)]
    batches += [
        Batch("tc", node, tuple(line.arguments for line in lines))
        for node, lines in _shaping_lines(network).items()
    ]
    batches += [Batch("tc", node, tuple(lines)) for node, lines in _policing_lines(network).items()]
    batches += [Batch("sh", node, (line,)) for node, line in _timing_lines(network)]
    clocks = [(host.name, host.clock) for host in network.hosts if host.clock is not None]
    batches += [Batch("sh", name, (clock.sysctl_line(),)) for name, clock in clocks]
    return [*batches, *_slaac_batches(subnets)]


def _slaac_batches(subnets: Sequence[SlaacSubnet]) -> Iterator[Batch]:
    """Yield what lets hosts form their addresses, after all else; the last ones wait for that."""
    for subnet in subnets:
        for node, device in subnet.others:
            # All that is known of its addresses and routes is written.
            line = f"sysctl -qw net/ipv6/conf/{device}/accept_ra=0"
            yield Batch("sh", node, (line,))
    advertised = [(subnet, subnet.router) for subnet in subnets if subnet.router is not None]
    for _, router in advertised:
        yield Batch("slaac", router.node, (router.line,))
    for subnet, router in advertised:
        for host in subnet.hosts:
            yield Batch("slaac", host.node, (host.line(router.network),))


def _switch_bond_lines(network: Network, bridges: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines that make the bonds of switches, whose links are there."""
    for end in network.bond_ends():
        if end.node in bridges:
            yield from end.lines(mtu_bytes=network.links[end.links[0]].mtu_bytes)
            yield f"link set {end.device} master {bridges[end.node]}"


def _port_lines(network: Network, ports: list[Port | None]) -> Iterator[str]:
    """Yield the lines that put the ports of switches into VLANs."""
    switches = {switch.name for switch in network.switches}
    bonded = network.bond_devices()
    done: set[str] = set()
    for link, names, port in zip(network.links, network.interfaces(), ports, strict=True):
        for node, name in zip((link.a, link.b), names, strict=True):
            device = bonded.get(name, name)
            if port is not None and node in switches and device not in done:
                done.add(device)
                yield from port.lines(device)


def _nat_lines(network: Network) -> Iterator[tuple[str, str]]:
    """Yield the lines that make hosts translate addresses, each with its host."""
    for host in network.hosts:
        outside = network.outside_interface(host) if host.nat else None
        if host.nat and outside:
            yield from ((host.name, line) for line in nat_lines(host.nat, outside))


def _altname_line(device: str, name: str) -> str:
    return f"link property add dev {device} altname {name}"


def _timing_lines(network: Network) -> Iterator[tuple[str, str]]:
    """Yield the lines that set how long the CPUs of hosts take, each with its node."""
    timings = [
        (host.name, host.timing or network.testbed, host.timing is None) for host in network.hosts
    ]
    timings.append((ROOT_NAMESPACE, network.testbed, True))
    for node, timing, is_shared in timings:
        if timing is not None:
            values = timing.sysctl_values() | ({"shared": 1} if is_shared else {})
            words = (f"net.host_cpu.{name}={value}" for name, value in values.items())
            yield node, " ".join(("sysctl -qw", *words))


def interface_commands(network: Network) -> list[tuple[str, str]]:
    """Return the lines that make interfaces other than Linux makes them, their MTU apart.

    A veth hands packets to GRO only if its other end cannot send GSO packets
    (veth_skb_is_eligible_for_gro in drivers/net/veth.c): so for GRO at one end the other
    loses TSO. How receiving is moderated: Documentation/networking/napi.rst, "Software IRQ
    coalescing".

    Returns:
        Node (a host or `ROOT_NAMESPACE`) and line, in the order in which they run.
    """
    return [(node, line) for node, lines in _interface_lines(network).items() for line in lines]


def tunnel_commands(network: Network) -> list[tuple[str, str]]:
    """Return the lines that make a network's tunnels, each with its host."""
    typed: list[tuple[str, str]] = []
    for end in tunnel_ends(network) if network.tunnels else ():
        typed += [(end.node, f"ip {line}") for line in end.lines]
        if end.key_line is not None:
            typed.append((end.node, end.key_line))
    return typed


def _interface_lines(network: Network) -> dict[str, tuple[str, ...]]:
    hosts = {host.name: host for host in network.hosts}
    lines: dict[str, list[str]] = {}
    bonded = network.bond_devices()
    for link, names in zip(network.links, network.interfaces(), strict=True):
        ends = list(zip((link.a, link.b), names, strict=True))
        shapes = (link.a_to_b, link.b_to_a)
        for shape, (node, name), (other, far) in zip(shapes, ends, ends[::-1], strict=True):
            host = hosts.get(node)
            here = lines.setdefault(node if host else ROOT_NAMESPACE, [])
            there = lines.setdefault(other if other in hosts else ROOT_NAMESPACE, [])
            offloads = " ".join(filter(None, (host.offloads if host else "", link.offloads)))
            if host and network.frames:
                here.append(f"ip link set {name} gso_max_segs 1")
                if name in bonded:
                    here.append(f"ip link set {bonded[name]} gso_max_segs 1")
            if host and host.rx_coalescing_s is not None:
                offloads = f"gro on {offloads}".strip()
                folder = f"/sys/class/net/{name}"
                here.append(f"echo 1 > {folder}/napi_defer_hard_irqs")
                nanoseconds = round(host.rx_coalescing_s * 1e9)
                here.append(f"echo {nanoseconds} > {folder}/gro_flush_timeout")
            if _GRO_ON.search(offloads):
                there.append(f"{_OFFLOADS}{far} tso off")
            if shape.policer is not None:
                offloads = f"{offloads} {FRAMES_ONLY}".strip()
            if offloads:
                here.append(f"{_OFFLOADS}{name} {offloads}")
    return {node: tuple(found) for node, found in lines.items() if found}


def _link_lines(
    link: Link,
    names: tuple[str, str],
    inside: dict[str, list[str]],
    bridges: dict[str, str],
    bonded: Mapping[str, str],
    *,
    link_layers: Mapping[str, str],
) -> list[str]:
    mtu = "" if link.mtu_bytes is None else f" mtu {link.mtu_bytes}"
    own = {name: f" address {link_layers[name]}" if name in link_layers else "" for name in names}
    ends = [
        (name, (f" netns {node}" if node in inside else "") + own[name], node)
        for node, name in zip((link.a, link.b), names, strict=True)
    ]
    # The line that makes a pair can put its first end into a bridge and set it
    # up; the second, when the kernel makes it, has no peer yet. An interface that becomes a
    # slave of a bond has to be down until then.
    ends.sort(key=lambda end: end[2] in inside)
    (first, first_home, switch), (second, second_home, other) = ends
    into = "" if switch in inside else f" master {bridges[switch]}"
    into = "" if first in bonded else f"{into} up"
    lines = [
        f"link add {first}{first_home}{mtu}{into} type veth peer name {second}{second_home}{mtu}"
    ]
    if second in bonded:
        pass
    elif other in inside:
        inside[other].append(f"link set {second} up")
    else:
        lines.append(f"link set {second} master {bridges[other]} up")
    return lines


def _shaping_lines(network: Network) -> dict[str, list[QdiscLine]]:
    """Return the lines of `tc` for all links, by node, the root namespace first."""
    lines: dict[str, list[QdiscLine]] = {ROOT_NAMESPACE: []}
    for interface in shaped_interfaces(network):
        lines.setdefault(interface.node, []).extend(interface.lines)
    return {node: found for node, found in lines.items() if found}


def _policing_lines(network: Network) -> dict[str, list[str]]:
    """Return the lines of `tc`, without that word, for all policers, by node."""
    hosts = {host.name for host in network.hosts}
    lines: dict[str, list[str]] = {}
    for link, (at_a, at_b) in zip(network.links, network.interfaces(), strict=True):
        for node, device, shape in ((link.b, at_b, link.a_to_b), (link.a, at_a, link.b_to_a)):
            if shape.policer is not None:
                home = node if node in hosts else ROOT_NAMESPACE
                lines.setdefault(home, []).extend(police_lines(shape.policer, device))
    return lines


def shape_commands(network: Network) -> list[tuple[str, str]]:
    """Return the lines of `tc` that shape a network's links on other kernels, as they are typed.

    Returns:
        Node (a host or `ROOT_NAMESPACE`) and line, in the order in which they run.
    """
    by_node: dict[str, list[str]] = {ROOT_NAMESPACE: []}
    for interface in shaped_interfaces(network):
        lines = replace(interface, qdiscs=with_buckets(interface.qdiscs)).lines
        by_node.setdefault(interface.node, []).extend(map(str, lines))
    for node, policing in _policing_lines(network).items():
        by_node.setdefault(node, []).extend(f"tc {line}" for line in policing)
    return [(node, line) for node, lines in by_node.items() for line in lines]


def typed_part(network: Network, line: str) -> str | None:
    """Return the part of a network that a line makes from text of the user.

    Args:
        network: the network.
        line: a line that builds it, as a batch ran it.

    Returns:
        Such as "the qdisc of the link h1 - s1"; None if it has no text of the user.
    """
    if line.startswith(_OFFLOADS):
        return f"the offloads of {line.removeprefix(_OFFLOADS).split()[0]}"
    ends = iter(shaped_interfaces(network))
    for link, at_a, at_b in zip(network.links, ends, ends, strict=True):
        for interface, shape in ((at_a, link.a_to_b), (at_b, link.b_to_a)):
            if shape.qdisc and line.endswith(f" {interface.lines[-1].arguments}"):
                return f"the qdisc of the link {link.a} - {link.b}"
    return None


def hosts_file(addresses: Mapping[str, str]) -> str:
    """Return the text of /etc/hosts, so that hosts can be called by their names.

    Args:
        addresses: the addresses by host: see `longfat.model.addresses.called_addresses`.
    """
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{address} {name}" for name, address in addresses.items()]
    return "".join(f"{line}\n" for line in lines)
