"""Streams of a capture: which there are, and their packets for plots and diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from longfat.analysis.packets.records import PacketEnd, PacketStream, TimeSequence
from longfat.analysis.packets.table import PacketTable
from longfat.errors import InputError

MAX_STREAMS = 2000
MAX_POINTS = 20_000
"""So many segments of each kind a time-sequence plot has; of more, every second, third, ..."""

_REPEATED = ("retransmission", "fast", "spurious")


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of a stream.

    Attributes:
        address: its address.
        port: its port.
    """

    address: str
    port: int

    def to_json(self) -> PacketEnd:
        """Return it as plain data."""
        return {"address": self.address, "port": self.port}


def streams_of(table: PacketTable) -> list[PacketStream]:
    """Return the TCP streams."""
    numbers = table.wholes["tcp_stream"]
    found: list[PacketStream] = []
    order = np.argsort(numbers, kind="stable")
    order = order[np.searchsorted(numbers[order], 0) :]
    for rows in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(order) else []:
        if len(found) >= MAX_STREAMS:
            break
        first = int(rows[0])
        ends = _ends(table, first)
        forward = _forward(table, rows, ends[0])
        data = table.wholes["payload"][rows]
        found.append(
            {
                "number": int(numbers[first]),
                "ends": (ends[0].to_json(), ends[1].to_json()),
                "packets": len(rows),
                "bytes": (int(data[forward].sum()), int(data[~forward].sum())),
                "repeated": int(_repeated(table)[rows].sum()),
            }
        )
    return found


def _ends(table: PacketTable, index: int) -> tuple[End, End]:
    texts, wholes = table.texts, table.wholes
    return (
        End(address=texts["source"][index], port=int(wholes["tcp_source_port"][index])),
        End(address=texts["target"][index], port=int(wholes["tcp_target_port"][index])),
    )


def _forward(table: PacketTable, rows: Any, end: End) -> Any:
    """Return which of some packets an end has sent."""
    sources = table.texts["source"]
    same = np.fromiter((sources[row] == end.address for row in rows), np.bool_, len(rows))
    return same & (table.wholes["tcp_source_port"][rows] == end.port)


def _repeated(table: PacketTable) -> Any:
    return np.logical_or.reduce([table.wholes[key] > 0 for key in _REPEATED])


def time_sequence(
    table: PacketTable, stream: int, *, reverse: bool | None, epoch_ns: int
) -> TimeSequence:
    """Return a plot as tcptrace draws it: what one end sent, and what the other acknowledged.

    Args:
        table: the packets.
        stream: the TCP stream.
        reverse: the end that did not send first; None for the one that sent more.
        epoch_ns: the time stamp from which time is counted.

    Raises:
        InputError: there is no such stream.
    """
    rows = np.flatnonzero(table.wholes["tcp_stream"] == stream)
    if not len(rows):
        raise InputError(f"there is no TCP stream {stream}")
    ends = _ends(table, int(rows[0]))
    forward = _forward(table, rows, ends[0])
    wholes = table.wholes
    if reverse is None:
        data = wholes["payload"][rows]
        reverse = bool(data[~forward].sum() > data[forward].sum())
    sent, acked = (rows[~forward], rows[forward]) if reverse else (rows[forward], rows[~forward])
    sent = sent[wholes["payload"][sent] > 0]
    acked = acked[(wholes["flags"][acked] & 16) > 0]
    seconds = (wholes["time"] - epoch_ns) / 1e9
    thin = max(1, -(-len(sent) // MAX_POINTS))
    # Retransmissions stay: they are what the plot is read for.
    again = _repeated(table)
    kept = sent[(np.arange(len(sent)) % thin == 0) | again[sent]][: 2 * MAX_POINTS]
    acks = acked[:: max(1, -(-len(acked) // MAX_POINTS))]
    windows = wholes["ack"][acks] + np.maximum(wholes["window"][acks], 0)
    reports = [int(row) for row in acked if int(row) in table.sacks]
    reports = reports[:: max(1, -(-len(reports) // MAX_POINTS))]
    sack = [
        (float(seconds[row]), left, right) for row in reports for left, right in table.sacks[row]
    ]
    return {
        "stream": stream,
        "reverse": reverse,
        "ends": (ends[0].to_json(), ends[1].to_json()),
        "thinned": max(thin, 1),
        "sent": {
            "number": wholes["number"][kept].tolist(),
            "time_s": seconds[kept].tolist(),
            "seq": wholes["seq"][kept].tolist(),
            "end": (wholes["seq"][kept] + wholes["payload"][kept]).tolist(),
            "repeated": again[kept].astype(int).tolist(),
            "late": (wholes["out_of_order"][kept] > 0).astype(int).tolist(),
            "marked": [int(table.ecn(int(row)) == 3) for row in kept],
        },
        "acked": {
            "number": wholes["number"][acks].tolist(),
            "time_s": seconds[acks].tolist(),
            "ack": wholes["ack"][acks].tolist(),
            "window": windows.tolist(),
        },
        "sack": sack,
    }
