"""The replies of a ping that was typed at a terminal, with their times.

Output arrives some time after it was printed. So a reply's time is computed from when the
command was typed, the request's number and the interval.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TYPED = re.compile(r"(?:at )?(?:[\w-]+ )?ping6?\b([^|;&<>]*)")
_INTERVAL = re.compile(r"\s-i\s*([\d.]+)")
_REPLY = re.compile(
    rb"bytes from ([\w.:-]{1,253}?):? .*?icmp_seq=(\d{1,9}) .*?time=(\d{1,9}(?:\.\d{1,9})?) ms"
)
_LONGEST_LINE_BYTES = 1000
_USUAL_INTERVAL_S = 1.0
_LEAST_INTERVAL_S, _MOST_INTERVAL_S = 1e-4, 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TypedReply:
    """A reply.

    Attributes:
        address: who replied.
        sequence: the request's number, from 1.
        time_s: when it came, in seconds of virtual time since boot.
        rtt_s: its round-trip time, in seconds.
    """

    address: str
    sequence: int
    time_s: float
    rtt_s: float


class TypedPing:
    """Parses the ping output of one terminal."""

    def __init__(self) -> None:
        self._start_s: float | None = None
        self._interval_s = _USUAL_INTERVAL_S
        self._rest = b""

    def typed(self, line: str, time_s: float) -> None:
        """Record a typed command and its time, in seconds of virtual time since boot."""
        found = _TYPED.fullmatch(line.strip())
        self._rest = b""
        self._start_s = time_s if found else None
        interval = _INTERVAL.search(found[1]) if found else None
        try:
            self._interval_s = float(interval[1]) if interval else _USUAL_INTERVAL_S
        except ValueError:
            self._start_s = None
        if not _LEAST_INTERVAL_S <= self._interval_s <= _MOST_INTERVAL_S:
            self._start_s = None

    def read(self, shown: bytes) -> list[TypedReply]:
        """Return the replies in a terminal's output."""
        if self._start_s is None:
            return []
        *lines, rest = (self._rest + shown).split(b"\n")
        self._rest = rest[-_LONGEST_LINE_BYTES:]
        found = []
        # Longer lines are not from a ping.
        short = (line for line in lines if len(line) < _LONGEST_LINE_BYTES)
        for match in filter(None, map(_REPLY.search, short)):
            sequence, rtt_s = int(match[2]), float(match[3]) / 1e3
            sent_s = self._start_s + (sequence - 1) * self._interval_s
            address = match[1].decode()
            found.append(
                TypedReply(address=address, sequence=sequence, time_s=sent_s + rtt_s, rtt_s=rtt_s)
            )
        return found
