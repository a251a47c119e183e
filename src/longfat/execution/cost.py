"""The expected cost of a case: CPU time, wall time, disk space and memory.

A machine keeps one CPU busy all the time, so CPU and wall time of a run are the same
number: that of the boot, plus for each virtual second of traffic that of the
packets: less for each of many (segments of one stream are handled in batches),
and more with many streams, whose packets come mixed.

The numbers below were measured with kernel 6.1 on the machine of
docs/performance.md: two hosts, two switches, 20 ms of round trip, 4 to 8 s of
iperf3. Another machine is slower or faster by a factor, and other networks by
another: where there are runs of the same study, `cost_model` fits them.
"""

from __future__ import annotations

import contextlib
import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.execution.compile import TRAFFIC_START_S, expected_virtual_s
from longfat.model.flow_path import NotUnderstoodError, bottleneck

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.model.case import Case
    from longfat.model.flow_path import Bottleneck

# CPU seconds: boot, set-up and the end. The cost of flows is defined in their classes.
_BOOT_CPU_S = 0.30

# Bytes of a run without flows; and the factor by which series grow when they are decoded.
_RUN_BYTES = 6_500
_SERIES_SHARE = 0.07

# Bytes of memory: a booted machine that runs a flow; its page table, for each byte of
# memory that it has; and for each byte that its queues hold, here and in the sender's buffer.
# docs/result-cache.md documents the measurements.
_PEAK_BYTES = 36e6
_PEAK_SHARE = 1 / 64
_PEAK_QUEUED = 2.0

UNKNOWN_RATE_BPS = 10_000_000_000
"""The assumed rate of a flow where no line limits it, in bit/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one run of a case.

    Attributes:
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: time of one CPU, in seconds.
        disk_bytes: the size of its run directory.
        peak_bytes: the peak memory of its machine.
        unlimited: no readable line limits a flow's rate, so its cost is a guess.
    """

    virtual_s: float
    wall_s: float
    disk_bytes: float
    peak_bytes: float = 0.0
    unlimited: bool = False


def expected_cost(case: Case) -> Cost:
    """Return the expected cost of a case on the machine of docs/performance.md."""
    virtual_s = expected_virtual_s(case)
    slowest = _bottlenecks(case)
    rates, unlimited = _rates_bps(case, slowest)
    cpu_s = _BOOT_CPU_S
    size = float(_RUN_BYTES)
    for flow in case.flows:
        cpu_s += flow.cpu_s(rates.get(flow.name, 0.0))
        size += flow.output_bytes()
    streams = {flow.name: flow.parallel for flow in case.bulk_flows}
    carried_bps, time_s = sum(rates.values()), virtual_s - TRAFFIC_START_S
    size += (1 + _SERIES_SHARE) * sum(
        probe.series_bytes(time_s, rate_bps=carried_bps, streams=streams) for probe in case.probes
    )
    return Cost(
        virtual_s=virtual_s,
        wall_s=cpu_s,
        disk_bytes=size,
        peak_bytes=_peak_bytes(case, slowest.values()),
        unlimited=unlimited,
    )


def _bottlenecks(case: Case) -> dict[str, Bottleneck]:
    """Return the bottleneck of each bulk flow whose bottleneck is known."""
    found = {}
    for flow in case.bulk_flows:
        with contextlib.suppress(NotUnderstoodError):
            if (slowest := bottleneck(case, flow)) is not None:
                found[flow.name] = slowest
    return found


def _peak_bytes(case: Case, slowest: Iterable[Bottleneck]) -> float:
    queues = {
        (one.node, one.interface): one.queue.limit_bytes or 0
        for one in slowest
        if one.queue is not None
    }
    used = min(_PEAK_QUEUED * sum(queues.values()), case.memory_bytes)
    return _PEAK_BYTES + _PEAK_SHARE * case.memory_bytes + used


def _rates_bps(case: Case, bottlenecks: Mapping[str, Bottleneck]) -> tuple[dict[str, float], bool]:
    """Return the approximate rate of each bulk flow; flows share a bottleneck."""
    found: dict[str, tuple[float, object]] = {}
    unlimited = False
    for flow in case.bulk_flows:
        place: object = flow.name
        rate = float(UNKNOWN_RATE_BPS)
        slowest = bottlenecks.get(flow.name)
        own = flow.rate_bps or (1_000_000 if flow.udp else None)
        if slowest is not None:
            rate, place = slowest.rate_bps, (slowest.node, slowest.interface)
        elif own is None:
            unlimited = True
        if own is not None:
            rate, place = min(rate, own * flow.parallel), flow.name
        found[flow.name] = (rate, place)
    places = [place for _, place in found.values()]
    return {name: rate / places.count(place) for name, (rate, place) in found.items()}, unlimited


def wall_on(costs_s: Iterable[float], jobs: int) -> float:
    """Return the wall time of parallel runs, started longest first, as the pool does.

    Args:
        costs_s: the time of each run alone, in seconds.
        jobs: how many run at once.
    """
    ends = [0.0] * jobs
    for cost_s in sorted(costs_s, reverse=True):
        heapq.heapreplace(ends, ends[0] + cost_s)
    return max(ends)
