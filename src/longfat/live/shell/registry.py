"""Where sessions are found: a Unix socket in the abstract namespace for each, by its name.

Such a socket is no file: nothing of it is left when its holder is killed, and no two
can have one name. It has no owner either, so both ends ask the kernel for the user at
the other one. `XDG_RUNTIME_DIR` sets sessions apart: those of another one are not seen.
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
    """Let terminals find a session for as long as the context lasts.

    Args:
        name: what to call it; a number is put behind it if it is taken.

    Yields:
        A socket that listens, and the name.

    Raises:
        HostError: it cannot be found, since the host forbids such a socket.
    """
    wanted = _STRANGE.sub("-", name)[:_LONGEST_NAME].strip("-.") or "session"
    with socket.socket(socket.AF_UNIX) as listener:
        called = _bind(listener, wanted)
        listener.listen()
        listener.setblocking(False)
        yield listener, called


def session_names() -> list[str]:
    """Return the names of the user's sessions that live, in order."""
    start = f"@{_prefix()}"
    names = set()
    with contextlib.suppress(OSError):
        for line in _TABLE.read_text(errors="replace").splitlines():
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
    """Give a socket the first name that nobody has, and return it."""
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
    raise HostError(f"there are too many sessions of the name {wanted}")


def _lives(name: str) -> bool:
    try:
        connection = connect(name)
    except HostError:
        return True  # it lives, and has no ear now
    if connection is None:
        return False
    connection.close()
    return True


def _prefix() -> str:
    """Return how the names of this user's sockets begin."""
    place = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    scope = hashlib.sha256(os.fsencode(place)).hexdigest()[:8]
    return f"longfat-{os.getuid()}-{scope}-"
