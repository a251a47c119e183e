"""From the common fields and a case's own to the case that is run.

A case says how it differs from what all cases have in common:

* `kernel`, `seed`, `seeds`, `memory` and `network` replace the common field;
* `files` is merged by path: a file replaces the common one at its path or is added,
  and a path with no value is left out;
* `setup` and `events` are appended to the common ones;
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from longfat.engine.kernel.version import NEWEST
from longfat.errors import InputError, Place
from longfat.model.case import DEFAULT_MEMORY_BYTES, Case, Command
from longfat.model.events import TypedLine
from longfat.model.fields import declare, read_fields
from longfat.model.kinds import Integer, Size, Text, WrongKindError
from longfat.model.network import Network
from longfat.model.traffic import Flow
from longfat.study.events import WrittenEvent, check_events, read_events
from longfat.study.files import ReadBeside, WrittenFile, check_files, read_file, reads_nothing
from longfat.study.flows import Draft, check_flows, draft_flow, merge_flow, read_flow
from longfat.study.images import Images
from longfat.study.model import Planned
from longfat.study.network import check_host, read_network
from longfat.study.node import Node, typed_lines
from longfat.study.probes import Written, check_probes, read_probe
from longfat.study.traces import Traces

LARGEST_SEED = 2**63 - 1
MOST_SEEDS = 1000

SETTINGS = (
    *("kernel", "seed", "seeds", "memory", "network", "files", "setup", "flows", "probes"),
    "events",
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
        absent="`newest`: the newest that is built or installed. The run's manifest tells which "
        "that was",
    )
    seed: int = declare(
        Integer(most=LARGEST_SEED),
        default=1,
        label="Seed",
        help="decides every random number of the machine",
    )
    seeds: int = declare(
        Integer(least=1, most=MOST_SEEDS),
        default=1,
        label="Seeds",
        help="how many times each case is run, with `seed`, `seed` + 1, ...",
    )
    memory_bytes: int = declare(
        Size(least=128 * 1024**2, most=1024**4),
        default=DEFAULT_MEMORY_BYTES,
        label="Memory",
        help="the machine's memory",
    )
    network: Network | None = None
    traces: Traces | None = None
    files: Mapping[str, WrittenFile] = field(default_factory=dict)
    setup: tuple[Line, ...] = ()
    flows: Mapping[str, Draft] = field(default_factory=dict)
    probes: Mapping[str, Written] = field(default_factory=dict)
    events: tuple[WrittenEvent, ...] = ()


def read_settings(fields: Mapping[str, Node], common: Settings, *, beside: ReadBeside) -> Settings:
    """Read the fields of a study or case, on top of what is common.

    Args:
        fields: the values by field; others than `SETTINGS` are left alone.
        common: what they replace and extend.
        beside: reads the files beside the study.

    Raises:
        InputError: a value is wrong.
    """
    files = dict(common.files)
    if "files" in fields:
        for key, node in fields["files"].items("files by their paths in the machine"):
            if node.is_null:
                _drop("file", files, key.text, node)
            else:
                files[key.text] = read_file(key, node, read=beside)
    network, traces = common.network, common.traces
    if "network" in fields:
        traces = Traces(beside)
        network = read_network(fields["network"], traces=traces, images=Images(beside))
    flows = dict(common.flows)
    if "flows" in fields:
        _read_flows(fields["flows"], flows)
    probes = dict(common.probes)
    if "probes" in fields:
        for name, node in fields["probes"].named("probes by name").items():
            if node.is_null:
                _drop("probe", probes, name, node)
            else:
                probes[name] = read_probe(name, node)
    return replace(
        common,
        **read_fields(Settings, fields),
        network=network,
        traces=traces,
        files=files,
        setup=common.setup + (read_setup(fields["setup"]) if "setup" in fields else ()),
        flows=flows,
        probes=probes,
        events=common.events + (read_events(fields["events"]) if "events" in fields else ()),
    )


def _read_flows(node: Node, flows: dict[str, Draft]) -> None:
    for name, value in node.named("flows by name").items():
        if value.is_null:
            _drop("flow", flows, name, value)
            continue
        draft = merge_flow(name, value, flows[name]) if name in flows else draft_flow(name, value)
        read_flow(draft)  # so that a wrong value is told of before any case is looked at
        flows[name] = draft


def _drop(what: str, common: dict[str, Any], name: str, node: Node) -> None:
    if name not in common:
        raise node.error(
            f"the {what} {name!r} has no value, which leaves out a common {what}, and there is "
            "none of that name"
        )
    del common[name]


def read_setup(node: Node) -> tuple[Line, ...]:
    """Read lines to type before the traffic starts.

    An entry is one `NODE: LINE`, or `[NODE, NODE]: LINE` for the same line at
    each of them in that order; a list or a block of lines in place of the line means
    one entry for each.

    Raises:
        InputError: it is not of that form.
    """
    form = "NODE: LINE (such as h1: sysctl -w net.ipv4.tcp_sack=0)"
    lines = []
    for entry in node.sequence(f"a list of {form}"):
        items = entry.items(form)
        if len(items) != 1:
            raise entry.error(
                f"an entry is one {form}, and here are {len(items)}: start each with a hyphen"
            )
        ((key, value),) = items
        for name, line, place in typed_lines(key, value, form=form):
            command = Command(node=name, line=line)
            lines.append(Line(command=command, node_place=key.place, line_place=place))
    return tuple(lines)


def _check_entrypoints(
    settings: Settings, flows: Sequence[tuple[Flow, Draft]], network: Network
) -> None:
    """Check that what stands for an image's own command is at a host whose image has one."""
    lines = [(line.command.node, line.command.line, line.line_place) for line in settings.setup]
    lines += [(host, line, draft.place) for flow, draft in flows for host, line in flow.lines_at]
    lines += [
        (written.event.node, written.event.line, written.place)
        for written in settings.events
        if isinstance(written.event, TypedLine)
    ]
    for node, line, place in lines:
        if node in network.roots:
            try:
                network.roots[node].line(line)
            except InputError as error:
                raise InputError(error.message, place=place) from None


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
    if settings.network is None:
        raise node.error("there is no network: write the field network, with hosts and links")
    if settings.seed + settings.seeds - 1 > LARGEST_SEED:
        raise node.error(
            f"{settings.seeds} seeds from {settings.seed} on pass the largest seed, {LARGEST_SEED}"
        )
    traces = settings.traces or Traces(reads_nothing)
    files = {**traces.files, **settings.files}
    try:
        check_files(files.values())
        traces.check(files)
        for line in settings.setup:
            if reason := check_host(line.command.node, settings.network, root=True):
                raise InputError(reason, place=line.node_place)
        flows = [(read_flow(draft), draft) for draft in settings.flows.values()]
        check_flows(flows, settings.network, [line.command.line for line in settings.setup])
        _check_entrypoints(settings, flows, settings.network)
        check_events(
            settings.events,
            settings.network,
            setup=[line.command for line in settings.setup],
            flows=[flow for flow, _ in flows],
        )
        check_probes(settings.probes.values(), [flow for flow, _ in flows], settings.network)
    except InputError as error:
        # An error in a common field may show in one case only.
        if error.place and node.field and not error.place.field.startswith(f"{node.field}."):
            raise InputError(f"in the case {name!r}: {error.message}", place=error.place) from None
        raise
    case = Case(
        kernel=settings.kernel,
        network=settings.network,
        files=tuple(files[path].file for path in sorted(files)),
        setup=tuple(line.command for line in settings.setup),
        flows=tuple(flow for flow, _ in flows),
        probes=tuple(written.probe for written in settings.probes.values()),
        events=tuple(written.event for written in settings.events),
        seed=settings.seed,
        memory_bytes=settings.memory_bytes,
    )
    return Planned(
        case=case,
        setup_places=tuple(line.line_place for line in settings.setup),
        event_places=tuple(written.place for written in settings.events),
        flow_places=tuple(draft.place for _, draft in flows),
        title=title,
        seeds=settings.seeds,
    )
