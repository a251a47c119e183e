"""Broadcast domains: the interfaces of hosts that receive each other's frames.

Switches that are linked are one domain; with VLANs (`longfat.model.network.vlans`), one for each
VLAN. A link without a switch is a domain of its own. A bond has one interface at a host, which is
that of its first link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.network.check import Groups
from longfat.model.network.vlans import Port, ports_of

if TYPE_CHECKING:
    from longfat.model.network.model import Link, Network

Domain = tuple["Attachment", ...]
"""The interfaces of a broadcast domain, in the order of their links."""


@dataclass(frozen=True, slots=True)
class Attachment:
    """An interface of a host in a broadcast domain.

    Attributes:
        host: the host.
        link: the index of its link.
        is_first: it is at the link's first end.
        vlan: the tag of its packets; None without one.
    """

    host: str
    link: int
    is_first: bool
    vlan: int | None = None


def broadcast_domains(network: Network) -> list[Domain]:
    """Return the broadcast domains with hosts in them, in the order of their first links."""
    hosts = {host.name for host in network.hosts}
    first = network.first_bond_links()
    groups = Groups()
    attachments: list[Attachment] = []
    every = zip(network.links, ports_of(network), network.written_addresses(), strict=True)
    for index, (link, port, untagged) in enumerate(every):
        own = first.get(index, index)
        nodes = ((link.a, True), (link.b, False))
        for tag in _tags(link, port, has_untagged=any(untagged)):
            here = [Attachment(node, own, at_a, tag) for node, at_a in nodes if node in hosts]
            vlan = tag if port is None else port.vlan_of(tag)
            ends = [_key(one) for one in here]
            ends += [f"{node} {vlan}" for node, _ in nodes if node not in hosts]
            groups.join(*ends)
            attachments += here if own == index else []
    domains: dict[str, list[Attachment]] = {}
    for one in attachments:
        domains.setdefault(groups.find(_key(one)), []).append(one)
    return [tuple(ends) for ends in domains.values()]


def _tags(link: Link, port: Port | None, *, has_untagged: bool) -> Sequence[int | None]:
    """Return the tags that packets have on a link, at its hosts; None for those without one."""
    if port is None:
        vlans = {one.vlan for one in (*link.a_vlan_addresses, *link.b_vlan_addresses)}
        is_plain = has_untagged or not vlans
    else:
        vlans = set(port.tagged)
        is_plain = port.untagged is not None
    return (*((None,) if is_plain else ()), *sorted(vlans))


def _key(attachment: Attachment) -> str:
    # No name of a node has a blank.
    return f"{attachment.host} {attachment.link} {attachment.vlan}"
