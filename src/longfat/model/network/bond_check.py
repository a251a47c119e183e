"""What is wrong with the bonds of a network: their ends, options and times, and their links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.model.network.bonds import HASHING, LACP, PEERLESS, SWITCHED, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network.bonds import Bond
    from longfat.model.network.model import Network

_ROUNDING_MS = 1e-6


def bond_problems(network: Network) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Find what is wrong with a network's bonds.

    Yields:
        The fields that lead to it, and what was found and would be right.
    """
    owners: dict[int, int] = {}
    for index, bond in enumerate(network.bonds):
        links = network.bond_links(bond)
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
    linked = [{network.links[i].a, network.links[i].b} for i in network.bond_links(bond)]
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
    names = [name for number in network.bond_links(bond) for name in network.interfaces()[number]]
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
        if abs(time_s * 1000 - milliseconds(time_s)) > _ROUNDING_MS:
            yield (key,), "it is not a whole number of milliseconds"
        elif milliseconds(time_s) % max(1, milliseconds(bond.miimon_s)):
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
