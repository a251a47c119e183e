"""What the page shows of studies and runs: forms, checked studies, tables, figures, advice.

The page has no parser of its own for formats, defaults or `tc`: it sends a text at every pause
in typing, and gets problems with their positions, or networks, cases and flows as they would
run. Numbers in tables are formatted in `longfat.output.report.values` and figures are those of
`longfat plot`, as in the terminal and the report, so that these cannot differ.
"""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.advice.limits import Limit
from longfat.analysis.advice.recommendation import STUDY
from longfat.execution.compile import expected_virtual_s, server_ports
from longfat.model.fields import fields_of
from longfat.model.network import (
    Host,
    HostTiming,
    Link,
    LinkImpairments,
    Network,
    shaped_interfaces,
)
from longfat.model.traffic import FLOWS, Flow
from longfat.output.report.curves import METRICS
from longfat.output.report.groups import group_runs
from longfat.output.report.panel_data import panel_data
from longfat.output.report.series import Series
from longfat.output.report.values import (
    claim_rows,
    comparison_columns,
    comparison_groups,
    metric_grid,
)
from longfat.studio.http import problem_of
from longfat.study.check import check_text
from longfat.study.expansion import DEFAULT_LIMITS, ExpansionLimits
from longfat.study.files import ReadBeside, reads_nothing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.case import Case
    from longfat.model.fields import Field
    from longfat.model.network import Network
    from longfat.model.traffic import Flow
    from longfat.output.report.groups import Group
    from longfat.study import Planned, Study


def form_fields() -> dict[str, Any]:
    """Return the fields of networks, hosts, links and flows, including those of plug-ins."""
    common = fields_of(Flow)
    hosts = [*fields_of(Host).values(), *fields_of(HostTiming).values()]
    return {
        "network": [_info(field) for field in fields_of(Network).values()],
        # A host that forwards is a router, which is a separate kind of node on the page.
        "host": [_info(field) for field in hosts if field.kind.form != "flag"],
        "direction": [_info(field) for field in fields_of(LinkImpairments).values()],
        "link": [_info(field) for field in fields_of(Link).values()],
        "flow": [_info(field) for field in common.values()],
        "tools": {
            tool: [_info(fields_of(cls)[key]) for key in cls.study_keys() if key not in common]
            for tool, cls in FLOWS.items()
        },
    }


def _info(field: Field) -> dict[str, Any]:
    kind = field.kind
    has_default = not field.is_required and field.default not in (None, (), "")
    shown = kind.text(field.default) if has_default else kind.example
    return {
        "key": field.key,
        "label": field.about.label,
        "help": field.about.help,
        "placeholder": field.about.absent.split(";")[0].replace("`", "") or shown,
        "example": kind.example,
        "limits": kind.limits,
        "form": kind.form,
    }


def claims_json(verdict: Verdict) -> list[dict[str, Any]]:
    """Return the claims as `ClaimRow` of the page's `api/types.ts`."""
    rows = zip(verdict.claims, claim_rows(verdict), strict=True)
    return [
        {
            "text": row.text,
            "expression": judged.claim.expression,
            "holds": judged.holds,
            "detail": ", ".join(
                [f"{name} = {value}" for name, value in row.readings]
                + ([row.seeds] if row.seeds else [])
            ),
        }
        for judged, row in rows
    ]


def published_json(verdict: Verdict) -> dict[str, Any] | None:
    """Return published and measured values as `Table` of the page; None if there are none.

    The rows' group is the title of their case.
    """
    groups = comparison_groups(verdict)
    if not groups:
        return None
    return {
        "columns": ["", *comparison_columns(verdict)],
        "rows": [
            {"group": group.title, "cells": [row.label, *row.cells]}
            for group in groups
            for row in group.rows
        ],
    }


def measured_json(verdict: Verdict) -> dict[str, Any] | None:
    """Return the metrics of the cases without published values as `Table` of the page."""
    grid = metric_grid(verdict)
    if grid is None:
        return None
    return {
        "columns": ["", *grid.columns],
        "rows": [{"group": "", "cells": [row.label, *row.cells]} for row in grid.rows],
    }


# Thinning keeps at most five points a column: 2000 in all.
_COLUMNS = 400


def panels_of(runs: Sequence[Run], cases: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the panels of runs as `PanelData` of the page's `charts/panelData.ts`.

    Runs that differ in their seeds only are one line, the median, with a band.

    Args:
        runs: the runs; at least one.
        cases: all cases of their study, chosen or not, in its order: so that each has the same
            colour whichever others are chosen.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    groups = group_runs(runs)
    series = Series(groups, looks=_looks(groups, cases))
    panels = [series.panel(metric) for metric in METRICS]
    return [panel_data(panel, columns=_COLUMNS) for panel in panels if panel is not None]


def _looks(groups: Sequence[Group], cases: Sequence[str]) -> dict[str, int] | None:
    """Return the looks of groups that are cases of one study; None where they are others."""
    known = {name: place for place, name in enumerate(cases)}
    if len(groups) < 2 or not all(group.label in known for group in groups):
        return None
    return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What limited a flow; see `Advice` of the page's `api/types.ts`.

    Attributes:
        answer: what the flow got and what limited it, in a line.
        verdict: one sentence.
        notes: the evidence, and the recommendation.
        lines: recommended commands, each with its node.
        study: recommended values for fields of the flow in the study.
    """

    answer: str
    verdict: str
    notes: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    study: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, object]:
        """Return it as plain data."""
        lines = [{"node": node, "line": line} for node, line in self.lines]
        study = [{"field": field, "value": value} for field, value in self.study]
        return {**asdict(self), "notes": list(self.notes), "lines": lines, "study": study}


_LIMITING = {
    Limit.BOTTLENECK: "it fills the path",
    Limit.RECEIVE_WINDOW: "the receive window limits it",
    Limit.SEND_BUFFER: "the send buffer limits it",
    Limit.LOSS: "the congestion window after losses limits it",
    Limit.START_UP: "it was still starting up",
    Limit.MODEL: "the congestion control's own model limits it",
    Limit.APPLICATION: "the application limits it",
    Limit.UNKNOWN: "its limit is unknown",
}


def advice_of(found: Diagnosis) -> Advice:
    """Return a diagnosis for the page."""
    facts = [f"{fact.label}: {fact.text}" for fact in found.facts]
    lines = found.recommendation.lines
    words = [found.recommendation.words] if found.recommendation.words else []
    return Advice(
        answer=_answer(found),
        verdict=found.verdict,
        notes=(*facts, *words, *found.notes),
        lines=tuple((one.node, one.text) for one in lines if one.node != STUDY),
        study=tuple(_field(one.text) for one in lines if one.node == STUDY),
    )


def _answer(found: Diagnosis) -> str:
    """Return a flow's throughput, the available rate, and its limit, in one line."""
    known = {fact.key: fact.text for fact in found.facts}
    got, rate = known.get("receiver_bps"), known.get("rate_bps")
    if found.limit is None or got is None:
        return found.verdict
    of = f" of {' '.join(rate.split())}" if rate is not None else ""
    return f"{found.flow} got {got}{of}: {_LIMITING[found.limit]}."


def _field(text: str) -> tuple[str, str]:
    """Return the field and the value of a line for the study, such as `parallel: 9`."""
    field, _, value = text.partition(":")
    return field.strip(), value.strip()


def check(
    text: str,
    *,
    name: str,
    beside: ReadBeside = reads_nothing,
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
