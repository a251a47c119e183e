"""The exercise's case, with what a student may bring to it.

The exercise owns its experiment: flows, probes, seeds, memory and kernel are those of the
instructor's case. What a part of it takes from a student (`Part.takes`) is put in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.model.traffic import Bulk, Flow, Program

if TYPE_CHECKING:
    from longfat.errors import Place
    from longfat.model.case import Case
    from longfat.model.probes import Probe
    from longfat.study.model import Planned
    from longfat_class.study.model import Part

# How a message calls the fields of a case.
_TITLES = {
    "network": "the network",
    "setup": "the set-up lines",
    "files": "the files",
    "events": "the events",
    "flows": "the flows",
    "probes": "the probes",
    "memory_bytes": "the memory",
}


def taken_case(
    theirs: Planned, ours: Planned, part: Part, *, seed: int
) -> tuple[Case, tuple[str, ...]]:
    """Return the instructor's case with what the part takes of a student's.

    Args:
        theirs: the student's case.
        ours: the instructor's.
        part: what is taken.
        seed: the student's seed.

    Returns:
        The case, and what else of the student's differs from it, in words.

    Raises:
        InputError: a line is at a node at which the part takes none, a flow waits for one that
            is not there, or the traffic does not fit into the network.
    """
    takes = part.takes
    for command, place in zip(theirs.case.setup, theirs.places.setup, strict=True):
        if command not in ours.case.setup:
            check_node(command.node, part, place=place)
    network, lines = (theirs if one in takes else ours for one in ("network", "setup"))
    flows = {flow.name: flow for flow in theirs.case.flows}
    case = replace(
        ours.case,
        seed=seed,
        untrusted_flows=tuple(one.name for one in ours.case.programs if "programs" in takes),
        network=network.case.network,
        # The first lines belong to the network.
        setup=(
            *network.case.setup[: network.network_lines],
            *lines.case.setup[lines.network_lines :],
        ),
        files=(theirs if "files" in takes else ours).case.files,
        events=(theirs if "events" in takes else ours).case.events,
        flows=tuple(_taken_flow(flow, flows.get(flow.name), takes) for flow in ours.case.flows),
    )
    _check_order(case.flows)
    case = replace(case, probes=tuple(fitting_probes(case)))
    others = (
        title
        for name, title in _TITLES.items()
        if getattr(theirs.case, name) != getattr(case, name)
    )
    return case, tuple(others)


def check_node(node: str, part: Part, *, place: Place | None = None) -> None:
    """Check that a part takes set-up lines at a node.

    Args:
        node: the node.
        part: the part.
        place: where the line is written.

    Raises:
        InputError: it takes none there.
    """
    if part.nodes and node not in part.nodes:
        raise InputError(
            f"the exercise takes no lines at {node}, only at {listed(part.nodes)}", place=place
        )


def fitting_probes(case: Case) -> Iterator[Probe]:
    """Check that the lab's traffic fits into a student's network; yield the probes that do."""
    hosts = {host.name for host in case.network.hosts}
    for flow in case.flows:
        for name in (flow.source, flow.target):
            if name not in hosts:
                raise InputError(
                    f"the lab's traffic runs from {flow.source} to {flow.target}, and this "
                    f"network has no host {name!r} (its hosts: {listed(sorted(hosts))})"
                )
    flows = {flow.name: flow for flow in case.flows}
    for probe in case.probes:
        problems = [
            probe.target_problem(name, network=case.network, flows=flows) for name in probe.targets
        ]
        if not any(problems):
            yield probe


def _taken_flow(flow: Flow, theirs: Flow | None, takes: Collection[str]) -> Flow:
    """Return a flow of the lab with what is taken of a student's of the same name and kind."""
    if theirs is None or type(theirs) is not type(flow):
        return flow
    if "times" in takes:
        flow = replace(
            flow,
            start_s=theirs.start_s,
            start_spread_s=theirs.start_spread_s,
            after=theirs.after,
        )
    if "programs" in takes and isinstance(flow, Program) and isinstance(theirs, Program):
        flow = replace(flow, run=theirs.run, serve=theirs.serve, environment=theirs.environment)
    if "congestion" in takes and isinstance(flow, Bulk) and isinstance(theirs, Bulk):
        flow = replace(flow, congestion=theirs.congestion)
    return flow


def _check_order(flows: Sequence[Flow]) -> None:
    """Check that flows wait for others that are there, and none for itself in the end."""
    after = {flow.name: flow.after for flow in flows}
    for name, first in after.items():
        seen, at = {name}, first
        while at is not None:
            if at not in after:
                raise InputError(f"{name} starts after {at!r}, and the lab has no such flow")
            if at in seen:
                raise InputError(f"{name} starts after {at!r}, which waits for it")
            seen.add(at)
            at = after[at]
