"""Hosts, switches and links as values, and the names of their interfaces."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from longfat.model.fields import declare
from longfat.model.host_root import HostRoot
from longfat.model.kinds import Flag, ImageName, Integer, Integers, Size, Text, Time
from longfat.model.network.bonds import Bond, BondEnd, ends_of, links_between
from longfat.model.network.clock import ClockKind, HostClock
from longfat.model.network.devices import device_name
from longfat.model.network.impairments import UNIMPAIRED, LinkImpairments
from longfat.model.network.nat import NATS, nat_problem
from longfat.model.network.slaac import SLAAC, SlaacSubnet, subnets_of
from longfat.model.network.timing import HostTiming
from longfat.model.network.tunnels import Tunnel, tunnel_interface

ROOT_NAMESPACE = "root"
"""The shell where the switches' interfaces are visible; no node may have this name."""

DEFAULT_MTU_BYTES = 1500
"""Linux's own, of an Ethernet interface."""


VLAN = Integer(minimum=1, maximum=4094, what="the number of a VLAN")
"""The kind of a VLAN's number (IEEE 802.1Q)."""

_OFFLOADS = re.compile(r"([a-z0-9][a-z0-9.-]* (on|off))( [a-z0-9][a-z0-9.-]* (on|off))*")


def _offloads_problem(text: str) -> str | None:
    if _OFFLOADS.fullmatch(text):
        return None
    return f"{text!r} are no offloads: write names and on or off (such as tso off gro on)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A static route of a host.

    Attributes:
        to: the destination, such as `10.1.0.0/16`, or `default`.
        via: the address of the next router; of the first of them, if there are several.
        others: the addresses of further next routers, which take packets in equal parts (ECMP).
    """

    to: str
    via: str
    others: tuple[str, ...] = ()

    @property
    def next_hops(self) -> tuple[str, ...]:
        """The addresses of all next routers."""
        return (self.via, *self.others)

    @property
    def words(self) -> str:
        """The route as `ip route add` takes it."""
        if not self.others:
            return f"{self.to} via {self.via}"
        return " ".join((self.to, *(f"nexthop via {hop}" for hop in self.next_hops)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A network namespace with an address; a router, if it forwards.

    Attributes:
        name: a name such as `h1`; interfaces are named after it, a long one abbreviated
            (`longfat.model.network.devices`).
        address: IPv4 or IPv6 address with prefix length, such as `10.0.0.1/8`,
            of the host's first interface, or `longfat.model.network.slaac.SLAAC`; none, if None.
        forwards: it passes on packets that are not for itself, as a router does.
        routes: its static routes.
        timing: how long its CPU takes; that of the network's testbed, if None.
        offloads: what its interfaces do to packets, as `ethtool -K` takes it.
        rx_coalescing_s: it takes packets in at most once in this time, in seconds.
        nat: how it translates addresses (`longfat.model.network.nat`); not at all, if None.
        root: its own root file system; the machine's, if None.
        clock: how its clock is wrong; it is the machine's, if None.
    """

    name: str
    address: str | None
    forwards: bool = declare(
        Flag(),
        default=False,
        label="Forwards",
        help="it passes on packets that are not for itself, as a router does",
    )
    routes: tuple[Route, ...] = ()
    timing: HostTiming | None = None
    offloads: str = declare(
        Text(what="offloads (such as tso off)", example="gro on", problem=_offloads_problem),
        default="",
        label="Offloads",
        help="what all its interfaces do to packets, as `ethtool -K` takes it",
        absent="Linux's",
    )
    rx_coalescing_s: float | None = declare(
        Time(minimum=1e-6, maximum=1.0, example="20us", bare_seconds=False),
        default=None,
        label="RX coalescing",
        help="it takes packets in at most once in this time, those of a flow together (GRO),"
        " as a network card that moderates its interrupts",
        absent="each at once",
    )
    nat: str | None = declare(
        Text(what=f"one of {', '.join(NATS)}", example="home", problem=nat_problem),
        default=None,
        label="NAT",
        help="it translates addresses where its default route leads, and drops unsolicited"
        " packets: `home`, `cgnat`, `symmetric` or `corporate`; it has to forward",
    )
    root: HostRoot | None = declare(  # noqa: RUF009  as all the others
        ImageName(),
        default=None,
        label="Root",
        help="the image whose programs run there: a file as `docker save` or `podman save` writes"
        " it, an OCI layout, or a folder with a root file system",
        absent="this computer's programs",
    )
    clock: HostClock | None = declare(  # noqa: RUF009  as all the others
        ClockKind(),
        default=None,
        label="Clock",
        help="how its clock is wrong: `{offset: 3s, drift: 100ppm}`, or an offset alone; it needs"
        " a kernel that can do so, such as 6.12+clock",
        absent="right",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A learning bridge in the root namespace."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VlanAddress:
    """An address of a host in a VLAN, whose packets have tags.

    Attributes:
        vlan: the VLAN's number.
        address: the address with prefix length.
    """

    vlan: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A veth pair between two nodes, named by their names.

    Attributes:
        a: the node at one end.
        b: the node at the other.
        a_to_b: what happens to packets from `a` to `b`.
        b_to_a: what happens to those of the other direction.
        a_address: address with prefix length of the interface at `a`, or SLAAC, in place of
            the host's own, which is that of its first interface.
        b_address: likewise at `b`.
        a_vlan_addresses: the addresses in VLANs of the interface at `a`.
        b_vlan_addresses: likewise at `b`.
        mtu_bytes: the largest packet, in bytes; Linux's 1500, if None.
        vlan: the VLAN of packets without tags at a switch's port; see
            `longfat.model.network.vlans`.
        vlans: the VLANs of packets with tags there.
        offloads: what the interfaces at both ends do to packets, as `ethtool -K` takes it.
    """

    a: str
    b: str
    a_to_b: LinkImpairments = UNIMPAIRED
    b_to_a: LinkImpairments = UNIMPAIRED
    a_address: str | None = None
    b_address: str | None = None
    a_vlan_addresses: tuple[VlanAddress, ...] = ()
    b_vlan_addresses: tuple[VlanAddress, ...] = ()
    mtu_bytes: int | None = declare(
        Size(minimum=68, maximum=65535),  # what IPv4 can do with (RFC 791), and the most of a veth
        default=None,
        label="MTU",
        help="the largest packet",
        absent="1500",
    )
    vlan: int | None = declare(
        VLAN,
        default=None,
        label="VLAN",
        help="the VLAN of packets without tags at the switch's port: that of an access port, or the"
        " native one of a trunk",
        absent="1, where other links have VLANs",
    )
    vlans: tuple[int, ...] = declare(
        Integers(each=VLAN, what="a list of VLANs (such as [10, 20])"),
        default=(),
        label="VLANs",
        help="the VLANs of packets with tags at the switch's port: of a trunk",
        absent="between switches all of the network's; else those of `addresses`",
    )
    offloads: str = declare(
        Text(what="offloads (such as tso off)", example="tso off", problem=_offloads_problem),
        default="",
        label="Offloads",
        help="what the interfaces at both ends do to packets, as `ethtool -K` takes it",
        absent="Linux's",
    )

    def summary(self, *, there: str = "→", back: str = "←") -> tuple[str, ...]:
        """Return its properties in a few words, a line for each direction where they differ.

        Args:
            there: the arrow from `a` to `b`.
            back: the arrow from `b` to `a`.

        Returns:
            The lines; none for a link without properties.
        """
        if self.a_to_b == self.b_to_a:
            lines = [self.a_to_b.summary()]
        else:
            both = ((there, self.a_to_b.summary()), (back, self.b_to_a.summary()))
            lines = [f"{arrow} {words}" for arrow, words in both if words]
        if self.mtu_bytes is not None:
            lines.append(f"MTU {self.mtu_bytes}")
        if self.vlan is not None:
            lines.append(f"VLAN {self.vlan}")
        if self.vlans:
            lines.append(f"VLANs {', '.join(map(str, self.vlans))}")
        lines.append(self.offloads)
        return tuple(line for line in lines if line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Nodes and links. Interfaces are numbered per node in the order of the links.

    Hosts count from 0 (`h1-eth0`) and switches from 1 (`s1-eth1`), as Mininet
    and MiniEdit do, so that the labs' commands fit.

    Attributes:
        hosts: hosts and routers.
        switches: the switches.
        links: the links.
        bonds: links that are one interface (`longfat.model.network.bonds`).
        tunnels: the tunnels between hosts; their interfaces are numbered per host (`h1-tun0`).
        testbed: the timing of the one computer that runs the switches and all hosts
            without a timing of their own; infinitely fast, if None.
        frames: each packet of TCP on a link is one frame, not a GSO packet.
        cold_neighbours: hosts do not know each other's link-layer addresses when the traffic
            of a run starts. They never do in live networks.
        shared_kernel: all hosts are namespaces of one Linux kernel, as Mininet's, and what waits
            at a switch stays charged to its sender's socket; else as separate computers.
    """

    hosts: tuple[Host, ...]
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]
    tunnels: tuple[Tunnel, ...] = ()
    bonds: tuple[Bond, ...] = ()
    testbed: HostTiming | None = None
    frames: bool = declare(
        Flag(),
        default=False,
        label="Each packet a frame",
        help="each packet of TCP on a link is one frame, as on a wire, and not a GSO packet of"
        " up to 64 KB: losses, queues and captures count frames",
    )
    cold_neighbours: bool = declare(
        Flag(),
        default=False,
        label="Cold neighbours",
        help="the first packets of a run wait for ARP or neighbour discovery, as on a network that"
        " was just built",
        absent="hosts and routers know the link-layer addresses of those to whom flows lead",
    )
    shared_kernel: bool = declare(
        Flag(),
        default=False,
        label="One kernel for all hosts",
        help="all hosts share a kernel, as in Mininet: a packet that waits at a switch stays"
        " charged to its sender's socket, up to the first netem with a delay, so TCP small queues"
        " and UDP's send buffer feel that queue",
        absent="hosts are separate computers: a packet's charge ends where it leaves its host",
    )

    @property
    def packet_words(self) -> str:
        """What a packet on a link is, in a few words."""
        if self.frames:
            return "each packet on a link is a frame"
        return "TCP's packets on links are of up to 64 KB (GSO)"

    @property
    def has_timing(self) -> bool:
        """Whether any CPU in it takes time."""
        return any(timing for timing in (self.testbed, *(host.timing for host in self.hosts)))

    @property
    def roots(self) -> dict[str, HostRoot]:
        """The root file systems of the hosts that have one of their own, by host."""
        return {host.name: host.root for host in self.hosts if host.root is not None}

    def node_names(self) -> tuple[str, ...]:
        """Return the names of the hosts and then of the switches."""
        hosts = tuple(host.name for host in self.hosts)
        return hosts + tuple(switch.name for switch in self.switches)

    def interfaces(self) -> list[tuple[str, str]]:
        """Return the interface names of both ends of each link, in the links' order.

        They are Linux's; those of a node with a long name are short
        (`longfat.model.network.devices`).
        """
        return self._numbered(device_name)

    def tunnel_interfaces(self) -> list[tuple[str, str]]:
        """Return the interface names of both ends of each tunnel, in the tunnels' order."""
        count: dict[str, int] = {}
        pairs = []
        for tunnel in self.tunnels:
            ends = []
            for node in (tunnel.a, tunnel.b):
                number = count.setdefault(node, 0)
                count[node] += 1
                ends.append(tunnel_interface(node, number))
            pairs.append((ends[0], ends[1]))
        return pairs

    def bond_links(self, bond: Bond) -> tuple[int, ...]:
        """Return the indices of the links of a bond."""
        return links_between(bond, [(link.a, link.b) for link in self.links])

    def bond_ends(self) -> list[BondEnd]:
        """Return the interfaces of its bonds, those of a bond together."""
        if not self.bonds:
            return []
        return ends_of(
            self.bonds,
            pairs=[(link.a, link.b) for link in self.links],
            interfaces=self.interfaces(),
            switches={switch.name for switch in self.switches},
        )

    def bond_devices(self) -> dict[str, str]:
        """Return the bond's interface of each interface that is part of a bond."""
        return {slave: end.device for end in self.bond_ends() for slave in end.slaves}

    def first_bond_links(self) -> dict[int, int]:
        """Return the first link of its bond for each link that is part of one, by indices."""
        bonded = (self.bond_links(bond) for bond in self.bonds)
        return {number: links[0] for links in bonded for number in links}

    def full_interface_names(self) -> dict[str, str]:
        """Return the full names of the interfaces that have short ones, by interface."""
        full = self._numbered(lambda node, end: f"{node}{end}")
        return {
            short: long
            for pair in zip(self.interfaces(), full, strict=True)
            for short, long in zip(*pair, strict=True)
            if short != long
        }

    def _numbered(self, named: Callable[[str, str], str]) -> list[tuple[str, str]]:
        count = {host.name: 0 for host in self.hosts}
        count |= {switch.name: 1 for switch in self.switches}
        pairs = []
        for link in self.links:
            ends = []
            for node in (link.a, link.b):
                ends.append(named(node, f"-eth{count[node]}"))
                count[node] += 1
            pairs.append((ends[0], ends[1]))
        return pairs

    def addresses(self) -> list[tuple[str | None, str | None]]:
        """Return the addresses of both ends of each link, in the links' order.

        An end has the address that its link gives it, else its host's own, if it
        is the host's first interface, else none. One by SLAAC is that which the host will
        form; none, where no router advertises.
        """
        pairs = self.written_addresses()
        for subnet in self.slaac_subnets():
            for host in subnet.hosts:
                a, b = pairs[host.link]
                own = subnet.address(host)
                pairs[host.link] = (own, b) if host.is_first else (a, own)
        return pairs

    def slaac_subnets(self) -> tuple[SlaacSubnet, ...]:
        """Return the subnets with interfaces that form their addresses by SLAAC."""
        written = self.written_addresses()
        if not any(SLAAC in pair for pair in written):
            return ()
        return subnets_of(
            pairs=[(link.a, link.b) for link in self.links],
            interfaces=self.interfaces(),
            written=written,
            switches={switch.name for switch in self.switches},
            routers={host.name for host in self.hosts if host.forwards},
            bonded=self.bond_devices(),
        )

    def written_addresses(self) -> list[tuple[str | None, str | None]]:
        """Return what `addresses` does, with SLAAC in place of addresses that hosts form."""
        own = {host.name: host.address for host in self.hosts}
        pairs = []
        for link in self.links:
            ends = []
            for node, given in ((link.a, link.a_address), (link.b, link.b_address)):
                first = own.pop(node, None)
                ends.append(given or first)
            pairs.append((ends[0], ends[1]))
        return pairs

    def outside_interface(self, host: Host) -> str | None:
        """Return the interface that a host's default route leads through; None without one."""
        gateways = [
            ipaddress.ip_address(hop)
            for route in host.routes
            if route.to == "default"
            for hop in route.next_hops
        ]
        bonded = self.bond_devices()
        for link, names, addresses in zip(
            self.links, self.interfaces(), self.addresses(), strict=True
        ):
            for node, name, address in zip((link.a, link.b), names, addresses, strict=True):
                if node == host.name and address is not None:
                    near = ipaddress.ip_interface(address).network
                    if any(gateway in near for gateway in gateways):
                        return bonded.get(name, name)
        return None

    def host_addresses(self) -> dict[str, str]:
        """Return the address that each host is called by, without prefix length.

        It is that of its first interface that has one, or the host's own where no
        link leads to it, or else that of its first tunnel. A host without any address is
        not in the mapping.
        """
        found: dict[str, str] = {}
        hosts = {host.name for host in self.hosts}
        for link, pair in zip(self.links, self.addresses(), strict=True):
            for node, address in zip((link.a, link.b), pair, strict=True):
                if address is not None and node in hosts:
                    found.setdefault(node, address)
        for link in self.links:
            for node, own in ((link.a, link.a_vlan_addresses), (link.b, link.b_vlan_addresses)):
                found.update({node: own[0].address} if own and node not in found else {})
        for host in self.hosts:
            if host.address not in {None, SLAAC}:
                found.setdefault(host.name, host.address)
        for tunnel in self.tunnels:
            found.setdefault(tunnel.a, tunnel.a_address)
            found.setdefault(tunnel.b, tunnel.b_address)
        return {
            host.name: found[host.name].partition("/")[0]
            for host in self.hosts
            if host.name in found
        }

    def interfaces_by_node(self, names: Iterable[str]) -> dict[str, list[str]]:
        """Return interfaces grouped by where they are visible: a host, or `ROOT_NAMESPACE`.

        Args:
            names: names of interfaces of this network.

        Raises:
            KeyError: there is no such interface.
        """
        hosts = {host.name for host in self.hosts}
        homes = {
            name: node if node in hosts else ROOT_NAMESPACE
            for link, pair in zip(self.links, self.interfaces(), strict=True)
            for node, name in zip((link.a, link.b), pair, strict=True)
        }
        homes |= {end.device: end.node for end in self.bond_ends() if end.node in hosts}
        homes |= {end.device: ROOT_NAMESPACE for end in self.bond_ends() if end.node not in hosts}
        grouped: dict[str, list[str]] = {}
        for name in names:
            grouped.setdefault(homes[name], []).append(name)
        return grouped
