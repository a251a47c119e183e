"""Of two runs, when their series part: the first moment at which anything seen differs.

Two runs of one machine go the same way until something makes them differ, and
from there on everything does. What parts first is often the cause of the rest:
a window that grows otherwise, a queue that drops one packet more.

Rows are compared in their order: what the probes saw, the rows of iperf3's
report, and ping's replies. Times are virtual, after the traffic's start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from longfat.analysis.timeseries.sources import in_run_time
from longfat.common.extras import lazy
from longfat.model.kinds import time_text, times_text
from longfat.model.metric import Unit
from longfat.model.probes.columns import REAL, TIME, WHOLE, Column, make_table
from longfat.model.traffic import Bulk
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    import pyarrow as pa

    from longfat.execution.runs import Run
else:
    pa = lazy("pyarrow")

pc = lazy("pyarrow.compute")

# What a row is about, in the columns of any series; all others are what was seen.
_ABOUT = (
    *("flow", "end", "host", "stream", "interface", "qdisc", "handle", "parent"),
    *("sequence", "time_s"),
)
_NUMBERS = {"stream": "stream", "sequence": "request"}
_UNITS = {"s": Unit.SECONDS, "bit/s": Unit.BPS}

_INTERVAL = (
    TIME,
    Column("stream", WHOLE),
    Column("rate_bps", REAL, "bit/s"),
    Column("retransmits", WHOLE, "packets"),
    Column("cwnd_bytes", WHOLE, "bytes"),
    Column("rtt_s", REAL, "s"),
)
_REPLY = (TIME, Column("sequence", WHOLE), Column("rtt_s", REAL, "s"))


@dataclass(frozen=True, slots=True)
class Seen:
    """The values of one column in the first row that differs."""

    column: str
    a: str
    b: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a series of two runs parts.

    Attributes:
        series: the probe's or flow's name.
        time_s: when: of the first row that differs, in seconds after the traffic's
            start; None if the series are equal throughout.
        about: what that row is about, such as `bulk sender h1`.
        seen: what differs in it; nothing where one series has a row that the other lacks.
        equal_rows: how many rows are equal before it.
    """

    series: str
    time_s: float | None
    about: str
    seen: tuple[Seen, ...]
    equal_rows: int

    def to_json(self) -> dict[str, Any]:
        """Return the moment as plain data."""
        return {
            "series": self.series,
            "time_s": self.time_s,
            "about": self.about,
            "seen": [{"column": one.column, "a": one.a, "b": one.b} for one in self.seen],
            "equal_rows": self.equal_rows,
        }


def series_moments(a: Run, b: Run) -> tuple[Moment, ...]:
    """Find when the series of two runs part.

    Args:
        a: one run.
        b: the other.

    Returns:
        A moment for each flow and probe that both have, the earliest first and those
        that are equal throughout last.

    Raises:
        InputError: a series is missing or broken.
        MachineError: a tool's raw output is.
    """
    ours, theirs = dict(_tables(a)), dict(_tables(b))
    found = [
        _moment(name, table, theirs[name])
        for name, table in ours.items()
        if name in theirs and table.schema.names == theirs[name].schema.names
    ]
    return tuple(sorted(found, key=lambda one: float("inf") if one.time_s is None else one.time_s))


def _tables(run: Run) -> Iterator[tuple[str, pa.Table]]:
    for flow in run.measured_case.bulk_flows:
        yield flow.name, _intervals(flow, run, run.flow_times[flow.name].start_s)
    for ping in run.measured_case.pings:
        start_s = run.flow_times[ping.name].start_s
        replies = (
            {
                "time_s": start_s + (reply.sequence - 1) * ping.interval_s,
                "sequence": reply.sequence,
                "rtt_s": reply.rtt_s,
            }
            for reply in ping.replies(run.checked_raw)
        )
        yield ping.name, make_table(_REPLY, replies)
    for probe in run.case.probes:
        yield probe.name, run.series(probe.name)


def _intervals(flow: Bulk, run: Run, start_s: float) -> pa.Table:
    rows = [
        {
            "time_s": row.end_s,
            "stream": stream,
            "rate_bps": row.bps,
            "retransmits": row.retransmits,
            "cwnd_bytes": row.cwnd_bytes,
            "rtt_s": row.rtt_s,
        }
        for stream, of_stream in enumerate(in_run_time(flow.rows(run.checked_raw), flow, start_s))
        for row in of_stream
    ]
    return make_table(_INTERVAL, sorted(rows, key=lambda row: (row["time_s"], row["stream"])))


def _moment(name: str, a: pa.Table, b: pa.Table) -> Moment:
    common = min(a.num_rows, b.num_rows)
    firsts = {
        column: _first(_plain(a, column, common), _plain(b, column, common))
        for column in a.schema.names
    }
    apart = [index for index in firsts.values() if index >= 0]
    if not apart and a.num_rows == b.num_rows:
        return Moment(series=name, time_s=None, about="", seen=(), equal_rows=common)
    index = min(apart, default=common)
    rows = [
        table.slice(index, 1).to_pylist()[0] if index < table.num_rows else None for table in (a, b)
    ]
    there = [row for row in rows if row is not None]
    seen: tuple[Seen, ...] = ()
    if len(there) == 2 and all(there[0].get(key) == there[1].get(key) for key in _ABOUT):
        seen = tuple(
            _seen(column, [row[column] for row in there], _unit(a, column))
            for column in a.schema.names
            if there[0][column] != there[1][column]
        )
    return Moment(
        series=name,
        time_s=min(row["time_s"] for row in there),
        about=_about(there[0], a),
        seen=seen,
        equal_rows=index,
    )


def _about(row: Mapping[str, Any], table: pa.Table) -> str:
    """Return what a row is about; the number of a stream only where there are several."""
    words = []
    for key in _ABOUT:
        value = row.get(key)
        if value is None or key == "time_s":
            continue
        if key == "stream" and pc.max(table[key]).as_py() == 0:
            continue
        words.append(f"{_NUMBERS[key]} {value}" if key in _NUMBERS else str(value))
    return " ".join(words)


def _plain(table: pa.Table, column: str, rows: int) -> pa.Array:
    found = table[column].slice(0, rows)
    if pa.types.is_dictionary(found.type):
        found = found.cast(pa.string())
    return found.combine_chunks()


def _first(a: pa.Array, b: pa.Array) -> int:
    """Return the index of the first row in which two columns differ; -1 if there is none."""
    apart = pc.or_(
        pc.fill_null(pc.not_equal(a, b), fill_value=False),
        pc.xor(pc.is_null(a), pc.is_null(b)),
    )
    return int(pc.index(apart, value=True).as_py())


def _unit(table: pa.Table, column: str) -> str:
    metadata = table.schema.field(column).metadata or {}
    return str(metadata.get(b"unit", b"").decode())


def _seen(column: str, values: Sequence[Any], unit: str) -> Seen:
    if unit == "s" and all(value is not None and value >= 0 for value in values):
        return Seen(column, *times_text(values))
    before, after = (_text(value, unit) for value in values)
    if before == after:  # what differs little must look different
        before, after = (f"{value!r} {unit}".rstrip() for value in values)
    return Seen(column, before, after)


def _text(value: Any, unit: str) -> str:
    if value is None:
        return "none"
    if unit == "s":
        return time_text(value) if value >= 0 else f"{value!r}s"
    if unit in _UNITS:
        return format_quantity(value, _UNITS[unit])
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:,} {unit}".rstrip()
    return str(value)
