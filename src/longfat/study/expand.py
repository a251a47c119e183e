"""From the common fields and a case's own to the case that is run.

A case lists how it differs from what all cases have in common:

* `kernel`, `seed`, `seeds`, `memory`, `network` and `packages` replace the common field;
* `files` is merged by path: a file replaces the common one at its path or is added,
  and a path with no value is left out;
* `setup` and `events` are appended to the common ones, and `setup` to the lines of the network;
* `flows` is merged by name: a whole flow replaces the common one or is added
  after the common ones, single fields override those of the common flow, and a
  flow with no value is left out;
* `probes` is merged by name: a probe replaces the common one of its name or is
  added, and a probe with no value is left out;
* `title` is what tables call the case.

The order of flows, setup lines and events is the file's; the order of all other
fields makes no difference to the case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError, Place
from longfat.model.addresses import configured_hosts
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, CasePlaces, Command
from longfat.model.events import TypedLine
from longfat.model.fields import declare, read_fields
from longfat.model.kinds import Integer, Size, Text, WrongKindError
from longfat.model.network import ROOT_NAMESPACE, Network
from longfat.model.network.addressing import BY_WRITTEN, Addressing, complete
from longfat.model.packages import PinnedPackage
from longfat.model.traffic import Flow
from longfat.study import document
from longfat.study.events import WrittenEvent, check_events, read_events
from longfat.study.file_reader import FileReader, no_files
from longfat.study.files import Images, Traces, WrittenFile, check_files, read_file, read_packages
from longfat.study.flows import (
    Draft,
    WrittenProbe,
    check_flows,
    check_probes,
    draft_flow,
    ends_of,
    merge_flow,
    read_flow,
    read_probe,
)
from longfat.study.model import Planned
from longfat.study.network import SETUP, addressing_of, check_host, read_network
from longfat.study.node import Node, check_lines, typed_lines
from longfat.study.reachability import UnreachableError

MAX_SEED = 2**63 - 1
MAX_SEEDS = 1000

SETTINGS = (
    *("kernel", "seed", "seeds", "memory", "network", "files", "setup", "flows", "probes"),
    *("events", "packages"),
)
"""The fields that a study has for all cases, and each case for itself."""

CASE_FIELDS = ("title", *SETTINGS)

_KERNEL = re.compile(
    r"[0-9]{1,3}\.[0-9]{1,4}(\.[0-9]{1,4})?(-rc[0-9]{1,2})?(\+[A-Za-z0-9_-]{1,20})?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An entry of `setup`, with its places."""

    command: Command
    node_place: Place
    line_place: Place


class _KernelVersion(Text):
    """A version as it was typed: an unquoted 6.10 is not the number 6.1."""

    def parse(self, text: str) -> str:
        """Return the version."""
        if text != NEWEST and not _KERNEL.fullmatch(text):
            raise WrongKindError(f"{text!r} is not {self.what}")
        return text

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of versions."""
        return {**Text.schema(self), "examples": [self.example, NEWEST]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The fields that the cases have in common, read but for what needs the whole case."""

    kernel: str = declare(
        _KernelVersion(
            what=f'a kernel version (such as "6.1" or "6.12.3") or {NEWEST}', example="6.1"
        ),
        default=NEWEST,
        label="Kernel",
        help="the version of the kernel, or `newest`; `6.10` is not `6.1`",
        absent="`newest`: the newest that is built or installed. The run's manifest records which "
        "that was",
    )
    seed: int = declare(
        Integer(maximum=MAX_SEED),
        default=1,
        label="Seed",
        help="decides every random number of the machine",
    )
    seeds: int = declare(
        Integer(minimum=1, maximum=MAX_SEEDS),
        default=1,
        label="Seeds",
        help="how many times each case is run, with `seed`, `seed` + 1, ...",
    )
    memory_bytes: int = declare(
        Size(minimum=128 * 1024**2, maximum=1024**4),
        default=DEFAULT_MEMORY_BYTES,
        label="Memory",
        help="the machine's memory",
    )
    network: Network | None = None
    addressing: Addressing = BY_WRITTEN
    network_setup: tuple[Line, ...] = ()
    link_places: tuple[Place, ...] = ()
    traces: Traces | None = None
    files: Mapping[str, WrittenFile] = field(default_factory=dict)
    packages: tuple[PinnedPackage, ...] = ()
    packages_places: tuple[Place, ...] = ()
    setup: tuple[Line, ...] = ()
    flows: Mapping[str, Draft] = field(default_factory=dict)
    probes: Mapping[str, WrittenProbe] = field(default_factory=dict)
    events: tuple[WrittenEvent, ...] = ()

    def complete_network(self) -> Network | None:
        """Return the network with the addresses and routes that are assigned automatically."""
        if self.network is None:
            return None
        excluded = configured_hosts([line.command for line in self.lines])
        return complete(self.network, self.addressing, excluded=excluded)

    @property
    def lines(self) -> tuple[Line, ...]:
        """The set-up lines in the order in which they are typed: first those of the network."""
        return self.network_setup + self.setup


def read_settings(fields: Mapping[str, Node], common: Settings, *, beside: FileReader) -> Settings:
    """Read the fields of a study or case, on top of what is common.

    Args:
        fields: the values by field; others than `SETTINGS` are left alone.
        common: what they replace and extend.
        beside: reads the files beside the study.

    Raises:
        InputError: a value is wrong.
    """
    network, traces, network_setup = common.network, common.traces, common.network_setup
    addressing = common.addressing
    link_places = common.link_places
    files, flows, probes = dict(common.files), dict(common.flows), dict(common.probes)
    setup, events = common.setup, common.events
    # Each of them is read though another one may be wrong, in this order.
    if node := fields.get("files"):
        node.attempt(partial(_read_files, node, files, beside=beside))
    if node := fields.get("network"):
        traces = Traces(beside)
        reader = partial(read_network, node, traces=traces, images=Images(beside))
        network = node.attempt(reader) or network
        addressing = addressing_of(node) if node.is_mapping else BY_WRITTEN
        network_setup = node.attempt(partial(read_network_setup, node)) or ()
        link_places = _read_link_places(node)
    packages = common.packages, common.packages_places
    if node := fields.get("packages"):
        packages = node.attempt(partial(read_packages, node, read=beside)) or packages
    if node := fields.get("flows"):
        node.attempt(partial(_read_flows, node, flows))
    if node := fields.get("probes"):
        node.attempt(partial(_read_probes, node, probes))
    declared = read_fields(Settings, fields)
    if node := fields.get("setup"):
        setup += node.attempt(partial(read_setup, node)) or ()
    if node := fields.get("events"):
        events += node.attempt(partial(read_events, node)) or ()
    return replace(
        common,
        **declared,
        network=network,
        addressing=addressing,
        network_setup=network_setup,
        link_places=link_places,
        traces=traces,
        files=files,
        packages=packages[0],
        packages_places=packages[1],
        setup=setup,
        flows=flows,
        probes=probes,
        events=events,
    )


def _read_files(node: Node, files: dict[str, WrittenFile], *, beside: FileReader) -> None:
    for key, value in node.items("files by their paths in the machine"):
        if value.is_null:
            _drop("file", files, key.text, value)
        elif file := value.attempt(partial(read_file, key, value, read=beside)):
            files[key.text] = file


def _read_probes(node: Node, probes: dict[str, WrittenProbe]) -> None:
    for name, value in node.named("probes by name").items():
        if value.is_null:
            _drop("probe", probes, name, value)
        elif probe := value.attempt(partial(read_probe, name, value)):
            probes[name] = probe


def _read_flows(node: Node, flows: dict[str, Draft]) -> None:
    for name, value in node.named("flows by name").items():
        if value.is_null:
            _drop("flow", flows, name, value)
        elif draft := value.attempt(partial(_read_draft, name, value, flows.get(name))):
            flows[name] = draft


def _read_draft(name: str, node: Node, common: Draft | None) -> Draft:
    draft = draft_flow(name, node) if common is None else merge_flow(name, node, common)
    read_flow(draft)  # so that a wrong value is reported before any case is expanded
    return draft


def _drop(what: str, common: dict[str, Any], name: str, node: Node) -> None:
    if name not in common:
        node.note(
            node.error(
                f"the {what} {name!r} has no value, which leaves out a common {what}, and there "
                "is none of that name"
            )
        )
    common.pop(name, None)


def read_setup(node: Node) -> tuple[Line, ...]:
    """Read lines to type before the traffic starts.

    An entry is one `NODE: LINE`, or `[NODE, NODE]: LINE` for the same line at
    each of them in that order; a list or a block of lines in place of the line means
    one entry for each.

    Raises:
        InputError: it is not of that form.
    """
    form = "NODE: LINE (such as h1: sysctl -w net.ipv4.tcp_sack=0)"
    lines: list[Line] = []
    for entry in node.sequence(f"a list of {form}"):
        lines += entry.attempt(partial(_read_entry, entry, form)) or []
        check_lines(entry, len(lines))
    return tuple(lines)


def read_network_setup(network: Node) -> tuple[Line, ...]:
    """Read the set-up lines that belong to a network, so that it is never without them.

    Args:
        network: the value of `network`.

    Raises:
        InputError: as `read_setup`.
    """
    if not network.is_mapping:
        return ()  # which reading the network reports
    nodes = (value for key, value in network.items("a network") if key.text == SETUP)
    return tuple(line for node in nodes for line in read_setup(node))


def _read_link_places(network: Node) -> tuple[Place, ...]:
    """Return where the links of a network are written; none where they are in another file."""
    if not network.is_mapping:
        return ()
    links = (value for key, value in network.items("a network") if key.text == "links")
    return tuple(
        entry.place
        for node in links
        if isinstance(node.raw, document.Sequence)
        for entry in node.sequence("a list of links")
    )


def _read_entry(entry: Node, form: str) -> list[Line]:
    items = entry.items(form)
    if len(items) != 1:
        raise entry.error(
            f"an entry is one {form}, and here are {len(items)}: start each with a hyphen"
        )
    ((key, value),) = items
    return [
        Line(command=Command(node=name, line=line), node_place=key.place, line_place=place)
        for name, line, place in typed_lines(key, value, form=form)
    ]


def name_errors(settings: Settings) -> Iterator[InputError]:
    """Find nodes that are not there, which can be reported though other things are wrong, too.

    Args:
        settings: the settings, some of them wrong.
    """
    network = settings.network
    if network is None:
        return
    hosts = {ROOT_NAMESPACE, *(host.name for host in network.hosts)}
    for line in settings.lines:
        if line.command.node in hosts:
            continue
        if reason := check_host(line.command.node, network, root=True):
            yield InputError(reason, place=line.node_place)
    for draft in settings.flows.values():
        ends = draft.fields[draft.tool]
        for name in ends_of(draft):
            if reason := check_host(name, network, root=False):
                yield InputError(reason, place=ends.place_of(ends.text().find(name)))
    for written in settings.events:
        event = written.event
        if isinstance(event, TypedLine) and (reason := check_host(event.node, network, root=True)):
            yield InputError(reason, place=written.places[event.node])


def _check_entrypoints(
    settings: Settings, flows: Sequence[tuple[Flow, Draft]], network: Network
) -> None:
    """Check that a replacement for an image's own command is at a host whose image has one."""
    roots = network.roots
    if not roots:
        return
    lines = [(line.command.node, line.command.line, line.line_place) for line in settings.lines]
    lines += [(host, line, draft.place) for flow, draft in flows for host, line in flow.lines_at]
    lines += [
        (written.event.node, written.event.line, written.place)
        for written in settings.events
        if isinstance(written.event, TypedLine)
    ]
    for node, line, place in lines:
        if node in roots:
            try:
                roots[node].line(line)
            except InputError as error:
                raise InputError(error.message, place=place) from None


def _in_case(name: str, node: Node, error: InputError) -> InputError:
    """Return the error of a case: one in a common field may show in that case only."""
    where = f"in the case {name!r}: "
    if not error.place or not node.field or error.place.field.startswith(f"{node.field}."):
        return error
    if error.message.startswith(where):
        return error
    located = type(error)(f"{where}{error.message}", place=error.place)
    if isinstance(error, UnreachableError) and isinstance(located, UnreachableError):
        located.ends = error.ends
    return located


def plan_case(name: str, settings: Settings, *, title: str, node: Node) -> Planned:
    """Make a case of its settings, and check what needs all of them.

    Args:
        name: the case's name, for messages.
        settings: the settings.
        title: what a table calls it.
        node: where the case is written, or the whole study.

    Raises:
        InputError: a line or flow does not fit the network, or there is none.
    """
    network = settings.complete_network()
    if network is None:
        raise node.error("there is no network: write the field network, with hosts and links")
    if settings.seed + settings.seeds - 1 > MAX_SEED:
        raise node.error(
            f"{settings.seeds} seeds from {settings.seed} on pass the largest seed, {MAX_SEED}"
        )
    traces = settings.traces or Traces(no_files)
    files = {**traces.files, **settings.files}
    try:
        check_files(files.values())
        traces.check(files)
        errors = [_in_case(name, node, error) for error in name_errors(settings)]
        for error in errors:
            node.note(error)
        if errors:
            raise errors[0]
        flows = [(read_flow(draft), draft) for draft in settings.flows.values()]
        check_flows(flows, network, [line.command for line in settings.lines])
        _check_entrypoints(settings, flows, network)
        check_events(
            settings.events,
            network,
            setup=[line.command for line in settings.lines],
            flows=[flow for flow, _ in flows],
        )
        check_probes(settings.probes.values(), [flow for flow, _ in flows], network)
    except InputError as error:
        raise _in_case(name, node, error) from None
    case = Case(
        kernel=settings.kernel,
        network=network,
        files=tuple(files[path].file for path in sorted(files)),
        packages=settings.packages,
        setup=tuple(line.command for line in settings.lines),
        flows=tuple(flow for flow, _ in flows),
        probes=tuple(written.probe for written in settings.probes.values()),
        events=tuple(written.event for written in settings.events),
        seed=settings.seed,
        memory_bytes=settings.memory_bytes,
    )
    return Planned(
        case=case,
        places=CasePlaces(
            setup=tuple(line.line_place for line in settings.lines),
            events=tuple(written.place for written in settings.events),
            flows=tuple(draft.place for _, draft in flows),
            packages=settings.packages_places,
            links=settings.link_places,
        ),
        title=title,
        seeds=settings.seeds,
        network_lines=len(settings.network_setup),
        written_network=settings.network,
    )
