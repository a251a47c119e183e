"""The series of a recording: their points, and which of them were sent.

Points are sent as binary messages: a 32-bit little-endian length, then that many bytes of JSON
(`SeriesHeader`), padding to a multiple of 8, then for each entry its times and its values as
64-bit little-endian floats. Times are seconds since the recording's start; a value of NaN is a
gap in the line.
"""

from __future__ import annotations

import json
import math
import struct
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_POINTS = 20_000
"""A series with more points is thinned."""

MAX_IN_ALL = 2_000_000
"""The maximum of all series of a recording together."""

_FEW_POINTS = 400

_LENGTH = struct.Struct("<I")
_ALIGNMENT = 8


SeriesKind: TypeAlias = Literal["queue", "tcp", "rate", "ping"]
"""What a series is of."""

SeriesUnit: TypeAlias = Literal["bit/s", "s", "bytes", "packets", "1"]
"""The unit of a series' values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesInfo:
    """The description of a series.

    Attributes:
        key: `KIND:OF:QUANTITY`, such as `queue:s1-eth2:backlog_bytes`.
        kind: what it is of.
        of: the name of its interface or flow.
        quantity: throughput_bps (over a round trip), throughput_raw_bps, rtt_s, cwnd_bytes,
            backlog_bytes, drops, tx_bps, ...
        unit: the unit of its values.
        label: its label.
        limit: a queue's capacity, in bytes, or an interface's rate, in bit/s; None if unknown
            or unlimited.
    """

    key: str
    kind: SeriesKind
    of: str
    quantity: str
    unit: SeriesUnit
    label: str
    limit: float | None = None


class SeriesEntry(TypedDict):
    """Points of one series in a binary message.

    Attributes:
        key: the series.
        count: how many points.
    """

    key: str
    count: int


class SeriesHeader(TypedDict):
    """The head of a binary message with points of series.

    Attributes:
        recording: the number of the recording.
        whole: whether this replaces the earlier points (after a reconnection), or is appended.
        entries: the series.
    """

    recording: int
    whole: bool
    entries: list[SeriesEntry]


def series_info(
    kind: SeriesKind,
    of: str,
    quantity: str,
    unit: SeriesUnit,
    *,
    limit: float | None = None,
    label: str | None = None,
) -> SeriesInfo:
    """Return the description of a series; its label is `of` by default."""
    return SeriesInfo(
        key=f"{kind}:{of}:{quantity}",
        kind=kind,
        of=of,
        quantity=quantity,
        unit=unit,
        label=label or of,
        limit=limit,
    )


class Series:
    """A growing series.

    Attributes:
        info: its description.
        times: in seconds after the recording's start.
        values: what, in the unit.
    """

    def __init__(self, info: SeriesInfo) -> None:
        self.info = info
        self.times = array("d")
        self.values = array("d")
        self.sent = 0

    def add(self, time_s: float, value: float, *, maximum: int = MAX_POINTS) -> None:
        """Add a point; times only grow. If there are then more than `most`, they are thinned."""
        self.times.append(time_s)
        self.values.append(value)
        if len(self.times) > maximum:
            self._thin()

    def _thin(self) -> None:
        """Keep the minimum and maximum of every four points, in order, and every gap."""
        times, values = array("d"), array("d")
        for start in range(0, len(self.times), 4):
            group = range(start, min(start + 4, len(self.times)))
            of = self.values.__getitem__
            gaps = {index for index in group if math.isnan(of(index))}
            known = set(group) - gaps
            kept = {min(known, key=of), max(known, key=of)} if known else set()
            for index in sorted(kept | gaps):
                times.append(self.times[index])
                values.append(self.values[index])
        # Pages that got them have more points than the server, which is harmless.
        self.times, self.values, self.sent = times, values, len(times)


class SeriesSet:
    """All series of a recording."""

    def __init__(self) -> None:
        self._all: dict[str, Series] = {}
        self.is_new = False
        """Whether there is a series that was not sent."""

    @property
    def infos(self) -> list[SeriesInfo]:
        """The descriptions of all series."""
        return [one.info for one in self._all.values()]

    def waited_in(self) -> list[str]:
        """Return the interfaces whose queues had a backlog or drops."""
        counted = ("backlog_bytes", "drops")
        return list(
            dict.fromkeys(
                one.info.of
                for one in self._all.values()
                if one.info.quantity in counted and any(value > 0 for value in one.values)
            )
        )

    def add(self, info: SeriesInfo, time_s: float, value: float) -> None:
        """Add a point to the series of a key, which is created if needed.

        NaN is a gap.
        """
        found = self._all.get(info.key)
        if found is None:
            if math.isnan(value):
                return  # a gap at the start has no effect
            found = self._all[info.key] = Series(info)
            self.is_new = True
        elif found.info != info:
            # Such as the rate of a link that was changed meanwhile.
            found.info = info
            self.is_new = True
        maximum = max(_FEW_POINTS, min(MAX_POINTS, MAX_IN_ALL // len(self._all)))
        found.add(time_s, value, maximum=maximum)

    def unsent(self, *, recording: int) -> bytes | None:
        """Return the points since the last call as a binary message; None if none."""
        parts = []
        for one in self._all.values():
            if one.sent < len(one.times):
                parts.append((one.info.key, one.times[one.sent :], one.values[one.sent :]))
                one.sent = len(one.times)
        return _message(parts, recording=recording, whole=False) if parts else None

    def whole(self, *, recording: int) -> bytes:
        """Return all points as a binary message, for a new listener."""
        parts = [
            (one.info.key, one.times[: one.sent], one.values[: one.sent])
            for one in self._all.values()
        ]
        return _message(parts, recording=recording, whole=True)


def _message(
    parts: Iterable[tuple[str, array[float], array[float]]], *, recording: int, whole: bool
) -> bytes:
    parts = list(parts)
    entries: list[SeriesEntry] = [{"key": key, "count": len(times)} for key, times, _ in parts]
    about: SeriesHeader = {"recording": recording, "whole": whole, "entries": entries}
    header = json.dumps(about).encode()
    padding = -(_LENGTH.size + len(header)) % _ALIGNMENT
    data = b"".join(times.tobytes() + values.tobytes() for _, times, values in parts)
    return _LENGTH.pack(len(header)) + header + bytes(padding) + data
