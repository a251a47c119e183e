"""Where sessions are found: a folder of the user's with a socket for each, by its name.

Sockets of holders that were killed stay behind; whoever looks takes them away. A
lock on the folder keeps a socket from being taken for such between its making
and the moment at which somebody listens there.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import socket
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import SurroundingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIX = ".sock"
_LONGEST_NAME = 40
_STRANGE = re.compile(r"[^A-Za-z0-9._-]+")
_ANSWERS_WITHIN_S = 5.0


@contextlib.contextmanager
def published(name: str) -> Iterator[tuple[socket.socket, str]]:
    """Let terminals find a session for as long as the context lasts.

    Args:
        name: what to call it; a number is put behind it if it is taken.

    Yields:
        A socket that listens, and the name.

    Raises:
        SurroundingsError: the folder is not the user's alone.
    """
    wanted = _STRANGE.sub("-", name)[:_LONGEST_NAME].strip("-.") or "session"
    with socket.socket(socket.AF_UNIX) as listener:
        with _folder() as place:
            taken = set(_living(place))
            number = 1
            while (called := wanted if number == 1 else f"{wanted}-{number}") in taken:
                number += 1
            path = place / f"{called}{_SUFFIX}"
            listener.bind(str(path))
            path.chmod(0o600)
            listener.listen()
            listener.setblocking(False)
        try:
            yield listener, called
        finally:
            with _folder() as place:
                (place / f"{called}{_SUFFIX}").unlink(missing_ok=True)


def session_names() -> list[str]:
    """Return the names of the sessions that live, in order.

    Raises:
        SurroundingsError: the folder is not the user's alone.
    """
    with _folder() as place:
        return _living(place)


def connect(name: str) -> socket.socket | None:
    """Connect to a session.

    Args:
        name: its name.

    Returns:
        The connection; None if there is no such session.

    Raises:
        SurroundingsError: the folder is not the user's alone, or the session's
            process does not answer.
    """
    if _STRANGE.search(name):
        return None
    with _folder() as place:
        return _connect(place, name)


def _connect(place: Path, name: str) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(_ANSWERS_WITHIN_S)
    try:
        connection.connect(str(place / f"{name}{_SUFFIX}"))
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError as error:
        connection.close()
        raise SurroundingsError(f"the session {name} does not answer: {error}") from None
    return connection


def _living(place: Path) -> list[str]:
    """Return the names of those at whose socket somebody listens, and remove the others."""
    names = []
    for path in place.glob(f"*{_SUFFIX}"):
        name = path.name.removesuffix(_SUFFIX)
        try:
            connection = _connect(place, name)
        except SurroundingsError:
            names.append(name)  # it lives, and has no ear now
            continue
        if connection is None:
            with contextlib.suppress(OSError):
                path.unlink()
        else:
            connection.close()
            names.append(name)
    return sorted(names)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    """Hold the folder's lock; the path is short, as a socket's must be, wherever it is."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir():
        path = Path(runtime) / "longfat"
    else:
        path = Path(tempfile.gettempdir()) / f"longfat-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise SurroundingsError(
            f"sessions are found by sockets in {path}, and that folder cannot be used: "
            f"{error.strerror}"
        ) from None
    try:
        about = os.fstat(folder)
        if about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) & 0o077:
            raise SurroundingsError(
                f"others than you can use {path}, and so could use your sessions",
                mend=f"chmod 700 {path}, or remove it if it is not yours",
            )
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield Path(f"/proc/self/fd/{folder}")
    finally:
        os.close(folder)
