"""VLANs: which of them a switch's port carries, and the lines that make them (IEEE 802.1Q).

A network with a VLAN in any link has switches that know VLANs (Linux's `vlan_filtering`). A port
is in one VLAN without tags, that of `vlan`, and carries others with tags:

* towards a host: VLAN 1, or `vlan`; with `vlans`, or with addresses by VLAN at the host, it is a
  trunk of those, and in VLAN 1 only if the host has an address without tags there;
* towards another switch: all VLANs of the network, and VLAN 1 without tags; with `vlans`,
  those alone.

Sources: bridge(8), "bridge vlan"; ip-link(8), "VLAN Type Support".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from longfat.model.network.model import Link, Network, VlanAddress

DEFAULT_VLAN = 1
"""The VLAN of a port of Linux's bridges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """The VLANs of a switch's port.

    Attributes:
        untagged: the VLAN of packets without tags; they are dropped, if None.
        tagged: those of packets with tags.
    """

    untagged: int | None
    tagged: frozenset[int]

    def vlan_of(self, tag: int | None) -> int | None:
        """Return the VLAN that a packet comes in by; None if it is dropped."""
        if tag is None:
            return self.untagged
        return tag if tag in self.tagged else None

    def lets_out(self, vlan: int) -> bool:
        """Return whether packets of a VLAN leave by it."""
        return vlan == self.untagged or vlan in self.tagged

    def tag_of(self, vlan: int) -> int | None:
        """Return the tag with which packets of a VLAN leave by it."""
        return None if vlan == self.untagged else vlan

    def lines(self, device: str) -> tuple[str, ...]:
        """Return the lines of `bridge` that put a port of a bridge into its VLANs."""
        lines = []
        if self.untagged != DEFAULT_VLAN:
            lines.append(f"bridge vlan del dev {device} vid {DEFAULT_VLAN}")
            if self.untagged is not None:
                lines.append(f"bridge vlan add dev {device} vid {self.untagged} pvid untagged")
        lines += [f"bridge vlan add dev {device} vid {vlan}" for vlan in sorted(self.tagged)]
        return tuple(lines)


def vlans_of(network: Network) -> frozenset[int]:
    """Return the numbers of all VLANs in a network; none, if its switches know no VLANs."""
    found: set[int] = set()
    for link in network.links:
        found.update(link.vlans)
        found.update({link.vlan} - {None})  # type: ignore[arg-type]
        found.update(one.vlan for one in (*link.a_vlan_addresses, *link.b_vlan_addresses))
    return frozenset(found)


def ports_of(network: Network) -> list[Port | None]:
    """Return the port at the switches of each link; None for links without a switch.

    A bond's links have the port of the first of them, which has the addresses.
    """
    every = vlans_of(network)
    switches = {switch.name for switch in network.switches}
    ports = [
        _port(link, addresses, every, switches & {link.a, link.b})
        for link, addresses in zip(network.links, network.written_addresses(), strict=True)
    ]
    first = network.first_bond_links()
    return [ports[first.get(index, index)] for index in range(len(ports))]


def _port(
    link: Link,
    addresses: tuple[str | None, str | None],
    every: frozenset[int],
    switches: set[str],
) -> Port | None:
    if not switches or not every:
        return None
    at_host = {one.vlan for one in (*link.a_vlan_addresses, *link.b_vlan_addresses)}
    is_open = len(switches) > 1 and not link.vlans  # a trunk of all VLANs
    tagged = every if is_open else {*link.vlans, *at_host}
    untagged = link.vlan
    if untagged is None:
        has_address = len(switches) == 1 and any(address is not None for address in addresses)
        if is_open or not tagged or DEFAULT_VLAN in tagged or has_address:
            untagged = DEFAULT_VLAN
    return Port(untagged=untagged, tagged=frozenset(tagged) - {untagged})


def vlan_device(interface: str, vlan: int) -> str:
    """Return the name of a host's interface in a VLAN."""
    return f"{interface}.{vlan}"


def host_lines(interface: str, own: tuple[VlanAddress, ...]) -> list[str]:
    """Return the lines, without the word `ip`, that make a host's interfaces in VLANs."""
    lines = []
    for one in own:
        device = vlan_device(interface, one.vlan)
        sure = " nodad" if ":" in one.address else ""
        lines += [
            f"link add link {interface} name {device} type vlan id {one.vlan}",
            f"link set {device} up",
            f"addr add {one.address} dev {device}{sure}",
        ]
    return lines
