"""From a case to the job that the guest plays.

The job is plain JSON in the guest's terms: batches of lines, lines at
nodes, and processes with their times. `longfat.guest` contains no code for
particular tools; everything about them is compiled here.

    network     [{program, node, lines}]  program: `ip`, `tc` or `sh`
    neighbours  [[host, interface, address, peer, peer_interface]]: whom hosts know
    files       [{path, executable, text or base64}]
    traces      [{node, order, control}]: what the links follow from the traffic's start on
    roots       {host: {at, shown, folder, environment, title}}: hosts' own roots
    setup       [{node, line, rooted}]: rooted, if it runs with the host's own root
    flows       [{name, after, start_s, limit_s, good_statuses,
                  processes: [{host, argv, typed, forks, output, listens, environment}]}]
    events      [{event, after, at_ns, needed, lines: [{node, line, rooted}]}]: what changes
    probes      [{kind, output, every_ns, nodes: {node: [interface]}}]; a capture has
                {kind, name, output, node, argv}
    hosts_file  the text of /etc/hosts
    environment the environment of every command
    modules     the modules of `longfat.guest` that the case needs in addition
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any

from longfat.engine import toolset
from longfat.execution.runs.run import COMMANDS, DROPS, INSTALLED, OUTCOME, RAW
from longfat.model.addresses import called_addresses, target_address
from longfat.model.network import build_batches, hosts_file
from longfat.model.network.neighbours import needed_neighbours
from longfat.model.network.routing import Handover
from longfat.model.packages import PACKAGES_PLACE
from longfat.model.timeline import timeline
from longfat.model.traced_links import CONTROL, traced_links
from longfat.model.traffic.bulk import DEFAULT_PORT
from longfat.model.traffic.schedule import expected_ends_s

if TYPE_CHECKING:
    from longfat.model.case import Case, Command
    from longfat.model.network import Network
    from longfat.model.traffic import Flow
    from longfat.model.traffic.flow import Process

TRAFFIC_START_S = 2.0
"""The approximate start of a case's traffic, in seconds of virtual time since boot."""

# Nothing of the host's environment: no locale, time zone or user.
ENVIRONMENT = {
    **toolset.ENVIRONMENT,
    "PATH": toolset.SEARCH_PATH,
    "HOME": "/tmp",
    "USER": "root",
    "LOGNAME": "root",
    "SHELL": f"{toolset.PROGRAMS}/bash",
    "LC_ALL": "C",
    "TZ": "UTC",
    "TERM": "dumb",
}
"""The environment of every command in a machine."""

SEED_VARIABLE = "LONGFAT_SEED"
"""The environment variable with the case's seed, for programs that draw random numbers."""

_LIMIT_SLACK_S = 600.0


def _output_files(case: Case) -> list[str]:
    """Return the files that the guest may leave, by their names in the run's folder."""
    outputs = [
        process.output
        for flow in case.flows
        for process in _processes(case, flow, port=DEFAULT_PORT)
    ]
    outputs += [
        probe.order(network=case.network, flows=case.flows)["output"] for probe in case.probes
    ]
    raw = dict.fromkeys(f"{RAW}/{name}{end}" for name in outputs for end in ("", ".err"))
    drops = [DROPS] if case.events else []
    return [OUTCOME, COMMANDS, INSTALLED, *drops, *raw]


def compile_job(case: Case) -> dict[str, Any]:
    """Return the job of a case as plain data for JSON."""
    ports = server_ports(case)
    flows = [
        _flow(
            flow,
            _processes(case, flow, port=ports[flow.name]),
            seed=case.seed,
            is_apart=flow.name in case.untrusted_flows,
        )
        for flow in case.flows
    ]
    traced = list(traced_links(case.network, case.files))
    files = [*(() if case.untrusted else case.files), *(link.file for link in traced)]
    return {
        "output": _output_files(case),
        "shared_kernel": case.network.shared_kernel,
        "network": [dataclasses.asdict(batch) for batch in build_batches(case.network)],
        "neighbours": [] if case.network.cold_neighbours else _neighbours(case),
        "files": [file.to_json() for file in files],
        "traces": [{"node": link.node, "order": link.order, "control": CONTROL} for link in traced],
        "roots": {host: root.order(host) for host, root in case.network.roots.items()},
        "apart": {"files": [file.to_json() for file in case.files]} if case.untrusted else None,
        "setup": [_command(command, case.network) for command in case.setup],
        "flows": flows,
        "probes": [probe.order(network=case.network, flows=case.flows) for probe in case.probes],
        "events": _events(case),
        "hosts_file": hosts_file(called_addresses(case.network, case.setup)),
        "environment": {
            **ENVIRONMENT,
            SEED_VARIABLE: str(case.seed),
            **({"PYTHONPATH": PACKAGES_PLACE} if case.packages else {}),
        },
        "modules": sorted(
            {module for flow in flows for one in flow["processes"] for module in one["forks"][:1]}
            | ({"longfat.guest.files"} if files or case.files else set())
            | ({"longfat.guest.apart"} if case.untrusted else set())
            | ({"longfat.guest.events"} if case.events else set())
            | ({"longfat.guest.roots"} if case.network.roots else set())
        ),
    }


def _neighbours(case: Case) -> list[Handover]:
    pairs = [(flow.source, flow.target, flow.address) for flow in case.flows]
    return needed_neighbours(case.network, pairs, setup=case.setup)


def _events(case: Case) -> list[dict[str, Any]]:
    return [
        {
            "event": step.event,
            "after": step.after,
            "at_ns": round(step.at_s * 1e9),
            "needed": not step.restores,
            "lines": [_command(command, case.network) for command in step.commands],
        }
        for step in timeline(case.network, setup=case.setup, events=case.events)
    ]


def _command(command: Command, network: Network) -> dict[str, Any]:
    root = network.roots.get(command.node)
    rooted = root is not None and root.runs_line(command.line)
    line = root.line(command.line) if root is not None else command.line
    return {"node": command.node, "line": line, "rooted": rooted}


def server_ports(case: Case) -> dict[str, int]:
    """Return the port of each flow's server, by the flow's name."""
    used: Counter[str] = Counter()
    ports = {}
    for flow in case.flows:
        ports[flow.name] = DEFAULT_PORT + used[flow.target]
        processes = _processes(case, flow, port=ports[flow.name])
        used[flow.target] += any(process.listens for process in processes)
    return ports


def _processes(case: Case, flow: Flow, *, port: int) -> tuple[Process, ...]:
    processes = flow.processes(address=target_address(case, flow), port=port)
    return tuple(process.rooted(case.network.roots) for process in processes)


def expected_virtual_s(case: Case) -> float:
    """Return the approximate duration of a case, in seconds of virtual time, for progress."""
    ends_s = expected_ends_s(case.flows, start_s=lambda flow: flow.drawn_start_s(case.seed))
    return TRAFFIC_START_S + max(ends_s.values(), default=0.0)


def limit_virtual_s(case: Case) -> float:
    """Return the virtual time after which a case must be broken, in seconds.

    The guest ends a flow that exceeds its own limit before that.
    """
    return 2 * (TRAFFIC_START_S + sum(flow.longest_s() for flow in case.flows)) + _LIMIT_SLACK_S


def _flow(
    flow: Flow, processes: tuple[Process, ...], *, seed: int, is_apart: bool
) -> dict[str, Any]:
    return {
        "name": flow.name,
        "after": flow.after,
        "start_s": flow.drawn_start_s(seed),
        "limit_s": flow.longest_s(),
        "good_statuses": list(flow.good_statuses),
        "processes": [
            {
                "host": process.host,
                "argv": list(process.argv),
                "typed": list(process.typed),
                "forks": [] if is_apart else list(process.forks),
                "apart": is_apart,
                "output": process.output,
                "listens": process.listens,
            }
            for process in processes
        ],
    }
