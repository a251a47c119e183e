"""Connections between the process that holds a session and a terminal that attaches to it.

A session is found by its name: it has a Unix socket in the abstract namespace. Such a socket is
not a file: nothing of it is left when its holder is killed, and no two can have one name. It
has no owner either, so both ends query the kernel for the user of the other one.
`XDG_RUNTIME_DIR` separates sessions: those of another one are not visible. Source: unix(7).

Both processes are of the same user, and may be of different versions of
longfat: the first frame contains the version of the rest. A frame is a kind,
the length of the payload, and the payload:

    h  terminal to holder: request, JSON: version, do, and for "attach"
       node, rows, columns and term; "describe" requests the session's description
    a  holder to terminal: the answer, JSON; rejected: the reason for a rejection
    d  terminal to holder: what was typed
    r  terminal to holder: the window's size, JSON: rows, columns
    1  holder to terminal: output
    x  holder to terminal: the end, JSON: status, and a message for the user
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import re
import socket
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import parse_json
from longfat.errors import HostError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = 1

HELLO, ANSWER, INPUT, SIZE, OUTPUT, END = b"h", b"a", b"d", b"r", b"1", b"x"

_HEAD = struct.Struct("<cI")
_CHUNK = 1 << 16
_MAX_BYTES = 1 << 20

_MAX_NAME = 40
_MAX_NUMBERS = 1000
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_ANSWERS_WITHIN_S = 5.0
_TABLE = Path("/proc/net/unix")

# struct ucred: pid, uid, gid.
_CREDENTIALS = struct.Struct("3i")


class WireError(Exception):
    """The other end is gone, or sends an invalid frame."""


class Wire:
    """One end of a connection. It never blocks: pending data is sent with `flush`.

    Args:
        connection: the connection, which it closes.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._connection.setblocking(False)
        self._inbox = bytearray()
        self._outbox = bytearray()

    def fileno(self) -> int:
        """Return the descriptor, for waiting."""
        return self._connection.fileno()

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @property
    def unsent_bytes(self) -> int:
        """Return the number of pending bytes."""
        return len(self._outbox)

    def send(self, kind: bytes, payload: bytes) -> None:
        """Send a frame, in pieces if it is long."""
        for start in range(0, max(len(payload), 1), _MAX_BYTES):
            piece = payload[start : start + _MAX_BYTES]
            self._outbox += _HEAD.pack(kind, len(piece)) + piece
        self.flush()

    def send_json(self, kind: bytes, **fields: Any) -> None:
        """Send a frame of JSON."""
        self.send(kind, json.dumps(fields).encode())

    def flush(self) -> None:
        """Send pending data as far as possible."""
        try:
            while self._outbox:
                del self._outbox[: self._connection.send(self._outbox)]
        except BlockingIOError:
            pass
        except OSError:
            self._outbox.clear()  # it is gone, which the reader will detect

    def finish(self, *, within_s: float) -> None:
        """Send all pending data, waiting for a limited time.

        Args:
            within_s: the longest to wait, in seconds of wall time.
        """
        self._connection.settimeout(within_s)
        with contextlib.suppress(OSError):
            self._connection.sendall(self._outbox)
        self._outbox.clear()

    def receive(self) -> list[tuple[bytes, bytes]]:
        """Return the received frames, without waiting: kinds and payloads.

        Raises:
            WireError: the other end is gone, or sent an invalid frame.
        """
        try:
            data = self._connection.recv(_CHUNK)
        except BlockingIOError:
            return []
        except OSError as error:
            raise WireError(str(error)) from None
        if not data:
            raise WireError("the other end is gone")
        self._inbox += data
        return self._frames()

    def _frames(self) -> list[tuple[bytes, bytes]]:
        frames = []
        while len(self._inbox) >= _HEAD.size:
            kind, size = _HEAD.unpack_from(self._inbox)
            if size > _MAX_BYTES:
                raise WireError("a frame is too long")
            end = _HEAD.size + size
            if len(self._inbox) < end:
                break
            frames.append((kind, bytes(self._inbox[_HEAD.size : end])))
            del self._inbox[:end]
        return frames


def fields_of(payload: bytes) -> dict[str, Any]:
    """Return the fields of a frame of JSON.

    Raises:
        WireError: it is not JSON.
    """
    try:
        data = parse_json(payload, where="a frame")
    except InputError:
        data = None
    if not isinstance(data, dict):
        raise WireError("a frame is not a JSON object")
    return data


def size_of(fields: dict[str, Any]) -> tuple[int, int]:
    """Return rows and columns of a window, as Linux can hold them.

    Raises:
        WireError: the fields are missing or not numbers.
    """
    rows, columns = (fields.get(name) for name in ("rows", "columns"))
    if type(rows) is not int or type(columns) is not int:
        raise WireError("a window's size is not a number")
    return max(1, min(rows, 0xFFFF)), max(1, min(columns, 0xFFFF))


@contextlib.contextmanager
def published(name: str) -> Iterator[tuple[socket.socket, str]]:
    """Publish a session for as long as the context lasts.

    Args:
        name: its name; a number is appended if it is taken.

    Yields:
        A socket that listens, and the name.

    Raises:
        HostError: it cannot be published, since the host forbids such a socket.
    """
    wanted = _STRANGE.sub("-", name)[:_MAX_NAME].strip("-.") or "session"
    with socket.socket(socket.AF_UNIX) as listener:
        called = _bind(listener, wanted)
        listener.listen()
        listener.setblocking(False)
        yield listener, called


def session_names() -> list[str]:
    """Return the names of the user's running sessions, in order."""
    start = f"@{_prefix()}"
    names = set()
    with contextlib.suppress(OSError):
        for line in _TABLE.read_text("utf-8", errors="replace").splitlines():
            path = line.rpartition(" ")[2]
            if path.startswith(start):
                names.add(path.removeprefix(start))
    return sorted(name for name in names if _lives(name))


def connect(name: str) -> socket.socket | None:
    """Connect to a session.

    Args:
        name: its name.

    Returns:
        The connection; None if the user has no such session.

    Raises:
        HostError: the session's process does not answer.
    """
    if _STRANGE.search(name):
        return None
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_ANSWERS_WITHIN_S)
    try:
        connection.connect(f"\0{_prefix()}{name}")
    except ConnectionRefusedError:
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise HostError(f"the session {name} does not answer: {error}") from None
    if not is_own(connection):
        connection.close()
        return None
    return connection


def is_own(connection: socket.socket) -> bool:
    """Return whether the process at the other end of a Unix socket is the user's own."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(data)[1] == os.getuid())


def _bind(listener: socket.socket, wanted: str) -> str:
    """Bind a socket to the first free name, and return it."""
    for number in range(1, _MAX_NUMBERS):
        called = wanted if number == 1 else f"{wanted}-{number}"
        try:
            listener.bind(f"\0{_prefix()}{called}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise HostError(
                    f"sessions are found by abstract Unix sockets, and this host forbids them: "
                    f"{error.strerror}"
                ) from None
        else:
            return called
    raise HostError(f"there are too many sessions with the name {wanted}")


def _lives(name: str) -> bool:
    try:
        connection = connect(name)
    except HostError:
        return True  # it is alive, but its backlog is full
    if connection is None:
        return False
    connection.close()
    return True


def _prefix() -> str:
    """Return the prefix of the names of this user's sockets."""
    place = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    scope = hashlib.sha256(os.fsencode(place)).hexdigest()[:8]
    return f"longfat-{os.getuid()}-{scope}-"
