"""The packets of a capture as columns: parsed from a decoder's lines, given as rows.

Whole numbers are arrays, with -1 where a packet has none; so hundreds of thousands of packets fit,
and a filter is a matter of milliseconds.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from longfat.analysis.packets.columns import COLUMNS, MARKS, SEPARATOR, Form
from longfat.analysis.packets.records import PacketRow
from longfat.errors import MachineError

Wholes = NDArray[np.int64]

ABSENT = -1
_CHUNK = 20_000
_LATEST_NS = 2**62  # in the year 2116
_MAX_TEXT = 400
_DIGITS = re.compile(r"-?(?:0x[\da-fA-F]{1,15}|\d{1,18})", re.ASCII)
_THEIR_MARKS = re.compile(r"^(?:\[TCP [^\]]{1,60}\] )+")
_LABELS = {one.key: one.label for one in MARKS}
_SECONDS = re.compile(r"(\d{1,10})(?:\.(\d{1,9})\d*)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class PacketTable:
    """The packets of a capture, by their columns.

    Attributes:
        wholes: numbers by the key of their column; marks are 0 or 1, times nanoseconds.
        texts: texts, likewise.
        sacks: the ranges that a packet reports, by its index.
    """

    wholes: Mapping[str, Wholes]
    texts: Mapping[str, Sequence[str]]
    sacks: Mapping[int, tuple[tuple[int, int], ...]]

    def __len__(self) -> int:
        return len(self.wholes["number"])

    def with_analysis_of(self, other: PacketTable) -> PacketTable:
        """Return it with the TCP columns of another table of the same packets, if any.

        Args:
            other: the table; where it is shorter, so is what is returned.
        """
        count = min(len(self), len(other))
        known = other.wholes["tcp_stream"][:count] != ABSENT
        wholes = {
            key: np.where(known, other.wholes[key][:count], values[:count])
            for key, values in self.wholes.items()
        }
        sacks = {index: sack for index, sack in self.sacks.items() if index < count}
        sacks = {index: sack for index, sack in sacks.items() if not known[index]}
        texts = {key: values[:count] for key, values in self.texts.items()}
        info = [
            _words(text, other, index) if known[index] else text
            for index, text in enumerate(texts["info"])
        ]
        return PacketTable(
            wholes=wholes, texts={**texts, "info": info}, sacks={**other.sacks, **sacks}
        )

    def marks(self, index: int) -> list[str]:
        """Return the TCP analysis of a packet, as keys of `MARKS`."""
        return [one.key for one in MARKS if self.wholes[one.key][index]]

    def ecn(self, index: int) -> int:
        """Return the ECN bits of a packet (RFC 3168); 0 where it has none."""
        return int(max(self.wholes["ecn"][index], self.wholes["ecn6"][index], 0))

    def row(self, index: int, *, epoch_ns: int) -> PacketRow:
        """Return a packet as plain values.

        Args:
            index: which, from 0.
            epoch_ns: the time stamp from which time is counted, in nanoseconds since 1970.
        """
        known = {key: int(values[index]) for key, values in self.wholes.items()}
        kind: Literal["tcp", "udp"] = "tcp"
        stream = known["tcp_stream"]
        if stream == ABSENT:
            stream, kind = known["udp_stream"], "udp"
        row: PacketRow = {
            "number": known["number"],
            "time_s": (known["time"] - epoch_ns) / 1e9,
            "source": self.texts["source"][index],
            "target": self.texts["target"][index],
            "protocol": self.texts["protocol"][index],
            "length": known["length"],
            "captured": known["captured"],
            "info": self.texts["info"][index],
            "stream": None if stream == ABSENT else {"kind": kind, "number": stream},
            "ecn": self.ecn(index),
            "marks": self.marks(index),
        }
        if known["tcp_stream"] != ABSENT:
            row["tcp"] = {
                "flags": known["flags"],
                "seq": known["seq"],
                "ack": known["ack"],
                "payload": known["payload"],
                "window": known["window"],
                "window_raw": known["window_raw"],
                "source_port": known["tcp_source_port"],
                "target_port": known["tcp_target_port"],
                "sack": list(self.sacks.get(index, ())),
                "ack_rtt_s": known["ack_rtt"] / 1e9 if known["ack_rtt"] != ABSENT else None,
                "in_flight": known["in_flight"] if known["in_flight"] != ABSENT else None,
            }
        return row


def _words(text: str, ours: PacketTable, index: int) -> str:
    """Return Wireshark's description of a packet, with our own marks of the TCP analysis."""
    bare = _THEIR_MARKS.sub("", text)
    marks = [_LABELS[key] for key in ours.marks(index)]
    return f"[{', '.join(marks)}] {bare}" if marks else bare


def parse_lines(lines: Iterable[str], *, name: str) -> PacketTable:
    """Parse what a decoder prints: a line for each packet.

    Raises:
        MachineError: a line is none of a packet.
    """
    columns: dict[str, list[Any]] = {one.key: [] for one in COLUMNS}
    rest = iter(lines)
    while chunk := list(islice(rest, _CHUNK)):
        rows = [line.rstrip("\n").split(SEPARATOR) for line in chunk]
        if any(len(row) != len(COLUMNS) for row in rows):
            raise MachineError(f"{name}: the decoder's output has a line that is no packet's")
        for one, values in zip(COLUMNS, zip(*rows, strict=True), strict=True):
            columns[one.key] += _READERS[one.form](values)
    wholes = {
        one.key: np.array(columns[one.key], dtype=np.int64)
        for one in COLUMNS
        if one.form not in (Form.TEXT, Form.WHOLES)
    }
    pairs = zip(columns["sack_left"], columns["sack_right"], strict=True)
    sacks = {
        index: tuple(zip(left, right, strict=False))
        for index, (left, right) in enumerate(pairs)
        if left and right
    }
    texts = {one.key: columns[one.key] for one in COLUMNS if one.form is Form.TEXT}
    return PacketTable(wholes=wholes, texts=texts, sacks=sacks)


def _whole_column(column: Sequence[str]) -> list[int]:
    return [ABSENT if text == "" else _whole(text) for text in column]


def _whole(text: str) -> int:
    if text.isdecimal() and len(text) < 19:
        return int(text)
    # The first one, where headers are in headers.
    found = _DIGITS.match(text)
    return ABSENT if found is None else int(found[0], 0 if "x" in found[0] else 10)


def _time_column(column: Sequence[str]) -> list[int]:
    return [ABSENT if text == "" else _nanoseconds(text) for text in column]


def _nanoseconds(text: str) -> int:
    found = _SECONDS.match(text)
    if found is None:
        return ABSENT
    return min(int(found[1]) * 10**9 + int((found[2] or "0").ljust(9, "0")), _LATEST_NS)


def _text_column(column: Sequence[str]) -> list[str]:
    return [sys.intern(text[:_MAX_TEXT]) for text in column]


def _mark_column(column: Sequence[str]) -> list[int]:
    return [1 if text else 0 for text in column]


def _wholes_column(column: Sequence[str]) -> list[tuple[int, ...]]:
    return [() if text == "" else _wholes(text) for text in column]


def _wholes(text: str) -> tuple[int, ...]:
    return tuple(_whole(one) for one in text.split(",")[:8])


_READERS: dict[Form, Callable[[Sequence[str]], Sequence[Any]]] = {
    Form.WHOLE: _whole_column,
    Form.NANOSECONDS: _time_column,
    Form.TEXT: _text_column,
    Form.PRESENT: _mark_column,
    Form.WHOLES: _wholes_column,
}
