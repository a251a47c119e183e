"""Which metrics a case has, and how a study may call them."""

from __future__ import annotations

from collections.abc import Mapping

from longfat.model.case import Case
from longfat.model.metric import Metric
from longfat.model.probes import Probe
from longfat.model.traffic import Flow


def known_metrics(case: Case) -> dict[str, Metric]:
    """Return the metrics of a case's flows and probes.

    Returns:
        Metrics by flow or probe and full name, such as `bulk.receiver_bps`, in
        the order of the flows, then of the probes.
    """
    measured: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
    return {f"{one.name}.{metric.name}": metric for one in measured for metric in one.metrics}


def find_metric(flow: str, name: str, known: Mapping[str, Metric]) -> str | None:
    """Find the metric that a study means.

    Args:
        flow: the flow's name.
        name: the metric's name, with its unit's ending or without.
        known: what `known_metrics` returned.

    Returns:
        The key into `known`, or None where there is none, or where a short name
        could be two.
    """
    if f"{flow}.{name}" in known:
        return f"{flow}.{name}"
    found = [
        key
        for key, metric in known.items()
        if key == f"{flow}.{metric.name}" and metric.short == name
    ]
    return found[0] if len(found) == 1 else None
