"""What the page shows of declared fields, runs and flows: forms, tables, figures, advice.

Numbers in tables are formatted in `longfat.output.report.values` and figures are those of
`longfat plot`, as in the terminal and the report, so that these cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from longfat.analysis.advice.recommendation import STUDY
from longfat.analysis.timeseries.curves import METRICS
from longfat.analysis.timeseries.groups import group_runs
from longfat.model.fields import fields_of
from longfat.model.kinds import Text
from longfat.model.network import Host, HostTiming, Link, LinkImpairments, Network
from longfat.model.traffic import FLOWS, Flow
from longfat.output.report.panel_data import PanelData, panel_data
from longfat.output.report.series import Series
from longfat.output.report.values import (
    claim_rows,
    comparison_columns,
    comparison_groups,
    metric_grid,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.analysis.advice.diagnosis import Diagnosis
    from longfat.analysis.advice.recommendation import Line
    from longfat.analysis.timeseries.groups import Group
    from longfat.analysis.verdict import Verdict
    from longfat.execution.runs import Run
    from longfat.model.fields import Field
    from longfat.model.kinds import Kind


class FieldInfo(TypedDict):
    """A form field, as the server's classes declare it.

    Attributes:
        key: its key in a study.
        label: its label.
        help: what it means.
        placeholder: the default, or an example.
        example: a valid value.
        limits: such as `1 to 128`.
        form: what a form has for it.
        phrase: how a label shows a value, such as `{} lost`; empty if it does not. One that
            begins with a blank belongs to the phrase before it.
        unit: the unit of its numbers; empty for a text.
        shown: which part of a text a label shows: the whole, the first word, or what follows
            the last slash.
    """

    key: str
    label: str
    help: str
    placeholder: str
    example: str
    limits: str
    form: Literal["text", "flag", "list"]
    phrase: str
    unit: Literal["", "bps", "bytes", "s", "fraction", "count"]
    shown: Literal["whole", "word", "name"]


class Fields(TypedDict):
    """The declared fields, for forms and labels.

    Attributes:
        network: those of the network as a whole.
        host: those of a host.
        direction: those of each direction of a link.
        link: those of a link as a whole.
        flow: those of all flows.
        tools: those specific to each tool.
    """

    network: list[FieldInfo]
    host: list[FieldInfo]
    direction: list[FieldInfo]
    link: list[FieldInfo]
    flow: list[FieldInfo]
    tools: dict[str, list[FieldInfo]]


def form_fields() -> Fields:
    """Return the fields of networks, hosts, links and flows, including those of plug-ins."""
    every = (cls.study_keys() for cls in FLOWS.values())
    shared = set(fields_of(Flow)).intersection(*every)
    common = {key: field for key, field in fields_of(Flow).items() if key in shared}
    hosts = {**fields_of(Host), **fields_of(HostTiming)}
    del hosts["forwards"]  # a router is a separate kind of node on the page
    return {
        "network": [_info(field) for field in fields_of(Network).values()],
        "host": [_info(field) for field in hosts.values()],
        "direction": [_info(field) for field in fields_of(LinkImpairments).values()],
        "link": [_info(field) for field in fields_of(Link).values()],
        "flow": [_info(field) for field in common.values()],
        "tools": {
            tool: [_info(fields_of(cls)[key]) for key in cls.study_keys() if key not in common]
            for tool, cls in FLOWS.items()
        },
    }


def _info(field: Field) -> FieldInfo:
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
        "form": cast("Any", kind.form),
        "phrase": field.about.phrase,
        "unit": "" if kind.unit is None else kind.unit.value,
        "shown": _shown(kind),
    }


def _shown(kind: Kind[Any]) -> Literal["whole", "word", "name"]:
    """Return which part of a text a summary shows."""
    if isinstance(kind, Text):
        if kind.words("word other") == "word":
            return "word"
        if kind.words("folder/name") == "name":
            return "name"
    return "whole"


class ClaimRow(TypedDict):
    """A claim, evaluated.

    Attributes:
        text: the sentence.
        expression: what was evaluated.
        holds: whether it holds; null if unknown.
        detail: its values, human-readable; in how many seeds it held.
    """

    text: str
    expression: str
    holds: bool | None
    detail: str


class TableRow(TypedDict):
    """A row of a table.

    Attributes:
        group: the heading above it; empty for none.
        cells: its cells.
    """

    group: str
    cells: list[str]


class Table(TypedDict):
    """A table.

    Attributes:
        columns: the headings of its columns.
        rows: its rows.
    """

    columns: list[str]
    rows: list[TableRow]


def claims_json(verdict: Verdict) -> list[ClaimRow]:
    """Return the claims."""
    rows = zip(verdict.claims, claim_rows(verdict), strict=True)
    return [
        {
            "text": row.text,
            "expression": judged.claim.expression,
            "holds": judged.passed,
            "detail": ", ".join(
                [f"{name} = {value}" for name, value in row.readings]
                + ([f"holds in {row.seeds}"] if row.seeds else [])
            ),
        }
        for judged, row in rows
    ]


def published_json(verdict: Verdict) -> Table | None:
    """Return published and measured values; None if there are none.

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


def measured_json(verdict: Verdict) -> Table | None:
    """Return the metrics of the cases without published values; None if there are none."""
    grid = metric_grid(verdict)
    if grid is None:
        return None
    return {
        "columns": ["", *grid.columns],
        "rows": [{"group": "", "cells": [row.label, *row.cells]} for row in grid.rows],
    }


# Thinning keeps at most five points a column: 2000 in all.
_COLUMNS = 400


def panels_of(runs: Sequence[Run], cases: Sequence[str] = ()) -> list[PanelData]:
    """Return the panels of runs.

    Runs that differ in their seeds only are one line, the median, with a band.

    Args:
        runs: the runs; at least one.
        cases: all cases of their study, chosen or not, in its order: so that each has the same
            colour whichever others are chosen.

    Raises:
        InputError: a file of a run is missing or broken.
    """
    groups = group_runs(runs)
    series = Series(groups, style_indices=_style_indices(groups, cases))
    panels = [series.panel(metric) for metric in METRICS]
    return [panel_data(panel, columns=_COLUMNS) for panel in panels if panel is not None]


def _style_indices(groups: Sequence[Group], cases: Sequence[str]) -> dict[str, int] | None:
    """Return the styles of groups that are cases of one study; None where they are others."""
    known = {name: place for place, name in enumerate(cases)}
    if len(groups) < 2 or not all(group.label in known for group in groups):
        return None
    return known


class SetupLine(TypedDict):
    """A command at a node.

    Attributes:
        node: its node.
        line: the command.
    """

    node: str
    line: str


class StudyValue(TypedDict):
    """A value for a field of a flow in the study.

    Attributes:
        field: its key.
        value: as it is typed.
    """

    field: str
    value: str


class Fix(TypedDict):
    """What would help a flow: all of its lines and fields together.

    Attributes:
        lines: commands, by node.
        study: values for fields of the flow in the study.
        takes_from: other flows of the bottleneck, whose share of it becomes smaller.
    """

    lines: list[SetupLine]
    study: list[StudyValue]
    takes_from: list[str]


class Advice(TypedDict):
    """What limited a flow.

    Attributes:
        answer: one line: the flow's throughput, the available rate, what limited it, and what
            became of its RTT.
        verdict: one sentence: what limited the flow.
        notes: the evidence, and the recommendation.
        fixes: the recommended one first, then alternatives, each by itself.
    """

    answer: str
    verdict: str
    notes: list[str]
    fixes: list[Fix]


def advice_of(found: Diagnosis) -> Advice:
    """Return a diagnosis for the page."""
    facts = [f"{fact.label}: {fact.text}" for fact in found.facts]
    recommendation = found.recommendation
    choices = [recommendation.lines, *((line,) for line in recommendation.alternatives)]
    words = [recommendation.words] if recommendation.words else []
    return {
        "answer": _answer(found),
        "verdict": found.verdict,
        "notes": [*facts, *words, *found.notes],
        "fixes": [_fix(lines) for lines in choices if lines],
    }


def _fix(lines: Sequence[Line]) -> Fix:
    return {
        "lines": [{"node": one.node, "line": one.text} for one in lines if one.node != STUDY],
        "study": [_field(one.text) for one in lines if one.node == STUDY],
        "takes_from": list(dict.fromkeys(name for one in lines for name in one.takes_from)),
    }


def _answer(found: Diagnosis) -> str:
    """Return a flow's throughput, the available rate, its limit and its RTT, in one line."""
    known = {fact.key: fact.text for fact in found.facts}
    got, rate = known.get("receiver_bps"), known.get("rate_bps")
    if not found.causes or got is None:
        return found.verdict
    of = f" of {' '.join(rate.split())}" if rate is not None else ""
    rtt, idle = known.get("mean_rtt_s"), known.get("idle_rtt_s")
    delay = f" RTT {rtt} (idle path {idle})." if rtt is not None and idle is not None else ""
    return f"{found.flow} got {got}{of}. Cause: {found.causes[0].cause}.{delay}"


def _field(text: str) -> StudyValue:
    """Return the field and the value of a line for the study, such as `parallel: 9`."""
    field, _, value = text.partition(":")
    return {"field": field.strip(), "value": value.strip()}
