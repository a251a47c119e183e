"""From a case to the text of a study that has this one case: the way back of `read`.

What is the default is left out, as are addresses and routes that are assigned automatically;
each node, link and flow is on one line, and what fits a line together is on one. Reading the
text gives an equal case.
"""

from __future__ import annotations

import base64
import io
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError
from longfat.model.addresses import configured_hosts
from longfat.model.case import DEFAULT_MEMORY_BYTES
from longfat.model.events import (
    ClockChange,
    Event,
    LinkChange,
    Partition,
    PropertyChange,
    TypedLine,
)
from longfat.model.fields import fields_of, written_fields
from longfat.model.kinds import size_text
from longfat.model.network import LinkImpairments
from longfat.model.network.addressing import BY_WRITTEN, NONE, Addressing, complete
from longfat.model.probes import Probe
from longfat.model.traffic import Flow
from longfat.study.document import MAX_FILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from longfat.model.case import Case, Command, File
    from longfat.model.network import Bond, Host, HostTiming, Link, Network, Tunnel, VlanAddress
    from longfat.study.drawing import Drawing

_WIDTH = 100
_PART = re.compile(
    "^(network|files|packages|setup|flows|probes|events|cases|layout|drawing):", re.MULTILINE
)


def study_text(
    *,
    title: str,
    case: Case,
    cases: Mapping[str, Case] | None = None,
    seeds: int = 1,
    layout: Mapping[str, tuple[float, float]] | None = None,
    drawing: Drawing | None = None,
) -> str:
    """Return the YAML text of a study with one case, or with several.

    Args:
        title: what the study is about, on one line.
        case: the case; of several, one of them.
        cases: the cases by name, if there are several. They may differ in their networks,
            set-up lines, flows, probes and events.
        seeds: how many times each is to be run.
        layout: positions of its network's nodes in a drawing, in pixels, if known.
        drawing: the other contents of the drawing; nodes that the case lacks are left out.

    Returns:
        The text.

    Raises:
        InputError: a study cannot hold it: a typed line of several lines, or large files.
    """
    document = CommentedMap({"title": title})
    settings = {
        "kernel": (case.kernel, NEWEST),
        "seed": (case.seed, 1),
        "seeds": (seeds, 1),
        "memory": (_size(case.memory_bytes), _size(DEFAULT_MEMORY_BYTES)),
    }
    document.update(
        {name: value for name, (value, default) in settings.items() if value != default}
    )
    several = list((cases or {}).values())
    # A part that differs between cases stands in each of them.
    own = [
        part
        for part in ("network", "setup", "flows", "probes", "events")
        if any(getattr(one, part) != getattr(case, part) for one in several)
    ]
    shared = _shared_setup(several) if "setup" in own else case.setup
    setups = [one.setup for one in several if one.network == case.network] or [case.setup]
    parts = _parts(replace(case, setup=shared), setups)
    kept = {name: part for name, part in parts.items() if name == "setup" or name not in own}
    document.update({name: part for name, part in kept.items() if part})
    if several:
        document["cases"] = CommentedMap()
        for name, one in (cases or {}).items():
            others = _parts(replace(one, setup=one.setup[len(shared) :]), [one.setup])
            document["cases"][name] = (
                CommentedMap({part: others[part] for part in own if others[part]}) or None
            )
    if layout:
        places = {name: _row(map(_number, place)) for name, place in layout.items()}
        document["layout"] = _block_or_row(places)
    if drawing and (written := _drawing(drawing.of_nodes(case.network.node_names()))):
        document["drawing"] = written
    yaml = YAML()
    yaml.width = 2**20  # a line of set-up stays one line
    yaml.indent(mapping=2, sequence=4, offset=2)
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    out = io.StringIO()
    yaml.dump(document, out)
    text = _PART.sub(r"\n\g<0>", out.getvalue())
    if case.files and len(text.encode()) > MAX_FILE_BYTES:
        paths = ", ".join(file.path for file in case.files)
        raise InputError(
            f"a study file holds at most {MAX_FILE_BYTES // 1024} KB, and with its files "
            f"written inline this one would be larger: {paths}"
        )
    return text


def _shared_setup(cases: list[Case]) -> tuple[Command, ...]:
    """Return the set-up lines with which all cases begin; those of a case come after them."""
    shared = []
    for lines in zip(*(case.setup for case in cases), strict=False):
        if any(line != lines[0] for line in lines):
            break
        shared.append(lines[0])
    return tuple(shared)


def _parts(
    case: Case, setups: Iterable[Sequence[Command]]
) -> dict[str, CommentedMap | CommentedSeq]:
    """Return the parts of a case; `setups` are the set-up lines that its network is with."""
    return {
        "network": _network(case.network, setups),
        "files": CommentedMap({file.path: _file(file) for file in case.files}),
        "packages": CommentedSeq(one.line for one in case.packages),
        "setup": _setup(case.setup),
        "flows": CommentedMap({flow.name: _flow(flow) for flow in case.flows}),
        "probes": CommentedMap({one.name: _probe(one) for one in case.probes}),
        "events": CommentedSeq(map(_event, case.events)),
    }


def _drawing(drawing: Drawing) -> CommentedMap:
    groups = [_row(written_fields(group)) for group in drawing.groups]
    notes = [
        _row(
            {"text": _note_text(note.text), "at": _row(map(_number, note.at))}
            | written_fields(note)
        )
        for note in drawing.notes
    ]
    parts: dict[str, Any] = {
        "colours": _block_or_row(dict(drawing.colours)) if drawing.colours else None,
        "groups": CommentedSeq(groups),
        "notes": CommentedSeq(notes),
    }
    return CommentedMap({name: part for name, part in parts.items() if part})


def _note_text(text: str) -> str:
    return DoubleQuotedScalarString(text) if "\n" in text else text


def _row(values: Mapping[str, Any] | Iterable[Any]) -> CommentedMap | CommentedSeq:
    """Return a mapping or list to be written on one line."""
    one: CommentedMap | CommentedSeq
    one = CommentedMap(values) if isinstance(values, dict) else CommentedSeq(values)
    one.fa.set_flow_style()
    return one


def _network(network: Network, setups: Iterable[Sequence[Command]]) -> CommentedMap:
    network, addressing = _as_written(network, setups)
    section = CommentedMap(written_fields(addressing))
    section.update(_hosts(network.hosts))
    if network.switches:
        section["switches"] = _row(switch.name for switch in network.switches)
    if network.testbed is not None:
        section["testbed"] = _row(_timing(network.testbed))
    if network.links:
        section["links"] = _block_or_row([_link(link) for link in network.links])
    if network.bonds:
        section["bonds"] = _block_or_row([_bond(bond) for bond in network.bonds])
    if network.tunnels:
        section["tunnels"] = _block_or_row([_tunnel(tunnel) for tunnel in network.tunnels])
    section.update(written_fields(network))
    return section


def _as_written(
    network: Network, setups: Iterable[Sequence[Command]]
) -> tuple[Network, Addressing]:
    """Return a network without what is assigned automatically, and what it says of that."""
    bare_links = tuple(replace(link, a_address=None, b_address=None) for link in network.links)
    bare_hosts = tuple(replace(host, routes=()) for host in network.hosts)
    names_alone = tuple(replace(host, address=None) for host in bare_hosts)
    configured = [configured_hosts(lines) for lines in setups]
    for written in (
        replace(network, hosts=names_alone, links=bare_links),
        replace(network, hosts=bare_hosts, links=bare_links),
        replace(network, hosts=bare_hosts),
        network,
    ):
        if all(complete(written, excluded=hosts) == network for hosts in configured):
            return written, BY_WRITTEN
    return network, Addressing(addresses=NONE)


def _block_or_row(values: dict[str, Any] | list[Any]) -> CommentedMap | CommentedSeq:
    """Return items to be written on a line each; on one line if they are short and plain."""
    row = _row(values)
    items = values.values() if isinstance(values, dict) else values
    if len(str(values)) <= _WIDTH and not any(map(_has_fields, items)):
        return row
    return CommentedMap(values) if isinstance(values, dict) else CommentedSeq(values)


def _has_fields(item: object) -> bool:
    parts = item if isinstance(item, list) else [item]
    return any(isinstance(part, dict) for part in parts)


def _hosts(hosts: Sequence[Host]) -> dict[str, CommentedMap | CommentedSeq]:
    """Return hosts, and routers after them if the case has them in this order."""
    routers = [host for host in hosts if host.forwards]
    own = [host for host in hosts if not host.forwards]
    if [*own, *routers] != list(hosts):
        own, routers = list(hosts), []
    sections = {
        "hosts": {host.name: _host(host) for host in own},
        "routers": {host.name: _host(replace(host, forwards=False)) for host in routers},
    }
    return {
        field: _block_or_row(dict(entries) if any(entries.values()) else list(entries))
        for field, entries in sections.items()
        if entries
    }


def _host(host: Host) -> Any:
    fields: dict[str, Any] = {}
    if host.address is not None:
        fields["address"] = host.address
    fields |= {key: _in_row(value) for key, value in written_fields(host).items()}
    if host.routes:
        fields["routes"] = _row(
            {
                route.to: _row(route.next_hops) if route.others else route.via
                for route in host.routes
            }
        )
    if host.timing is not None:
        fields |= _timing(host.timing)
    if list(fields) == ["address"]:
        return host.address
    return _row(fields) if fields else None


def _timing(timing: HostTiming) -> dict[str, Any]:
    fields: dict[str, Any] = written_fields(timing)
    if costs := written_fields(timing.cpu):
        fields["cpu"] = _row(costs)
    return fields


def _link(link: Link) -> CommentedMap | CommentedSeq:
    there, back = written_fields(link.a_to_b), written_fields(link.b_to_a)
    common = {name: value for name, value in there.items() if back.get(name) == value}
    fields: dict[str, Any] = dict(common)
    fields |= written_fields(link)
    addresses = {
        link.a: _addresses(link.a_address, link.a_vlan_addresses),
        link.b: _addresses(link.b_address, link.b_vlan_addresses),
    }
    if given := {end: address for end, address in addresses.items() if address is not None}:
        fields["addresses"] = _row(given)
    to = {
        end: _row({name: value for name, value in own.items() if name not in common})
        for end, own in ((link.b, there), (link.a, back))
    }
    if differing := {end: own for end, own in to.items() if own}:
        fields["to"] = _row(differing)
    ends: list[Any] = [link.a, link.b]
    return _row([*ends, _row(fields)] if fields else ends)


def _addresses(untagged: str | None, in_vlans: Iterable[VlanAddress]) -> Any:
    by_vlan: dict[Any, str] = {one.vlan: one.address for one in in_vlans}
    if not by_vlan:
        return untagged
    return _row(by_vlan if untagged is None else {"untagged": untagged, **by_vlan})


def _bond(bond: Bond) -> CommentedMap | CommentedSeq:
    other = bond.peers[0] if len(bond.peers) == 1 else _row(bond.peers)
    return _row([bond.a, other, _row(written_fields(bond))])


def _tunnel(tunnel: Tunnel) -> CommentedMap | CommentedSeq:
    fields: dict[str, Any] = dict(written_fields(tunnel))
    fields["addresses"] = _row({tunnel.a: tunnel.a_address, tunnel.b: tunnel.b_address})
    endpoints = {tunnel.a: tunnel.a_endpoint, tunnel.b: tunnel.b_endpoint}
    if given := {end: endpoint for end, endpoint in endpoints.items() if endpoint is not None}:
        fields["endpoints"] = _row(given)
    return _row([tunnel.a, tunnel.b, _row(fields)])


# What YAML's literal style keeps as it is.
_LITERAL = re.compile(r"[!-~][\t\n -~]*\S\n|[!-~]\n")


def _file(file: File) -> CommentedMap:
    """Return a file with its content, since a text alone has nothing beside it."""
    text = file.text
    content: str
    if text is None:
        name, content = "base64", base64.b64encode(file.content).decode("ascii")
    else:
        literal = _LITERAL.fullmatch(text) is not None
        name = "text"
        content = LiteralScalarString(text) if literal else DoubleQuotedScalarString(text)
    fields = CommentedMap({name: content})
    if file.executable:
        fields["executable"] = "yes"
    return fields


def _setup(setup: Iterable[Command]) -> CommentedSeq:
    """Return set-up lines; consecutive ones of one node are grouped below it."""
    entries = CommentedSeq()
    node = None
    for command in setup:
        line = _one_line(command.line)
        if command.node == node:
            last = entries[-1]
            if not isinstance(last[node], CommentedSeq):
                last[node] = CommentedSeq([last[node]])
            last[node].append(line)
        else:
            node = command.node
            entries.append(CommentedMap({node: line}))
    return entries


def _one_line(line: str) -> str:
    if "\n" in line or line != line.strip() or not line:
        raise InputError(f"{line!r} cannot be in a study: a command is one line")
    return line


def _size(size_bytes: int) -> int | str:
    text = size_text(size_bytes)
    return int(text) if text.isdigit() else text


def _number(value: float) -> int | float:
    return int(value) if value == int(value) else value


def _flow(flow: Flow) -> CommentedMap | CommentedSeq:
    fields: dict[str, Any] = {flow.tool: f"{flow.source} -> {flow.target}"}
    given = written_fields(flow)
    fields |= {key: _in_row(given[key]) for key in type(flow).study_keys() if key in given}
    return _row(fields)


def _probe(probe: Probe) -> CommentedMap | CommentedSeq:
    fields: dict[str, Any] = {} if probe.name == probe.kind else {"kind": probe.kind}
    fields |= {key: _in_row(value) for key, value in written_fields(probe).items()}
    return _row(fields)


def _event(event: Event) -> CommentedMap | CommentedSeq:
    when = {"after": event.after} if event.after is not None else {}
    fields: dict[str, Any] = {**when, "at": _time(event), **written_fields(event)}
    match event:
        case TypedLine():
            fields[event.node] = _one_line(event.line)
        case ClockChange():
            fields["clock"] = event.host
        case Partition():
            fields["partition"] = _row([_row(group) for group in event.groups])
        case LinkChange():
            fields["link"] = _row([event.a, event.b])
            there, back = _changed(event.a_to_b), _changed(event.b_to_a)
            common = {key: there[key] for key in there if key in back and back[key] == there[key]}
            fields |= common
            to = {
                end: _row({key: value for key, value in own.items() if key not in common})
                for end, own in ((event.b, there), (event.a, back))
            }
            if differing := {end: own for end, own in to.items() if own}:
                fields["to"] = _row(differing)
    return _row(fields)


def _time(event: Event) -> object:
    return fields_of(Event)["at"].kind.plain(event.at_s)


def _changed(change: PropertyChange) -> dict[str, object]:
    gone = [key for key, one in fields_of(LinkImpairments).items() if one.name in change.taken_back]
    return {**written_fields(change.given), **dict.fromkeys(gone)}


def _in_row(value: object) -> object:
    if isinstance(value, dict):
        return _row({key: _in_row(one) for key, one in value.items()})
    return _row(value) if isinstance(value, list) else value
