"""Mininet's options and what they mean in a study, and commands for what it has no option for.

MiniEdit's files and Mininet's scripts have the same options of TCLink. If an option means something
else in Mininet than in a study, that is noted:

* `max_queue_size` counts packets, here taken as of 1500 bytes; Mininet counts
  those that are on the line, too;
* without it, Mininet's queue is one of 1,000 packets, netem's own or that of a veth pair, and
  Mininet's netem holds no more than that on the line;
* Mininet draws the jitter evenly from both sides of the delay;
* a delay without a unit is in microseconds, as tc has it.

Mininet supports one address for a host, one default route and no more; the rest is written as
shell commands.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.case import Command
from longfat.model.network import ROOT_NAMESPACE, LinkImpairments, interface_commands
from longfat.model.network.shape import FRAME_BYTES, MIN_QUEUE_PACKETS, default_queue_bytes
from longfat.model.network.vlans import vlans_of
from longfat.model.units import parse_time_s

if TYPE_CHECKING:
    from longfat.model.network import Host, Network

PACKET_BYTES = 1500
"""What a packet of `max_queue_size` is taken as."""

MIN_QUEUE_BYTES = 1518

MAX_MBIT = 1000
"""Mininet ignores a `bw` above this."""

DEFAULT_PACKETS = 1000
"""The queue of Mininet without `max_queue_size`."""

_BARE = re.compile(r"[0-9]+(\.[0-9]*)?")


@dataclass(slots=True)
class Notes:
    """What could not be carried over, in the order in which it was met."""

    texts: list[str] = field(default_factory=list)

    def add(self, who: str, what: str) -> None:
        """Note what is left out or differs, once."""
        text = f"{who}: {what}"
        if text not in self.texts:
            self.texts.append(text)


def link_time_s(text: str, *, name: str, who: str, notes: Notes) -> float:
    """Return a delay or jitter in seconds.

    Args:
        text: the option's text, such as `10ms`.
        name: what the option is called.
        who: the link, for notes.
        notes: collects what is read differently.

    Raises:
        InputError: it is no time.
    """
    if _BARE.fullmatch(text):
        if float(text):
            notes.add(who, f"{name} {text} has no unit: tc takes it as microseconds, and so do we")
        text += "us"
    return parse_time_s(text)


def link_shape(
    *,
    megabits: float | None,
    packets: float | None,
    percent: float | None,
    delay_s: float | None,
    jitter_s: float | None,
    who: str,
    notes: Notes,
    qdisc: str | None = None,
) -> LinkImpairments:
    """Return what a TCLink does to the packets of one direction.

    Args:
        megabits: `bw`, in Mbit/s.
        packets: `max_queue_size`, in packets.
        percent: `loss`, from 0 to 100.
        delay_s: `delay`, in seconds.
        jitter_s: `jitter`, in seconds.
        who: the link, for notes.
        notes: collects what is left out or read differently.
        qdisc: the discipline of its queue, which has a limit of its own.
    """
    if megabits is not None and megabits > MAX_MBIT:
        notes.add(who, f"bw {megabits:g}: Mininet ignores more than {MAX_MBIT}; here it counts")
    if megabits == 0:
        notes.add(who, "bw 0 is left out")
        megabits = None
    if packets is not None and megabits is None:
        why = (
            f"Mininet's netem drops beyond {packets:g} packets on the line"
            if delay_s
            else "without bw nothing queues"
        )
        notes.add(who, f"max_queue_size is left out: {why}")
        packets = None
    elif packets is None and megabits is None and delay_s:
        notes.add(
            "links with a delay and without bw",
            f"Mininet's netem drops beyond {DEFAULT_PACKETS:,} packets on the line; here there is"
            " no limit",
        )
    if jitter_s and not delay_s:
        notes.add(who, "jitter is left out: there is no delay for it to vary")
        jitter_s = None
    if jitter_s:
        notes.add(who, "jitter: Mininet draws it evenly from both sides, longfat normally")
    shape = LinkImpairments(
        rate_bps=None if megabits is None else round(megabits * 1e6),
        delay_s=delay_s or None,
        jitter_s=jitter_s or None,
        loss=percent / 100 if percent else None,
        qdisc=qdisc,
        queue_bytes=(
            None if packets is None else max(MIN_QUEUE_BYTES, round(packets) * PACKET_BYTES)
        ),
    )
    if packets is None and megabits is not None and qdisc is None:
        here = default_queue_bytes(shape) // FRAME_BYTES
        if here != DEFAULT_PACKETS:
            notes.add(
                f"links of bw {megabits:g} without max_queue_size",
                f"the queue holds {here:,} full packets here (one bandwidth-delay product, at least"
                f" {MIN_QUEUE_PACKETS}), {DEFAULT_PACKETS:,} in Mininet",
            )
    return shape


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
            and not route.others
            and ipaddress.ip_address(route.via) in ipaddress.ip_interface(ip or "").network
        ):
            gateway = route.via
        else:
            lines.append(f"ip route add {route.words}")
    return Addressing(ip=ip, gateway=gateway, lines=tuple(lines))


def check_writable(network: Network) -> None:
    """Check that a network's switches can be those of Mininet, which are no bridges of Linux.

    Raises:
        InputError: its links have VLANs or are bonded, or hosts form their addresses.
    """
    if network.bonds:
        raise InputError(
            "a network with bonds cannot be written for Mininet, which gives each link's interface"
            " its address: keep it as a study"
        )
    if network.slaac_subnets():
        raise InputError(
            "a network with addresses by SLAAC cannot be written for Mininet, where no router"
            " advertises: keep it as a study"
        )
    if vlans_of(network):
        raise InputError(
            "a network with VLANs cannot be written for Mininet, whose switches are Open vSwitch's:"
            " keep it as a study"
        )


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
