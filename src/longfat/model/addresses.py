"""The addresses that hosts are called by, and those that flows are sent to.

A host that has no address by links may have one by set-up lines: of a VLAN, a bond, a tunnel.

Only `ip addr add` and its abbreviations with literal addresses are read, typed at the host, or at
root by `ip -n HOST` and `ip netns exec HOST`. Lines with variables or loops are left out: a flow
can name its target's address itself (`address`).

Source: ip-address(8), ip(8), ip-netns(8).
"""

from __future__ import annotations

import ipaddress
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from longfat.model.typed_line import without_sudo

if TYPE_CHECKING:
    from longfat.model.case import Case, Command
    from longfat.model.network import Network
    from longfat.model.traffic import Flow

_MAY_ADD = re.compile(r"\bip\b.*\ba")
_COMMANDS = re.compile(r"&&|\|\||[;\n]")
_ADDS = ("add", "change", "replace", "chg")
_OTHER_ADDRESSES = ("brd", "broadcast", "peer", "anycast", "label", "scope", "metric", "proto")
"""Words of `ip addr add` whose value is not the address that is added."""
_CONFIGURES = re.compile(
    r"\bip\s+(?:-\S+\s+(?:(?<=-n )\S+\s+|(?<=-netns )\S+\s+)?)*"
    r"(?:a(?:d(?:d(?:r(?:ess)?)?)?)?|ro?|rout?|route)\s+(?:a|ch|d|f|rep)"
    r"|\bip\s+link\s+add\b|\b(?:ifconfig|dhclient|udhcpc|dhcpcd|brctl)\s+\S"
    r"|\broute\s+(?:add|del)\b|\b(?:bird|babeld|vtysh|zebra|ospfd|bgpd|ripd|routed)\b"
)
_NAMED = re.compile(r"\bip\s+(?:-n|-netns|netns\s+exec)\s+(\S+)")


def called_addresses(network: Network, setup: Sequence[Command] = ()) -> dict[str, str]:
    """Return the address that each host is called by, without prefix length.

    It is that of `Network.host_addresses`; of a host that has none by links, the first one that
    set-up lines give it.

    Args:
        network: the network.
        setup: the set-up lines.
    """
    by_links = network.host_addresses()
    names = [host.name for host in network.hosts]
    if not setup or len(by_links) == len(names):
        return by_links
    typed = _typed_addresses(setup)
    addresses = {
        name: by_links.get(name) or next(iter(typed.get(name, ())), None) for name in names
    }
    return {name: address for name, address in addresses.items() if address is not None}


def configured_hosts(setup: Sequence[Command]) -> frozenset[str]:
    """Return the hosts whose addresses or routes are configured by set-up lines.

    Args:
        setup: the set-up lines. Lines of scripts and programs are not seen.
    """
    nodes: set[str] = set()
    for command in setup:
        if _CONFIGURES.search(command.line):
            nodes.update(_NAMED.findall(command.line) or [command.node])
    return frozenset(nodes)


def target_address(case: Case, flow: Flow) -> str:
    """Return the address that a flow's client sends to, without prefix length.

    Raises:
        KeyError: the flow names none, and neither links nor set-up lines give its target one.
    """
    if flow.address is not None:
        return flow.address
    by_links = case.network.host_addresses()
    if flow.target in by_links:
        return by_links[flow.target]
    return called_addresses(case.network, case.setup)[flow.target]


def _typed_addresses(setup: Sequence[Command]) -> dict[str, list[str]]:
    """Return the addresses that set-up lines give to hosts, by node."""
    by_node: dict[str, list[str]] = {}
    for command in setup:
        if not _MAY_ADD.search(command.line):
            continue
        for part in _COMMANDS.split(command.line):
            for node, verb, address in _changes(command.node, part):
                addresses = by_node.setdefault(node, [])
                if verb != "add":
                    by_node[node] = [one for one in addresses if one != address]
                elif address not in addresses:
                    addresses.append(address)
    return by_node


def _changes(node: str, line: str) -> Iterator[tuple[str, str, str]]:
    """Yield the node, `add` or `del`, and the address of a line that changes one."""
    try:
        arguments = shlex.split(without_sudo(line.strip()))
    except ValueError:
        return
    if not arguments or arguments.pop(0).rpartition("/")[2] != "ip":
        return
    while arguments and arguments[0].startswith("-"):
        option = arguments.pop(0)
        if option in {"-n", "-netns"} and arguments:
            node = arguments.pop(0)
    if arguments[:2] == ["netns", "exec"] and len(arguments) > 3:
        yield from _changes(arguments[2], shlex.join(arguments[3:]))
        return
    if len(arguments) < 3 or not "address".startswith(arguments[0]):
        return
    verb = arguments[1]
    is_added = bool(verb) and any(known.startswith(verb) for known in _ADDS)
    if not is_added and not (len(verb) > 0 and "delete".startswith(verb)):
        return
    before = ""
    for word in arguments[2:]:
        address = None if before in _OTHER_ADDRESSES else _address(word)
        if address is not None:
            yield node, "add" if is_added else "del", address
            return
        before = word


def _address(word: str) -> str | None:
    try:
        address = ipaddress.ip_interface(word).ip
    except ValueError:
        return None
    if address.is_loopback or address.is_multicast or address.is_unspecified:
        return None
    # An address of the link is valid only with the interface's name.
    return None if address.is_link_local and address.version == 6 else str(address)
