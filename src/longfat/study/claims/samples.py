"""Samples of a run: replies, intervals, queue lengths. A CDF can be drawn of them.

They are named like metrics, in the plural, and only a CDF can hold them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from longfat.model.case import Case
from longfat.model.metric import Metric, Unit
from longfat.model.probes import Probe, Queue
from longfat.model.traffic import Flow, Iperf3, Ping, Transfer

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
"""What can be drawn, by the kind of flow or probe."""


def known_samples(cases: Iterable[Case]) -> dict[str, Metric]:
    """Return what the flows and probes of cases have many of, by `FLOW.SAMPLES`."""
    found: dict[str, Metric] = {}
    for case in cases:
        measured: tuple[Flow | Probe, ...] = (*case.flows, *case.probes)
        for one in measured:
            for metric in SAMPLES.get(type(one), ()):
                found[f"{one.name}.{metric.name}"] = metric
    return found
