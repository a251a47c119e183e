"""Rules about ends of links that cannot be neighbours, and about gateways that do not forward.

Sources: fib_lookup and arp_process for addresses outside of an interface's networks; ip_forward in
net/ipv4/ip_input.c. The numbers of docs/lint.md are from runs.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence

from longfat.model.addresses import called_addresses
from longfat.model.lint.case_facts import CaseFacts
from longfat.model.lint.machine_state import Origin, Typed
from longfat.model.lint.shell_words import is_ip, settings_of
from longfat.model.traffic import Program

Warnings = Iterator[tuple[Origin, str]]

_Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
_FORWARDING = re.compile(r"net\.ipv4\.(ip_forward|conf\.(all|default|[\w-]+)\.forwarding)")
_ADD, _DELETE = frozenset(("add", "replace", "change")), frozenset(("del", "delete"))
_PREFIXES = frozenset((31, 32))


def neighbour_warnings(facts: CaseFacts) -> Warnings:
    """Find ends of links without a network in common, and gateways that do not forward."""
    network = facts.case.network
    if not facts.is_complete or network.tunnels or any(host.nat for host in network.hosts):
        return
    if any(_is_unread(one) for one in facts.commands):
        return
    yield from _separate_ends(facts)
    yield from _silent_gateways(facts)


def _is_unread(typed: Typed) -> bool:
    """Return whether a command may change addresses or forwarding in a form that is not read."""
    words = typed.command.words
    if words[0] in {"tc", "sysctl", "ethtool", "ping", "true"}:
        return False
    return words[0] != "ip" or None in words or len(words) < 2 or typed.command.node is None


def _separate_ends(facts: CaseFacts) -> Warnings:
    """Find links between two hosts of which a line leaves no address in the other's network."""
    network = facts.case.network
    hosts = {host.name for host in network.hosts}
    changes = _changes(facts)
    if changes is None:
        return
    addresses, lines = changes
    for link, (first, second) in zip(network.links, network.interfaces(), strict=True):
        line = lines.get(first) or lines.get(second)
        if line is None or not {link.a, link.b} <= hosts:
            continue
        near, far = _v4(addresses[first]), _v4(addresses[second])
        if near and far and not _are_neighbours(near, far):
            own, peer = (first, second) if first in lines else (second, first)
            yield (
                line.origin,
                f"{own} has {', '.join(map(str, _v4(addresses[own])))} and {peer}, the other end of"
                f" its link, {', '.join(map(str, _v4(addresses[peer])))}: no network in common, so"
                " neither finds the other by ARP: give both an address of one network",
            )


def _changes(facts: CaseFacts) -> tuple[dict[str, list[_Interface]], dict[str, Typed]] | None:
    """Return the addresses of interfaces after all set-up lines, and the last line of each.

    None where a line makes them uncertain.
    """
    network = facts.case.network
    addresses: dict[str, list[_Interface]] = {}
    lines: dict[str, Typed] = {}
    for pair, written in zip(network.interfaces(), network.addresses(), strict=True):
        for name, address in zip(pair, written, strict=True):
            addresses[name] = [] if address is None else [ipaddress.ip_interface(address)]
    for typed in facts.commands:
        if is_ip(typed.command.words, "address") and typed.origin.setup is not None:
            changed = _change(addresses, typed)
            if changed is None:
                return None
            lines[changed] = typed
        elif is_ip(typed.command.words, "route") and "onlink" in typed.command.words:
            return None
    return addresses, lines


def _are_neighbours(
    near: Sequence[ipaddress.IPv4Interface], far: Sequence[ipaddress.IPv4Interface]
) -> bool:
    """Return whether an address of one end is in a network of the other, or may be."""
    return any(
        one.ip in other.network
        or other.ip in one.network
        or {one.network.prefixlen, other.network.prefixlen} & _PREFIXES
        for one in near
        for other in far
    )


def _v4(addresses: Sequence[_Interface]) -> list[ipaddress.IPv4Interface]:
    return [one for one in addresses if isinstance(one, ipaddress.IPv4Interface)]


def _change(addresses: dict[str, list[_Interface]], typed: Typed) -> str | None:
    """Apply `ip address`; return its interface, or None if what it does is not known."""
    words = typed.command.words
    name = words[words.index("dev") + 1] if "dev" in words[:-1] else None
    if name is None or name not in addresses or typed.command.is_conditional:
        return None
    verb = words[2] or ""
    if verb == "flush":
        addresses[name] = []
        return name
    try:
        address = ipaddress.ip_interface(words[3] or "")
    except (ValueError, IndexError):
        return None
    if verb in _ADD and "peer" not in words:
        addresses[name].append(address)
    elif verb in _DELETE and not typed.command.may_fail:
        addresses[name] = [one for one in addresses[name] if one.ip != address.ip]
    else:
        return None
    return name


def _silent_gateways(facts: CaseFacts) -> Warnings:
    """Find lines that send a flow's packets to a host that does not forward them."""
    network = facts.case.network
    owners: dict[str, str] = {}
    for link, pair in zip(network.links, network.addresses(), strict=True):
        for node, address in zip((link.a, link.b), pair, strict=True):
            if address is not None:
                owners[address.partition("/")[0]] = node
    hosts = {host.name: host for host in network.hosts}
    # A program may forward packets itself.
    programs = {
        end
        for flow in facts.case.flows
        if isinstance(flow, Program)
        for end in (flow.source, flow.target)
    }
    settings = _forwarding_lines(facts.commands)
    called = called_addresses(network, facts.case.setup)
    for node, target, gateway, origin in _gateways(facts):
        router = owners.get(gateway, "")
        if router not in hosts or router in programs:
            continue
        set_to, line = settings.get(router, (hosts[router].forwards, None))
        if set_to or (line is not None and line.origin.setup is None):
            continue
        for flow in facts.case.flows:
            other = {flow.source: flow.target, flow.target: flow.source}.get(node)
            if other in {None, router} or not _contains(target, called.get(other or "", "")):
                continue
            by = (
                "no line sets net.ipv4.ip_forward there: write"
                if line is None
                else "a line switches that off: write"
            )
            yield (
                line.origin if line is not None else origin,
                f"`via {gateway}`: {node} sends what is for {other} to {router}, which does not"
                f" forward, and {by} `forwards: yes` at {router}, or"
                " `sysctl -w net.ipv4.ip_forward=1`",
            )
            break


def _forwarding_lines(commands: Sequence[Typed]) -> dict[str, tuple[bool, Typed]]:
    """Return whether the last line about it lets a node forward, with the line."""
    lines: dict[str, tuple[bool, Typed]] = {}
    for typed in commands:
        for name, value in settings_of(typed.command.words):
            if typed.command.node is not None and _FORWARDING.fullmatch(name):
                lines[typed.command.node] = (value != "0", typed)
    return lines


def _gateways(facts: CaseFacts) -> Iterator[tuple[str, str, str, Origin]]:
    """Yield node, target, gateway and origin of each route that is declared or typed."""
    typed_at: set[str | None] = set()
    for typed in facts.commands:
        words = typed.command.words
        if not is_ip(words, "route"):
            continue
        typed_at.add(typed.command.node)
        if len(words) > 5 and words[2] in {"add", "replace"} and "via" in words[:-1]:
            gateway = words[words.index("via") + 1]
            yield str(typed.command.node), str(words[3]), str(gateway), typed.origin
    for host in facts.case.network.hosts:
        for route in host.routes if host.name not in typed_at else ():
            if route.via is not None:
                yield host.name, str(route.to), str(route.via), Origin()


def _contains(target: str, address: str) -> bool:
    """Return whether a route's target has an address in it."""
    if not address:
        return False
    if target == "default":
        return True
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(target, strict=False)
    except ValueError:
        return False
