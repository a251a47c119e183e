"""The addresses and routes of a network's hosts, as rows for display."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.model.network.addressing import written_at
from longfat.model.network.slaac import SLAAC
from longfat.model.network.subnets import Attachment, broadcast_domains
from longfat.model.network.vlans import vlan_device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network.model import Host, Network


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRow:
    """An interface of a host.

    Attributes:
        interface: its name.
        address: its address with prefix length; None without one.
        peer: the node at the other end of its link.
        vlan: the VLAN of its packets' tags; None without tags.
        is_written: the study has the address; else it was assigned automatically.
    """

    interface: str
    address: str | None
    peer: str
    vlan: int | None
    is_written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRow:
    """A static route of a host.

    Attributes:
        to: the destination, or `default`.
        via: the addresses of the next routers.
        routers: their names; empty for one that no interface has.
        is_written: the study has the route; else it was assigned automatically.
    """

    to: str
    via: tuple[str, ...]
    routers: tuple[str, ...]
    is_written: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRows:
    """The addresses and routes of a host.

    Attributes:
        name: the host.
        forwards: it is a router.
        interfaces: its interfaces.
        routes: its static routes.
    """

    name: str
    forwards: bool
    interfaces: tuple[AddressRow, ...]
    routes: tuple[RouteRow, ...]


def address_table(network: Network, *, written: Network) -> tuple[HostRows, ...]:
    """Return the addresses and routes of each host.

    Args:
        network: the network, with the addresses and routes that are assigned automatically.
        written: the same without them.
    """
    rows: dict[str, list[AddressRow]] = {}
    for attachment, row in _interfaces(network, written):
        rows.setdefault(attachment.host, []).append(row)
    for tunnel, names in zip(network.tunnels, network.tunnel_interfaces(), strict=True):
        for node, peer, name, address in (
            (tunnel.a, tunnel.b, names[0], tunnel.a_address),
            (tunnel.b, tunnel.a, names[1], tunnel.b_address),
        ):
            rows.setdefault(node, []).append(
                AddressRow(interface=name, address=address, peer=peer, vlan=None, is_written=True)
            )
    owners = {
        row.address.partition("/")[0]: host
        for host, own in rows.items()
        for row in own
        if row.address is not None
    }
    before = {host.name: host for host in written.hosts}
    return tuple(
        HostRows(
            name=host.name,
            forwards=host.forwards,
            interfaces=tuple(rows.get(host.name, ())),
            routes=_routes(host, before.get(host.name), owners),
        )
        for host in network.hosts
    )


def _interfaces(network: Network, written: Network) -> Iterator[tuple[Attachment, AddressRow]]:
    addresses, before = written_at(network), written_at(written)
    names, formed, bonded = network.interfaces(), network.addresses(), network.bond_devices()
    domains = broadcast_domains(network)
    attachments = {attachment for ends in domains for attachment in ends}
    order = sorted(attachments, key=lambda one: (one.link, not one.is_first, one.vlan or 0))
    for one in order:
        end = 0 if one.is_first else 1
        link, device = network.links[one.link], names[one.link][end]
        device = bonded.get(device, device)
        address = addresses.get(one)
        yield (
            one,
            AddressRow(
                interface=device if one.vlan is None else vlan_device(device, one.vlan),
                address=formed[one.link][end] if address == SLAAC else address,
                peer=link.b if one.is_first else link.a,
                vlan=one.vlan,
                is_written=one in before,
            ),
        )


def _routes(host: Host, before: Host | None, owners: dict[str, str]) -> tuple[RouteRow, ...]:
    known = () if before is None else before.routes
    return tuple(
        RouteRow(
            to=route.to,
            via=route.next_hops,
            routers=tuple(owners.get(hop, "") for hop in route.next_hops),
            is_written=route in known,
        )
        for route in host.routes
    )
