"""The queue probe: backlog, drops and marks of every qdisc of an interface.

Source of the format: RTM_GETQDISC, include/uapi/linux/{rtnetlink,pkt_sched,gen_stats}.h.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from longfat.metric import Metric, Unit
from longfat.probe.columns import TEXT, TIME, WHOLE, Column, make_table
from longfat.probe.probe import Sampled
from longfat.probe.samples import attributes, read_samples

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from longfat.probe.samples import Message
    from longfat.traffic import Flow

COLUMNS = (
    TIME,
    Column("interface", TEXT),
    Column("qdisc", TEXT),
    Column("handle", TEXT),
    Column("parent", TEXT),
    Column("backlog_bytes", WHOLE, "bytes"),
    Column("backlog_packets", WHOLE, "packets"),
    Column("sent_bytes", WHOLE, "bytes"),
    Column("sent_packets", WHOLE, "packets"),
    Column("drops", WHOLE, "packets"),
    Column("overlimits", WHOLE, "packets"),
    Column("requeues", WHOLE, "packets"),
    Column("marks", WHOLE, "packets"),
)

_TCMSG = struct.Struct("=BxxxiIII")
_TCA_KIND, _TCA_STATS2 = 1, 7
_BASIC, _QUEUE, _APP, _PACKETS64 = 1, 3, 4, 8
_ROOT = 0xFFFFFFFF

# The 32-bit word of the qdisc's own statistics that counts ECN marks, by kind.
_MARKS = {"red": 3, "codel": 6, "fq_codel": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Sampled):
    """Samples the qdiscs of interfaces; `of` are the interfaces' names."""

    kind: ClassVar[str] = "queue"
    metrics: ClassVar[tuple[Metric, ...]] = (
        Metric("mean_bytes", Unit.BYTES, "mean backlog"),
        Metric("peak_bytes", Unit.BYTES, "largest backlog"),
        Metric("peak_packets", Unit.COUNT, "largest backlog in packets"),
        Metric("drops", Unit.COUNT, "drops"),
        Metric("marks", Unit.COUNT, "marks"),
    )

    def table(self, raw: Path, *, flows: Sequence[Flow], epoch_s: float) -> pa.Table:
        """Decode the samples: one row for each qdisc at each time."""
        del flows, epoch_s
        return make_table(COLUMNS, decode(read_samples(raw / self.samples_file)))

    def measure(self, table: pa.Table) -> dict[str, float]:
        """Measure the queue of each interface; backlog and counts are added up over them."""
        queue = the_queue(table)
        if queue.num_rows == 0:
            return {}
        by_time = queue.group_by("time_s").aggregate(
            [("backlog_bytes", "sum"), ("backlog_packets", "sum")]
        )
        found = {
            "mean_bytes": float(pc.mean(by_time["backlog_bytes_sum"]).as_py()),
            "peak_bytes": float(pc.max(by_time["backlog_bytes_sum"]).as_py()),
            "peak_packets": float(pc.max(by_time["backlog_packets_sum"]).as_py()),
        }
        # Counts begin before the traffic, and its own are what is measured.
        for name in ("drops", "marks"):
            if queue[name].null_count < queue.num_rows:
                grown = queue.group_by(["interface", "handle"]).aggregate([(name, "min_max")])
                spans = grown[f"{name}_min_max"].to_pylist()
                found[name] = float(sum(span["max"] - span["min"] for span in spans))
        return found


def the_queue(table: pa.Table) -> pa.Table:
    """Return the rows of the qdisc in which packets of an interface wait for the line.

    That is the first one from the root down which is not netem: netem's
    backlog holds packets that are on the line already.
    """
    keep = []
    for interface in pc.unique(table["interface"].cast("string")).to_pylist():
        rows = table.filter(pc.equal(table["interface"].cast("string"), interface))
        seen = rows.group_by(["qdisc", "handle", "parent"]).aggregate([]).to_pylist()
        handle = waiting_handle(seen)
        keep.append(rows.filter(pc.equal(rows["handle"].cast("string"), handle)))
    return pa.concat_tables(keep).unify_dictionaries() if keep else table


def waiting_handle(qdiscs: list[dict[str, Any]]) -> str:
    """Return the handle of the qdisc of an interface in which packets wait, see `the_queue`.

    Args:
        qdiscs: all of the interface: mappings with `qdisc`, `handle` and `parent`.
    """
    below = {one["parent"].partition(":")[0]: one for one in qdiscs if one["parent"] != "root"}
    (root,) = [one for one in qdiscs if one["parent"] == "root"][:1] or qdiscs[:1]
    here = root
    while here["qdisc"] == "netem" and (child := below.get(here["handle"].partition(":")[0])):
        here = child
    return str(here["handle"])


def decode(messages: Iterator[Message]) -> Iterator[dict[str, Any]]:
    """Yield a row for each qdisc of each sample."""
    for message in messages:
        _, ifindex, handle, parent, _ = _TCMSG.unpack_from(message.body)
        found = attributes(message.body[_TCMSG.size :])
        kind = bytes(found[_TCA_KIND]).rstrip(b"\0").decode()
        statistics = attributes(found[_TCA_STATS2])
        sent_bytes, sent_packets = struct.unpack_from("=QI", statistics[_BASIC])
        if _PACKETS64 in statistics:
            (sent_packets,) = struct.unpack_from("=Q", statistics[_PACKETS64])
        packets, backlog, drops, requeues, overlimits = struct.unpack_from(
            "=5I", statistics[_QUEUE]
        )
        yield {
            "time_s": message.time_s,
            "interface": message.source.interfaces[ifindex],
            "qdisc": kind,
            "handle": _handle(handle),
            "parent": "root" if parent == _ROOT else _handle(parent),
            "backlog_bytes": backlog,
            "backlog_packets": packets,
            "sent_bytes": sent_bytes,
            "sent_packets": sent_packets,
            "drops": drops,
            "overlimits": overlimits,
            "requeues": requeues,
            "marks": _marks(kind, statistics.get(_APP)),
        }


def _handle(number: int) -> str:
    """Return a handle as tc prints it."""
    return f"{number >> 16:x}:" + (f"{number & 0xFFFF:x}" if number & 0xFFFF else "")


def _marks(kind: str, own: memoryview | None) -> int | None:
    word = _MARKS.get(kind)
    if word is None or own is None or len(own) < 4 * word + 4:
        return None
    return int(struct.unpack_from("=I", own, 4 * word)[0])
