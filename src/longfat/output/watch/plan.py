"""What to show of a case that runs, and the probes that it takes.

Probes do not change a case's results, so those that are missing are added:
what is run is then another case, but its flows give the same figures.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.execution.compile import server_ports
from longfat.model.flow_path import queue_limits
from longfat.model.network import shaped_interfaces
from longfat.model.probes import Queue, Tcp

if TYPE_CHECKING:
    from pathlib import Path

    from longfat.model.case import Case
    from longfat.model.traffic import Bulk
    from longfat.study import Planned

_EVERY_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A case to watch.

    Attributes:
        study: the study's name.
        name: the case's name.
        planned: the case as the study plans it.
        out: the folder that will contain the run's folder.
        pace: at most so many virtual seconds in a second of wall time; None for no limit.
        window_s: charts show so many of the last virtual seconds.
    """

    study: str
    name: str
    planned: Planned
    out: Path
    pace: float | None
    window_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A case that can be watched.

    Attributes:
        case: the case with the probes that it needs.
        queues: the interfaces whose queues are watched, with their limits in
            bytes where a set-up line specifies them.
        flows: the flows whose sockets are watched, by the host and the port of their servers.
    """

    case: Case
    queues: dict[str, int | None]
    flows: dict[tuple[str, int], Bulk]


def plan_watch(case: Case) -> Plan:
    """Return what to watch of a case.

    Its own probes are enough for queues, or for sockets, if it has one of that
    kind. Otherwise one is added, every 100 ms: for the queues of all interfaces
    on which a set-up line puts a queueing discipline, and for the sockets of
    all flows of bulk traffic over TCP.
    """
    probes = list(case.probes)
    shaped = _shaped_interfaces(case)
    if shaped and not case.probes_of(Queue):
        probes.append(Queue(name=_free_name(case, "watch-queue"), of=shaped, every_s=_EVERY_S))
    if case.tcp_flows and not case.probes_of(Tcp):
        names = tuple(flow.name for flow in case.tcp_flows)
        probes.append(Tcp(name=_free_name(case, "watch-tcp"), of=names, every_s=_EVERY_S))
    watched = dataclasses.replace(case, probes=tuple(probes))
    sampled = {name for probe in watched.probes_of(Tcp) for name in probe.of}
    limits, ports = queue_limits(case), server_ports(case)
    return Plan(
        case=watched,
        queues={name: limits.get(name) for probe in watched.probes_of(Queue) for name in probe.of},
        flows={
            (flow.target, ports[flow.name]): flow for flow in case.tcp_flows if flow.name in sampled
        },
    )


def _shaped_interfaces(case: Case) -> tuple[str, ...]:
    """Return the interfaces with a queueing discipline; those of one node are adjacent."""
    qdiscs = {one.name: one.qdiscs for one in shaped_interfaces(case.network)}
    by_node = case.network.interfaces_by_node(list(qdiscs))
    names = [name for there in by_node.values() for name in there]
    return tuple(name for name in names if qdiscs[name] or _typed(case, name))


def _typed(case: Case, interface: str) -> bool:
    """Return whether a set-up line configures a queueing discipline of an interface."""
    pattern = re.compile(rf"\btc\b.*\bqdisc\b.*\bdev\s+{re.escape(interface)}(?![\w-])", re.DOTALL)
    return any(pattern.search(command.line) for command in case.setup)


def _free_name(case: Case, name: str) -> str:
    taken = {flow.name for flow in case.flows} | {probe.name for probe in case.probes}
    while name in taken:
        name += "-"
    return name
