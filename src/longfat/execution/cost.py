"""The expected cost of a case: CPU time, wall time, disk space and memory.

A machine keeps one CPU busy all the time, so CPU and wall time of a run are the same
number: that of the boot, plus for each virtual second of traffic that of the
packets: less for each of many (segments of one stream are handled in batches),
and more with many streams, whose packets come mixed.

The numbers below were measured with kernel 6.1 on the machine of
docs/performance.md: two hosts, two switches, 20 ms of round trip, 4 to 8 s of
iperf3. Another machine is slower or faster by a factor, and other networks by
another: where there are runs of the same study, a `CostModel` is fitted to them.
"""

from __future__ import annotations

import contextlib
import heapq
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from longfat.errors import InputError
from longfat.execution.compile import TRAFFIC_START_S, expected_virtual_s
from longfat.execution.runs import load_run
from longfat.execution.runs.run import MANIFEST
from longfat.model.flow_path import NotUnderstoodError, bottleneck
from longfat.model.spread import spread_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from longfat.execution.cache import ResultCache
    from longfat.model.case import Case
    from longfat.model.flow_path import Bottleneck
    from longfat.model.spread import Spread

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


def parallel_wall_s(costs_s: Iterable[float], jobs: int) -> float:
    """Return the wall time of parallel runs, started longest first, as the pool does.

    Args:
        costs_s: the time of each run alone, in seconds.
        jobs: how many run at once.
    """
    ends = [0.0] * jobs
    for cost_s in sorted(costs_s, reverse=True):
        heapq.heapreplace(ends, ends[0] + cost_s)
    return max(ends)


MAX_RUNS_READ = 400
"""The maximum number of runs that are read for a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRun:
    """The actual and the expected cost of an existing run.

    Attributes:
        case_digest: its case.
        wall_s: wall time from boot to end, in seconds.
        disk_bytes: the size of its folder.
        peak_bytes: the peak memory of its machine.
        expected: the expected cost.
    """

    case_digest: str
    wall_s: float
    disk_bytes: int
    peak_bytes: int
    expected: Cost


def runs_in(folder: Path) -> list[Path]:
    """Return the run directories of a folder."""
    try:
        return sorted(path.parent for path in folder.glob(f"[!.]*/{MANIFEST}"))
    except OSError:
        return []


def cached_runs(cache: ResultCache, study: str) -> list[Path]:
    """Return the folders of the cached runs of a study, the last used first."""
    found = [entry for entry in cache.entries() if entry.study == study]
    return [entry.folder for entry in sorted(found, key=lambda entry: -entry.used_s)]


def known_runs(folders: Sequence[Path]) -> list[KnownRun]:
    """Return runs, at most `MAX_RUNS_READ` of them; folders that are not runs are skipped.

    Args:
        folders: run directories.
    """
    # A sample over all of them: their names have the parameters in their order.
    step = max(1, math.ceil(len(folders) / MAX_RUNS_READ))
    found = []
    for folder in folders[::step]:
        with contextlib.suppress(InputError):
            run = load_run(folder)
            found.append(
                KnownRun(
                    case_digest=run.case_digest,
                    wall_s=run.wall_s,
                    disk_bytes=sum(file.size_bytes for file in run.files.values()),
                    peak_bytes=run.peak_bytes,
                    expected=expected_cost(run.case),
                )
            )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The ratio of actual to expected cost of existing runs: measured / expected.

    Attributes:
        wall: of the wall time.
        disk: of the disk space.
    """

    wall: Spread
    disk: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """A model fitted to existing runs.

    Attributes:
        runs: the number of runs.
        scale: the ratio of their actual to their expected cost; None without runs.
        peak_bytes: the highest peak memory of their machines.
        by_case: the runs by their cases' digests.
    """

    runs: int = 0
    scale: Scale | None = None
    peak_bytes: int = 0
    by_case: dict[str, KnownRun] = field(default_factory=dict)

    def cost(self, case: Case) -> Cost:
        """Return the expected cost of a case; that of earlier runs of the same case, if any."""
        cost = expected_cost(case)
        if self.scale is None:
            return cost
        if same := self.by_case.get(case.digest):
            return replace(
                cost,
                wall_s=same.wall_s,
                disk_bytes=same.disk_bytes,
                peak_bytes=same.peak_bytes,
                unlimited=False,
            )
        return replace(
            cost,
            wall_s=cost.wall_s * self.scale.wall.median,
            disk_bytes=cost.disk_bytes * self.scale.disk.median,
            peak_bytes=self.peak_bytes,
        )


def fit_cost_model(runs: Sequence[KnownRun]) -> CostModel:
    """Fit a model to runs."""
    if not runs:
        return CostModel()
    scale = Scale(
        wall=spread_of(run.wall_s / run.expected.wall_s for run in runs),
        disk=spread_of(run.disk_bytes / run.expected.disk_bytes for run in runs),
    )
    return CostModel(
        runs=len(runs),
        scale=scale,
        peak_bytes=max(run.peak_bytes for run in runs),
        by_case={run.case_digest: run for run in runs},
    )
