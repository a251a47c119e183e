"""The rows that a run's tools wrote: the intervals of bulk traffic and ping's replies.

They are in the raw output, as text; what was read is kept beside
the runs (see `kept`), for reading it takes about a millisecond a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from longfat.analysis.query.kept import Reading
from longfat.errors import LongfatError
from longfat.execution.runs import RUN_FORMAT, load_run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from longfat.execution.runs import Run

_TEXT, _WHOLE, _REAL = pa.string(), pa.int64(), pa.float64()

_INTERVAL = (
    pa.field("flow", _TEXT),
    pa.field("stream", _WHOLE),
    pa.field("start_s", _REAL),
    pa.field("end_s", _REAL),
    pa.field("bps", _REAL),
    pa.field("bytes", _WHOLE),
    pa.field("retransmits", _WHOLE),
    pa.field("cwnd_bytes", _WHOLE),
    pa.field("rtt_s", _REAL),
    pa.field("rttvar_s", _REAL),
    pa.field("jitter_s", _REAL),
    pa.field("lost_packets", _WHOLE),
    pa.field("omitted", pa.bool_()),
)
_REPLY = (
    pa.field("flow", _TEXT),
    pa.field("sequence", _WHOLE),
    pa.field("time_s", _REAL),
    pa.field("rtt_s", _REAL),
)


def read_intervals(folder: Path) -> dict[str, Any]:
    """Read the rows of all flows of bulk traffic of a run, as `Reading.read`."""
    try:
        return {"rows": list(_intervals(load_run(folder)))}
    except LongfatError as error:
        return _failed(folder, error)


def read_replies(folder: Path) -> dict[str, Any]:
    """Read what became of each request of all ping flows of a run, as `Reading.read`."""
    try:
        return {"rows": list(_replies(load_run(folder)))}
    except LongfatError as error:
        return _failed(folder, error)


def _failed(folder: Path, error: LongfatError) -> dict[str, Any]:
    if not folder.exists():
        raise FileNotFoundError(folder) from error
    return {"problem": error.message}


def _intervals(run: Run) -> Iterator[dict[str, Any]]:
    for flow in run.case.bulk_flows:
        start_s = run.flow_times[flow.name].start_s
        for stream, rows in enumerate(flow.rows(run.checked_raw)):
            for row in rows:
                # The clock of a report starts again when the omitted time is over.
                offset_s = start_s if row.omitted else start_s + flow.omit_s
                yield {
                    "flow": flow.name,
                    "stream": stream,
                    "start_s": row.start_s + offset_s,
                    "end_s": row.end_s + offset_s,
                    "bps": row.bps,
                    "bytes": row.bytes,
                    "retransmits": row.retransmits,
                    "cwnd_bytes": row.cwnd_bytes,
                    "rtt_s": row.rtt_s,
                    "rttvar_s": row.rttvar_s,
                    "jitter_s": row.jitter_s,
                    "lost_packets": row.lost_packets,
                    "omitted": row.omitted,
                }


def _replies(run: Run) -> Iterator[dict[str, Any]]:
    for flow in run.case.pings:
        start_s = run.flow_times[flow.name].start_s
        # Of two answers to one request the first counts.
        answers = {reply.sequence: reply.rtt_s for reply in reversed(flow.replies(run.checked_raw))}
        sent = int(run.metrics.get(f"{flow.name}.sent", flow.count))
        for sequence in range(1, sent + 1):
            yield {
                "flow": flow.name,
                "sequence": sequence,
                "time_s": start_s + (sequence - 1) * flow.interval_s,
                "rtt_s": answers.get(sequence),
            }


def _reading(name: str, fields: tuple[pa.Field, ...], read: Any) -> Reading:
    rows = pa.field("rows", pa.list_(pa.struct(fields)))
    return Reading(name=name, version=f"1-{RUN_FORMAT}", fields=(rows,), read=read)


INTERVALS = _reading("intervals", _INTERVAL, read_intervals)
"""The rows of reports of bulk traffic: of each stream, what it moved in each interval."""

REPLIES = _reading("replies", _REPLY, read_replies)
"""Ping's requests, each with its RTT where a reply came."""
