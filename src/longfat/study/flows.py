"""The `flows` and `probes` fields: traffic, and what is sampled of it.

Their fields are those that the classes of `longfat.model.traffic` and `longfat.model.probes`
declare. A flow is read in two steps, because a case may override single fields of a common flow:
first its fields are gathered (`draft_flow`, `merge_flow`), then the whole is read and checked
(`read_flow`). Constraints between flows, probes and the network are checked last, when the whole
case is known (`check_flows`, `check_probes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from longfat.common.suggest import listed, nearest
from longfat.errors import InputError, Place
from longfat.model.case import Command
from longfat.model.fields import fields_of, read_fields
from longfat.model.network import Network
from longfat.model.probes import PROBES, Probe
from longfat.model.traffic import FLOWS, Flow
from longfat.study.network import check_host
from longfat.study.node import Node
from longfat.study.reachability import UnreachableError, check_reach

_ENDS = re.compile(r"(\S+?)\s*->\s*(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A flow whose fields are gathered and not yet read.

    Attributes:
        name: its name.
        tool: its tool.
        node: where it is written.
        fields: the values by field, the tool's among them.
    """

    name: str
    tool: str
    node: Node
    fields: Mapping[str, Node]

    @property
    def place(self) -> Place:
        """The place of its command line, if it has one, else of its ends."""
        return self.fields.get("run", self.fields[self.tool]).place


def draft_flow(name: str, node: Node) -> Draft:
    """Gather the fields of a flow.

    Args:
        name: the flow's name.
        node: a mapping with the tool among its keys.

    Raises:
        InputError: it names no tool, or more than one, or has unknown fields.
    """
    what = "a flow (such as {ping: h1 -> h2})"
    tools = [key for key, _ in node.items(what) if key.text in FLOWS]
    if len(tools) > 1:
        raise InputError(
            f"the flow has two tools, {tools[0].text} and {tools[1].text}: write two flows",
            place=tools[1].place,
        )
    if not tools:
        raise node.error(f"the flow {name!r} names no tool: write one of {listed(FLOWS)}")
    tool = tools[0].text
    fields = node.fields(what, allowed=(tool, *FLOWS[tool].study_keys()))
    return Draft(name=name, tool=tool, node=node, fields=fields)


def merge_flow(name: str, node: Node, common: Draft | None) -> Draft:
    """Gather the fields of a flow of a case.

    Args:
        name: the flow's name.
        node: a whole flow, or, without a tool, the fields that differ from the
            common flow; a field with no value goes back to the tool's own.
        common: the common flow of that name, if there is one.

    Raises:
        InputError: as `draft_flow`, or there is nothing to override.
    """
    keys = [key.text for key, _ in node.items("a flow, or the fields of it that differ")]
    if common is None or any(key in FLOWS for key in keys):
        return draft_flow(name, node)
    given = node.fields("a flow", allowed=FLOWS[common.tool].study_keys())
    fields = {**common.fields, **given}
    for field, value in given.items():
        if value.is_null:
            del fields[field]
    return Draft(name=name, tool=common.tool, node=node, fields=fields)


def read_flow(draft: Draft) -> Flow:
    """Read the fields of a flow.

    Raises:
        InputError: a value is wrong, or two fields do not go together.
    """
    fields, cls = draft.fields, FLOWS[draft.tool]
    source, target = ends_of(draft)
    for key, field in fields_of(cls).items():
        if field.is_required and key not in fields:
            what = f"write {key}: {field.kind.what}"
            raise draft.node.error(f"the flow {draft.name!r} has no {key}: {what}")
    values = read_fields(cls, fields)
    given = {
        key: values[field.name]
        for key, field in fields_of(cls).items()
        if key in fields and field.name in values
    }
    if conflict := cls.conflict(given):
        key, reason = conflict
        raise fields[key].error(reason)
    return cls(name=draft.name, source=source, target=target, **values)


def ends_of(draft: Draft) -> tuple[str, str]:
    """Return the hosts at a flow's ends.

    Raises:
        InputError: they are not written so, or are the same.
    """
    ends = draft.fields[draft.tool]
    match = _ENDS.fullmatch(ends.line("SOURCE -> TARGET (such as h1 -> h2)"))
    if match is None:
        raise ends.expected("SOURCE -> TARGET (such as h1 -> h2)")
    source, target = match.groups()
    if source == target:
        raise ends.error(f"the flow goes from {source} to itself")
    return source, target


def check_flows(
    flows: Iterable[tuple[Flow, Draft]], network: Network, setup: Sequence[Command]
) -> None:
    """Check what depends on the other flows and on the network.

    Args:
        flows: the flows of a case with their drafts.
        network: the network of the case.
        setup: the set-up lines of the case.

    Raises:
        InputError: an end is no host or cannot be reached, or a flow waits for
            one that is not there or that waits for it.
    """
    flows = list(flows)
    for flow, draft in flows:
        ends = draft.fields[draft.tool]
        for name in (flow.source, flow.target):
            if reason := check_host(name, network, root=False):
                offset = ends.text().find(name)
                raise InputError(reason, place=ends.place_of(offset))
        reason = check_reach(network, flow.source, flow.target, setup, address=flow.address)
        if reason:
            error = UnreachableError(
                f"the flow {flow.name!r} cannot pass: {reason}", place=ends.place
            )
            error.ends = (flow.source, flow.target)
            raise error
    waits = {flow.name: flow.after for flow, _ in flows}
    for flow, draft in flows:
        if flow.after is None:
            continue
        node = draft.fields["after"]
        if flow.after not in waits:
            others = [name for name in waits if name != flow.name]
            raise node.error(
                f"there is no flow {flow.after!r}{nearest(flow.after, others)} "
                f"(there are: {listed(others)})"
            )
        chain = dict.fromkeys([flow.name])
        after: str | None = flow.after
        while after is not None and after not in chain and after in waits:
            chain[after] = None
            after = waits[after]
        if after == flow.name:
            raise node.error(f"flows wait for each other: {' after '.join([*chain, after])}")


# Probes.


@dataclass(frozen=True, slots=True)
class WrittenProbe:
    """A probe and where it is written."""

    probe: Probe
    node: Node
    of: tuple[Node, ...]


def read_probe(name: str, node: Node) -> WrittenProbe:
    """Read a probe.

    Args:
        name: its name; where it is that of a kind, the field `kind` can be left out.
        node: a mapping of its fields.

    Raises:
        InputError: a field is missing, unknown or wrong.
    """
    what = "a probe (such as {of: s1-eth1, every: 100ms})"
    every = dict.fromkeys(key for kind in PROBES.values() for key in fields_of(kind))
    given = node.fields(what, allowed=("kind", *every))
    kind = given["kind"].line("a kind of probe") if "kind" in given else name
    if kind not in PROBES:
        where = given.get("kind", node)
        raise where.error(
            f"there is no kind of probe {kind!r}{nearest(kind, PROBES)} (there are: "
            f"{listed(PROBES)}); a probe of another name needs its kind: {{kind: queue, ...}}"
        )
    fields = fields_of(PROBES[kind])
    given = node.fields(what, allowed=("kind", *fields))
    for key, field in fields.items():
        if field.is_required and key not in given:
            raise node.error(f"the probe {name!r} has no {key}: write {key}: {field.kind.what}")
    probe = PROBES[kind](name=name, **read_fields(PROBES[kind], given))
    of = given["of"]
    nodes = tuple(of.sequence(fields["of"].kind.what)) if of.is_sequence else (of,)
    return WrittenProbe(probe, node, nodes)


def check_probes(probes: Iterable[WrittenProbe], flows: Iterable[Flow], network: Network) -> None:
    """Check what depends on the flows and on the network.

    Raises:
        InputError: a probe has a flow's name, or is of what is not there.
    """
    by_name = {flow.name: flow for flow in flows}
    for written in probes:
        if written.probe.name in by_name:
            raise written.node.error(
                f"the probe {written.probe.name!r} has the name of a flow, and claims could not "
                "distinguish them"
            )
        for node, name in zip(written.of, written.probe.targets, strict=True):
            reason = written.probe.target_problem(name, network=network, flows=by_name)
            if reason is not None:
                raise node.error(reason)
