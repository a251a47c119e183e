"""The content of a study's text, for the page to draw.

The page has no parser of its own for formats, defaults or `tc`: it sends the text at every
pause in typing, and gets problems with their positions, or networks, cases and flows as
they would run.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, TypedDict

from longfat.execution.compile import expected_virtual_s, server_ports
from longfat.model.addresses import target_address
from longfat.model.network import LinkImpairments, shaped_interfaces
from longfat.studio.http import Problem, problem_of
from longfat.studio.views import SetupLine
from longfat.study.check import check_text
from longfat.study.expansion import DEFAULT_LIMITS, ExpansionLimits
from longfat.study.file_reader import FileReader, no_files
from longfat.study.repair import Edit

if TYPE_CHECKING:
    from longfat.model.case import Case
    from longfat.model.network import Network
    from longfat.model.traffic import Flow
    from longfat.study import Planned, Study


class CheckedInterface(TypedDict):
    """An interface of a host.

    Attributes:
        name: its name.
        address: its address with the prefix length; null if it has none.
    """

    name: str
    address: str | None


class CheckedRoute(TypedDict):
    """A route of a host.

    Attributes:
        to: the destination.
        via: the next hop.
    """

    to: str
    via: str


class CheckedHost(TypedDict):
    """A host or router.

    Attributes:
        name: its name.
        address: its first address; null if it has none.
        forwards: whether it is a router.
        routes: its routes.
        interfaces: its interfaces.
    """

    name: str
    address: str | None
    forwards: bool
    routes: list[CheckedRoute]
    interfaces: list[CheckedInterface]


class CheckedSwitch(TypedDict):
    """A switch.

    Attributes:
        name: its name.
        interfaces: the names of its interfaces.
    """

    name: str
    interfaces: list[str]


class CheckedLink(TypedDict):
    """A link. Pairs are of its ends, or of the directions away from them: first a, then b.

    Attributes:
        a: the node at its first end.
        b: the node at its second end.
        interfaces: the names of its interfaces.
        addresses: their addresses.
        impairments: what happens to packets from a to b, and from b to a.
        tc: the complete tc commands for this, at the sending end.
        mtu_bytes: the MTU of its interfaces; null for the default.
    """

    a: str
    b: str
    interfaces: tuple[str, str]
    addresses: tuple[str | None, str | None]
    impairments: tuple[LinkImpairments, LinkImpairments]
    tc: tuple[list[str], list[str]]
    mtu_bytes: int | None


class CheckedNetwork(TypedDict):
    """A network.

    Attributes:
        hosts: its hosts and routers.
        switches: its switches.
        links: its links.
    """

    hosts: list[CheckedHost]
    switches: list[CheckedSwitch]
    links: list[CheckedLink]


class CheckedFlow(TypedDict):
    """A flow.

    Attributes:
        name: its name.
        tool: the program.
        source: the node of the client.
        target: the node of the server.
        start_s: when it starts, after the traffic's start or the end of `after`.
        after: the flow that it waits for; null for none.
        summary: human-readable, such as `10 s, 8 streams, bbr`.
        command: the client's command line.
    """

    name: str
    tool: str
    source: str
    target: str
    start_s: float
    after: str | None
    summary: str
    command: str


class CheckedProbe(TypedDict):
    """A probe.

    Attributes:
        name: its name.
        kind: what it samples.
        of: the interfaces, flows or hosts that it samples.
    """

    name: str
    kind: str
    of: list[str]


class CheckedCase(TypedDict):
    """A case of a study.

    Attributes:
        name: its name.
        title: its title.
        seeds: with how many seeds it is run.
        kernel: the series of its kernel.
        expected_s: about how much virtual time one run takes.
        setup: its set-up lines.
        flows: its flows.
        probes: its probes.
    """

    name: str
    title: str
    seeds: int
    kernel: str
    expected_s: float
    setup: list[SetupLine]
    flows: list[CheckedFlow]
    probes: list[CheckedProbe]


class CheckedClaim(TypedDict):
    """A claim.

    Attributes:
        text: the sentence.
        expression: what is evaluated.
    """

    text: str
    expression: str


class CheckedStudy(TypedDict):
    """A study without errors. Values that differ between cases are those of the first case.

    Attributes:
        title: its title.
        kernel: the series of its kernel.
        seed: its first seed.
        memory_bytes: the memory of a machine.
        network: the network that all cases share; null where each case has its own.
        cases: its cases.
        claims: its claims.
    """

    title: str
    kernel: str
    seed: int
    memory_bytes: int
    network: CheckedNetwork | None
    cases: list[CheckedCase]
    claims: list[CheckedClaim]


class CheckResult(TypedDict):
    """The result of checking a document's text.

    Attributes:
        problems: the errors.
        warnings: problems that do not prevent a run.
        repair: edits after which all hosts reach each other; empty where they already do, or
            no edit helps.
        study: the study; null where there are problems.
    """

    problems: list[Problem]
    warnings: list[Problem]
    repair: list[Edit]
    study: CheckedStudy | None


def check(
    text: str,
    *,
    name: str,
    beside: FileReader = no_files,
    limits: ExpansionLimits = DEFAULT_LIMITS,
) -> CheckResult:
    """Return the content of a study, or its problems.

    Args:
        text: the study's text.
        name: its name in messages.
        beside: reads the files that it names.
        limits: how far it may expand.
    """
    checked = check_text(text, name=name, beside=beside, limits=limits)
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for finding in checked.findings:
        problem: Problem = {**problem_of(finding.error), "has_repair": finding.has_repair}
        (problems if finding.is_mistake else warnings).append(problem)
    return {
        "problems": problems,
        "warnings": warnings,
        "repair": list(checked.repair),
        "study": None if checked.study is None else _study(checked.study),
    }


def _study(study: Study) -> CheckedStudy:
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


def _network(network: Network) -> CheckedNetwork:
    ends: dict[str, list[CheckedInterface]] = {}
    links: list[CheckedLink] = []
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
                "impairments": (link.a_to_b, link.b_to_a),
                "tc": ([str(line) for line in at_a.lines], [str(line) for line in at_b.lines]),
                "mtu_bytes": link.mtu_bytes,
            }
        )
    hosts: list[CheckedHost] = [
        {
            "name": host.name,
            "address": host.address,
            "forwards": host.forwards,
            "routes": [
                {"to": route.to, "via": ", ".join(route.next_hops)} for route in host.routes
            ],
            "interfaces": ends.get(host.name, []),
        }
        for host in network.hosts
    ]
    switches: list[CheckedSwitch] = [
        {"name": switch.name, "interfaces": [end["name"] for end in ends.get(switch.name, [])]}
        for switch in network.switches
    ]
    return {"hosts": hosts, "switches": switches, "links": links}


def _case(name: str, planned: Planned) -> CheckedCase:
    case = planned.case
    ports = server_ports(case)
    return {
        "name": name,
        "title": planned.title,
        "seeds": planned.seeds,
        "kernel": case.kernel,
        "expected_s": expected_virtual_s(case),
        "setup": [{"node": one.node, "line": one.line} for one in case.setup],
        "flows": [_flow(case, flow, port=ports[flow.name]) for flow in case.flows],
        "probes": [
            {"name": probe.name, "kind": probe.kind, "of": list(probe.targets)}
            for probe in case.probes
        ],
    }


def _flow(case: Case, flow: Flow, *, port: int) -> CheckedFlow:
    client = flow.processes(address=target_address(case, flow), port=port)[-1]
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
