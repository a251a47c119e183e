"""The part of a session's captures that belongs to a run, saved like the captures of its probes.

A capture may begin before the run and continue after it, and its file grows meanwhile. So a
run gets the packets of its own time, from a file that stays open: the session may end and
remove it before they are written.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_KEPT_BYTES = 256 << 20
"""The maximum total size of a run's captures; the rest is left out, and reported."""

# pcap-savefile(5): the magic number of nanoseconds, and a record's seconds, nanoseconds, and
# lengths kept and original. The machine and we have the same byte order.
_MAGIC = 0xA1B23C4D
_HEADER_BYTES = 24
_RECORD = struct.Struct("=IIII")
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCapture:
    """A capture at the end of a run.

    Attributes:
        interface: the interface.
        filter: the filter, in the syntax of pcap-filter(7).
        file: its file, open for reading.
        size: how many bytes of it there were.
    """

    interface: str
    filter: str
    file: IO[bytes]
    size: int

    def part(self, *, since_ns: int, until_ns: int) -> tuple[int, int]:
        """Return the range in the file of the packets of a time interval.

        Args:
            since_ns: the time of the first, in nanoseconds since 1970.
            until_ns: of the last.

        Returns:
            Two offsets; equal ones if there is none, or the file is not a capture.
        """
        begin = end = _HEADER_BYTES
        for after, time_ns in self._records():
            if time_ns > until_ns:
                break
            end = after
            if time_ns < since_ns:
                begin = after
        return begin, end

    def write(self, path: Path, part: tuple[int, int]) -> None:
        """Write a part of it as a capture of its own; see `part`.

        Raises:
            OSError: it cannot be written.
        """
        begin, end = part
        with path.open("xb") as out:
            self.file.seek(0)
            out.write(self.file.read(_HEADER_BYTES))
            self.file.seek(begin)
            left = end - begin
            while left > 0 and (chunk := self.file.read(min(left, _CHUNK_BYTES))):
                out.write(chunk)
                left -= len(chunk)

    def _records(self) -> Iterator[tuple[int, int]]:
        """Yield where each whole record ends, and its time."""
        self.file.seek(0)
        head = self.file.read(_HEADER_BYTES)
        if len(head) < _HEADER_BYTES or struct.unpack_from("=I", head)[0] != _MAGIC:
            return
        offset = _HEADER_BYTES
        while offset + _RECORD.size <= self.size:
            self.file.seek(offset)
            seconds, nanoseconds, kept, _ = _RECORD.unpack(self.file.read(_RECORD.size))
            after = offset + _RECORD.size + kept
            if after > self.size:
                return
            yield after, seconds * 10**9 + nanoseconds
            offset = after
