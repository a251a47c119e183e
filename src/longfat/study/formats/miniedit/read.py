"""From a `.mn` file to a network, its set-up lines, and notes on what is left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, Place
from longfat.model.case import Command
from longfat.model.network import Host, Link, LinkImpairments, Network, Switch, problems
from longfat.study.document import MAX_FILE_BYTES, MAX_NODES, parse_document
from longfat.study.formats.miniedit.nodes import Drawn, Fields, read_host, read_switch
from longfat.study.formats.mininet_options import Notes, link_shape, link_time_s
from longfat.study.network import name_problem
from longfat.study.node import Node

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from longfat.model.network import Problem


_SCALE = 4
"""A drawing may be this much larger than a study: it has more about each node."""

_VERSIONS = ("1", "2")
_BASE = "10.0.0.0/8"

_NO_CONTROLLER = "is left out: switches here are learning bridges, which need none"


@dataclass(frozen=True, slots=True, kw_only=True)
class MinieditNetwork:
    """The contents of a `.mn` file.

    Attributes:
        network: hosts, switches and links; legacy routers are hosts that forward.
        setup: start commands, VLAN interfaces and switches' addresses, as lines.
        positions: the nodes' positions in the drawing, in pixels, by name.
    """

    network: Network
    setup: tuple[Command, ...]
    positions: Mapping[str, tuple[float, float]]


def read_miniedit(path: Path) -> tuple[MinieditNetwork, tuple[str, ...]]:
    """Read a `.mn` file.

    Args:
        path: the file.

    Returns:
        Its contents, and what could not be converted: each text names
        the node and the field.

    Raises:
        InputError: it cannot be read, is no `.mn` file, or its network cannot be
            built: switches in a loop, two nodes with one address.
    """
    notes = Notes()
    root = Fields(_document(path), "a MiniEdit file")
    if missing := root.missing("hosts", "switches", "links"):
        raise root.node.error(f"this is no MiniEdit file: it has no {' and no '.join(missing)}")
    version = root.text("version") or "2"
    if version not in _VERSIONS:
        raise root.node.error(f"MiniEdit's file version {version!r} is not known, only 1 and 2")
    base = _read_application(root.get("application"), notes)
    controllers = _read_controllers(root.get("controllers"), notes)
    drawn: list[Drawn] = [
        read_host(one, base=base, notes=notes) for one in root.items("hosts", "hosts")
    ]
    drawn += [read_switch(one, notes=notes) for one in root.items("switches", "switches")]
    names = _names(drawn)
    links = [
        (node, link)
        for node in root.items("links", "links")
        if (link := read_link(node, nodes=names, controllers=controllers, notes=notes))
    ]
    for name in root.unknown():
        notes.add("the file", f"the field {name} is not known and is left out")
    network = Network(
        hosts=tuple(one.node for one in drawn if isinstance(one.node, Host)),
        switches=tuple(one.node for one in drawn if isinstance(one.node, Switch)),
        links=tuple(link for _, link in links),
        shared_kernel=True,  # MiniEdit starts it in Mininet
    )
    for problem in problems(network):
        raise _place(problem, names, [node for node, _ in links]).error(problem.message)
    found = MinieditNetwork(
        network=network,
        setup=tuple(line for one in drawn for line in one.setup),
        positions={one.name: one.position for one in drawn if one.position is not None},
    )
    return found, tuple(notes.texts)


def _document(path: Path) -> Node:
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        with path.open("rb") as file:
            data = file.read(_SCALE * MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    start = Place(str(path), 1, 1)
    if len(data) > _SCALE * MAX_FILE_BYTES:
        raise InputError("the file is too large for a MiniEdit drawing", place=start)
    if not data.strip():
        raise InputError("the file is empty", place=start)
    try:
        json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        place = Place(str(path), error.lineno, error.colno)
        raise InputError(f"not JSON: {error.msg}", place=place) from None
    except (ValueError, RecursionError):
        raise InputError("the file is not JSON, or nested too deep", place=start) from None
    # In JSON a tab is only between values; YAML forbids it there.
    raw = parse_document(data.replace(b"\t", b" "), file=str(path), most_nodes=_SCALE * MAX_NODES)
    return Node(raw=raw, file=str(path))


def _names(drawn: list[Drawn]) -> dict[str, Node]:
    names: dict[str, Node] = {}
    for one in drawn:
        if reason := name_problem(one.name):
            raise one.source.error(reason)
        if one.name in names:
            raise one.source.error(f"there are two nodes with the name {one.name!r}")
        names[one.name] = one.source
    return names


def _place(problem: Problem, names: Mapping[str, Node], links: list[Node]) -> Node:
    _, which, *_ = problem.path
    return links[which] if isinstance(which, int) else names[which]


def _read_controllers(node: Node | None, notes: Notes) -> set[str]:
    """Return the controllers' names: a list of them, or in version 1 an object."""
    names: set[str] = set()
    if node is None:
        return names
    if node.is_mapping:
        names = {key.text for key, _ in node.items("controllers")}
    else:
        for one in node.sequence("a list of controllers"):
            opts = Fields(one, "a controller").get("opts")
            name = Fields(opts, "a controller's options").text("hostname") if opts else None
            names.add(name or "a controller without a name")
    for name in sorted(names):
        notes.add(name, f"the controller {_NO_CONTROLLER}")
    return names


def _read_application(node: Node | None, notes: Notes) -> str:
    """Return the base of addresses, and note other settings that are not the default."""
    if node is None:
        return _BASE
    fields = Fields(node, "MiniEdit's settings")
    who = "application"
    base = fields.text("ipBase") or _BASE
    for name in ("startCLI", "terminalType"):
        fields.get(name)  # of MiniEdit's windows
    if (kind := fields.text("switchType")) not in {None, "ovs"}:
        notes.add(who, f"switchType {kind} is left out: switches are Linux bridges")
    if fields.text("dpctl") is not None:
        notes.add(who, "dpctl is left out: switches are no OpenFlow switches")
    for name, target in (("sflow", "sflowTarget"), ("netflow", "nflowTarget")):
        if _inner(fields, name, target) is not None:
            notes.add(who, f"{name} is left out: sample with probes instead")
    if any(_inner(fields, "openFlowVersions", f"ovsOf1{n}") == "1" for n in (1, 2, 3)):
        notes.add(who, "openFlowVersions is left out: switches are no OpenFlow switches")
    for name in fields.unknown():
        notes.add(who, f"the field {name} is not known and is left out")
    return base


def _inner(fields: Fields, name: str, field: str) -> str | None:
    value = fields.get(name)
    return None if value is None else Fields(value, name).text(field)


# Links.


def read_link(
    node: Node, *, nodes: Collection[str], controllers: Collection[str], notes: Notes
) -> Link | None:
    """Read a link.

    Args:
        node: the link.
        nodes: the names of hosts and switches.
        controllers: the names of controllers.
        notes: collects what is left out.

    Returns:
        The link; None for one to a controller, which is left behind.

    Raises:
        InputError: an end does not exist, or an option has no value that tc takes.
    """
    fields = Fields(node, "a link")
    ends = []
    for name in ("src", "dest"):
        value = fields.get(name)
        if value is None:
            raise node.error(f"the link has no {name}")
        ends.append((value, value.line("a node's name")))
    who = f"link {ends[0][1]} - {ends[1][1]}"
    if any(end in controllers for _, end in ends):
        notes.add(who, "is left out: there are no controllers")
        return None
    for value, end in ends:
        if end not in nodes:
            raise value.error(
                f"there is no node {end!r}{nearest(end, nodes)} (there are: {listed(nodes)})"
            )
    if ends[0][1] == ends[1][1]:
        raise node.error(f"the link leads from {ends[0][1]} to itself")
    shape = _read_shape(fields.get("opts"), who, notes)
    for name in fields.unknown():
        notes.add(who, f"the field {name} is not known and is left out")
    return Link(a=ends[0][1], b=ends[1][1], a_to_b=shape, b_to_a=shape)


def _read_shape(node: Node | None, who: str, notes: Notes) -> LinkImpairments:
    if node is None:
        return LinkImpairments()
    opts = Fields(node, "a link's options")
    megabits = opts.number("bw")
    packets = opts.number("max_queue_size")
    percent = opts.number("loss")
    delay_s = _time_s(opts, "delay", who, notes)
    jitter_s = _time_s(opts, "jitter", who, notes)
    if percent is not None and percent > 100:
        raise opts.node.error(f"a loss of {percent:g} % is more than all")
    if opts.text("speedup") not in {None, "0"}:
        notes.add(who, "speedup, the rate of a switch's end, is left out")
    for name in opts.unknown():
        notes.add(who, f"the option {name} is not known and is left out")
    return link_shape(
        megabits=megabits,
        packets=packets,
        percent=percent,
        delay_s=delay_s,
        jitter_s=jitter_s,
        who=who,
        notes=notes,
    )


def _time_s(opts: Fields, name: str, who: str, notes: Notes) -> float | None:
    text = opts.text(name)
    if text is None:
        return None
    try:
        return link_time_s(text, name=name, who=who, notes=notes)
    except InputError as error:
        value = opts.get(name)
        assert value is not None
        raise value.error(error.message) from None
