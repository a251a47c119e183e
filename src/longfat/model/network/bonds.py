"""Bonds: parallel links that are one interface, and the lines that make them (Linux's bonding).

A bond is an interface `NODE-bond0`, `NODE-bond1` and so on, whose slaves are the interfaces of a
node towards the bond's peers. Its first link's interface is its first slave, and the bond has
the addresses that this interface would have.

Links to one peer are bonded at both ends, since both have to take them as one, apart from a switch
as the peer of a host in a mode that needs none there: with `active-backup` one link carries
packets, and with `balance-tlb` and `balance-alb` each slave has a link-layer address of its own.
Links to several switches are bonded at the host alone, in one of these modes.

Sources: ip-link(8), "BOND Type Support"; Documentation/networking/bonding.rst.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import Flag, OneOf, Text, Time
from longfat.model.network.devices import device_stem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network.model import Network

ACTIVE_BACKUP, BALANCE_RR, BALANCE_XOR = "active-backup", "balance-rr", "balance-xor"
BROADCAST, LACP, BALANCE_TLB, BALANCE_ALB = "broadcast", "802.3ad", "balance-tlb", "balance-alb"

PEERLESS = frozenset((ACTIVE_BACKUP, BALANCE_TLB, BALANCE_ALB))
"""Modes in which a switch needs no bond."""

SWITCHED = frozenset((BALANCE_TLB, BALANCE_ALB))
"""Modes that need a switch: other slaves than the active one take no packets to the bond."""

HASHING = frozenset((BALANCE_XOR, LACP))
"""Modes in which `hash` selects the link."""

_FIRST_HASH = "layer2"
_ROUNDING_MS = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """Links that are one interface.

    Attributes:
        a: the node at one end.
        peers: the node at the other, or several switches.
        mode: how packets are spread, as Linux calls it.
        hash: what selects the link of a packet; Linux's `layer2`, if None.
        miimon_s: how often the carrier of the links is checked, in seconds.
        updelay_s: how long a link that came up waits until it is used, in seconds.
        downdelay_s: how long a link that went down is still used, in seconds.
        primary: the interface that is active whenever it is up; the one that is, if None.
        lacp_fast: LACP's partner sends every second, and not every 30 seconds.
    """

    a: str
    peers: tuple[str, ...]
    mode: str = declare(
        OneOf(
            what="a mode of bonding",
            options=(
                *(ACTIVE_BACKUP, BALANCE_XOR, LACP, BALANCE_RR),
                *(BROADCAST, BALANCE_TLB, BALANCE_ALB),
            ),
        ),
        default=REQUIRED,
        label="Mode",
        help="how packets are spread: `active-backup` has one link carry all; `balance-xor` and"
        " `802.3ad` (LACP) select by `hash`; `balance-rr` takes each in turn; `broadcast` sends by"
        " all; `balance-tlb` and `balance-alb` select by load, towards switches alone",
    )
    hash: str | None = declare(
        OneOf(
            what="a policy of hashing",
            options=(*("layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"),),
        ),
        default=None,
        label="Hash",
        help="with `balance-xor` and `802.3ad`, what of a packet selects its link"
        " (`xmit_hash_policy`)",
        absent=f"`{_FIRST_HASH}`: link-layer addresses",
    )
    miimon_s: float = declare(
        Time(minimum=0.001, maximum=3600, example="100ms", bare_seconds=False),
        default=0.1,
        label="MII monitoring",
        help="how often the links' carrier is checked; packets are lost until it is",
    )
    updelay_s: float = declare(
        Time(maximum=3600, example="200ms", bare_seconds=False),
        default=0.0,
        label="Up delay",
        help="how long a link that came up waits until it is used, a multiple of `miimon`",
    )
    downdelay_s: float = declare(
        Time(maximum=3600, example="200ms", bare_seconds=False),
        default=0.0,
        label="Down delay",
        help="how long a link that went down is still used, a multiple of `miimon`",
    )
    primary: str | None = declare(
        Text(what="an interface of the bond", example="h1-eth0"),
        default=None,
        label="Primary",
        help="with `active-backup`, `balance-tlb` and `balance-alb`, the interface whose link is"
        " active whenever it is up",
        absent="a link that comes up again waits",
    )
    lacp_fast: bool = declare(
        Flag(),
        default=False,
        label="Fast LACP",
        help="with `802.3ad`, partners send each second, and not each 30 s (`lacp_rate fast`)",
    )

    @property
    def text(self) -> str:
        """Its ends, for messages."""
        return f"{self.a} and {', '.join(self.peers)}"

    def options(self, *, primary: str | None) -> str:
        """Return what `ip link add` takes for it.

        Args:
            primary: the name of the primary interface where it is made.
        """
        options = [f"mode {self.mode}", f"miimon {_milliseconds(self.miimon_s)}"]
        if self.hash is not None:
            options.append(f"xmit_hash_policy {self.hash}")
        for name, delay_s in (("updelay", self.updelay_s), ("downdelay", self.downdelay_s)):
            if delay_s:
                options.append(f"{name} {_milliseconds(delay_s)}")
        if self.lacp_fast:
            options.append("lacp_rate fast")
        if primary is not None:
            options.append(f"primary {primary}")
        return " ".join(options)


def _milliseconds(time_s: float) -> int:
    return round(time_s * 1000)


@dataclass(frozen=True, slots=True, kw_only=True)
class BondEnd:
    """A bond's interface at one node.

    Attributes:
        bond: the bond.
        index: the bond's index among the network's.
        node: the node.
        device: the interface.
        slaves: the interfaces that it is made of, in the links' order.
        links: the links' indices.
        primary: the primary interface, if one was written.
    """

    bond: Bond
    index: int
    node: str
    device: str
    slaves: tuple[str, ...]
    links: tuple[int, ...]
    primary: str | None

    def lines(self, *, mtu_bytes: int | None) -> list[str]:
        """Return the lines, without the word `ip`, that make it; its slaves are down before.

        Args:
            mtu_bytes: the MTU of its links; Linux's, if None.
        """
        mtu = "" if mtu_bytes is None else f" mtu {mtu_bytes}"
        options = self.bond.options(primary=self.primary)
        return [
            f"link add {self.device}{mtu} type bond {options}",
            *(f"link set {slave} master {self.device}" for slave in self.slaves),
            f"link set {self.device} up",
        ]


def links_of(network: Network, bond: Bond) -> tuple[int, ...]:
    """Return the indices of a bond's links."""
    return tuple(
        index
        for index, link in enumerate(network.links)
        if any({link.a, link.b} == {bond.a, peer} for peer in bond.peers)
    )


def bond_ends(network: Network) -> list[BondEnd]:
    """Return the interfaces of a network's bonds, those of a bond together."""
    if not network.bonds:
        return []
    interfaces = network.interfaces()
    switches = {switch.name for switch in network.switches}
    count: dict[str, int] = {}
    ends = []
    for index, bond in enumerate(network.bonds):
        links = links_of(network, bond)
        pairs = [interfaces[number] for number in links]
        primary = next((pair for pair in pairs if bond.primary in pair), ())
        for node in _bonded_nodes(bond, switches):
            slaves = tuple(
                pair[0] if network.links[number].a == node else pair[1]
                for number, pair in zip(links, pairs, strict=True)
            )
            ends.append(
                BondEnd(
                    bond=bond,
                    index=index,
                    node=node,
                    device=f"{device_stem(node)}-bond{count.setdefault(node, 0)}",
                    slaves=slaves,
                    links=links,
                    primary=next((name for name in slaves if name in primary), None),
                )
            )
            count[node] += 1
    return ends


def _bonded_nodes(bond: Bond, switches: set[str]) -> Iterator[str]:
    nodes = (bond.a, *bond.peers)
    if bond.mode in PEERLESS and not switches.issuperset(nodes):
        hosts = [node for node in nodes if node not in switches]
        yield from hosts
    elif len(bond.peers) == 1:
        yield from nodes
    else:
        yield bond.a


def bond_devices(network: Network) -> dict[str, str]:
    """Return the bond's interface of each interface that is part of a bond."""
    return {slave: end.device for end in bond_ends(network) for slave in end.slaves}


def first_links(network: Network) -> dict[int, int]:
    """Return the first link of its bond for each link that is part of one, by their indices."""
    return {
        number: links[0]
        for links in (links_of(network, bond) for bond in network.bonds)
        for number in links
    }


def bond_problems(network: Network) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find what is wrong with a network's bonds.

    Yields:
        The fields that lead to it, and what was found and would be right.
    """
    owners: dict[int, int] = {}
    for index, bond in enumerate(network.bonds):
        links = links_of(network, bond)
        for path, text in (
            *_of_ends(network, bond),
            *_of_options(network, bond),
            *_of_times(bond),
        ):
            yield ("bonds", index, *path), text
        for number in links:
            other = owners.setdefault(number, index)
            if other != index:
                yield ("bonds", index), f"the links of {bond.text} are in another bond already"
                break
        yield from _of_links(network, bond, links)


def _of_ends(network: Network, bond: Bond) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield what is wrong with the nodes that a bond leads to, and its mode there."""
    switches = {switch.name for switch in network.switches}
    linked = [{network.links[i].a, network.links[i].b} for i in links_of(network, bond)]
    missing = [peer for peer in bond.peers if {bond.a, peer} not in linked]
    if missing:
        yield (), f"no link leads from {bond.a} to {missing[0]}"
    elif len(linked) < 2:
        yield (), f"a bond has several links, and one leads from {bond.a} to {bond.peers[0]}"
    if len(bond.peers) > 1:
        if bond.a in switches or not switches.issuperset(bond.peers):
            yield (), "a bond with several nodes at its other end is one of a host and switches"
        elif bond.mode not in PEERLESS:
            yield (
                ("mode",),
                f"{bond.mode} needs one node at the other end, which bonds the links, too: towards"
                " several switches take active-backup, balance-tlb or balance-alb",
            )
    elif bond.mode in SWITCHED and len(switches & {bond.a, *bond.peers}) != 1:
        yield ("mode",), f"{bond.mode} is a mode of a host's links to switches"


def _of_options(network: Network, bond: Bond) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the options of a bond that its mode or its links do not have."""
    if bond.hash is not None and bond.mode not in HASHING:
        yield ("hash",), f"{bond.mode} selects links without a hash: that is one of balance-xor"
    if bond.lacp_fast and bond.mode != LACP:
        yield ("lacp_fast",), f"{bond.mode} has no LACP, which is 802.3ad's"
    if bond.primary is None:
        return
    names = [name for number in links_of(network, bond) for name in network.interfaces()[number]]
    if bond.mode not in PEERLESS:
        yield ("primary",), f"{bond.mode} uses all links, and has no primary one"
    elif bond.primary not in names:
        yield (
            ("primary",),
            f"{bond.primary!r} is no interface of the bond (there are: {', '.join(names)})",
        )


def _of_times(bond: Bond) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the times of a bond that Linux would round."""
    times = {"miimon": bond.miimon_s, "updelay": bond.updelay_s, "downdelay": bond.downdelay_s}
    for key, time_s in times.items():
        if abs(time_s * 1000 - _milliseconds(time_s)) > _ROUNDING_MS:
            yield (key,), "it is not a whole number of milliseconds"
        elif _milliseconds(time_s) % max(1, _milliseconds(bond.miimon_s)):
            yield (key,), "it is not a multiple of miimon, and Linux would round it down"


def _of_links(
    network: Network, bond: Bond, links: tuple[int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what is wrong with the links of a bond, at the links."""
    if not links:
        return
    first = network.links[links[0]]
    for number in links[1:]:
        link = network.links[number]
        for key, own, other in (
            ("mtu", link.mtu_bytes, first.mtu_bytes),
            ("vlan", link.vlan, first.vlan),
            ("vlans", link.vlans, first.vlans),
        ):
            if own != other:
                yield (
                    ("links", number, key),
                    f"the links between {bond.text} are bonded: give all of them the same {key}",
                )
        for node, addresses in (
            (link.a, (link.a_address, *link.a_vlan_addresses)),
            (link.b, (link.b_address, *link.b_vlan_addresses)),
        ):
            if any(addresses):
                yield (
                    ("links", number, "addresses", node),
                    f"the links between {bond.text} are bonded: the address is that of the bond,"
                    " so write it at the first of them, or at the host",
                )
