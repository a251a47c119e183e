"""What is wrong with the interfaces of a network that form their addresses by SLAAC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.model.network.slaac import PREFIX_LENGTH, SLAAC
from longfat.model.network.vlans import vlans_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.model.network.model import Host, Network
    from longfat.model.network.slaac import SlaacHost, SlaacSubnet

_Path = tuple[str | int, ...]


def slaac_problems(network: Network) -> Iterator[tuple[_Path, str]]:
    """Find what is wrong with the interfaces that form their addresses.

    Returns:
        The path of fields to each problem, and its message.
    """
    linked = {name for link in network.links for name in (link.a, link.b)}
    for host in network.hosts:
        if host.address == SLAAC and host.name not in linked:
            yield ("hosts", host.name, "address"), f"{host.name} has no link, and so no router"
    hosts = {host.name: host for host in network.hosts}
    first_interfaces: dict[str, str] = {}
    for subnet in network.slaac_subnets():
        for end in subnet.hosts:
            if end.node not in hosts:
                continue  # a switch: see the checks of addresses
            first = first_interfaces.setdefault(end.node, end.interface)
            reason = _interface_problem(network, hosts[end.node], end, first=first)
            if reason := reason or _router_problem(end, subnet):
                yield _path(network, end), reason
            elif _has_default_route(hosts[end.node]):
                yield (
                    ("hosts", end.node, "routes", "default"),
                    f"{end.node} takes its default route by SLAAC: leave this one out",
                )


def _interface_problem(network: Network, host: Host, end: SlaacHost, *, first: str) -> str | None:
    if host.forwards:
        return (
            f"{end.node} forwards, and a router takes no address by SLAAC (RFC 4862): write its"
            " address"
        )
    if vlans_of(network):
        return "a network with VLANs has no addresses by SLAAC: write an address"
    bonded = network.bond_devices()
    if end.interface in bonded:
        return f"{bonded[end.interface]} is a bond: write its address"
    if end.interface != first:
        return (
            f"{end.node} takes an address by SLAAC at {first} already, and would have two default"
            " routers: write an address here"
        )
    return None


def _path(network: Network, end: SlaacHost) -> _Path:
    link = network.links[end.link]
    if (link.a_address if end.is_first else link.b_address) == SLAAC:
        return ("links", end.link, "addresses", end.node)
    return ("hosts", end.node, "address")


def _router_problem(end: SlaacHost, subnet: SlaacSubnet) -> str | None:
    if not subnet.routers:
        return (
            f"no router advertises a prefix to {end.node}: SLAAC needs a host that forwards, with"
            f" an IPv6 address of a /{PREFIX_LENGTH} on the subnet of {end.interface}"
        )
    if len(subnet.routers) > 1:
        names = ", ".join(f"{router.node} ({router.address})" for router in subnet.routers)
        return (
            f"{len(subnet.routers)} routers have IPv6 addresses on the subnet of {end.interface},"
            f" where SLAAC takes one: {names}"
        )
    (router,) = subnet.routers
    if router.network.prefixlen != PREFIX_LENGTH:
        return (
            f"the prefix of {router.node} on the subnet of {end.interface} is {router.network}:"
            f" SLAAC needs one of /{PREFIX_LENGTH}"
        )
    return None


def _has_default_route(host: Host) -> bool:
    return any(route.to == "default" and ":" in route.via for route in host.routes)
