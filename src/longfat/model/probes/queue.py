"""The queue probe: backlog, drops and marks of every qdisc of an interface.

Source of the format: RTM_GETQDISC, include/uapi/linux/{rtnetlink,pkt_sched,gen_stats}.h.
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
from longfat.model.probes.samples import attributes, growth, read_samples, weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from longfat.model.network import Network
    from longfat.model.probes.samples import Message
    from longfat.model.traffic import Flow

_NETEM_HEAD_BYTES = 24  # struct tc_netem_qopt, before the attributes
_TBF_PARAMETERS, _TBF_RATE64 = 1, 4
_NETEM_RATE, _NETEM_RATE64 = 6, 8
_CAKE_BASE_RATE64 = 2
_WIRE_RATE = 1  # kernel/patches/all/50-link-qdiscs.patch
# struct tc_ratespec at the head of struct tc_tbf_qopt: its last field is the rate.
_TBF_RATE_AT = 8


def installed_rate_bps(kind: str, options: memoryview | None) -> float | None:
    """Return the rate that a qdisc limits what passes it to, in bit/s.

    Args:
        kind: which qdisc it is, such as `tbf`.
        options: its TCA_OPTIONS.

    Returns:
        The rate; None where it limits none, or its classes do (htb, hfsc), which a dump of
        qdiscs does not show.
    """
    if options is None:
        return None
    if kind == "tbf":
        found = attributes(options)
        return _bps(found, _TBF_RATE64, fallback=(_TBF_PARAMETERS, _TBF_RATE_AT))
    if kind == "wire":
        return _bps(attributes(options), _WIRE_RATE, fallback=None)
    if kind == "netem":
        found = attributes(options[_NETEM_HEAD_BYTES:])
        return _bps(found, _NETEM_RATE64, fallback=(_NETEM_RATE, 0))
    if kind == "cake":
        return _bps(attributes(options), _CAKE_BASE_RATE64, fallback=None)
    return None


def _bps(
    found: Mapping[int, memoryview], wide: int, *, fallback: tuple[int, int] | None
) -> float | None:
    """Return a rate from its field of 64 bits, or of 32 if it fits, in bit/s; None for 0."""
    bytes_per_s = 0
    if wide in found:
        (bytes_per_s,) = struct.unpack_from("=Q", found[wide])
    elif fallback is not None and fallback[0] in found:
        (bytes_per_s,) = struct.unpack_from("=I", found[fallback[0]], fallback[1])
    return bytes_per_s * 8.0 if bytes_per_s else None


np = lazy("numpy")
pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")

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

PERCENTILES = (5, 50, 95)
"""The percentiles over time of the backlog in packets, each a metric such as `p50_packets`."""

_TCMSG = struct.Struct("=BxxxiIII")
_TCA_KIND, _TCA_OPTIONS, _TCA_STATS2 = 1, 2, 7
_BASIC, _QUEUE, _APP, _PACKETS64 = 1, 3, 4, 8
_ROOT = 0xFFFFFFFF

# The 32-bit words of the qdisc's own statistics that count ECN marks, by kind: those of a
# `ce_threshold` (codel's 8, fq_codel's 7, fq's 20) are not among the others.
_MARKS = {
    "codel": (6, 8),
    "dualpi2": (6,),
    "fq": (20,),
    "fq_codel": (3, 7),
    "fq_pie": (4,),
    "pie": (9,),
    "red": (3,),
    "sfb": (5,),
}
_CAKE_TINS, _CAKE_TIN_MARKS = 10, 8
_INGRESS = ("ingress", "clsact")
"""The qdiscs whose filters see what comes in: a policer there drops what was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue(Sampled):
    """Samples the qdiscs of interfaces; `of` are the interfaces' names."""

    kind: ClassVar[str] = "queue"
    sample_bytes: ClassVar[float] = 510
    columns: ClassVar[Sequence[Column]] = COLUMNS
    target_metrics: ClassVar[tuple[Metric, ...]] = (
        Metric(
            "mean_bytes",
            Unit.BYTES,
            "mean backlog",
            series(
                "backlog_bytes",
                "mean over time of all interfaces' sum; a sample is gnet_stats_queue.backlog",
            ),
        ),
        Metric(
            "peak_bytes",
            Unit.BYTES,
            "largest backlog",
            series(
                "backlog_bytes",
                "largest of all interfaces' sum; a sample is gnet_stats_queue.backlog",
            ),
        ),
        Metric(
            "peak_packets",
            Unit.COUNT,
            "largest backlog in packets",
            series(
                "backlog_packets",
                "largest of all interfaces' sum; a sample is gnet_stats_queue.qlen",
            ),
        ),
        *(
            Metric(
                f"p{percent}_packets",
                Unit.COUNT,
                f"backlog in packets, {percent}th percentile",
                series(
                    "backlog_packets",
                    f"{percent}th percentile over time of all interfaces' sum",
                ),
            )
            for percent in PERCENTILES
        ),
        Metric(
            "drops",
            Unit.COUNT,
            "drops",
            series(
                "drops",
                "growth of gnet_stats_queue.drops over all interfaces: of the queue, and of what"
                " filters drop at ingress",
            ),
        ),
        Metric(
            "marks",
            Unit.COUNT,
            "marks",
            series("marks", "growth of the qdisc's own count of ECN marks over all interfaces"),
        ),
    )

    def target_problem(
        self, name: str, *, network: Network, flows: Mapping[str, Flow]
    ) -> str | None:
        """Return why it cannot be of an interface; see `Probe.target_problem`."""
        for end in network.bond_ends():
            if name == end.device:
                return f"{name} is a bond, whose links have the queues: {', '.join(end.slaves)}"
        return Sampled.target_problem(self, name, network=network, flows=flows)

    def table(
        self,
        raw: Path,
        *,
        flows: Sequence[Flow],
        epoch_s: float,
        failed_ports: Mapping[str, int] = MappingProxyType({}),
    ) -> pa.Table:
        """Decode the samples: one row for each qdisc at each time."""
        del flows, epoch_s, failed_ports
        return make_table(COLUMNS, decode(read_samples(raw / self.samples_file)))

    def measure_targets(self, table: pa.Table) -> dict[str, float]:
        """Measure the queue of each interface; backlog and counts are added up over them."""
        queue = the_queue(table)
        if queue.num_rows == 0:
            return {}
        by_time = queue.group_by("time_s").aggregate(
            [("backlog_bytes", "sum"), ("backlog_packets", "sum")]
        )
        backlog = by_time["backlog_bytes_sum"].to_numpy()
        lengths_s = weights(by_time["time_s"], every_s=self.every_s)
        found = {
            "peak_bytes": float(backlog.max()),
            "peak_packets": float(pc.max(by_time["backlog_packets_sum"]).as_py()),
        }
        if lengths_s.sum() > 0:
            found["mean_bytes"] = float(np.average(backlog, weights=lengths_s))
            found |= _percentiles(by_time["backlog_packets_sum"].to_numpy(), lengths_s)
        # Counts begin before the traffic, and its own are what is measured.
        start_s = pc.min(queue["time_s"]).as_py()
        for name in ("drops", "marks"):
            counted = queue.filter(pc.is_valid(queue[name]))  # a queue that counts none has null
            if counted.num_rows:
                found[name] = float(_growth(counted, name, start_s=start_s))
        policed = table.filter(
            pc.is_in(table["qdisc"].cast("string"), pa.array(_INGRESS, pa.string()))
        )
        if policed.num_rows and "drops" in found:
            found["drops"] += _growth(policed, "drops", start_s=start_s)
        return found


def _percentiles(packets: np.ndarray, lengths_s: np.ndarray) -> dict[str, float]:
    """Return the least backlogs that are not exceeded in such a part of the time."""
    order = np.argsort(packets, kind="stable")
    passed_s = np.cumsum(lengths_s[order])
    places = np.searchsorted(passed_s, np.array(PERCENTILES) / 100 * passed_s[-1])
    return {
        f"p{percent}_packets": float(packets[order[place]])
        for percent, place in zip(PERCENTILES, places, strict=True)
    }


def _growth(queue: pa.Table, name: str, *, start_s: float) -> int:
    """Return by how much a count grew, over all qdiscs."""
    grouped = queue.sort_by("time_s").group_by(["interface", "handle"], use_threads=False)
    lists = grouped.aggregate([(name, "list"), ("time_s", "min")])
    return sum(
        growth(counts, from_start=first_s == start_s)
        for counts, first_s in zip(
            lists[f"{name}_list"].to_pylist(), lists["time_s_min"].to_pylist(), strict=True
        )
    )


def the_queue(table: pa.Table) -> pa.Table:
    """Return the rows of the qdisc in which packets of an interface wait for the line.

    That is the first one from the root down which is not netem: netem's backlog holds
    packets that are on the line already. If it is a shaper, the discipline of its queue is
    below it: the kernel also counts that one's backlog and drops as the shaper's, but not
    its marks, so these are added here.
    """
    keep = []
    for interface in pc.unique(table["interface"].cast("string")).to_pylist():
        rows = table.filter(pc.equal(table["interface"].cast("string"), interface))
        seen = rows.group_by(["qdisc", "handle", "parent"]).aggregate([]).to_pylist()
        first, *others = waiting_handles(seen)
        names = rows["handle"].cast("string")
        below = rows.filter(pc.is_in(names, pa.array(others, pa.string())))
        keep.append(_with_marks(rows.filter(pc.equal(names, first)), below))
    return pa.concat_tables(keep).unify_dictionaries() if keep else table


def _with_marks(queue: pa.Table, below: pa.Table) -> pa.Table:
    """Return the rows of a qdisc with the marks of those below it added."""
    if "marks" not in below.column_names or below["marks"].null_count == below.num_rows:
        return queue
    sums: dict[float, int] = {}
    for table in (queue, below):
        times = table["time_s"].to_pylist()
        for time_s, marks in zip(times, table["marks"].to_pylist(), strict=True):
            sums[time_s] = sums.get(time_s, 0) + (marks or 0)
    index = queue.schema.get_field_index("marks")
    field = queue.schema.field(index)
    values = [sums[time_s] for time_s in queue["time_s"].to_pylist()]
    return queue.set_column(index, field, pa.array(values, field.type))


def waiting_handles(qdiscs: list[dict[str, Any]]) -> list[str]:
    """Return the handles of the qdisc of an interface in which packets wait and of those below it.

    See `the_queue`.

    Args:
        qdiscs: all of the interface: mappings with `qdisc`, `handle` and `parent`.
    """
    below: dict[str, list[dict[str, Any]]] = {}
    for one in qdiscs:
        if one["parent"] != "root":
            below.setdefault(one["parent"].partition(":")[0], []).append(one)
    (root,) = [one for one in qdiscs if one["parent"] == "root"][:1] or qdiscs[:1]
    # The guest's root could have written a circle, so no qdisc is passed twice.
    here, passed = root, []
    while (
        here["qdisc"] == "netem"
        and here["handle"] not in passed
        and (children := _children(here, below))
    ):
        passed.append(here["handle"])
        here = children[-1]
    found, waiting = [], [here]
    while waiting:
        one = waiting.pop(0)
        if one["handle"] not in found:
            found.append(str(one["handle"]))
            waiting += _children(one, below)
    return found


def _children(
    qdisc: dict[str, Any], below: dict[str, list[dict[str, Any]]]
) -> list[dict[str, Any]]:
    return below.get(qdisc["handle"].partition(":")[0], [])


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
            # For who reads while it runs: no column of tables.
            "rate_bps": installed_rate_bps(kind, found.get(_TCA_OPTIONS)),
            "early_drops": _early_drops(kind, statistics.get(_APP)),
        }


def _handle(number: int) -> str:
    """Return a handle as tc prints it."""
    return f"{number >> 16:x}:" + (f"{number & 0xFFFF:x}" if number & 0xFFFF else "")


def _marks(kind: str, own: memoryview | None) -> int | None:
    if own is None:
        return None
    if kind == "cake":
        tins = attributes(attributes(own).get(_CAKE_TINS, memoryview(b"")))
        return sum(_word(attributes(tin)[_CAKE_TIN_MARKS], 0) for tin in tins.values())
    words = _MARKS.get(kind)
    if words is None or len(own) < 4 * max(words) + 4:
        return None
    return sum(_word(own, word) for word in words)


def _early_drops(kind: str, own: memoryview | None) -> int:
    """Return the packets that RED dropped before its queue was full."""
    return _word(own, 0) if kind == "red" and own is not None and len(own) >= 4 else 0


def _word(view: memoryview, place: int) -> int:
    return int(struct.unpack_from("=I", view, 4 * place)[0])
