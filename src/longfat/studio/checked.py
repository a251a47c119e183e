"""The content of a study's text, for the page to draw: `CheckResult` of its `api/types.ts`.

The page has no parser of its own for formats, defaults or `tc`: it sends the text at every
pause in typing, and gets problems with their positions, or networks, cases and flows as
they would run.
"""

from __future__ import annotations

import dataclasses
import shlex
from typing import TYPE_CHECKING, Any

from longfat.execution.compile import expected_virtual_s, server_ports
from longfat.model.network import shaped_interfaces
from longfat.studio.error_responses import problem_of
from longfat.study.check import check_text
from longfat.study.expansion import DEFAULT_LIMITS, ExpansionLimits
from longfat.study.file_reader import FileReader, no_files

if TYPE_CHECKING:
    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.model.traffic import Flow
    from longfat.study import Planned, Study


def check(
    text: str,
    *,
    name: str,
    beside: FileReader = no_files,
    limits: ExpansionLimits = DEFAULT_LIMITS,
) -> dict[str, Any]:
    """Return the content of a study, or its problems, as `CheckResult`.

    Args:
        text: the study's text.
        name: its name in messages.
        beside: reads the files that it names.
        limits: how far it may expand.
    """
    checked = check_text(text, name=name, beside=beside, limits=limits)
    listed = [{**problem_of(one.error), "has_repair": one.has_repair} for one in checked.findings]
    is_mistake = [one.is_mistake for one in checked.findings]
    return {
        "problems": [one for one, is_one in zip(listed, is_mistake, strict=True) if is_one],
        "warnings": [one for one, is_one in zip(listed, is_mistake, strict=True) if not is_one],
        "repair": [dataclasses.asdict(edit) for edit in checked.repair],
        "study": None if checked.study is None else _study(checked.study),
    }


def _study(study: Study) -> dict[str, Any]:
    # Values that differ between cases are those of the first case.
    common = study.common or next(iter(study.cases.values()))
    networks = {planned.case.network for planned in study.cases.values()}
    return {
        "title": study.title,
        "kernel": common.case.kernel,
        "seed": common.case.seed,
        "memory_bytes": common.case.memory_bytes,
        "network": _network(networks.pop()) if len(networks) == 1 else None,
        "cases": [_case(name, planned) for name, planned in study.cases.items()],
        "claims": [{"text": claim.text, "expression": claim.expression} for claim in study.claims],
    }


def _network(network: Network) -> dict[str, Any]:
    ends: dict[str, list[dict[str, str | None]]] = {}
    links = []
    interfaces = iter(shaped_interfaces(network))
    every = zip(network.links, interfaces, interfaces, network.addresses(), strict=True)
    for link, at_a, at_b, addresses in every:
        names = (at_a.name, at_b.name)
        for node, name, address in zip((link.a, link.b), names, addresses, strict=True):
            ends.setdefault(node, []).append({"name": name, "address": address})
        links.append(
            {
                "a": link.a,
                "b": link.b,
                "interfaces": names,
                "addresses": addresses,
                "shapes": [dataclasses.asdict(shape) for shape in (link.a_to_b, link.b_to_a)],
                "tc": [[str(line) for line in end.lines] for end in (at_a, at_b)],
                "mtu_bytes": link.mtu_bytes,
            }
        )
    hosts = [
        {**dataclasses.asdict(host), "interfaces": ends.get(host.name, [])}
        for host in network.hosts
    ]
    switches = [
        {"name": switch.name, "interfaces": [end["name"] for end in ends.get(switch.name, [])]}
        for switch in network.switches
    ]
    return {"hosts": hosts, "switches": switches, "links": links}


def _case(name: str, planned: Planned) -> dict[str, Any]:
    case = planned.case
    ports = server_ports(case)
    return {
        "name": name,
        "title": planned.title,
        "seeds": planned.seeds,
        "kernel": case.kernel,
        "expected_s": expected_virtual_s(case),
        "setup": [dataclasses.asdict(command) for command in case.setup],
        "flows": [_flow(case, flow, port=ports[flow.name]) for flow in case.flows],
        "probes": [
            {"name": probe.name, "kind": probe.kind, "of": list(probe.targets)}
            for probe in case.probes
        ],
    }


def _flow(case: Case, flow: Flow, *, port: int) -> dict[str, Any]:
    address = case.network.host_addresses()[flow.target]
    client = flow.processes(address=address, port=port)[-1]
    return {
        "name": flow.name,
        "tool": flow.tool,
        "source": flow.source,
        "target": flow.target,
        "start_s": flow.start_s,
        "after": flow.after,
        "summary": flow.summary(),
        "command": shlex.join(client.typed),
    }
