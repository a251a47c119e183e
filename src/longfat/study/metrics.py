"""Which metrics and samples a case has, and how a study may call them.

Samples are the individual replies, intervals and queue lengths of a run, of which a CDF can be
drawn. They are named like metrics, in the plural.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from longfat.model.case import Case
from longfat.model.metric import Metric, Unit
from longfat.model.probes import Probe, Queue
from longfat.model.traffic import Flow, Iperf3, Ping, Transfer
from longfat.model.traffic.flow import STATUS, SUCCEEDS


def known_metrics(case: Case) -> dict[str, Metric]:
    """Return the metrics of a case's flows and probes.

    Returns:
        Metrics by flow or probe and full name, such as `bulk.receiver_bps`, in
        the order of the flows, then of the probes; last the exit
        statuses of flows that may fail.
    """
    measured: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
    known = {f"{one.name}.{metric.name}": metric for one in measured for metric in one.metrics}
    return known | {
        key: STATUS
        for flow in case.flows
        if flow.expect != SUCCEEDS
        if (key := f"{flow.name}.{STATUS.name}") not in known  # a program has one of its own
    }


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


# Samples.

_PING = (Metric("replies", Unit.SECONDS, "RTT of the replies"),)
_BULK = (
    Metric("rates", Unit.BPS, "throughput of the intervals"),
    Metric("rtts", Unit.SECONDS, "RTT"),
    Metric("cwnds", Unit.BYTES, "cwnd"),
)
_QUEUE = (Metric("backlogs", Unit.BYTES, "backlog"),)

SAMPLES: Mapping[type, tuple[Metric, ...]] = {
    Ping: _PING,
    Iperf3: _BULK,
    Transfer: _BULK,
    Queue: _QUEUE,
}
"""The samples of each kind of flow or probe."""


def known_samples(cases: Iterable[Case]) -> dict[str, Metric]:
    """Return the samples of the flows and probes of cases, by `FLOW.SAMPLES`."""
    found: dict[str, Metric] = {}
    for case in cases:
        measured: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
        for one in measured:
            for metric in SAMPLES.get(type(one), ()):
                found[f"{one.name}.{metric.name}"] = metric
    return found
