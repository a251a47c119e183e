"""Follow a TCP stream: its payload of both directions in order, once.

A capture mostly keeps the headers only, so a piece also has the number of bytes that are missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from longfat.analysis.packets.headers import Streams

if TYPE_CHECKING:
    from longfat.analysis.packets.capture import Frame
    from longfat.analysis.packets.records import FollowedPiece

MAX_BYTES = 256 * 1024
"""So much of a stream's data is given."""

_MAX_PIECES = 5_000
_MAX_EARLY = 10_000


class _Direction:
    """The data of one end, put into its order."""

    def __init__(self) -> None:
        self._next: int | None = None
        self._early: dict[int, tuple[int, bytes]] = {}

    def take(self, seq: int, length: int, content: bytes) -> Iterator[tuple[int, bytes]]:
        """Take a segment; yield pieces that follow: their length, and what is there of them."""
        if self._next is None:
            self._next = seq
        if len(self._early) < _MAX_EARLY:
            known = self._early.get(seq)
            if known is None or known[0] < length:
                self._early[seq] = length, content
        while self._early:
            first = min(self._early)
            if first > self._next:
                return
            size, data = self._early.pop(first)
            skip = self._next - first
            if skip < size:
                self._next = first + size
                yield size - skip, data[skip:]

    def rest(self) -> Iterator[tuple[int, bytes]]:
        """Yield what is left: the gaps as pieces of which nothing is there."""
        for first in sorted(self._early):
            size, data = self._early.pop(first)
            if self._next is not None and first > self._next:
                yield first - self._next, b""
                self._next = first
            skip = (self._next or first) - first
            if skip < size:
                self._next = first + size
                yield size - skip, data[skip:]


def follow(frames: Iterable[Frame], stream: int) -> Iterator[FollowedPiece]:
    """Yield the pieces of a stream's data.

    Args:
        frames: the capture's packets.
        stream: the stream's number, as Wireshark counts.
    """
    sides = (_Direction(), _Direction())
    given = pieces = 0
    for number, one in Streams().data_of(frames, stream):
        for length, content in sides[one.direction].take(one.seq, one.payload, one.content):
            if given >= MAX_BYTES or pieces >= _MAX_PIECES:
                yield {"number": number, "from": 0, "length": 0, "text": "", "more": True}
                return
            kept = content[: MAX_BYTES - given]
            given += len(kept)
            pieces += 1
            yield _piece(number, one.direction, length, kept)
    for direction, side in enumerate(sides):
        for length, content in side.rest():
            if given >= MAX_BYTES or pieces >= _MAX_PIECES:
                return
            given += len(content)
            pieces += 1
            yield _piece(0, direction, length, content[:MAX_BYTES])


def _piece(number: int, direction: int, length: int, content: bytes) -> FollowedPiece:
    text = "".join(
        chr(one) if 32 <= one < 127 or one in (9, 10) else "" if one == 13 else "·"
        for one in content
    )
    return {
        "number": number,
        "from": direction,
        "length": length,
        "captured": len(content),
        "text": text,
        "hex": content[:2048].hex(),
        "more": False,
    }
