"""The tcp probe: the kernel's statistics of a flow's sockets, at both ends, and its metrics."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar

from longfat.common.extras import lazy
from longfat.common.suggest import listed, nearest
from longfat.model.fields import narrowed
from longfat.model.kinds import Names
from longfat.model.metric import Metric, Unit, series
from longfat.model.probes.columns import Column, make_table
from longfat.model.probes.probe import Sampled
from longfat.model.probes.samples import read_samples, weights
from longfat.model.probes.tcp_sockets import (
    ACCURATE_ECN,
    CLASSIC_ECN,
    COLUMNS,
    ENDED,
    decode,
    find_ends,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from longfat.model.network import Network
    from longfat.model.traffic import Flow
else:
    np = lazy("numpy")
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")

# What a sample of a flow takes on the disk, and each of its streams.
_SAMPLE_BYTES, _STREAM_BYTES = 1_700, 850


@dataclass(frozen=True, slots=True, kw_only=True)
class Tcp(Sampled):
    """Samples tcp_info of flows' sockets at both ends; `of` are the flows' names."""

    kind: ClassVar[str] = "tcp"
    columns: ClassVar[Sequence[Column]] = COLUMNS
    target_column: ClassVar[str] = "flow"
    combined: ClassVar[str] = "over"
    of: tuple[str, ...] = narrowed(
        Sampled, "of", Names(what="the name of a flow over TCP, or a list of them")
    )
    target_metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "mean_cwnd_bytes",
            Unit.BYTES,
            "mean cwnd",
            series("cwnd_bytes", "mean over time; a sample is tcpi_snd_cwnd * tcpi_snd_mss"),
        ),
        Metric(
            "peak_cwnd_bytes",
            Unit.BYTES,
            "largest cwnd",
            series("cwnd_bytes", "largest; a sample is tcpi_snd_cwnd * tcpi_snd_mss"),
        ),
        Metric(
            "mean_rtt_s",
            Unit.SECONDS,
            "mean RTT",
            series("rtt_s", "mean over time; a sample is tcpi_rtt / 1e6"),
        ),
        Metric(
            "peak_rtt_s",
            Unit.SECONDS,
            "largest RTT",
            series("rtt_s", "largest; a sample is tcpi_rtt / 1e6"),
        ),
        Metric(
            "peak_send_window_bytes",
            Unit.BYTES,
            "largest window offered",
            series("send_window_bytes", "largest; a sample is tcpi_snd_wnd"),
        ),
        Metric(
            "rwnd_limited",
            Unit.FRACTION,
            "share limited by the receive window",
            series(
                "rwnd_limited_s, busy_s",
                "sum of the streams' tcpi_rwnd_limited / sum of their tcpi_busy_time",
            ),
        ),
        Metric(
            "sndbuf_limited",
            Unit.FRACTION,
            "share limited by the send buffer",
            series(
                "sndbuf_limited_s, busy_s",
                "sum of the streams' tcpi_sndbuf_limited / sum of their tcpi_busy_time",
            ),
        ),
        Metric(
            "retransmits",
            Unit.COUNT,
            "retransmissions",
            series("retransmits", "sum of the streams' last tcpi_total_retrans"),
        ),
        Metric(
            "timeouts",
            Unit.COUNT,
            "retransmission timeouts",
            series(
                "timeouts", "sum of the streams' last tcpi_total_rto, which Linux has from 6.7 on"
            ),
        ),
        Metric(
            "ecn_streams",
            Unit.COUNT,
            "streams with ECN",
            series("ecn", "how many streams have TCPI_OPT_ECN in tcpi_options"),
        ),
        Metric(
            "ecn_delivered_packets",
            Unit.COUNT,
            "packets delivered with ECN",
            series("delivered_packets", "sum of the last tcpi_delivered of the streams with ECN"),
        ),
        Metric(
            "delivered_ce_packets",
            Unit.COUNT,
            "packets delivered with marks, by ACKs",
            series(
                "delivered_ce_packets",
                "sum of the last tcpi_delivered_ce of the streams with ECN: the packets that ACKs "
                "with ECE acknowledged, of AccECN the receiver's count",
            ),
        ),
        Metric(
            "received_ce_packets",
            Unit.COUNT,
            "packets received with marks",
            series(
                "received_ce_packets",
                "sum of the last tcpi_received_ce of the receiving ends of streams with ECN; "
                "Linux has it since it has accurate ECN",
            ),
        ),
    )

    def target_problem(
        self, name: str, *, network: Network, flows: Mapping[str, Flow]
    ) -> str | None:
        """Return why it cannot be of a flow; see `Probe.target_problem`."""
        del network
        if name not in flows:
            return f"there is no flow {name!r}{nearest(name, flows)} (there are: {listed(flows)})"
        if not flows[name].has_tcp_sockets:
            return f"the flow {name!r} has no TCP sockets to sample"
        return None

    def series_bytes(self, time_s: float, *, rate_bps: float, streams: Mapping[str, int]) -> float:
        """Return about how much it writes; see `Probe.series_bytes`."""
        del rate_bps
        each = sum(_SAMPLE_BYTES + _STREAM_BYTES * streams.get(name, 1) for name in self.of)
        return time_s / self.every_s * each

    def nodes(self, *, network: Network, flows: Sequence[Flow]) -> dict[str, list[str]]:
        """Return the hosts at the flows' ends."""
        del network
        return {
            host: []
            for flow in flows
            if flow.name in self.of
            for host in (flow.source, flow.target)
        }

    def table(
        self,
        raw: Path,
        *,
        flows: Sequence[Flow],
        epoch_s: float,
        failed_ports: Mapping[str, int] = MappingProxyType({}),
    ) -> pa.Table:
        """Decode the samples: one row for each stream's end at each time."""
        del epoch_s
        chosen = [flow for flow in flows if flow.name in self.of and flow.has_tcp_sockets]
        ends = find_ends(chosen, raw)
        samples = read_samples(raw / self.samples_file)
        return make_table(COLUMNS, decode(samples, ends, flows=chosen, failed_ports=failed_ports))

    def measure_targets(self, table: pa.Table) -> dict[str, float]:
        """Measure the sending ends, over all flows and streams."""
        sender = table.filter(pc.equal(table["end"].cast("string"), "sender"))
        if sender.num_rows == 0:
            return {}
        found = {}
        there = alive(sender)
        lengths_s = weights(there["time_s"], every_s=self.every_s)
        for name in ("cwnd_bytes", "rtt_s"):
            if lengths_s.sum() > 0:
                mean = np.average(there[name].to_numpy(), weights=lengths_s)
                found[f"mean_{name}"] = float(mean)
            found[f"peak_{name}"] = float(pc.max(sender[name]).as_py())
        if sender["send_window_bytes"].null_count < sender.num_rows:
            found["peak_send_window_bytes"] = float(pc.max(sender["send_window_bytes"]).as_py())
        # These count up, so that a stream's largest is its last.
        totals = sender.group_by(["flow", "stream"]).aggregate(
            [(name, "max") for name in ("busy_s", "rwnd_limited_s", "sndbuf_limited_s")]
            + [("retransmits", "max")]
        )
        busy_s = pc.sum(totals["busy_s_max"]).as_py()
        for name in ("rwnd_limited", "sndbuf_limited"):
            found[name] = pc.sum(totals[f"{name}_s_max"]).as_py() / busy_s if busy_s else 0.0
        found["retransmits"] = float(pc.sum(totals["retransmits_max"]).as_py())
        if sender["timeouts"].null_count < sender.num_rows:
            found["timeouts"] = float(_last_counts(sender, "timeouts"))
        return found | _marks(table)


def _last_counts(table: pa.Table, name: str) -> int:
    """Return the sum of the streams' last counts; a count that only grows is largest at the end."""
    last = table.group_by(["flow", "stream"]).aggregate([(name, "max")])
    return int(pc.sum(last[f"{name}_max"]).as_py() or 0)


@dataclass(frozen=True, slots=True)
class EcnCounts:
    """The marks of the streams that have negotiated ECN.

    Attributes:
        modes: what they have negotiated: `classic`, `accurate` or both.
        streams: how many there are.
        delivered: their packets that were delivered.
        delivered_ce: those of them that an ACK reported as marked.
        received_ce: the marked packets that the receivers counted; None where Linux does not.
    """

    modes: tuple[str, ...]
    streams: int
    delivered: int
    delivered_ce: int
    received_ce: int | None


def ecn_counts(table: pa.Table) -> EcnCounts | None:
    """Return the marks of the streams in a table; None if none of them has ECN.

    Args:
        table: rows of both ends.
    """
    modes = pa.array([CLASSIC_ECN, ACCURATE_ECN], pa.string())
    with_ecn = table.filter(pc.is_in(table["ecn"].cast("string"), modes))
    ends = with_ecn["end"].cast("string")
    sender = with_ecn.filter(pc.equal(ends, "sender"))
    receiver = with_ecn.filter(pc.equal(ends, "receiver"))
    if sender.num_rows == 0:
        return None
    has_received = receiver["received_ce_packets"].null_count < receiver.num_rows
    return EcnCounts(
        modes=tuple(sorted(pc.unique(sender["ecn"].cast("string")).to_pylist())),
        streams=sender.group_by(["flow", "stream"]).aggregate([]).num_rows,
        delivered=_last_counts(sender, "delivered_packets"),
        delivered_ce=_last_counts(sender, "delivered_ce_packets"),
        received_ce=_last_counts(receiver, "received_ce_packets") if has_received else None,
    )


def _marks(table: pa.Table) -> dict[str, float]:
    """Return the metrics of the streams with ECN; none without such a stream."""
    counts = ecn_counts(table)
    if counts is None:
        return {}
    marks = {
        "ecn_streams": counts.streams,
        "ecn_delivered_packets": counts.delivered,
        "delivered_ce_packets": counts.delivered_ce,
        "received_ce_packets": counts.received_ce,
    }
    return {name: float(count) for name, count in marks.items() if count is not None}


def alive(table: pa.Table) -> pa.Table:
    """Return the rows of sockets that were there when the sample was taken.

    The others report a socket's end, at some time since the sample before: its counts are
    final, but its window and RTT are of another time.
    """
    return table.filter(pc.not_equal(table["state"].cast("string"), ENDED))
