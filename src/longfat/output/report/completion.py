"""Figures of requests: how many of them were complete within which time, and how much slower.

Each flow has a chart of times, and one of slowdowns where its path is known: a part for each
class of sizes, and in it a line for each case, of all seeds together. Unfinished requests count
as never complete, so their line does not reach 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longfat.model.flow_path import flow_path
from longfat.model.metric import Unit
from longfat.model.traffic.requests import CLASSES, Requests
from longfat.model.typed_line import NotUnderstoodError
from longfat.output.plot import Axis, Chart, ChartKind, Facet, Series

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from longfat.analysis.timeseries.groups import Group
    from longfat.execution.runs import Run
    from longfat.output.plot import Floats

# The size of a response in bytes, and its value; None if it never completed.
_Point = tuple[int, float | None]

# A finer step is not visible.
_MAX_STEPS = 400


_TITLES = {"completion": "Completion time", "slowdown": "Slowdown"}

CHARTS = tuple(_TITLES)
"""The charts, by the names that `longfat plot --metric` takes."""


def completion_charts(
    groups: Sequence[Group], names: Collection[str] = (), *, metrics: Collection[str] = CHARTS
) -> list[Chart]:
    """Return the charts of each flow of requests, by the flows' names.

    Args:
        groups: the cases with their runs.
        names: the names of the flows; empty for all.
        metrics: which charts, of `CHARTS`.

    Raises:
        MachineError: a report of a run is missing or broken.
    """
    found = dict.fromkeys(
        flow.name for g in groups for flow in g.flows(names) if isinstance(flow, Requests)
    )
    charts = []
    for name in found:
        every = [_responses(name, group) for group in groups]
        if "completion" in metrics:
            axis = Axis(label="completion time", unit=Unit.SECONDS, log=True)
            charts.append(_chart(name, "completion", axis, every, groups))
        if "slowdown" in metrics:
            slowed = [_slowdowns(name, group) for group in groups]
            axis = Axis(label="slowdown: time / time on an idle path", unit=Unit.COUNT, log=True)
            charts.append(_chart(name, "slowdown", axis, slowed, groups))
    return [chart for chart in charts if chart is not None]


def _chart(
    flow: str,
    metric: str,
    axis: Axis,
    every: Sequence[Sequence[_Point]],
    groups: Sequence[Group],
) -> Chart | None:
    facets = []
    for part, is_of in CLASSES.values():
        series = []
        for style_index, (group, responses) in enumerate(zip(groups, every, strict=True)):
            x, y = _steps([value for size_bytes, value in responses if is_of(size_bytes)])
            if len(x):
                series.append(Series(label=group.label or flow, x=x, y=y, style_index=style_index))
        if series:
            facets.append(Facet(title=part, series=tuple(series)))
    if not facets:
        return None
    seeds = max(len(group.runs) for group in groups)
    return Chart(
        name=f"{metric}-{flow}",
        title=f"{_TITLES[metric]} of {flow}",
        kind=ChartKind.CDF,
        x=axis,
        y=Axis(label=f"requests of {flow}", unit=Unit.FRACTION, low=0.0, high=1.0),
        facets=tuple(facets),
        note=f"all of {seeds} seeds together" if seeds > 1 else "",
    )


def _flows(name: str, group: Group) -> Iterator[tuple[Run, Requests]]:
    for run in group.runs:
        for flow in run.measured_case.flows:
            if flow.name == name and isinstance(flow, Requests):
                yield run, flow


def _responses(name: str, group: Group) -> list[_Point]:
    return [
        (one.size_bytes, one.took_s)
        for run, flow in _flows(name, group)
        for one in flow.responses(run.raw)
    ]


def _slowdowns(name: str, group: Group) -> list[_Point]:
    """Return sizes and slowdowns; nothing where the path is not known."""
    found: list[_Point] = []
    for run, flow in _flows(name, group):
        try:
            path = flow_path(run.case, flow, run.metrics, installed=run.installed)
        except NotUnderstoodError:
            continue
        if path is None:
            continue
        found += [
            (one.size_bytes, one.slowdown(rate_bps=path.rate_bps, rtt_s=path.rtt_s))
            for one in flow.responses(run.raw)
        ]
    return found


def _steps(values: Sequence[float | None]) -> tuple[Floats, Floats]:
    """Return sorted values, and the share of all requests whose value is at most so much."""
    known = np.sort([one for one in values if one is not None]).astype(float)
    shares = np.arange(1, len(known) + 1) / max(len(values), 1)
    if len(known) <= _MAX_STEPS:
        return known, shares
    chosen = np.unique(np.linspace(0, len(known) - 1, _MAX_STEPS).round().astype(int))
    return known[chosen], shares[chosen]
