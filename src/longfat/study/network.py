"""The `network` field: hosts, switches and links, with their addresses, routes and impairments.

The format of single values is checked here. Constraints on the whole network are checked by
`longfat.model.network.check`, and each problem is reported at the field that causes it. The set-up
lines that belong to a network are read by `longfat.study.expand`, as all others.

The properties of a link hold for both directions; under `to`, the name of an end has those of
the direction towards it, which replace them one by one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, Place
from longfat.model.fields import fields_of, read_fields
from longfat.model.network import (
    ROOT_NAMESPACE,
    TIMING_KEYS,
    Host,
    Link,
    LinkImpairments,
    Network,
    Problem,
    Switch,
    VlanAddress,
    problems,
)
from longfat.model.network.addressing import Addressing, complete
from longfat.model.network.devices import MAX_NODE_NAME_LENGTH
from longfat.model.network.model import VLAN
from longfat.study.addresses import (
    read_address,
    read_ends,
    read_interface_address,
    read_routes,
)
from longfat.study.document import parse_document
from longfat.study.file_reader import no_files
from longfat.study.files import Images, Traces
from longfat.study.node import Node
from longfat.study.timing import read_testbed, read_timing
from longfat.study.virtual_links import read_bond, read_tunnel

_NODE_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{MAX_NODE_NAME_LENGTH - 1}}}")

# A switch is an interface of its name, beside the loopback; and the kernel keeps
# net.ipv4.conf.all and .default for what is true of all interfaces.
_RESERVED = {
    ROOT_NAMESPACE: "it is the shell where the switches' interfaces are visible",
    "lo": "it is the loopback interface",
    "all": "sysctl means all interfaces by it",
    "default": "sysctl means interfaces to come by it",
}

SETUP = "setup"
"""The field of a network with the set-up lines that belong to it."""

_NO_SWITCH = "is a switch: switches live in the root namespace, so type it at root"

_HOSTS = "a list of names (such as [h1, h2]), or a mapping to addresses (such as {h1: 10.0.0.1/8})"
_NO_HOSTS = "the network has no hosts: write hosts: [h1, h2]"
_HOST = "an address, or {address: ..., forwards: yes, routes: {default: ...}}"

_IMPAIRMENTS = fields_of(LinkImpairments)
_LINK_FIELDS = (*_IMPAIRMENTS, *fields_of(Link), "addresses", "to")

_LINK = "a link as [NODE, NODE]"


def read_network(node: Node, *, traces: Traces, images: Images) -> Network:
    """Read and check a network.

    Args:
        node: the value of `network`.
        traces: reads the traces that its links follow.
        images: finds the images of its hosts.

    Returns:
        The network, with addresses in their canonical form.

    Raises:
        InputError: something in it is wrong.
    """
    own = fields_of(Network)
    before = 0 if node.errors is None else len(node.errors)
    allowed = ("hosts", "routers", "switches", "links", "bonds", "tunnels", "testbed", SETUP)
    fields = node.fields(
        "a network",
        allowed=(*allowed, *own, *fields_of(Addressing)),
        collect_errors=True,
    )
    if "hosts" not in fields and "routers" not in fields:
        raise node.error(_NO_HOSTS)
    names: dict[str, Node] = {}
    hosts = _read_hosts(fields, names, images=images)
    switches = _read_switches(fields["switches"], names) if "switches" in fields else ()
    link_nodes = fields["links"].sequence("a list of links") if "links" in fields else []
    links = tuple(
        link
        for link_node in link_nodes
        if (link := link_node.attempt(partial(read_link, link_node, names, traces=traces)))
        is not None
        and {link.a, link.b} <= set(names)
    )
    tunnel_nodes = fields["tunnels"].sequence("a list of tunnels") if "tunnels" in fields else []
    ends = [host.name for host in hosts]
    tunnels = tuple(
        tunnel
        for tunnel_node in tunnel_nodes
        if (tunnel := tunnel_node.attempt(partial(read_tunnel, tunnel_node, ends))) is not None
    )
    bond_nodes = fields["bonds"].sequence("a list of bonds") if "bonds" in fields else []
    bonds = tuple(
        bond
        for bond_node in bond_nodes
        if (bond := bond_node.attempt(partial(read_bond, bond_node, list(names)))) is not None
    )
    testbed = read_testbed(fields["testbed"]) if "testbed" in fields else None
    network = Network(
        hosts=hosts,
        switches=switches,
        links=links,
        tunnels=tunnels,
        bonds=bonds,
        testbed=testbed,
        **read_fields(Network, fields),
    )
    # What is wrong with the whole is known once all parts of it are.
    addressing = read_addressing(fields) if is_whole(node, before) else None
    defects = () if addressing is None else problems(complete(network, addressing))
    for problem in defects:
        kind, key = problem.path[:2]
        if isinstance(key, int):
            by_kind = {"tunnels": tunnel_nodes, "bonds": bond_nodes}
            where = by_kind.get(str(kind), link_nodes)[key]
        else:
            where = names[key]
        node.note(_written(where, problem).error(problem.message))
    return network


def addressing_of(node: Node) -> Addressing:
    """Read what the value of `network` says of addresses that are not written."""
    fields = {key.text: value for key, value in node.items("a network")}
    return read_addressing(fields)


def is_whole(node: Node, before: int) -> bool:
    """Return whether no error was collected since there were `before`."""
    return node.errors is None or len(node.errors) == before


def read_section(section: Mapping[str, object]) -> Network:
    """Read and check a network that is there as plain data, as a study has it.

    Args:
        section: what a study has under `network`; it can name neither traces nor images, and
            has no set-up lines.

    Raises:
        InputError: something in it is wrong; the error has its place.
    """
    if SETUP in section:
        raise InputError("set-up lines are not read here: run them at their hosts")
    if not fields_of(Addressing).keys().isdisjoint(section):
        raise InputError("addresses that are assigned automatically are those of the whole network")
    text = json.dumps(section, ensure_ascii=False)  # which is YAML, too
    raw = parse_document(text.encode(), file="network")
    return read_network(
        Node(raw=raw, file="network", field="network"),
        traces=Traces(no_files),
        images=Images(no_files),
    )


def _written(node: Node, problem: Problem) -> Node:
    """Return the field that a problem speaks of, as far down as it was written."""
    path = [str(field) for field in problem.path[2:]]
    if node.is_sequence and path:
        parts = node.sequence("a link")
        node = parts[2] if len(parts) > 2 else node
        if path[0] == "to" and not _leads(node, path):
            path = path[2:]  # written for both directions
    while path and (inner := _child(node, path[0])) is not None:
        node = inner
        path = path[1:]
    return node


def _leads(node: Node, path: list[str]) -> bool:
    inner: Node | None = node
    for name in path:
        inner = None if inner is None else _child(inner, name)
    return inner is not None


def _child(node: Node, name: str) -> Node | None:
    if not node.is_mapping:
        return None
    return next((value for key, value in node.items("fields") if key.text == name), None)


def read_addressing(fields: Mapping[str, Node]) -> Addressing:
    """Read what a network says of addresses that are not written.

    Args:
        fields: the network's fields; others are left alone.
    """
    return Addressing(**read_fields(Addressing, fields))


def _read_hosts(
    fields: Mapping[str, Node], names: dict[str, Node], *, images: Images
) -> tuple[Host, ...]:
    """Read the hosts, and then the routers, which forward."""
    hosts: list[Host] = []
    for field, forwards in (("hosts", False), ("routers", True)):
        for name, place, value in named_nodes(fields[field]) if field in fields else ():
            if reason := name_problem(name) or _taken(name, names):
                fields[field].note(InputError(reason, place=place))
            names[name] = value
            own = partial(_read_host, name, value, images=images, forwards=forwards)
            bare = Host(name=name, address=None, forwards=forwards)
            hosts.append(bare if fields[field].is_sequence else value.attempt(own) or bare)
    if not hosts:
        raise (fields.get("hosts") or fields["routers"]).error(_NO_HOSTS)
    return tuple(hosts)


def named_nodes(node: Node) -> Iterator[tuple[str, Place, Node]]:
    """Yield the name of each host, its place, and what is written of it."""
    if node.is_sequence:
        for item in node.sequence(_HOSTS):
            name = item.line("a host's name")
            yield name, item.place, item
    else:
        for key, value in node.items(_HOSTS):
            yield key.text, key.place, value


def _read_host(name: str, node: Node, *, images: Images, forwards: bool) -> Host:
    if node.is_null:
        return Host(name=name, address=None, forwards=forwards)
    if not node.is_mapping:
        return Host(name=name, address=read_interface_address(node), forwards=forwards)
    allowed = ("address", *fields_of(Host), "routes", *TIMING_KEYS)
    fields = node.fields(_HOST, allowed=allowed, collect_errors=True)
    declared = {"forwards": forwards, **read_fields(Host, fields)}
    if declared.get("root") is not None:
        declared["root"] = images.find(declared["root"], fields["root"])
    given = fields.get("address")
    routes = fields.get("routes")
    return Host(
        name=name,
        address=None if given is None else given.attempt(lambda: read_interface_address(given)),
        **declared,
        routes=() if routes is None else routes.attempt(lambda: read_routes(routes)) or (),
        timing=read_timing(fields),
    )


def _read_switches(node: Node, names: dict[str, Node]) -> tuple[Switch, ...]:
    switches = []
    for item in node.sequence("a list of switches (such as [s1, s2])"):
        name = item.line("a switch's name")
        if reason := name_problem(name) or _taken(name, names):
            item.note(item.error(reason))
        names[name] = item
        switches.append(Switch(name=name))
    return tuple(switches)


def name_problem(name: str) -> str | None:
    """Return why a name is not valid for a node; None if it is."""
    if name in _RESERVED:
        return f"no node can be called {name!r}: {_RESERVED[name]}"
    if not _NODE_NAME.fullmatch(name):
        return (
            f"{name!r} cannot be a node's name: write a letter or a digit, then up to "
            f"{MAX_NODE_NAME_LENGTH - 1} letters, digits, - or _"
        )
    return None


def _taken(name: str, names: dict[str, Node]) -> str | None:
    if name not in names:
        return None
    return f"the name {name!r} is taken already, in line {names[name].place.line}"


def check_host(name: str, network: Network, *, root: bool) -> str | None:
    """Return why a name is not that of a host; None if it is.

    Args:
        name: the name.
        network: the network.
        root: also take `root`, as a place to type at.

    Returns:
        The reason, or None.
    """
    hosts = [host.name for host in network.hosts]
    known = [ROOT_NAMESPACE, *hosts] if root else hosts
    if name in known:
        return None
    if any(switch.name == name for switch in network.switches):
        return f"{name!r} {_NO_SWITCH if root else 'is a switch, where a host is needed'}"
    return f"there is no host {name!r}{nearest(name, known)} (there are: {listed(known)})"


# Links.


def read_link(node: Node, names: Iterable[str], *, traces: Traces) -> Link:
    """Read a link.

    Args:
        node: `[NODE, NODE]` or `[NODE, NODE, {PROPERTIES}]`.
        names: the nodes that there are.
        traces: reads the traces that it follows.

    Raises:
        InputError: an end does not exist, or a property is wrong.
    """
    parts = node.sequence(_LINK)
    if len(parts) == 3 and not parts[2].is_mapping:
        raise parts[2].expected("a mapping of the link's properties (such as {rate: 1gbit})")
    if len(parts) not in {2, 3}:
        raise node.error(f"a link has two ends, and here are {len(parts)}: write [NODE, NODE]")
    names = list(names)
    a, b = (end.line("a node's name") for end in parts[:2])
    for end, name in zip(parts, (a, b), strict=False):
        if name not in names:
            end.note(
                end.error(
                    f"there is no node {name!r}{nearest(name, names)} (there are: {listed(names)})"
                )
            )
    if a == b:
        raise node.error(f"the link leads from {a} to itself")
    if len(parts) == 2:
        return Link(a=a, b=b)
    fields = parts[2].fields("a link's properties", allowed=_LINK_FIELDS, collect_errors=True)
    a_to_b, b_to_a = read_directions(fields, (a, b), traces=traces)
    given = fields.get("addresses")
    addresses = read_ends(given, (a, b), "addresses by end") if given is not None else {}
    return Link(
        a=a,
        b=b,
        a_to_b=LinkImpairments(**a_to_b),
        b_to_a=LinkImpairments(**b_to_a),
        a_address=_untagged(addresses.get(a)),
        b_address=_untagged(addresses.get(b)),
        a_vlan_addresses=_in_vlans(addresses.get(a)),
        b_vlan_addresses=_in_vlans(addresses.get(b)),
        **read_fields(Link, fields),
    )


_UNTAGGED = "untagged"
_VLAN_ADDRESSES = "an address, or addresses by VLAN (such as {10: 10.0.10.1/24})"


def _untagged(node: Node | None) -> str | None:
    """Return the address of an interface without tags, which may be beside those in VLANs."""
    if node is None or not node.is_mapping:
        return None if node is None else read_interface_address(node)
    given = [value for key, value in node.items(_VLAN_ADDRESSES) if key.text == _UNTAGGED]
    return read_address(given[0]) if given else None


def _in_vlans(node: Node | None) -> tuple[VlanAddress, ...]:
    if node is None or not node.is_mapping:
        return ()
    addresses = []
    for key, value in node.items(_VLAN_ADDRESSES):
        if key.text == _UNTAGGED:
            continue
        try:
            vlan = VLAN.parse(key.text)
        except InputError as error:
            raise InputError(error.message, place=key.place) from None
        addresses.append(VlanAddress(vlan=vlan, address=read_address(value)))
    return tuple(addresses)


def read_directions(
    fields: Mapping[str, Node], ends: tuple[str, str], *, traces: Traces | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the properties of both directions of a link.

    Args:
        fields: the link's fields; those that are no properties are left alone.
        ends: its nodes, a and b.
        traces: reads the traces that it follows; None where it cannot follow any.

    Returns:
        The values that were written for packets from a to b, and from b to a, by attribute;
        None for one that was written without a value.

    Raises:
        InputError: a property is wrong, or is one towards another node.
    """
    both = _read_impairments(fields, traces)
    to = read_ends(fields["to"], ends, "properties by end") if "to" in fields else {}
    towards = {
        end: _read_impairments(
            value.fields("properties of one direction", allowed=_IMPAIRMENTS), traces
        )
        for end, value in to.items()
    }
    a, b = ends
    return {**both, **towards.get(b, {})}, {**both, **towards.get(a, {})}


def _read_impairments(fields: Mapping[str, Node], traces: Traces | None) -> dict[str, Any]:
    """Read the properties of one direction, or of both; one with no value is taken back."""
    given = {key: node for key, node in fields.items() if not node.is_null}
    taken_back = {
        _IMPAIRMENTS[key].name: None for key in fields if key in _IMPAIRMENTS and key not in given
    }
    values = {**taken_back, **read_fields(LinkImpairments, given)}
    if "police" in fields and traces is None:
        raise fields["police"].error(
            "a policer is built with its link: give it to the link itself, or change its filter by"
            " an event with lines of tc"
        )
    if "trace" in given:
        if traces is None:
            raise given["trace"].error(
                "a trace begins with the traffic: give it to the link itself, and not to an event"
            )
        values["trace"] = traces.path(given["trace"])
    return values
