"""The guest's end of the line to the host: frames on /dev/host_line.

Reading waits in the host's own system call: the whole machine waits, and no
virtual time passes (kernel/patches: the host line). A frame is a head, which
says how long its payload is, of what kind, and which process it is about, and
the payload. `longfat.engine.machine.host_channel` is the other end and lists the kinds.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_DEVICE = "/dev/host_line"
_HEAD = struct.Struct("<IcI")
_ASK, _RUN_PENDING = 0x4C01, 0x4C02
_CHUNK = 65536

Frame = tuple[bytes, int, bytes]
"""A kind, the number of a process, and the payload."""


class Line:
    """The line, opened. Its owner reads the clock for nothing."""

    def __init__(self) -> None:
        self._fd = os.open(_DEVICE, os.O_RDWR | os.O_CLOEXEC)
        self._unread = b""

    def fileno(self) -> int:
        """Return the descriptor, to be waited for."""
        return self._fd

    def receive(self) -> Frame:
        """Return the next frame; the clock stands still until it comes.

        Raises:
            EOFError: the host is gone.
        """
        size, kind, number = _HEAD.unpack(self._read(_HEAD.size))
        return kind, number, self._read(size)

    @property
    def holds_frame(self) -> bool:
        """Return whether a frame, or a part of one, has been read already."""
        return bool(self._unread)

    def send(self, kind: bytes, number: int, payload: bytes) -> None:
        """Send a frame; the clock stands still until the host has room for it."""
        data = memoryview(_HEAD.pack(len(payload), kind, number) + payload)
        while data:
            data = data[os.write(self._fd, data) :]

    def send_json(self, kind: bytes, number: int, message: dict[str, Any]) -> None:
        """Send a frame of JSON."""
        self.send(kind, number, json.dumps(message).encode())

    def ask(self) -> None:
        """Let the host say now how far the clock may go on."""
        fcntl.ioctl(self._fd, _ASK)

    def run_pending(self, within_ns: int) -> bool:
        """Sleep until nothing else can run at this moment.

        Args:
            within_ns: the longest that it may take, in nanoseconds of virtual time. It takes
                none unless a process reads the clock over and over.

        Returns:
            Whether that is so now.
        """
        while True:
            with contextlib.suppress(InterruptedError):  # a process has ended
                return fcntl.ioctl(self._fd, _RUN_PENDING, within_ns) == 0

    def _read(self, size: int) -> bytes:
        while len(self._unread) < size:
            data = os.read(self._fd, _CHUNK)
            if not data:
                raise EOFError("the host is gone")
            self._unread += data
        data, self._unread = self._unread[:size], self._unread[size:]
        return data
