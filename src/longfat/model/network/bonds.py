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

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from longfat.model.fields import REQUIRED, declare
from longfat.model.kinds import Flag, OneOf, Text, Time
from longfat.model.network.devices import device_name

ACTIVE_BACKUP, BALANCE_RR, BALANCE_XOR = "active-backup", "balance-rr", "balance-xor"
BROADCAST, LACP, BALANCE_TLB, BALANCE_ALB = "broadcast", "802.3ad", "balance-tlb", "balance-alb"

PEERLESS = frozenset((ACTIVE_BACKUP, BALANCE_TLB, BALANCE_ALB))
"""Modes in which a switch needs no bond."""

SWITCHED = frozenset((BALANCE_TLB, BALANCE_ALB))
"""Modes that need a switch: other slaves than the active one take no packets to the bond."""

HASHING = frozenset((BALANCE_XOR, LACP))
"""Modes in which `hash` selects the link."""

_FIRST_HASH = "layer2"


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
        options = [f"mode {self.mode}", f"miimon {milliseconds(self.miimon_s)}"]
        if self.hash is not None:
            options.append(f"xmit_hash_policy {self.hash}")
        for name, delay_s in (("updelay", self.updelay_s), ("downdelay", self.downdelay_s)):
            if delay_s:
                options.append(f"{name} {milliseconds(delay_s)}")
        if self.lacp_fast:
            options.append("lacp_rate fast")
        if primary is not None:
            options.append(f"primary {primary}")
        return " ".join(options)


def milliseconds(time_s: float) -> int:
    """Return a time in seconds in whole milliseconds, as Linux takes it."""
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


def links_between(bond: Bond, pairs: Sequence[tuple[str, str]]) -> tuple[int, ...]:
    """Return the indices of a bond's links, of the nodes at the ends of each link."""
    return tuple(
        index
        for index, pair in enumerate(pairs)
        if any(set(pair) == {bond.a, peer} for peer in bond.peers)
    )


def ends_of(
    bonds: Sequence[Bond],
    *,
    pairs: Sequence[tuple[str, str]],
    interfaces: Sequence[tuple[str, str]],
    switches: Collection[str],
) -> list[BondEnd]:
    """Return the interfaces of bonds, those of a bond together.

    Args:
        bonds: the bonds.
        pairs: the nodes at the ends of each link of the network.
        interfaces: the interfaces there.
        switches: the nodes that are switches.
    """
    count: dict[str, int] = {}
    ends = []
    for index, bond in enumerate(bonds):
        links = links_between(bond, pairs)
        primary = next((interfaces[i] for i in links if bond.primary in interfaces[i]), ())
        for node in _bonded_nodes(bond, switches):
            slaves = tuple(
                interfaces[number][pairs[number].index(node)]
                for number in links
                if node in pairs[number]  # as it is not in a network with mistakes
            )
            ends.append(
                BondEnd(
                    bond=bond,
                    index=index,
                    node=node,
                    device=device_name(node, f"-bond{count.setdefault(node, 0)}"),
                    slaves=slaves,
                    links=links,
                    primary=next((name for name in slaves if name in primary), None),
                )
            )
            count[node] += 1
    return ends


def _bonded_nodes(bond: Bond, switches: Collection[str]) -> list[str]:
    nodes = [bond.a, *bond.peers]
    hosts = [node for node in nodes if node not in switches]
    if bond.mode in PEERLESS and hosts:
        return hosts
    return nodes if len(bond.peers) == 1 else [bond.a]
