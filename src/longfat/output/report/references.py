"""The references for a line that follow from what is installed on its path.

A bottleneck's rate, the bandwidth-delay product, the idle RTT, a queue's limit
and RED's two marks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from longfat.model.flow_path import NotUnderstoodError, flow_path, interface_queue
from longfat.output.plot import Reference
from longfat.theory import bdp

if TYPE_CHECKING:
    from longfat.analysis.timeseries.groups import Group
    from longfat.execution.runs import Run
    from longfat.model.flow_path import FlowPath
    from longfat.model.traffic import Bulk


def path_references(
    metric: str, groups: Sequence[Group], flows: Collection[str] = ()
) -> tuple[Reference, ...]:
    """Return the references that the paths of all flows have in common.

    Args:
        metric: `throughput`, `cwnd` or `rtt`; others have none.
        groups: the runs.
        flows: the names of the flows that count; empty for all.
    """
    paths = [known_path(group.first, flow) for group in groups for flow in group.bulk(flows)]
    known = [path for path in paths if path is not None]
    if len(known) < len(paths):
        return ()
    label, numbers = {
        "throughput": ("bottleneck", {path.rate_bps for path in known}),
        "cwnd": ("BDP", {path_bdp_bytes(path) for path in known}),
        "rtt": ("idle path", {path.rtt_s for path in known}),
    }.get(metric, ("", set()))
    return (Reference(value=numbers.pop(), label=label),) if len(numbers) == 1 else ()


def known_path(run: Run, flow: Bulk) -> FlowPath | None:
    """Return the path of a flow; None where the lines do not determine it with certainty."""
    try:
        return flow_path(run.case, flow, run.metrics, installed=run.installed)
    except NotUnderstoodError:
        return None


def path_bdp_bytes(path: FlowPath) -> float:
    """Return the bandwidth-delay product of a path."""
    return bdp.bdp_bytes(path.rate_bps, path.rtt_s)


def queue_references(
    groups: Sequence[Group], drawn: Sequence[Sequence[str]]
) -> tuple[Reference, ...]:
    """Return the constants of the queues that are drawn, the largest first.

    Args:
        groups: the runs.
        drawn: for each group the interfaces.

    Returns:
        Constants as of `queue_marks`; what does not hold for all of the queues
        includes the interface's name.
    """
    owners: dict[Reference, list[str]] = {}
    cases: dict[Reference, list[str]] = {}
    for group, interfaces in zip(groups, drawn, strict=True):
        for interface in interfaces:
            for mark in queue_marks(group.first, interface):
                owners.setdefault(mark, []).append(group.label or interface)
                cases.setdefault(mark, []).append(group.label)
    count = sum(map(len, drawn))
    return tuple(
        mark
        if len(whose) == count
        else dataclasses.replace(
            mark,
            label=f"{mark.label} of {', '.join(whose)}",
            cases=tuple(filter(None, cases[mark])),
        )
        for mark, whose in sorted(owners.items(), key=lambda item: -item[0].value)
    )


def queue_marks(run: Run, interface: str) -> tuple[Reference, ...]:
    """Return the constants of the queue of an interface.

    Args:
        run: the run.
        interface: the interface, such as `s2-eth2`.

    Returns:
        `limit`, and of RED also `RED max` and `RED min`, in bytes, as far as they are known.
    """
    try:
        queue = interface_queue(run.case, interface, installed=run.installed)
    except NotUnderstoodError:
        return ()
    if queue is None:
        return ()
    found = []
    if queue.limit_bytes is not None:
        found.append(Reference(value=queue.limit_bytes, label="limit"))
    if queue.kind == "red":
        for option in ("max", "min"):
            if (size_bytes := queue.parameters.get(f"{option}_bytes")) is not None:
                found.append(Reference(value=size_bytes, label=f"RED {option}"))
    return tuple(found)
