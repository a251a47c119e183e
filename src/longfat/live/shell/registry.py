"""Finding sessions: a Unix socket in the abstract namespace for each, by its name.

Such a socket is not a file: nothing of it is left when its holder is killed, and no two
can have one name. It has no owner either, so both ends query the kernel for the user of
the other one. `XDG_RUNTIME_DIR` separates sessions: those of another one are not visible.
Source: unix(7).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import socket
import struct
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_NAME = 40
_MOST_NUMBERS = 1000
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_ANSWERS_WITHIN_S = 5.0
_TABLE = Path("/proc/net/unix")
# struct ucred: pid, uid, gid.
_CREDENTIALS = struct.Struct("3i")


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
    wanted = _STRANGE.sub("-", name)[:_LONGEST_NAME].strip("-.") or "session"
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
    for number in range(1, _MOST_NUMBERS):
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
