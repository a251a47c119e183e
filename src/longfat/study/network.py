"""The `network` field: hosts, switches and links.

Checked here is all that can be known before a machine boots: names that fit
Linux's interface names, addresses, ends of links that exist, and that
switches form no loop.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from longfat.errors import InputError
from longfat.network import ROOT, Host, Link, Network, Switch
from longfat.study.node import Node, listed, nearest

LONGEST_INTERFACE = 15
"""IFNAMSIZ of linux/if.h is 16, with the NUL that ends the name."""

LONGEST_NODE_NAME = LONGEST_INTERFACE - len("-eth00")

_NODE_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST_NODE_NAME - 1}}}")

# A switch is an interface of its name, beside the loopback; and the kernel keeps
# net.ipv4.conf.all and .default for what is true of all interfaces.
_RESERVED = {
    ROOT: "it is the shell where the switches' interfaces are visible",
    "lo": "it is the loopback interface",
    "all": "sysctl means all interfaces by it",
    "default": "sysctl means interfaces to come by it",
}

_NO_SWITCH = "is a switch: switches live in the root namespace, so type it at root"


def read_network(node: Node) -> Network:
    """Read and check a network.

    Args:
        node: the value of `network`.

    Returns:
        The network, with addresses in their canonical form.

    Raises:
        InputError: something in it is wrong.
    """
    fields = node.fields("a network", allowed=("hosts", "switches", "links"))
    if "hosts" not in fields:
        raise node.error("the network has no hosts: write hosts: {h1: 10.0.0.1/8}")
    names: dict[str, Node] = {}
    hosts = _read_hosts(fields["hosts"], names)
    switches = _read_switches(fields["switches"], names) if "switches" in fields else ()
    link_nodes = fields["links"].sequence("a list of links") if "links" in fields else []
    links = tuple(_read_link(link, names) for link in link_nodes)
    network = Network(hosts=hosts, switches=switches, links=links)
    _check_interfaces(network, names, link_nodes)
    _check_loops(network, link_nodes)
    return network


def _read_hosts(node: Node, names: dict[str, Node]) -> tuple[Host, ...]:
    hosts = []
    addresses: dict[str, str] = {}
    for key, value in node.items("a mapping of hosts to addresses (such as {h1: 10.0.0.1/8})"):
        try:
            _check_name(key.text, names)
        except InputError as error:
            raise InputError(error.message, place=key.place) from None
        names[key.text] = value
        interface = _read_address(value)
        alone = str(interface.ip)
        if alone in addresses:
            raise value.error(f"the address {alone} is that of {addresses[alone]} already")
        addresses[alone] = key.text
        hosts.append(Host(name=key.text, address=str(interface)))
    if not hosts:
        raise node.error("the network has no hosts: write hosts: {h1: 10.0.0.1/8}")
    return tuple(hosts)


def _read_address(node: Node) -> ipaddress.IPv4Interface | ipaddress.IPv6Interface:
    text = node.line("an address with its prefix length (such as 10.0.0.1/8)")
    address, slash, prefix = text.partition("/")
    if not slash:
        raise node.error(f"{text!r} has no prefix length: write it as {text}/8 or the like")
    if not re.fullmatch(r"[0-9]{1,3}", prefix) or "%" in address:
        raise node.error(f"{text!r} is not an address with a prefix length, such as 10.0.0.1/8")
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError as error:
        raise node.error(f"{text!r} is not an address: {error}") from None
    ip = interface.ip
    if ip.is_multicast or ip.is_unspecified or ip.is_loopback:
        raise node.error(f"{text!r} cannot be a host's own address")
    single = interface.network.prefixlen >= interface.network.max_prefixlen - 1
    if ip.version == 4 and not single:
        if ip == interface.network.network_address:
            raise node.error(f"{text!r} is the address of the network itself, not of a host")
        if ip == interface.network.broadcast_address:
            raise node.error(f"{text!r} is the network's broadcast address, not a host's")
    return interface


def _read_switches(node: Node, names: dict[str, Node]) -> tuple[Switch, ...]:
    switches = []
    for item in node.sequence("a list of switches (such as [s1, s2])"):
        name = item.line("a switch's name")
        try:
            _check_name(name, names)
        except InputError as error:
            raise item.error(error.message) from None
        names[name] = item
        switches.append(Switch(name=name))
    return tuple(switches)


def _check_name(name: str, names: dict[str, Node]) -> None:
    if name in _RESERVED:
        raise InputError(f"no node can be called {name!r}: {_RESERVED[name]}")
    if not _NODE_NAME.fullmatch(name):
        raise InputError(
            f"{name!r} cannot be a node's name: write a letter, then up to "
            f"{LONGEST_NODE_NAME - 1} letters, digits, - or _ (interfaces are named after it, "
            f"in at most {LONGEST_INTERFACE} characters)"
        )
    if name in names:
        first = names[name].place
        raise InputError(f"the name {name!r} is taken already, in line {first.line}")


def _read_link(node: Node, names: dict[str, Node]) -> Link:
    ends = node.sequence("a link as [NODE, NODE]")
    if len(ends) != 2:
        raise node.error(f"a link has two ends, and here are {len(ends)}: write [NODE, NODE]")
    a, b = (end.line("a node's name") for end in ends)
    for end, name in zip(ends, (a, b), strict=True):
        if name not in names:
            raise end.error(
                f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
            )
    if a == b:
        raise node.error(f"the link leads from {a} to itself")
    return Link(a=a, b=b)


def _check_interfaces(network: Network, names: dict[str, Node], links: list[Node]) -> None:
    taken: set[str] = set()
    for pair, link in zip(network.interfaces(), links, strict=True):
        for interface in pair:
            if len(interface) > LONGEST_INTERFACE:
                raise link.error(
                    f"the interface {interface} has more than {LONGEST_INTERFACE} characters: "
                    "give its node a shorter name or fewer links"
                )
            taken.add(interface)
    for name, node in names.items():
        if name in taken:
            raise node.error(f"the node {name!r} has the name of an interface of a link")


def _check_loops(network: Network, links: list[Node]) -> None:
    # Frames that circle among bridges circle for ever, and in virtual time so
    # does the machine: time moves on only when nothing is left to do.
    switches = {switch.name for switch in network.switches}
    groups = _Groups(switches)
    for link, node in zip(network.links, links, strict=True):
        if link.a in switches and link.b in switches and not groups.join(link.a, link.b):
            raise node.error(
                f"the link closes a loop of switches: {link.a} and {link.b} are connected already, "
                "and a frame would circle for ever"
            )


def check_reach(network: Network, source: str, target: str) -> str | None:
    """Say why traffic cannot pass between two hosts, if that is so.

    Returns:
        The reason, or None where links lead from one to the other.
    """
    linked = {name for link in network.links for name in (link.a, link.b)}
    for name in (source, target):
        if name not in linked:
            return f"{name} has no link"
    groups = _Groups({*linked})
    for link in network.links:
        groups.join(link.a, link.b)
    if groups.find(source) != groups.find(target):
        return f"no links lead from {source} to {target}"
    address = {host.name: ipaddress.ip_interface(host.address) for host in network.hosts}
    if address[source].version != address[target].version:
        return f"{source} and {target} have addresses of different families"
    return None


def check_host(name: str, network: Network, *, root: bool) -> str | None:
    """Say why a name is none of a host, if that is so.

    Args:
        name: the name.
        network: the network.
        root: also take `root`, as a place to type at.

    Returns:
        The reason, or None.
    """
    hosts = [host.name for host in network.hosts]
    known = [ROOT, *hosts] if root else hosts
    if name in known:
        return None
    if any(switch.name == name for switch in network.switches):
        return f"{name!r} {_NO_SWITCH if root else 'is a switch, where a host is needed'}"
    return f"there is no host {name!r}{nearest(name, known)} (there are: {listed(known)})"


class _Groups:
    """Which nodes are connected: a union-find."""

    def __init__(self, names: Iterable[str]) -> None:
        self._parent = {name: name for name in names}

    def find(self, name: str) -> str:
        while self._parent[name] != name:
            self._parent[name] = self._parent[self._parent[name]]
            name = self._parent[name]
        return name

    def join(self, a: str, b: str) -> bool:
        """Connect two nodes; False where they were connected already."""
        first, second = self.find(a), self.find(b)
        self._parent[first] = second
        return first != second
