"""Captures in a live network: tcpdump at an interface, and the packets that a run saves.

tcpdump writes to its standard output and not to a file, so that no path in the machine matters.
It is a process of the network like any other: it ends with the session.

A capture may begin before a run and continue after it, and its file grows meanwhile. So a
run gets the packets of its own time, from a file that stays open: the session may end and
remove it before they are written.
"""

from __future__ import annotations

import contextlib
import signal
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from longfat.common.guard import scratch_folder
from longfat.errors import InputError
from longfat.model.probes.capture import DEFAULT_SNAP_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from longfat.live import Network
    from longfat.live.task import Task
    from longfat.studio.disk import DiskLimit
    from longfat.studio.live.events import CaptureInfo

MAX_CAPTURES = 8
"""The maximum per session; the oldest finished one is removed for a new one."""

MAX_BYTES = 128 << 20
"""A capture that becomes larger is stopped."""

_MAX_WORDS = 300
_NAME = "captures of live sessions"


@dataclass(eq=False, slots=True, kw_only=True)
class LiveCapture:
    """A capture at an interface.

    Attributes:
        number: its id.
        interface: the interface.
        filter: the filter, in the syntax of pcap-filter(7).
        path: the file.
        file: the same, open; None when the capture is over.
        task: tcpdump.
        max_bytes: it is stopped when it becomes larger.
        size: its size in bytes.
        words: why it has ended, if it was not stopped on request.
    """

    number: int
    interface: str
    filter: str
    path: Path
    file: IO[bytes] | None
    max_bytes: int
    task: Task | None = None
    size: int = 0
    words: str = ""

    def take(self, is_error: bool, data: bytes) -> None:
        """Add tcpdump's output."""
        if is_error:
            self.words = (self.words + data.decode(errors="replace"))[-_MAX_WORDS:]
        elif self.file is not None and self.size <= self.max_bytes:
            self.file.write(data[: self.max_bytes + 1 - self.size])
            self.file.flush()
            self.size += len(data)

    def to_json(self) -> CaptureInfo:
        """Return its description."""
        return {
            "number": self.number,
            "interface": self.interface,
            "filter": self.filter,
            "going": self.file is not None,
            "bytes": self.size,
            "words": "" if self.file is not None else self.words,
        }


class Captures:
    """The captures of a session; all but `path_of` is for its thread only.

    Args:
        network: the network.
        disk: the disk quota that they count for; None without one.
    """

    def __init__(self, network: Network, *, disk: DiskLimit | None = None) -> None:
        self._network = network
        self._disk = disk
        self._all: dict[int, LiveCapture] = {}
        self._count = 0
        self._ending = contextlib.ExitStack()
        self._folder: Path | None = None
        self._sent: list[CaptureInfo] = []

    def begin(self, interface: str, text: str) -> None:
        """Start a capture.

        Raises:
            InputError: there is no such interface, there are too many captures, or the disk quota
                has no room.
        """
        pairs = self._network.model.interfaces()
        if interface not in {name for pair in pairs for name in pair}:
            raise InputError(f"there is no interface {interface!r} to capture at")
        if text.startswith("-") or "\0" in text:
            raise InputError("a packet filter must not begin with a hyphen")
        self._make_room()
        max_bytes = self._room_bytes()
        (node,) = self._network.model.interfaces_by_node((interface,))
        if self._folder is None:
            self._folder = self._ending.enter_context(scratch_folder())
            if self._disk is not None:
                self._ending.callback(self._disk.count_beside(_NAME, self._used_bytes))
        self._count += 1
        path = self._folder / f"{self._count}.pcap"
        one = LiveCapture(
            number=self._count,
            interface=interface,
            filter=text,
            path=path,
            file=path.open("wb"),
            max_bytes=max_bytes,
        )
        argv = ["tcpdump", "-i", interface, "-s", str(DEFAULT_SNAP_BYTES), "-n", "-U"]
        # Without it packets are delivered after a second, and not at once.
        argv += ["--immediate-mode", "-Z", "root", "--time-stamp-precision=nano", "-w", "-"]
        try:
            one.task = self._network.session.start(
                argv + ([text] if text else []), node=node, on_output=one.take, own_root=False
            )
        except InputError:
            self._close(one)
            raise
        self._all[one.number] = one

    def end(self, number: int) -> None:
        """Stop a capture; its packets are kept.

        Raises:
            InputError: there is no such capture.
        """
        one = self._all.get(number)
        if one is None:
            raise InputError(f"there is no capture {number}")
        if one.file is not None and one.task is not None:
            self._network.session.signal(one.task, signal.SIGTERM)
            self._network.session.run_until(ended=[one.task])
            one.words = ""
            self._close(one)

    def poll(self) -> list[CaptureInfo] | None:
        """Stop those that became too large; return all, if anything has changed."""
        for one in self._all.values():
            if one.file is None or one.task is None:
                continue
            if one.task.status is not None:
                one.words = one.words.strip() or f"tcpdump ended with {one.task.status}"
                self._close(one)
            elif one.size > one.max_bytes:
                self._network.session.signal(one.task, signal.SIGKILL)
                one.words = f"it was stopped at {one.max_bytes / 2**20:.0f} MB"
                if one.max_bytes < MAX_BYTES:
                    one.words += ", half of what was left of the disk's limit"
                self._close(one)
        now = [one.to_json() for one in self._all.values()]
        if now == self._sent:
            return None
        self._sent = now
        return now

    def to_json(self) -> list[CaptureInfo]:
        """Return the descriptions of all."""
        return [one.to_json() for one in self._all.values()]

    def path_of(self, number: int) -> tuple[str, Path] | None:
        """Return the interface and the file of a capture; from any thread."""
        one = self._all.get(number)
        return None if one is None else (one.interface, one.path)

    def of_run(self) -> list[RunCapture]:
        """Return the current captures, to be saved with a run that has ended."""
        return [
            RunCapture(
                interface=one.interface,
                filter=one.filter,
                file=one.path.open("rb"),
                size=one.size,
            )
            for one in self._all.values()
        ]

    def close(self) -> None:
        """Close all of them, and remove their files."""
        for one in self._all.values():
            self._close(one)
        self._ending.close()

    def _room_bytes(self) -> int:
        """Return how large a new capture may become: two at once do not exceed the quota."""
        if self._disk is None:
            return MAX_BYTES
        self._disk.check()
        return int(min(MAX_BYTES, self._disk.room_bytes() / 2))

    def _used_bytes(self) -> int:
        # A running one counts as if it were as large as it may become.
        return sum(
            one.size if one.file is None else one.max_bytes for one in list(self._all.values())
        )

    def _make_room(self) -> None:
        while len(self._all) >= MAX_CAPTURES:
            over = [one for one in self._all.values() if one.file is None]
            if not over:
                raise InputError(f"{MAX_CAPTURES} captures are already running: stop some of them")
            self._all.pop(over[0].number).path.unlink(missing_ok=True)

    def _close(self, one: LiveCapture) -> None:
        if one.file is not None:
            one.file.close()
            one.file = None


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
