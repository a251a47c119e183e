"""What a case will cost before it is run: CPU time, wall time, disk space and memory.

A machine keeps one CPU busy all the time, so CPU and wall time of a run are one
number. It is the boot's, and for each virtual second of traffic what packets
cost: less for each of many (segments of one stream are handled in batches),
and more with many streams, whose packets come mixed.

The numbers below were measured with kernel 6.1 on the machine of
docs/performance.md: two hosts, two switches, 20 ms of round trip, 4 to 8 s of
iperf3. Another machine is slower or faster by a factor, and other networks by
another: where there are runs of the same study, `experience` learns from them.
"""

from __future__ import annotations

import contextlib
import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.execution.compile import TRAFFIC_START_S, expected_virtual_s
from longfat.model.flow_path import NotUnderstoodError, bottleneck
from longfat.model.probes import Capture, Queue, Tcp
from longfat.model.probes.probe import Sampled
from longfat.model.traffic import Bulk, Ping, Transfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from longfat.model.case import Case
    from longfat.model.flow_path import Bottleneck

# CPU seconds: boot, set-up and the end; for each virtual second of one stream at a rate in
# bit/s, of iperf3 and of a transfer; for each packet at most, whatever the number of streams;
# and for the start of a transfer's two ends.
_BOOT_CPU_S = 0.30
_STREAM_CPU_S = ((1e6, 0.010), (1e7, 0.012), (1e8, 0.022), (1e9, 0.050), (1e10, 0.48))
_TRANSFER_CPU_S = ((1e6, 0.003), (1e7, 0.004), (1e8, 0.008), (1e9, 0.017), (1e10, 0.13))
_STREAMS_POWER = 0.6
_TRANSFER_START_CPU_S = 0.08
_IDLE_CPU_S = 0.006
_PACKET_CPU_S = 24e-6
_REPLY_CPU_S = 0.4e-3
_PACKET_BITS = 1500 * 8

# Bytes: of a run without flows; of iperf3's two reports; of ping; of one look of a probe.
_RUN_BYTES = 6_500
_REPORT_BYTES, _REPORT_STREAM_BYTES = 2_700, 1_400
_ROW_BYTES, _ROW_STREAM_BYTES = 440, 560
_PING_BYTES, _REPLY_BYTES = 300, 58
_QUEUE_BYTES, _RATE_BYTES = 510, 260
_TCP_BYTES, _TCP_STREAM_BYTES = 1_700, 850
_SERIES_SHARE = 0.07
_RECORD_BYTES = 16

# Bytes of memory: a booted machine that runs a flow; its table of pages, for each byte of
# memory that it has; and for each byte that its queues hold, here and in the sender's buffer.
# docs/memory.md has what they were taken from.
_PEAK_BYTES = 36e6
_PEAK_SHARE = 1 / 64
_PEAK_QUEUED = 2.0

UNKNOWN_RATE_BPS = 10_000_000_000
"""What a flow is taken to carry where no line limits its rate, in bit/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one run of a case will cost.

    Attributes:
        virtual_s: virtual time from boot to end, in seconds.
        wall_s: time of one CPU, in seconds.
        disk_bytes: the size of its run directory.
        peak_bytes: the most memory that its machine holds at once.
        unlimited: a flow's rate is limited by no line that can be read, so its cost is a guess.
    """

    virtual_s: float
    wall_s: float
    disk_bytes: float
    peak_bytes: float = 0.0
    unlimited: bool = False


def expected_cost(case: Case) -> Cost:
    """Return what a run of a case is expected to cost on the machine of docs/performance.md."""
    virtual_s = expected_virtual_s(case)
    slowest = _bottlenecks(case)
    rates, unlimited = _rates_bps(case, slowest)
    cpu_s = _BOOT_CPU_S
    size = float(_RUN_BYTES)
    for flow in case.flows:
        time_s = flow.duration_s()
        if isinstance(flow, Bulk):
            rows = time_s / (flow.interval_s or 1.0)
            cpu_s += time_s * _cpu_share(flow, rates[flow.name])
            cpu_s += _TRANSFER_START_CPU_S if isinstance(flow, Transfer) else 0.0
            size += _REPORT_BYTES + _REPORT_STREAM_BYTES * flow.parallel
            size += rows * (_ROW_BYTES + _ROW_STREAM_BYTES * flow.parallel)
        elif isinstance(flow, Ping):
            cpu_s += _REPLY_CPU_S * flow.count
            size += _PING_BYTES + _REPLY_BYTES * flow.count
    size += _probe_bytes(case, virtual_s - TRAFFIC_START_S, sum(rates.values()))
    return Cost(
        virtual_s=virtual_s,
        wall_s=cpu_s,
        disk_bytes=size,
        peak_bytes=_peak_bytes(case, slowest.values()),
        unlimited=unlimited,
    )


def _bottlenecks(case: Case) -> dict[str, Bottleneck]:
    """Return the bottleneck of each bulk flow that has one which can be read."""
    found = {}
    for flow in case.flows:
        if isinstance(flow, Bulk):
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
    """Return about what each bulk flow carries; those of one bottleneck share it."""
    found: dict[str, tuple[float, object]] = {}
    unlimited = False
    for flow in case.flows:
        if not isinstance(flow, Bulk):
            continue
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


def _cpu_share(flow: Bulk, rate_bps: float) -> float:
    """Return the CPU seconds of a virtual second of bulk traffic."""
    at = math.log(max(rate_bps, 1.0))
    known = _TRANSFER_CPU_S if isinstance(flow, Transfer) else _STREAM_CPU_S
    points = [(math.log(rate), math.log(cpu_s)) for rate, cpu_s in known]
    index = next((i for i, (x, _) in enumerate(points[1:-1], start=1) if at < x), len(points) - 1)
    (x0, y0), (x1, y1) = points[index - 1], points[index]
    one = math.exp(y0 + (at - x0) * (y1 - y0) / (x1 - x0))
    each_packet = _IDLE_CPU_S + _PACKET_CPU_S * rate_bps / _PACKET_BITS
    return min(one * math.pow(flow.parallel, _STREAMS_POWER), max(one, each_packet))


def _probe_bytes(case: Case, time_s: float, rate_bps: float) -> float:
    streams = {flow.name: flow.parallel for flow in case.flows if isinstance(flow, Bulk)}
    size = 0.0
    for probe in case.probes:
        if isinstance(probe, Capture):
            packets = rate_bps * time_s / _PACKET_BITS
            if probe.packets is not None:
                packets = min(packets, probe.packets)
            size += packets * (probe.snap_bytes + _RECORD_BYTES)
        elif isinstance(probe, Sampled):
            looks = time_s / probe.every_s
            if isinstance(probe, Tcp):
                each = sum(_TCP_BYTES + _TCP_STREAM_BYTES * streams.get(of, 1) for of in probe.of)
            else:
                each = len(probe.of) * (_QUEUE_BYTES if isinstance(probe, Queue) else _RATE_BYTES)
            size += looks * each
    return size * (1 + _SERIES_SHARE)


def wall_on(costs_s: Iterable[float], jobs: int) -> float:
    """Return how long runs take side by side, started longest first, as the pool does.

    Args:
        costs_s: the time of each run alone, in seconds.
        jobs: how many run at once.
    """
    ends = [0.0] * jobs
    for cost_s in sorted(costs_s, reverse=True):
        heapq.heapreplace(ends, ends[0] + cost_s)
    return max(ends)
