"""From a script to a network, its set-up lines, and notes on what is left out.

Writers of scripts express as lines what Mininet has no option for: see `mininet_options` and
`longfat.model.network.shape_commands`. When such a script is read, the lines become properties of
the network again, but only those that would give the very same lines, and only if no earlier line
can affect them.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.guest.mininet.lines import commands_of
from longfat.model.case import Command, File
from longfat.model.network import (
    DEFAULT_MTU_BYTES,
    Host,
    Link,
    Network,
    Route,
    infer_impairments,
    shaped_interfaces,
)
from longfat.model.network.devices import device_name
from longfat.model.network.tc import QdiscLine, parse_line
from longfat.model.traffic import Ping
from longfat.model.typed_line import NotUnderstoodError
from longfat.study.addresses import host_address, route_target, router_address
from longfat.study.document import MAX_FILE_BYTES
from longfat.study.formats.mininet.case_names import case_names
from longfat.study.formats.mininet.changes import with_changes
from longfat.study.formats.mininet.helpers import helper_files, mentioned
from longfat.study.formats.mininet.machine import (
    NetworkRecord,
    Record,
    Typed,
    at,
    printable,
    read_record,
    run_script,
)
from longfat.study.formats.mininet.names import with_safe_names
from longfat.study.formats.mininet.network import Reader
from longfat.study.formats.mininet.schedule import FOLDER, schedule_of
from longfat.study.formats.mininet.shaping import (
    as_mininet_shapes,
    buffer_limits,
)
from longfat.study.formats.mininet.traffic import Traffic, traffic_of

if TYPE_CHECKING:
    from pathlib import Path

_NOTHING = "the script makes no network: it needs a Mininet() or a Topo with hosts and links"

_MAX_PARTS = 20_000  # as in the stand-in, whose output may be forged
_OF_SHAPING = re.compile(
    r"link .*: (jitter: Mininet draws|max_queue_size is left out: (RED|Mininet's))"
    r"|links of bw .* without max_queue_size: "
)
_LINE = re.compile(r"line (\d{1,9}):")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptRun:
    """What a script does in one of its networks.

    Attributes:
        name: what distinguishes it from its other networks, as a case's name.
        network: the network.
        traffic: what is typed in it: set-up lines, flows, probes and events.
        files: files beside the script that lines name.
        notes: what became of each line, and what is left out.
        repeats: in how many networks it does the same.
    """

    name: str
    network: Network
    traffic: Traffic
    files: tuple[File, ...]
    notes: tuple[str, ...]
    repeats: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class MininetNetwork:
    """What a script defines.

    Attributes:
        title: the first line of its docstring; None if it has none.
        network: its hosts, switches and links.
        setup: what it types at nodes to set them up.
        typed: all lines that it types, those of traffic too, in their order.
        runs: what it does in each of the networks that it starts, as cases of a study.
    """

    title: str | None
    network: Network
    setup: tuple[Command, ...]
    typed: tuple[Typed, ...] = field(default=(), compare=False)
    runs: tuple[ScriptRun, ...] = field(default=(), compare=False)


def read_mininet(
    path: Path, *, arguments: Sequence[str] = (), most_wall_s: float | None = None
) -> tuple[MininetNetwork, tuple[str, ...]]:
    """Run a script for Mininet in a machine of its own, and read what it makes.

    Args:
        path: the file.
        arguments: its command-line arguments.
        most_wall_s: the wall time that it may take, in seconds; its own limit, if None.

    Returns:
        What it defines, and what could not be converted: each text names
        the line or the link.

    Raises:
        InputError: it cannot be read, fails before it starts a network, makes none,
            or makes one that cannot be built.
        HostError: no kernel is built, or the host lacks what a sandbox needs.
        MachineError: the machine failed.
    """
    text = _text(path)
    helpers = helper_files(path, text, arguments)
    content = run_script(path, text, arguments=arguments, helpers=helpers, most_wall_s=most_wall_s)
    return network_of(content, file=str(path), helpers=helpers)


def network_of(
    content: bytes, *, file: str, helpers: Mapping[str, bytes] = MappingProxyType({})
) -> tuple[MininetNetwork, tuple[str, ...]]:
    """Return what the script of a record defines; see `read_mininet`.

    Args:
        content: the record, as a machine wrote it.
        file: the script, as the user named it.
        helpers: files beside it, by their relative paths.

    Raises:
        InputError: as of `read_mininet`.
    """
    record = read_record(content, file=file)
    if sum(network.parts for network in record.networks) + len(record.warnings) > _MAX_PARTS:
        raise InputError(f"more than {_MAX_PARTS:,} nodes, links and commands", place=at(file))
    if record.error is not None and not record.is_started:
        raise InputError(printable(record.error.text), place=at(file, record.error.at))
    if not record.networks or not record.networks[0].nodes:
        left = "".join(f"; {who}: {what}" for who, what in record.warnings[:1])
        raise InputError(printable(_NOTHING + left), place=at(file))
    reader, network, setup, notes = _network(record, record.networks[0], file)
    warnings = list(notes)
    if len(record.networks) > 1:
        warnings.append(f"{file}: it makes {len(record.networks)} networks: the first is taken")
    title = record.title if record.title.isprintable() else ""
    return (
        MininetNetwork(
            title=title or None,
            network=network,
            setup=setup,
            typed=tuple(reader.typed),
            runs=_runs(record, file, helpers),
        ),
        tuple(map(printable, _by_line(warnings))),
    )


def _network(
    record: Record, one: NetworkRecord, file: str
) -> tuple[Reader, Network, tuple[Command, ...], tuple[str, ...]]:
    """Return one of a script's networks, its set-up lines, and notes on what is left out."""
    safe, renamed = with_safe_names(one)
    reader = Reader(safe, file)
    for who, what in record.warnings:
        reader.notes.add(who, what)
    network = reader.network()
    # Its network is whole by then; what follows may need what a study has no place for.
    if record.error is not None:
        reader.notes.add(f"line {record.error.at[0]}", f"the script ends here: {record.error.text}")
    network, setup = infer_link_properties(network, reader.setup)
    return reader, network, setup, (*renamed, *reader.notes.texts)


def _runs(record: Record, file: str, helpers: Mapping[str, bytes]) -> tuple[ScriptRun, ...]:
    """Return what a script does in each network that it starts, or in the first."""
    started = [one for one in record.networks if one.is_started] or record.networks[:1]
    first: dict[int, int] = {}
    runs: dict[int, ScriptRun] = {}
    for index, one in enumerate(started):
        run = _run(record, one, "", file, helpers)
        same = next((each for each, other in runs.items() if _is_same(run, other)), index)
        first[index] = same
        runs.setdefault(same, run)
    names = case_names([started[index] for index in runs])
    return tuple(
        replace(run, name=name, repeats=list(first.values()).count(index))
        for (index, run), name in zip(runs.items(), names, strict=True)
    )


def _is_same(one: ScriptRun, other: ScriptRun) -> bool:
    """Return whether a script does the same in two of its networks."""
    return _without_notes(one) == _without_notes(other)


def _without_notes(run: ScriptRun) -> ScriptRun:
    return replace(run, notes=(), traffic=replace(run.traffic, notes=()))


def _run(
    record: Record, one: NetworkRecord, name: str, file: str, helpers: Mapping[str, bytes]
) -> ScriptRun:
    one = with_changes(one, file=file)
    safe, renamed = with_safe_names(one)
    reader = Reader(safe, file)
    for who, what in record.warnings:
        reader.notes.add(who, what)
    network = reader.network()
    # Those on lines that a network alone has nothing for.
    notes = [note for note in reader.notes.texts if note not in reader.notes_on_lines]
    if record.error is not None:
        where = f"line {record.error.at[0]}"
        notes.append(f"{where}: the script ends here: {record.error.text}")
    is_host = {node.name for node in safe.nodes if not node.is_switch}
    commands = [
        typed if typed.node in is_host else replace(typed, node=None)
        for typed in reader.commands
        if typed.number not in reader.own_lines
    ]
    plain, shaping = as_mininet_shapes(network, safe)
    lines = [typed.text for typed in commands]
    written = {command.file for line in lines for command in commands_of(line)}
    used = mentioned({path: helpers[path] for path in helpers if path not in written}, lines)
    traffic = traffic_of(
        schedule_of(commands),
        plain,
        folder=FOLDER if used else None,
        loses_packets=any(
            shape.loss for link in network.links for shape in (link.a_to_b, link.b_to_a)
        ),
    )
    # A script of ours sets up its nodes by whatever lines its study had.
    lines_of_setup = (*reader.setup, *traffic.setup) if reader.own_lines else traffic.setup
    setup = [one for one in lines_of_setup if not reader.forwards(one)]
    plain, left = infer_link_properties(plain, setup)
    if shaping:  # by Mininet's own lines, so these do not differ
        notes = [note for note in notes if not _OF_SHAPING.match(note)]
    has_tcp = any(not isinstance(flow, Ping) for flow in traffic.flows)
    limits = buffer_limits(plain) if has_tcp else ()
    traffic = replace(traffic, setup=(*limits, *shaping, *left))
    network = replace(plain, cold_neighbours=not one.static_arp, shared_kernel=True)
    lines = [f"line {where[0]}: {text}" for where, text in traffic.notes]
    if not traffic.flows:
        lines.append(f"{file}: the script makes no traffic: the study has nothing to measure")
    return ScriptRun(
        name=name,
        network=network,
        traffic=traffic,
        files=tuple(
            File(path=f"{FOLDER}/{path}", content=data, executable=data.startswith(b"#!"))
            for path, data in used.items()
        ),
        notes=tuple(map(printable, _by_line([*renamed, *notes, *lines]))),
    )


def _by_line(notes: Sequence[str]) -> list[str]:
    """Return notes with those about lines in the lines' order; the others stay where they are."""
    lines = {note: int(match[1]) for note in notes if (match := _LINE.match(note))}
    ordered = iter(sorted(lines, key=lambda note: lines[note]))
    return [next(ordered) if note in lines else note for note in notes]


def _text(path: Path) -> bytes:
    try:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file")
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    if len(data) > MAX_FILE_BYTES:
        raise InputError("the file is too large for a script", place=at(str(path)))
    return data


# Lines that are a property of the network.


_MTU = re.compile(r"ip link set (\S+) mtu ([0-9]{2,5})")
_ADDRESS = re.compile(r"ip addr add (\S+) dev (\S+?)( nodad)?")
_ROUTE = re.compile(r"ip route add (\S+) via (\S+)")


def infer_link_properties(
    network: Network, setup: Sequence[Command]
) -> tuple[Network, tuple[Command, ...]]:
    """Return a network with the properties that set-up lines set, and the remaining lines.

    Args:
        network: the network.
        setup: lines that are typed when it has been built.
    """
    rest: list[Command] = []
    mtus: list[Command] = []
    shapes: dict[str, list[tuple[Command, QdiscLine]]] = {}
    names = {name for pair in network.interfaces() for name in pair}
    for command in setup:
        device = _device(command.line, names)
        # A line that stays may have made what this one needs.
        free = not any(one.node == command.node or (device and device in one.line) for one in rest)
        if free and device and (shaping := _shaping(command.line, device)):
            shapes.setdefault(device, []).append((command, shaping))
        elif free and _MTU.fullmatch(command.line) and device:
            mtus.append(command)
        elif free and (lifted := _addressed(network, command)) is not None:
            network = lifted
        else:
            rest.append(command)
    network, left = _with_mtus(network, mtus)
    network, more = _with_shapes(network, shapes)
    kept = {id(command) for command in (*left, *more, *rest)}
    return network, tuple(command for command in setup if id(command) in kept)


def _device(line: str, names: set[str]) -> str | None:
    return next((word for word in line.split() if word in names), None)


def _shaping(line: str, device: str) -> QdiscLine | None:
    """Return a line that adds a qdisc to an interface, if it has the very form that is written."""
    try:
        parsed = parse_line(line)
    except NotUnderstoodError:
        return None
    if parsed is None or (parsed.verb, parsed.device) != ("add", device):
        return None
    return parsed if parsed.qdisc.handle and f"tc {parsed.arguments}" == line else None


def _ends(network: Network) -> dict[str, tuple[int, str, str]]:
    """Return the link, the end (`a` or `b`) and the node of each interface."""
    return {
        name: (index, end, node)
        for index, (link, pair) in enumerate(zip(network.links, network.interfaces(), strict=True))
        for end, node, name in zip("ab", (link.a, link.b), pair, strict=True)
    }


def _with_link(network: Network, index: int, link: Link) -> Network:
    return replace(network, links=(*network.links[:index], link, *network.links[index + 1 :]))


def _with_host(network: Network, host: Host) -> Network:
    hosts = tuple(host if one.name == host.name else one for one in network.hosts)
    return replace(network, hosts=hosts)


def _addressed(network: Network, command: Command) -> Network | None:
    """Return the network with the address or the route of a line."""
    host = next((one for one in network.hosts if one.name == command.node), None)
    try:
        if host is not None and (found := _ADDRESS.fullmatch(command.line)):
            return _with_address(network, host, *found.groups())
        if host is not None and (found := _ROUTE.fullmatch(command.line)):
            return _with_route(network, host, found[1], found[2])
    except InputError:
        return None
    return None


def _with_address(
    network: Network, host: Host, text: str, device: str, sure: str | None
) -> Network | None:
    index, end, node = _ends(network).get(device, (0, "", ""))
    address = host_address(text)
    if node != host.name or address != text or (":" in text) != bool(sure):
        return None
    if network.addresses()[index]["ab".index(end)] is not None:
        return None
    alone = address.partition("/")[0]
    taken = {one.partition("/")[0] for pair in network.addresses() for one in pair if one}
    if alone in taken:
        return None
    if device == device_name(host.name, "-eth0"):
        return _with_host(network, replace(host, address=address))
    link = network.links[index]
    changed = replace(link, a_address=address) if end == "a" else replace(link, b_address=address)
    return _with_link(network, index, changed)


def _with_route(network: Network, host: Host, to: str, via: str) -> Network | None:
    route = Route(to=route_target(to), via=router_address(via))
    if (route.to, route.via) != (to, via) or any(one.to == to for one in host.routes):
        return None
    router = ipaddress.ip_address(via)
    ours = [
        ipaddress.ip_interface(address)
        for link, pair in zip(network.links, network.addresses(), strict=True)
        for node, address in zip((link.a, link.b), pair, strict=True)
        if node == host.name and address is not None
    ]
    near = any(router in one.network and router != one.ip for one in ours)
    # To a network of its own it has a route, so that Linux refuses another one.
    near &= to not in {str(one.network) for one in ours}
    same = to == "default" or ipaddress.ip_network(to).version == router.version
    if not near or not same:
        return None
    return _with_host(network, replace(host, routes=(*host.routes, route)))


def _with_mtus(network: Network, lines: Sequence[Command]) -> tuple[Network, tuple[Command, ...]]:
    """Take the MTU of links whose ends are set to the same value."""
    ends = _ends(network)
    commands_by_link: dict[int, dict[str, tuple[int, Command]]] = {}
    for command in lines:
        if found := _MTU.fullmatch(command.line):
            index, end, _ = ends[found[1]]
            commands_by_link.setdefault(index, {})[end] = (int(found[2]), command)
    left = set(map(id, lines))
    for index, by_end in commands_by_link.items():
        values = {value for value, _ in by_end.values()}
        if len(by_end) == 2 and len(values) == 1:
            link = replace(network.links[index], mtu_bytes=values.pop())
            network = _with_link(network, index, link)
            left -= {id(command) for _, command in by_end.values()}
    return network, tuple(command for command in lines if id(command) in left)


def _with_shapes(
    network: Network, lines: dict[str, list[tuple[Command, QdiscLine]]]
) -> tuple[Network, tuple[Command, ...]]:
    """Take the properties of directions that have none yet."""
    ends = _ends(network)
    left: list[Command] = []
    for interface in shaped_interfaces(network, lines):
        index, end, _ = ends[interface.name]
        link = network.links[index]
        commands = [command for command, _ in lines[interface.name]]
        shape = None
        if not interface.qdiscs and all(one.node == interface.node for one in commands):
            shape = infer_impairments(
                [line.qdisc for _, line in lines[interface.name]],
                mtu_bytes=link.mtu_bytes or DEFAULT_MTU_BYTES,
            )
        if shape is None:
            left += commands
        else:
            link = replace(link, a_to_b=shape) if end == "a" else replace(link, b_to_a=shape)
            network = _with_link(network, index, link)
    return network, tuple(left)
