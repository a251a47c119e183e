"""The `network` field: hosts, switches and links.

What a value must look like is checked here and in `links` and `addresses`; what
must hold of the whole is checked by `longfat.model.network.check`, and each problem is
given the place of the field that it speaks of. The set-up lines that belong to a network are
read by `longfat.study.expand`, as all others.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError
from longfat.model.fields import fields_of, read_fields
from longfat.model.network import (
    ROOT_NAMESPACE,
    TIMING_KEYS,
    Host,
    Network,
    Problem,
    Switch,
    problems,
)
from longfat.model.network.devices import LONGEST_NODE_NAME
from longfat.study.addresses import read_address, read_routes
from longfat.study.document import parse_document
from longfat.study.files import reads_nothing
from longfat.study.images import Images
from longfat.study.links import read_link
from longfat.study.node import Node
from longfat.study.timing import read_testbed, read_timing
from longfat.study.traces import Traces

if TYPE_CHECKING:
    from collections.abc import Mapping

_NODE_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST_NODE_NAME - 1}}}")

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

_HOSTS = "a mapping of hosts to addresses (such as {h1: 10.0.0.1/8})"
_HOST = "an address, or {address: ..., forwards: yes, routes: {default: ...}}"


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
    before = 0 if node.mistakes is None else len(node.mistakes)
    allowed = ("hosts", "switches", "links", "testbed", SETUP, *own)
    fields = node.fields("a network", allowed=allowed, goes_on=True)
    if "hosts" not in fields:
        raise node.error("the network has no hosts: write hosts: {h1: 10.0.0.1/8}")
    names: dict[str, Node] = {}
    hosts = _read_hosts(fields["hosts"], names, images=images)
    switches = _read_switches(fields["switches"], names) if "switches" in fields else ()
    link_nodes = fields["links"].sequence("a list of links") if "links" in fields else []
    links = tuple(
        link
        for one in link_nodes
        if (link := one.attempt(partial(read_link, one, names, traces=traces))) is not None
        and {link.a, link.b} <= set(names)
    )
    testbed = read_testbed(fields["testbed"]) if "testbed" in fields else None
    network = Network(
        hosts=hosts,
        switches=switches,
        links=links,
        testbed=testbed,
        **read_fields(Network, fields),
    )
    # What is wrong with the whole is known once all parts of it are.
    found = problems(network) if is_whole(node, before) else ()
    for problem in found:
        where = names[str(problem.path[1])] if problem.path[0] != "links" else None
        if where is None:
            assert isinstance(problem.path[1], int)
            where = link_nodes[problem.path[1]]
        node.note(_written(where, problem).error(problem.message))
    return network


def is_whole(node: Node, before: int) -> bool:
    """Return whether no mistake was kept since there were `before`."""
    return node.mistakes is None or len(node.mistakes) == before


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
    text = json.dumps(section, ensure_ascii=False)  # which is YAML, too
    raw = parse_document(text.encode(), file="network")
    return read_network(
        Node(raw=raw, file="network", field="network"),
        traces=Traces(reads_nothing),
        images=Images(reads_nothing),
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
    found: Node | None = node
    for name in path:
        found = None if found is None else _child(found, name)
    return found is not None


def _child(node: Node, name: str) -> Node | None:
    if not node.is_mapping:
        return None
    return next((value for key, value in node.items("fields") if key.text == name), None)


def _read_hosts(node: Node, names: dict[str, Node], *, images: Images) -> tuple[Host, ...]:
    hosts = []
    for key, value in node.items(_HOSTS):
        if reason := name_problem(key.text) or _taken(key.text, names):
            node.note(InputError(reason, place=key.place))
        names[key.text] = value
        host = value.attempt(partial(_read_host, key.text, value, images=images))
        hosts.append(host or Host(name=key.text, address=None))
    if not hosts:
        raise node.error("the network has no hosts: write hosts: {h1: 10.0.0.1/8}")
    return tuple(hosts)


def _read_host(name: str, node: Node, *, images: Images) -> Host:
    if node.is_null:
        return Host(name=name, address=None)
    if not node.is_mapping:
        return Host(name=name, address=read_address(node))
    allowed = ("address", *fields_of(Host), "routes", *TIMING_KEYS)
    fields = node.fields(_HOST, allowed=allowed, goes_on=True)
    declared = read_fields(Host, fields)
    if declared.get("root") is not None:
        declared["root"] = images.find(declared["root"], fields["root"])
    given = fields.get("address")
    routes = fields.get("routes")
    return Host(
        name=name,
        address=None if given is None else given.attempt(lambda: read_address(given)),
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
            f"{name!r} cannot be a node's name: write a letter, then up to "
            f"{LONGEST_NODE_NAME - 1} letters, digits, - or _"
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
