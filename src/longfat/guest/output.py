"""What a machine leaves for its host: files that go there as records on /dev/host_line.

No folder of the host's can be written to in here. A machine's job names the files that its host
takes, each by its place in that list; a record is a piece of one of them, and the host appends
the pieces. `longfat.engine.machine.output` is the other end. The files themselves are written
in memory, in `FOLDER`, and go to the host when all is done; only what may grow large, samples and
captures, goes there while time passes.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FOLDER = "/run/output"
"""Where programs write what the host is to get: memory of the machine."""

OUTCOME = "outcome.json"
"""How it went: no file, but said last, by `append`."""

INSTALLED = "installed.json"
"""What was installed (`longfat.guest.installed`), by times and nodes; no file, either."""

DROPS = "drops.json"
"""What was dropped between events (`longfat.guest.drops`), by times; no file, either."""

RECORD = b"f"
_MESSAGES = (OUTCOME, INSTALLED, DROPS)
_HEAD = struct.Struct("<IcI")
_PIECE = 1 << 20
_PAGE = 4096
_KEEP_SIZE_AND_PUNCH = 3  # FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE of fallocate(2)

_libc = ctypes.CDLL(None, use_errno=True)


class Output:
    """The way to the host, opened, which nobody else in the machine can then open.

    Args:
        names: the files that the host takes; of those in folders with the folder.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            os.makedirs(os.path.dirname(f"{FOLDER}/{name}"), exist_ok=True)
            if name not in _MESSAGES:
                # Now: a new file in memory draws a random number.
                os.close(os.open(f"{FOLDER}/{name}", os.O_WRONLY | os.O_CREAT, 0o644))
        self._fd = os.open("/dev/host_line", os.O_WRONLY | os.O_CLOEXEC)
        self._numbers = {name: number for number, name in enumerate(names)}

    def stream(self, name: str) -> Stream:
        """Return what appends to a file of the host's through a buffer."""
        return Stream(functools.partial(self.append, name))

    def append(self, name: str, data: bytes) -> None:
        """Append to a file of the host's."""
        view = memoryview(data)
        for start in range(0, len(view) or 1, _PIECE):  # of nothing, one: then it is there
            piece = view[start : start + _PIECE]
            record = memoryview(_HEAD.pack(len(piece), RECORD, self._numbers[name]) + piece)
            while record:
                record = record[os.write(self._fd, record) :]

    def send(self, name: str) -> None:
        """Send a file of `FOLDER`, if it is there."""
        if os.path.isfile(f"{FOLDER}/{name}"):
            self.append(name, b"")
            Growing(self, name).take()

    def send_all(self, *, but: Sequence[str] = ()) -> None:
        """Send all files of `FOLDER` that the host takes.

        Args:
            but: those that were sent while they grew.
        """
        for name in self._numbers:
            if name not in (*_MESSAGES, *but):
                self.send(name)


class Growing:
    """A file of `FOLDER` that is sent as it grows; one that is not there yet is created."""

    def __init__(self, output: Output, name: str) -> None:
        self._output = output
        self._name = name
        self._fd = os.open(f"{FOLDER}/{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._sent = 0

    def take(self) -> None:
        """Send what has come since the last time, and give its memory back."""
        kept = self._sent
        while piece := os.pread(self._fd, _PIECE, self._sent):
            self._output.append(self._name, piece)
            self._sent += len(piece)
        start, end = kept - kept % _PAGE, self._sent - self._sent % _PAGE
        if end - start >= _PIECE:
            size = ctypes.c_long(end - start)
            _libc.fallocate(self._fd, _KEEP_SIZE_AND_PUNCH, ctypes.c_long(start), size)


class Stream:
    """What is sent to the host through a buffer.

    Args:
        send: sends a part of it.
    """

    def __init__(self, send: Callable[[bytes], object]) -> None:
        self._send = send
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """Send data, soon."""
        self._pieces.append(data)
        self._size += len(data)
        if self._size >= _PIECE:
            self.flush()

    def flush(self) -> None:
        """Send what was not sent yet."""
        if self._pieces:
            self._send(b"".join(self._pieces))
            self._pieces.clear()
            self._size = 0
