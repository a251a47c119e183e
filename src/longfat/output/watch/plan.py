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
from longfat.model.flow_path import NotUnderstoodError, interface_lines, queue_line
from longfat.model.network import shaped_interfaces
from longfat.model.probes import Queue, Tcp
from longfat.output.watch.ends import Served

if TYPE_CHECKING:
    from longfat.model.case import Case

_EVERY_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A case that can be watched.

    Attributes:
        case: the case with the probes that it needs.
        added: the names of the probes that it did not have.
        queues: the interfaces whose queues are watched, with their limits in
            bytes where a set-up line specifies them.
        flows: the flows whose sockets are watched.
    """

    case: Case
    added: tuple[str, ...]
    queues: dict[str, int | None]
    flows: tuple[Served, ...]

    @property
    def queue_probes(self) -> tuple[Queue, ...]:
        """Return the probes of queues."""
        return self.case.probes_of(Queue)

    @property
    def tcp_probes(self) -> tuple[Tcp, ...]:
        """Return the probes of sockets."""
        return self.case.probes_of(Tcp)


def plan_watch(case: Case) -> Plan:
    """Return what to watch of a case.

    Its own probes are enough for queues, or for sockets, if it has one of that
    kind. Otherwise one is added, every 100 ms: for the queues of all interfaces
    on which a set-up line puts a queueing discipline, and for the sockets of
    all flows of bulk traffic over TCP.
    """
    flows = case.tcp_flows
    probes = list(case.probes)
    if not case.probes_of(Queue):
        qdiscs = {one.name: one.qdiscs for one in shaped_interfaces(case.network)}
        shaped = tuple(name for name in _interfaces(case) if qdiscs[name] or _typed(case, name))
        if shaped:
            probes.append(Queue(name=_free_name(case, "watch-queue"), of=shaped, every_s=_EVERY_S))
    if flows and not case.probes_of(Tcp):
        names = tuple(flow.name for flow in flows)
        probes.append(Tcp(name=_free_name(case, "watch-tcp"), of=names, every_s=_EVERY_S))
    watching = dataclasses.replace(case, probes=tuple(probes))
    watched = dict.fromkeys(name for probe in watching.probes_of(Queue) for name in probe.of)
    sampled = {name for probe in watching.probes_of(Tcp) for name in probe.of}
    ports = server_ports(case)
    return Plan(
        case=watching,
        added=tuple(probe.name for probe in probes[len(case.probes) :]),
        queues={name: _limit_bytes(case, name) for name in watched},
        flows=tuple(
            Served(
                flow=flow.name,
                client=flow.source,
                server=flow.target,
                port=ports[flow.name],
                server_sends=flow.reverse,
                has_control=flow.has_control,
            )
            for flow in flows
            if flow.name in sampled
        ),
    )


def queue_limits(case: Case) -> dict[str, int]:
    """Return the queue limits of interfaces, in bytes, where a set-up line specifies them."""
    limits = {name: _limit_bytes(case, name) for name in _interfaces(case)}
    return {name: limit for name, limit in limits.items() if limit is not None}


def _interfaces(case: Case) -> list[str]:
    """Return all interfaces; those that are visible at one node are adjacent."""
    names = [name for pair in case.network.interfaces() for name in pair]
    return [name for there in case.network.interfaces_by_node(names).values() for name in there]


def _typed(case: Case, interface: str) -> bool:
    """Return whether a set-up line configures a queueing discipline of an interface."""
    pattern = re.compile(rf"\btc\b.*\bqdisc\b.*\bdev\s+{re.escape(interface)}(?![\w-])", re.DOTALL)
    return any(pattern.search(command.line) for command in case.setup)


def _limit_bytes(case: Case, interface: str) -> int | None:
    try:
        line = queue_line(interface_lines(case, interface))
    except NotUnderstoodError:
        return None
    return line.limit_bytes if line is not None else None


def _free_name(case: Case, name: str) -> str:
    taken = {flow.name for flow in case.flows} | {probe.name for probe in case.probes}
    while name in taken:
        name += "-"
    return name
