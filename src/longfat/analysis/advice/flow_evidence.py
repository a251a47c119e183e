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
from longfat.analysis.advice.surroundings import flows_across, is_senders_own, outages, way_back
from longfat.analysis.timeseries.sources import tcp_samples
from longfat.common.extras import lazy
from longfat.model.flow_path import (
    NotUnderstoodError,
    flow_interfaces,
    idle_rtt,
    sender_and_receiver,
)
from longfat.model.flow_path.installed import first_snapshot
from longfat.model.metric import Unit
from longfat.model.probes import Tcp
from longfat.model.probes.samples import growth, weights
from longfat.model.probes.tcp import ecn_counts
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity
from longfat.theory import bdp, buffers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pyarrow as pa

    from longfat.analysis.advice.surroundings import Outage, WayBack
    from longfat.analysis.losses import Loss
    from longfat.execution.runs import Run
    from longfat.model.flow_path import Bottleneck
    from longfat.model.probes.tcp import EcnCounts
    from longfat.model.traffic import Flow
else:
    np = lazy("numpy")
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")


# Queues that drop only when they are full.
_PLAIN_QUEUES = frozenset(("wire", "tbf", "bfifo", "pfifo", "pfifo_fast", "htb", "netem"))

# An RTT that stays above that of the idle path by this share, and this time, is that of a queue.
_STANDING = 0.2
_STANDING_S = 0.001


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
        others: the other flows whose data crossed the link meanwhile.
        unknown_load_bps: what crossed the link and is of no flow whose rate is known.
        back: the way of its acknowledgements; None if no rate is known there.
        losses: what it lost on the way, most packets first; empty if the kernel does not count.
        back_losses: what it lost on the way back, likewise.
        sent_packets: about how many packets it sent.
        outages: when a link was down while it ran.
        receiver_table: what the tcp probe saw at its receiving end; None without one.
        sampled: metrics from the probe's samples, of a flow whose tool reports none.
    """

    run: Run
    flow: Flow
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
    others: tuple[Flow, ...]
    unknown_load_bps: float
    back: WayBack | None
    losses: tuple[Loss, ...]
    back_losses: tuple[Loss, ...]
    sent_packets: float
    outages: tuple[Outage, ...]
    receiver_table: pa.Table | None
    sampled: Mapping[str, float]

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

    def share_of(self, limit: Limit) -> float:
        """Return the share of its time in which a limit held it back, 0 to 1."""
        return self.seconds.get(limit, 0.0) / self.duration_s

    @property
    def streams(self) -> int:
        """How many connections it has at a time."""
        return self.flow.parallel if isinstance(self.flow, Bulk) else 1

    @property
    def socket_buffer_bytes(self) -> int | None:
        """The socket buffer that it sets itself; None if it sets none, or that is not known."""
        return self.flow.window_bytes if isinstance(self.flow, Bulk) else None

    @property
    def own_rate_bps(self) -> float | None:
        """The rate that each of its streams keeps to; None if it keeps to none."""
        return self.flow.rate_bps if isinstance(self.flow, Bulk) else None

    @property
    def probably(self) -> str:
        """What qualifies a sentence on a limit that was inferred."""
        return "" if self.measured else "probably "

    @property
    def lost_share(self) -> float:
        """The share of its packets that were lost on the way, 0 to 1."""
        return self.share_of_packets(sum(loss.packets for loss in self.losses))

    def share_of_packets(self, packets: int) -> float:
        """Return which share of the packets that it sent a number of them is, 0 to 1."""
        return min(1.0, packets / self.sent_packets) if self.sent_packets else 0.0

    @property
    def is_policed(self) -> bool:
        """Whether a policer sets the rate of its path."""
        return self.slowest is not None and self.slowest.rate_origin == "a policer"

    @property
    def is_sender_shaped(self) -> bool:
        """Whether a qdisc that was set up at the sender sets the rate of its path."""
        return self.slowest is not None and is_senders_own(self.slowest, self.flow)

    @property
    def first_interface(self) -> str | None:
        """The sender's interface on the way."""
        way = flow_interfaces(self.run.case.network, self.flow)
        return way[0][1] if way else None

    @property
    def has_managed_queue(self) -> bool:
        """Whether the bottleneck's queue drops or marks before it is full."""
        queue = self.slowest.queue if self.slowest is not None else None
        return queue is not None and queue.kind not in _PLAIN_QUEUES

    @property
    def queue_delay_s(self) -> float | None:
        """How long packets waited in queues on average, by a queue's backlog or by the RTT."""
        if self.queue is not None and self.rate_bps is not None:
            return buffers.queueing_delay_s(
                queue_bytes=self.queue.mean_bytes, rate_bps=self.rate_bps
            )
        mean_s = self.metric("mean_rtt_s")
        return None if mean_s is None or self.rtt_s is None else max(0.0, mean_s - self.rtt_s)

    @property
    def has_window_scaling(self) -> bool | None:
        """Whether its connections have agreed on window scaling; None if that is not known."""
        if self.table is None or self.table["window_scaling"].null_count:
            return None
        return bool(pc.all(self.table["window_scaling"]).as_py())

    @property
    def duplicates(self) -> int | None:
        """How many segments the receiver reported to have come twice; None if it is not known."""
        if self.table is None or self.table["dsack_packets"].null_count:
            return None
        counts = self.table.group_by("stream").aggregate([("dsack_packets", "max")])
        return int(pc.sum(counts["dsack_packets_max"]).as_py())

    @property
    def standing_share(self) -> float:
        """The share of its time in which a queue stood somewhere on the way, 0 to 1.

        A queue that never empties is that of a full link, whatever its rate is. It shows in a
        least RTT over a second that stays above that of the idle path.
        """
        if self.table is None or not self.rtt_s:
            return 0.0
        least_s = self.rtt_s + max(_STANDING_S, _STANDING * self.rtt_s)
        standing_s = 0.0
        times_s, rtts_s = self.table["time_s"].to_numpy(), self.table["rtt_s"].to_numpy()
        for part in self.slices:
            near = (times_s > part.start_s - 1) & (times_s <= part.end_s)
            if near.any() and rtts_s[near].min() >= least_s:
                standing_s += part.end_s - part.start_s
        return standing_s / self.duration_s

    def sysctl(self, host: str, name: str) -> str | None:
        """Return a sysctl of a host at the traffic's start, as text; None if it is not known."""
        if self.run.installed is None:
            return None
        return first_snapshot(self.run.installed).sysctl(host, name)

    def counted(self, host: str, name: str) -> int:
        """Return by how much a counter of a host grew, see `longfat.guest.counters`."""
        counts = self.run.counts
        return sum(each.count for each in counts if (each.node, each.name) == (host, name))

    def control_of(self, flow: Flow) -> str:
        """Return the congestion control of another flow of the run."""
        return congestion_control(self.run, flow)

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
        return self.run.metrics.get(f"{self.flow.name}.{name}", self.sampled.get(name))

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


def collect_evidence(run: Run, flow: Flow, lost: Sequence[Loss] = ()) -> FlowEvidence:
    """Return the evidence on a TCP flow.

    Args:
        run: the run.
        flow: the flow, which may have failed.
        lost: what it lost, on both ways, the most packets first.

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
    elif not isinstance(flow, Bulk) or flow.name in run.flow_failures:
        slices = ()
    else:
        slices = inferred_slices(run, flow, use, mss_bytes=mss_bytes, congestion=congestion)
    start_s, end_s = (slices[0].start_s, slices[-1].end_s) if slices else (0.0, 0.0)
    known = slowest is not None and bool(slices)
    sender, receiver = sender_and_receiver(flow)
    forward = tuple(loss for loss in lost if not loss.is_backward)
    sampled = {} if table is None else _sampled(table, slices)
    goodput_bps = run.metrics.get(f"{flow.name}.receiver_bps", sampled.get("receiver_bps", 0.0))
    arrived = goodput_bps * (end_s - start_s) / 8 / mss_bytes
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
        others=flows_across(run, flow, slowest.interface) if slowest else (),
        unknown_load_bps=use.unknown_bps(start_s, end_s, mss_bytes=mss_bytes) if known else 0.0,
        back=way_back(run, flow, goodput_bps=goodput_bps, mss_bytes=mss_bytes),
        losses=forward,
        back_losses=tuple(loss for loss in lost if loss.is_backward),
        sent_packets=arrived + sum(loss.packets for loss in forward),
        outages=outages(run, flow, slices, lost, rtt_s=rtt_s),
        receiver_table=tcp_samples(run, flow, "receiver"),
        sampled=sampled,
    )


def _sampled(table: pa.Table, slices: Sequence[Slice]) -> dict[str, float]:
    """Return from samples what a tool of bulk traffic would report."""
    ends = table.group_by("stream").aggregate([("bytes_acked", "max"), ("retransmits", "max")])
    time_s = slices[-1].end_s - slices[0].start_s if slices else 0.0
    if not time_s:
        return {}
    return {
        "receiver_bps": pc.sum(ends["bytes_acked_max"]).as_py() * 8 / time_s,
        "retransmits": float(pc.sum(ends["retransmits_max"]).as_py()),
        "mean_rtt_s": pc.mean(table["rtt_s"]).as_py(),
    }


def _rtt_s(run: Run, flow: Flow) -> float | None:
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
    run: Run, flow: Flow, slowest: Bottleneck, start_s: float, end_s: float
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
