"""The probes by which a graded case is looked at, whatever probes its lab has.

Sampling costs nothing (law 3). What sockets and interfaces counted is compared with what tools
report (`counted`), and the queueing disciplines that were in force with those that lines seem to
set (`shaping`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from longfat.model.flow_path import egress_interfaces, sender_and_receiver
from longfat.model.network.cuts import cuts_between
from longfat.model.probes import Queue, Rate, Tcp
from longfat.model.traffic import Program

if TYPE_CHECKING:
    from collections.abc import Iterable

    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.model.probes import Probe
    from longfat.model.traffic import Flow

ADDED = "grading-"
"""What the names of the probes that are added begin with: no figure of theirs is the lab's."""

_SOCKETS_EVERY_S = 0.1
_QUEUES_EVERY_S = 0.5
_INTERFACES_EVERY_S = 1.0


def watched(case: Case) -> Case:
    """Return a case with probes of all its flows.

    Each flow's sockets are sampled often, since what a kernel carried after the last sample is
    not known; of the interfaces the first and the last sample count.

    Args:
        case: the case.
    """
    seen = {
        name
        for probe in case.probes_of(Tcp)
        if probe.every_s <= _SOCKETS_EVERY_S
        for name in probe.of
    }
    sockets = [flow.name for flow in measured_flows(case) if flow.has_tcp_sockets]
    network = case.network
    ends = [sender_and_receiver(flow) for flow in case.flows]
    cuts = [cut for pair in ends for cut in cuts_between(network, *pair)]
    crossed = [name for cut in cuts for name in cut.interfaces]
    passed = [name for flow in case.flows for name in way_of(network, flow)]
    probes: list[Probe] = [
        probe
        for probe in (
            Tcp(name="tcp", of=_each(sockets, but=seen), every_s=_SOCKETS_EVERY_S),
            Rate(name="rate", of=_each([*crossed, *passed]), every_s=_INTERFACES_EVERY_S),
            Queue(name="queue", of=_each(passed), every_s=_QUEUES_EVERY_S),
        )
        if probe.of
    ]
    taken = {flow.name for flow in case.flows} | {probe.name for probe in case.probes}
    return replace(
        case, probes=(*case.probes, *(replace(one, name=_free(one.kind, taken)) for one in probes))
    )


def measured_flows(case: Case) -> tuple[Flow, ...]:
    """Return the flows whose tools are longfat's or the distribution's, and no study's."""
    return tuple(flow for flow in case.flows if not isinstance(flow, Program))


def way_of(network: Network, flow: Flow) -> tuple[str, ...]:
    """Return the interfaces through which a flow's data leaves, as links and routes give them."""
    hops = egress_interfaces(network, *sender_and_receiver(flow)) or ()
    return tuple(interface for _, interface in hops)


def _each(names: Iterable[str], *, but: frozenset[str] | set[str] = frozenset()) -> tuple[str, ...]:
    return tuple(name for name in dict.fromkeys(names) if name not in but)


def _free(kind: str, taken: set[str]) -> str:
    """Return a probe's name that nothing of the case has."""
    names = (f"{ADDED}{kind}{end}" for end in ("", *range(len(taken))))
    return next(name for name in names if name not in taken)
