"""The evidence on a TCP flow of a run, from which the diagnosis is made."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.analysis.advice.evidence import (
    DEFAULT_MSS_BYTES,
    congestion_control,
    find_bottleneck,
    inferred_slices,
    run_sysctl,
    stream_readings,
)
from longfat.analysis.advice.limits import MODEL_BASED, Limit, Slice, classify, merge_streams, total
from longfat.analysis.advice.link import LinkUse, RateOver, link_rates, queue_table, rate_over
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.common.extras import lazy
from longfat.model.flow_path import NotUnderstoodError, idle_rtt, sender_and_receiver
from longfat.model.metric import Unit
from longfat.model.probes import Tcp
from longfat.model.probes.samples import growth, weights
from longfat.model.probes.tcp import ecn_counts
from longfat.model.units import format_quantity
from longfat.theory import bdp

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import pyarrow as pa

    from longfat.execution.runs import Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.probes.tcp import EcnCounts
    from longfat.model.traffic import Bulk
else:
    np = lazy("numpy")
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSeen:
    """What a queue probe saw of the bottleneck's queue while the flow ran.

    Attributes:
        mean_bytes: the mean backlog.
        peak_bytes: the largest backlog that was sampled.
        drops: the packets that it dropped.
    """

    mean_bytes: float
    peak_bytes: int
    drops: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowEvidence:
    """The evidence on a TCP flow, and what limited it.

    Attributes:
        run: the run.
        flow: the flow.
        sender: the host that sends.
        receiver: the host that receives.
        congestion: the congestion control of its sockets.
        slowest: the bottleneck of its path, as it was at first; None if it is not known.
        rate: the bottleneck's rate while data flowed; None if it is not known.
        unknown_path: why it is not known; empty if it is.
        rtt_s: the RTT of the idle path, or the least that the flow saw; None if unknown.
        table: what the tcp probe saw at its sending end; None without one.
        queue: what a queue probe saw; None without one.
        slices: what limited it, moment by moment.
        link_full: the share of the time in which the link was full; None where
            the link is not known.
        link_use: the share of its rate that the link carried meanwhile.
        rivals: how many other streams of bulk traffic crossed the link.
    """

    run: Run
    flow: Bulk
    sender: str
    receiver: str
    congestion: str
    slowest: Bottleneck | None
    rate: RateOver | None
    unknown_path: str
    rtt_s: float | None
    table: pa.Table | None
    queue: QueueSeen | None
    slices: tuple[Slice, ...]
    link_full: float | None
    link_use: float | None
    rivals: int

    @property
    def measured(self) -> bool:
        """Return whether the kernel's own clocks were read."""
        return self.table is not None

    @property
    def duration_s(self) -> float:
        """Return how long data flowed."""
        return sum(one.end_s - one.start_s for one in self.slices)

    @property
    def seconds(self) -> Mapping[Limit, float]:
        """Return the seconds by limit, the most first."""
        return total(self.slices)

    @property
    def bdp_bytes(self) -> float | None:
        """The bandwidth-delay product: `rate_bps` x RTT of the idle path; None if not known."""
        if self.rate_bps is None or self.rtt_s is None:
            return None
        return bdp.bdp_bytes(self.rate_bps, self.rtt_s)

    @property
    def rate_bps(self) -> float | None:
        """The bottleneck's mean rate while data flowed, in bit/s.

        None if it is not known, or if events lifted the limit for a while.
        """
        if self.rate is None or self.rate.mean_bps == math.inf:
            return None
        return self.rate.mean_bps

    @property
    def rate_text(self) -> str:
        """`rate_bps` for people, marked as a mean if events changed the rate meanwhile."""
        if self.rate is None or self.rate_bps is None:
            return "no limit"
        text = format_quantity(self.rate_bps, Unit.BPS)
        return text if self.rate.is_constant else f"{text} on average"

    def metric(self, name: str) -> float | None:
        """Return a metric of the flow, such as `receiver_bps`."""
        return self.run.metrics.get(f"{self.flow.name}.{name}")

    def clock(self, name: str) -> tuple[float, float] | None:
        """Return the seconds of one of the kernel's clocks, and the busy ones, over all streams.

        Args:
            name: `rwnd_limited` or `sndbuf_limited`.

        Returns:
            Both; None without a tcp probe, or if no stream was ever busy.
        """
        if self.table is None:
            return None
        totals = self.table.group_by("stream").aggregate(
            [("busy_s", "max"), (f"{name}_s", "max")]  # they count up
        )
        busy_s = pc.sum(totals["busy_s_max"]).as_py()
        return (pc.sum(totals[f"{name}_s_max"]).as_py(), busy_s) if busy_s else None

    def mean_over_time(self, column: str) -> float | None:
        """Return the mean of what the tcp probe saw of each stream; None without a probe."""
        if self.table is None:
            return None
        (every_s, *_) = (
            probe.every_s for probe in self.run.case.probes_of(Tcp, target=self.flow.name)
        )
        stands_s = weights(self.table["time_s"], every_s=every_s)
        if not stands_s.any():
            return None
        return float(np.average(self.table[column].to_numpy(), weights=stands_s))

    @property
    def ecn(self) -> EcnCounts | None:
        """The marks of its streams; None without ECN or a tcp probe."""
        ends = [tcp_samples(self.run, self.flow, end, ended=True) for end in ("sender", "receiver")]
        tables = [table for table in ends if table is not None]
        return ecn_counts(pa.concat_tables(tables).unify_dictionaries()) if tables else None

    def buffer(self, host: str, name: str) -> tuple[int, ...] | None:
        """Return the three numbers of `tcp_rmem` or `tcp_wmem` of a host; None if not known.

        Of a run without what its kernel had, they are known if a set-up line sets them.
        """
        try:
            numbers = run_sysctl(self.run, host, f"net.ipv4.{name}")
        except NotUnderstoodError:
            return None
        return numbers if numbers is not None and len(numbers) == 3 else None


def collect_evidence(run: Run, flow: Bulk) -> FlowEvidence:
    """Return the evidence on a TCP flow.

    Args:
        run: the run.
        flow: the flow.

    Raises:
        InputError: a file of the run is missing or broken.
        MachineError: the tool's report cannot be read.
    """
    slowest, why = find_bottleneck(run, flow)
    use = LinkUse(run, flow, slowest)
    table = tcp_samples(run, flow)
    congestion = congestion_control(run, flow)
    mss_bytes = float(DEFAULT_MSS_BYTES)
    if table is not None:
        congestion = table["congestion"].cast("string")[-1].as_py() or congestion
        mss_bytes = float(pc.max(table["mss_bytes"]).as_py())
    rtt_s = _rtt_s(run, flow)
    if table is not None:
        slices = _measured(table, use, mss_bytes, model_based=congestion in MODEL_BASED)
    else:
        slices = inferred_slices(run, flow, use, mss_bytes=mss_bytes, congestion=congestion)
    start_s, end_s = (slices[0].start_s, slices[-1].end_s) if slices else (0.0, 0.0)
    known = slowest is not None and bool(slices)
    sender, receiver = sender_and_receiver(flow)
    return FlowEvidence(
        run=run,
        flow=flow,
        sender=sender,
        receiver=receiver,
        congestion=congestion,
        slowest=slowest,
        rate=rate_over(link_rates(run, slowest), start_s, end_s) if slowest and slices else None,
        unknown_path=why,
        rtt_s=rtt_s,
        table=table,
        queue=_queue(run, flow, slowest, start_s, end_s) if slowest else None,
        slices=slices,
        link_full=use.full_share(slices, mss_bytes=mss_bytes) if known else None,
        link_use=use.share(start_s, end_s, mss_bytes=mss_bytes) if known else None,
        rivals=use.rivals,
    )


def _rtt_s(run: Run, flow: Bulk) -> float | None:
    try:
        rtt_s, _ = idle_rtt(run.case, flow, run.metrics, installed=run.installed)
    except NotUnderstoodError:
        rtt_s = 0.0
    return rtt_s or run.metrics.get(f"{flow.name}.min_rtt_s") or None


def _measured(
    table: pa.Table, use: LinkUse, mss_bytes: float, *, model_based: bool
) -> tuple[Slice, ...]:
    streams = []
    for readings in stream_readings(table):
        links = [
            use.between(before.time_s, after.time_s, mss_bytes=mss_bytes)
            for before, after in itertools.pairwise(readings)
        ]
        streams.append(classify(readings, links, model_based=model_based))
    return merge_streams(streams) if streams else ()


def _queue(
    run: Run, flow: Bulk, slowest: Bottleneck, start_s: float, end_s: float
) -> QueueSeen | None:
    table = queue_table(run, slowest.interface)
    if table is None:
        return None
    times_s = table["time_s"].to_numpy()
    backlog, drops = table["backlog_bytes"].to_numpy(), table["drops"].to_numpy()
    meanwhile = (times_s >= start_s) & (times_s <= end_s)
    if not meanwhile.any():
        return None
    # Each sample represents the time since the one before it.
    lengths_s = np.diff(times_s, prepend=times_s[0])[meanwhile]
    # Drops are those from the last sample before the flow to the first one after it: the data
    # may flow for longer than its sockets were sampled.
    ran = run.flow_times[flow.name]
    first = max(0, int(np.searchsorted(times_s, ran.start_s, side="right")) - 1)
    last = int(np.searchsorted(times_s, ran.end_s))
    return QueueSeen(
        mean_bytes=float(np.average(backlog[meanwhile], weights=lengths_s))
        if lengths_s.sum() > 0
        else float(backlog[meanwhile].mean()),
        peak_bytes=int(backlog[meanwhile].max()),
        drops=growth(drops[first : last + 1], from_start=True),
    )
