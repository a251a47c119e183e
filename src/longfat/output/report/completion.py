"""Figures of requests: how many of them were complete within which time.

Each flow has a chart: a part for each class of sizes, and in it a line for each case, of all
seeds together. Unfinished requests count as never complete, so their line does not reach 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from longfat.model.metric import Unit
from longfat.model.traffic.requests import CLASSES, Requests
from longfat.output.plot import Axis, Chart, ChartKind, Facet, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.model.traffic.requests import Response
    from longfat.output.plot import Floats
    from longfat.output.report.groups import Group

# A step that is finer than this cannot be seen.
_MOST_STEPS = 400


def completion_charts(groups: Sequence[Group]) -> list[Chart]:
    """Return a chart for each flow of requests, by the flows' names.

    Args:
        groups: the cases with their runs.

    Raises:
        MachineError: a report of a run is missing or broken.
    """
    names = dict.fromkeys(flow.name for g in groups for flow in g.flows() if _is_of(flow))
    return [chart for name in names if (chart := _chart(name, groups)) is not None]


def _is_of(flow: object) -> bool:
    return isinstance(flow, Requests)


def _chart(name: str, groups: Sequence[Group]) -> Chart | None:
    every = [_responses(name, group) for group in groups]
    facets = []
    for title, is_of in CLASSES.values():
        series = []
        for look, (group, responses) in enumerate(zip(groups, every, strict=True)):
            those = [one for one in responses if is_of(one.size_bytes)]
            x, y = _steps(those)
            if len(x):
                series.append(Series(label=group.label or name, x=x, y=y, look=look))
        if series:
            facets.append(Facet(title=title, series=tuple(series)))
    if not facets:
        return None
    seeds = max(len(group.runs) for group in groups)
    return Chart(
        name=f"completion-{name}",
        title=f"Completion time of {name}",
        kind=ChartKind.CDF,
        x=Axis(label="completion time", unit=Unit.SECONDS, log=True),
        y=Axis(label=f"requests of {name}", unit=Unit.FRACTION, low=0.0, high=1.0),
        facets=tuple(facets),
        note=f"all of {seeds} seeds together" if seeds > 1 else "",
    )


def _responses(name: str, group: Group) -> list[Response]:
    return [
        response
        for run in group.runs
        for flow in run.case.flows
        if flow.name == name and isinstance(flow, Requests)
        for response in flow.responses(run.raw)
    ]


def _steps(responses: Sequence[Response]) -> tuple[Floats, Floats]:
    """Return sorted times, and the share of all requests that were complete by then."""
    times_s = np.sort([one.took_s for one in responses if one.took_s is not None]).astype(float)
    shares = np.arange(1, len(times_s) + 1) / max(len(responses), 1)
    if len(times_s) <= _MOST_STEPS:
        return times_s, shares
    chosen = np.unique(np.linspace(0, len(times_s) - 1, _MOST_STEPS).round().astype(int))
    return times_s[chosen], shares[chosen]
