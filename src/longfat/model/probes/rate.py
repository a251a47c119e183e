"""The rate probe: the counters of an interface.

Source of the format: RTM_GETSTATS, include/uapi/linux/if_link.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from longfat.common.extras import lazy
from longfat.model.metric import Metric, Unit, series
from longfat.model.probes.columns import TEXT, TIME, WHOLE, Column, make_table
from longfat.model.probes.probe import Sampled
from longfat.model.probes.samples import attributes, growth, read_samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

    from longfat.model.probes.samples import Message
    from longfat.model.traffic import Flow

pc = lazy("pyarrow.compute")

COLUMNS = (
    TIME,
    Column("interface", TEXT),
    Column("rx_bytes", WHOLE, "bytes"),
    Column("rx_packets", WHOLE, "packets"),
    Column("rx_drops", WHOLE, "packets"),
    Column("tx_bytes", WHOLE, "bytes"),
    Column("tx_packets", WHOLE, "packets"),
    Column("tx_drops", WHOLE, "packets"),
)

_HEAD = struct.Struct("=BxHII")  # struct if_stats_msg
_LINK_64 = 1
# struct rtnl_link_stats64: packets, bytes, errors, drops, each first received, then sent.
_COUNTERS = struct.Struct("=8Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Sampled):
    """Samples the counters of interfaces; `of` are the interfaces' names."""

    kind: ClassVar[str] = "rate"
    sample_bytes: ClassVar[float] = 260
    columns: ClassVar[Sequence[Column]] = COLUMNS
    target_metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "rx_bps",
            Unit.BPS,
            "received",
            series(
                "rx_bytes", "growth of rtnl_link_stats64.rx_bytes over all interfaces * 8 / time"
            ),
        ),
        Metric(
            "tx_bps",
            Unit.BPS,
            "sent",
            series(
                "tx_bytes", "growth of rtnl_link_stats64.tx_bytes over all interfaces * 8 / time"
            ),
        ),
        Metric(
            "rx_drops",
            Unit.COUNT,
            "drops at reception",
            series("rx_drops", "growth of rtnl_link_stats64.rx_dropped over all interfaces"),
        ),
        Metric(
            "tx_drops",
            Unit.COUNT,
            "drops at sending",
            series("tx_drops", "growth of rtnl_link_stats64.tx_dropped over all interfaces"),
        ),
    )

    def table(
        self,
        raw: Path,
        *,
        flows: Sequence[Flow],
        epoch_s: float,
        failed_ports: Mapping[str, int] = MappingProxyType({}),
    ) -> pa.Table:
        """Decode the samples: one row for each interface at each time."""
        del flows, epoch_s, failed_ports
        return make_table(COLUMNS, decode(read_samples(raw / self.samples_file)))

    def measure_targets(self, table: pa.Table) -> dict[str, float]:
        """Return mean rates from the traffic's start to its end; interfaces are added up."""
        span_s = (pc.max(table["time_s"]).as_py() or 0.0) - (pc.min(table["time_s"]).as_py() or 0.0)
        if span_s <= 0:
            return {}
        names = ("rx_bytes", "tx_bytes", "rx_drops", "tx_drops")
        grouped = table.sort_by("time_s").group_by("interface", use_threads=False)
        lists = grouped.aggregate([(name, "list") for name in names])
        total = {
            name: sum(growth(one, from_start=True) for one in lists[f"{name}_list"].to_pylist())
            for name in names
        }
        return {
            "rx_bps": total["rx_bytes"] * 8 / span_s,
            "tx_bps": total["tx_bytes"] * 8 / span_s,
            "rx_drops": float(total["rx_drops"]),
            "tx_drops": float(total["tx_drops"]),
        }


def decode(messages: Iterator[Message]) -> Iterator[dict[str, Any]]:
    """Yield a row for each interface of each sample."""
    for message in messages:
        _, _, ifindex, _ = _HEAD.unpack_from(message.body)
        counters = attributes(message.body[_HEAD.size :])[_LINK_64]
        rx_packets, tx_packets, rx_bytes, tx_bytes, _, _, rx_drops, tx_drops = (
            _COUNTERS.unpack_from(counters)
        )
        yield {
            "time_s": message.time_s,
            "interface": message.source.interfaces[ifindex],
            "rx_bytes": rx_bytes,
            "rx_packets": rx_packets,
            "rx_drops": rx_drops,
            "tx_bytes": tx_bytes,
            "tx_packets": tx_packets,
            "tx_drops": tx_drops,
        }
