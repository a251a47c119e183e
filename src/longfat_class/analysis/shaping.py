"""The rate limit that was in force on a flow's way, as the kernel reports its qdiscs.

Set-up lines say what was meant. A script of them may not be understood, and a line that waits in
the background changes everything later: so what the kernel had while the traffic ran counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longfat.model.probes import Queue
from longfat.model.probes.queue import decode
from longfat.model.probes.samples import read_samples
from longfat_class.analysis.counted import way_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.execution.runs import Run
    from longfat.model.traffic import Flow

# Their classes limit rates, which a dump of qdiscs does not show; or they follow a trace.
_UNKNOWN = frozenset(("drr", "ets", "hfsc", "htb", "mqprio", "prio", "qfq", "taprio", "trace"))


def limits_in_force(run: Run, flow: Flow) -> list[tuple[float, Mapping[str, float]]] | None:
    """Return the rates that interfaces on a flow's way limited to while it ran.

    Args:
        run: the run of a case as `watching.watched` returns it.
        flow: one of its flows.

    Returns:
        Times in seconds after the traffic's start, and rates in bit/s by interface at each; None
        where qdiscs on the way limit rates in a form that their dump does not show, or nothing
        was sampled.
    """
    way = frozenset(way_of(run.case.network, flow))
    times = run.flow_times.get(flow.name)
    samples = _samples(run, way)
    if times is None or not way or not samples:
        return None
    if any(row["qdisc"] in _UNKNOWN for rows in samples.values() for row in rows):
        return None
    return [
        (time_s, _limits(rows))
        for time_s, rows in sorted(samples.items())
        if times.start_s <= time_s <= times.end_s
    ]


def _limits(rows: list[Mapping[str, Any]]) -> Mapping[str, float]:
    """Return the least rate that a qdisc of each interface limits to."""
    limits: dict[str, float] = {}
    for row in rows:
        if row["rate_bps"] is not None:
            name = row["interface"]
            limits[name] = min(row["rate_bps"], limits.get(name, row["rate_bps"]))
    return limits


def _samples(run: Run, interfaces: frozenset[str]) -> dict[float, list[Mapping[str, Any]]]:
    """Return the qdiscs of interfaces at each time at which they were sampled."""
    samples: dict[float, list[Mapping[str, Any]]] = {}
    for probe in run.case.probes_of(Queue):
        if not interfaces <= set(probe.of):
            continue
        for row in decode(read_samples(run.checked_raw / probe.samples_file)):
            if row["interface"] in interfaces:
                samples.setdefault(row["time_s"], []).append(row)
        return samples
    return samples
