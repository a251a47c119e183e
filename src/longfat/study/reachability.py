"""Whether packets of a flow arrive, as far as the study determines it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.model.addresses import called_addresses
from longfat.model.network import (
    Network,
    NoRouteError,
    follow_back,
    trace_route,
)
from longfat.model.network.check import Groups
from longfat.model.network.routing import target_addresses
from longfat.model.typed_line import without_sudo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.case import Command

# Set-up lines of these tools leave addresses and routes alone.
_NO_ROUTING = re.compile(r"(tc|ethtool|sysctl(?!.*forward))\b")


# What acts in other namespaces than that of its node.
_OTHER_NODES = re.compile(r"\bnetns\b|\bnsenter\b|\bip\b.*\s-n")


class UnreachableError(InputError):
    """A flow's packets do not arrive; `longfat.study.repair` may have a fix.

    Attributes:
        ends: the flow's hosts.
    """

    ends: tuple[str, str] = ("", "")


@lru_cache(maxsize=4096)
def may_change_routing(line: str) -> bool:
    """Return whether a set-up line may change addresses or routes."""
    return not _NO_ROUTING.match(without_sudo(line))


def check_reach(
    network: Network,
    source: str,
    target: str,
    setup: Sequence[Command] = (),
    *,
    address: str | None = None,
) -> str | None:
    """Return why traffic cannot pass between two hosts; None if it can.

    Args:
        network: the network.
        source: the host that sends first.
        target: the host that answers.
        setup: the set-up lines. Where one of them may change addresses or routes on the
            way, only what it cannot change counts: links, and that the target has an
            address.
        address: the address that traffic is sent to, where it is not the one that the target
            is called by. One that is not an interface's is not followed.

    Returns:
        The reason, or None where packets arrive, in both directions.
    """
    linked = {name for link in network.links for name in (link.a, link.b)}
    for name in (source, target):
        if name not in linked:
            return f"{name} has no link"
    groups = Groups(linked)
    for link in network.links:
        groups.join(link.a, link.b)
    if groups.find(source) != groups.find(target):
        return f"no links lead from {source} to {target}"
    if address is not None and address not in target_addresses(network, target):
        return None
    addresses = called_addresses(network, setup)
    if target not in addresses:
        return (
            f"{target} has no address: give it one, or write the address that the flow is sent to"
            " (address: 10.1.0.2)"
        )
    if address is not None:
        addresses[target] = address
    # A host has the family of an address that a flow names by a VLAN or a tunnel, too.
    is_named = address is not None or source not in addresses
    if not is_named and (":" in addresses[source]) != (":" in addresses[target]):
        return f"{source} and {target} have addresses of different families"
    if may_change_path(network, setup, source, target):
        return None
    return _by_routes(network, source, target, address)


def may_change_path(network: Network, setup: Sequence[Command], source: str, target: str) -> bool:
    """Return whether set-up lines may change addresses or routes between two hosts."""
    return any(_may_concern(command, network, source, target) for command in setup)


def _may_concern(command: Command, network: Network, source: str, target: str) -> bool:
    """Return whether a set-up line may change addresses or routes between two hosts.

    A line at another host changes nothing there, unless packets can pass through that host.
    """
    if not may_change_routing(command.line):
        return False
    if command.node in (source, target) or _OTHER_NODES.search(command.line):
        return True
    host = next((host for host in network.hosts if host.name == command.node), None)
    links = sum(command.node in (link.a, link.b) for link in network.links)
    return host is None or host.forwards or links > 1


def _by_routes(network: Network, source: str, target: str, address: str | None) -> str | None:
    try:
        trace_route(network, source, target, address=address)
    except NoRouteError as stopped:
        return str(stopped)
    try:
        follow_back(network, source, target, address=address)
    except NoRouteError as stopped:
        return f"no answer comes back: {stopped}"
    return None
