"""The file that a sampler of the guest leaves: a header and raw replies of the kernel.

The header is one line of JSON: `every_ns`, and `sources`, a list of `{node,
interfaces}` where interfaces are names by index. Then come records: the time in
nanoseconds after the start as a 64-bit number, source and length as 32-bit
numbers, all little-endian, and that many bytes of netlink messages.

A sample is a record of each source, in their order, all of one time. There is one at 0, one
at each multiple of `every_ns`, and one at the end, whose time is whatever it is. So the
difference of the first and the last is all that was counted; but samples do not represent
equal times: see `weights`.

A record about TCP sockets begins with the sockets that were destroyed since the
sample before, in state `close`, with what they had counted at their end. Of those
that still had packets in a queue at the last sample there may be records after it.

A machine that is still running leaves a file whose last record is cut; it is
left out.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from longfat.common.decoding import decode, open_regular, parse_json
from longfat.common.extras import lazy
from longfat.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
else:
    np = lazy("numpy")

UNREADABLE = (ArithmeticError, LookupError, ValueError, struct.error)
"""What decoding samples may raise: the guest's root can write anything there."""

_RECORD = struct.Struct("<QII")
_MESSAGE = struct.Struct("=IHHII")  # struct nlmsghdr
_ATTRIBUTE = struct.Struct("=HH")  # struct nlattr
# Nothing that a sampler writes comes near; it bounds what is kept of a broken file.
_MAX_HEADER_LENGTH = 1 << 20
_MAX_RECORD_LENGTH = 1 << 26
_MAX_FILE_BYTES = 1 << 30
# They take seconds to read, and no study comes near.
_MAX_RECORDS = 3_000_000
_MAX_MESSAGES = 3_000_000
_MAX_SOURCES = 100_000
_MAX_EVERY_NS = 10**12
_PIECE = 1 << 24

_ATTRIBUTE_TYPE = 0x3FFF  # without NLA_F_NESTED and NLA_F_NET_BYTEORDER


@dataclass(frozen=True, slots=True)
class Source:
    """Where samples were taken: a node, and the names of its interfaces by index."""

    node: str
    interfaces: dict[int, str]


@dataclass(frozen=True, slots=True)
class Message:
    """A netlink message of a sample, without its header.

    Attributes:
        time_s: virtual time after the traffic's start, in seconds.
        source: where it was taken.
        body: the message's bytes.
    """

    time_s: float
    source: Source
    body: memoryview


def read_samples(path: Path) -> Iterator[Message]:
    """Read the messages of a sampler's file, in the order in which they came.

    Raises:
        MachineError: the file is missing or too large, or no sampler wrote it.
    """
    stream = SampleStream(name=path.name)
    try:
        with open_regular(path) as file:
            if (size := os.fstat(file.fileno()).st_size) > _MAX_FILE_BYTES:
                raise MachineError(
                    f"{path.name}: it has {size:,} bytes; at most {_MAX_FILE_BYTES:,} are read"
                )
            while piece := file.read(_PIECE):
                yield from stream.feed(piece)
    except OSError as error:
        raise MachineError(f"{path.name}: cannot be read: {error.strerror}") from None
    _check_begun(stream, name=path.name)


def parse_samples(content: bytes, *, name: str) -> Iterator[Message]:
    """Read what a sampler wrote; see `read_samples`.

    Args:
        content: the file's bytes.
        name: what to call it in messages.
    """
    stream = SampleStream(name=name)
    yield from stream.feed(content)
    _check_begun(stream, name=name)


def _check_begun(stream: SampleStream, *, name: str) -> None:
    if not stream.begun:
        raise MachineError(f"{name}: not a sampler's file: its first line is not whole")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Where:
    node: str
    interfaces: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    """The first line of a sampler's file."""

    every_ns: int
    sources: list[_Where]

    def __post_init__(self) -> None:
        if not 0 < self.every_ns <= _MAX_EVERY_NS:
            raise ValueError(f"every_ns is {self.every_ns}")
        if len(self.sources) > _MAX_SOURCES:
            raise ValueError(f"it has {len(self.sources)} sources")
        if not all(
            index.isascii() and index.isdigit() and len(index) <= 10
            for one in self.sources
            for index in one.interfaces
        ):
            raise ValueError("an interface has no number")


class SampleStream:
    """Reads a sampler's file piece by piece, while it grows.

    Args:
        name: what to call the file in messages.
    """

    def __init__(self, *, name: str) -> None:
        self._name = name
        self._unread = b""
        self._every_ns = 0
        self._sources: list[Source] = []
        self._records = 0
        self._messages = 0
        self.time_s = 0.0
        """Up to when all sources have been read, in seconds after the traffic's start."""

    @property
    def begun(self) -> bool:
        """Return whether the header has been read."""
        return self._every_ns > 0

    def feed(self, piece: bytes) -> Iterator[Message]:
        """Read on; what is not whole waits for the next piece.

        The messages must be taken, all of them, before the next piece is given.

        Args:
            piece: what follows in the file.

        Raises:
            MachineError: no sampler wrote it.
        """
        content = self._unread + piece
        self._unread = b""
        start = 0
        if not self.begun:
            head, newline, _ = content.partition(b"\n")
            if not newline and len(head) <= _MAX_HEADER_LENGTH:
                self._unread = content
                return
            self._read_header(head)
            start = len(head) + 1
        view = memoryview(content)[start:]
        while len(view) >= _RECORD.size:
            time_ns, index, length = _RECORD.unpack_from(view)
            if index >= len(self._sources):
                raise MachineError(f"{self._name}: a sample of source {index}, and there is none")
            if length > _MAX_RECORD_LENGTH:
                raise MachineError(f"{self._name}: {length} bytes from source {index} at once")
            if _RECORD.size + length > len(view):
                break
            time_s = time_ns / 1e9
            self._count_record()
            if length:
                for body in message_bodies(view[_RECORD.size : _RECORD.size + length]):
                    self._messages += 1
                    yield Message(time_s, self._sources[index], body)
            if index == len(self._sources) - 1:
                self.time_s = time_s
            view = view[_RECORD.size + length :]
        self._unread = bytes(view)

    def _count_record(self) -> None:
        self._records += 1
        if self._records > _MAX_RECORDS or self._messages > _MAX_MESSAGES:
            raise MachineError(
                f"{self._name}: more samples than are read ({_MAX_RECORDS:,}, with"
                f" {_MAX_MESSAGES:,} messages); sample less often, or fewer things"
            )

    def _read_header(self, head: bytes) -> None:
        where = f"{self._name}: not a sampler's file: its first line"
        data = parse_json(head, where=where, error=MachineError)
        header = decode(_Header, data, where=where, error=MachineError)
        self._every_ns = header.every_ns
        self._sources = [
            Source(one.node, {int(index): name for index, name in one.interfaces.items()})
            for one in header.sources
        ]


def weights(times_s: ArrayLike, *, every_s: float) -> NDArray[np.float64]:
    """Return the time that each sample represents: since the one before it, in seconds.

    That is the interval for those at its multiples, none for the one at 0, and less than
    the interval for the last. A mean over time is a mean with these weights.

    Args:
        times_s: the samples' times after the start, in seconds.
        every_s: the interval, in seconds.
    """
    times_ns = np.rint(np.asarray(times_s, dtype=np.float64) * 1e9)
    every_ns = round(every_s * 1e9)
    since_ns = times_ns % every_ns
    since_ns[(since_ns == 0) & (times_ns > 0)] = every_ns
    return np.asarray(since_ns / 1e9)


def growth(counts: ArrayLike, *, from_start: bool) -> int:
    """Return by how much a counter grew over its samples, in the order of their times.

    A count that falls was restarted at 0, e.g. because its qdisc was replaced.

    Args:
        counts: the samples.
        from_start: what is counted was there at the start, so that the first sample is what
            it had counted before; else it began later, at 0.
    """
    values = np.asarray(counts, dtype=np.int64)
    steps = np.diff(values, prepend=values[:1] if from_start else 0)
    return int(np.where(steps < 0, values, steps).sum())


def message_bodies(view: memoryview) -> Iterator[memoryview]:
    """Yield the bodies of netlink messages, up to the first that is not whole."""
    while len(view) >= _MESSAGE.size:
        length = _MESSAGE.unpack_from(view)[0]
        if not _MESSAGE.size <= length <= len(view):
            return
        yield view[_MESSAGE.size : length]
        view = view[-(-length // 4) * 4 :]


def attributes(view: memoryview) -> dict[int, memoryview]:
    """Return netlink attributes by type.

    Source: struct nlattr, include/uapi/linux/netlink.h.
    """
    found: dict[int, memoryview] = {}
    while len(view) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(view)
        if not _ATTRIBUTE.size <= length <= len(view):
            break
        found[kind & _ATTRIBUTE_TYPE] = view[_ATTRIBUTE.size : length]
        view = view[-(-length // 4) * 4 :]
    return found
