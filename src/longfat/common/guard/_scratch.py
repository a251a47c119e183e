"""Folders that cannot outlive this process, and removal of those that did all the same.

There are three levels. This process removes the folder when it is done with it. If it dies first,
the *remover* does, a small process that each process of longfat has: it gets the
name of a folder before that is created, and waits for the end of its parent. If it dies as
well, the next process that creates a folder beside it does: each folder is locked by its owner,
and one without a lock is abandoned. Its age is not used.
"""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import secrets
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.guard.remover import remove_tree

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMOVER = Path(__file__).with_name("remover.py")
_PREFIX = "longfat-scratch-"


class _Remover:
    """The remover of this process, which is started when it is needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._registered: dict[str, None] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def register(self, path: Path) -> None:
        """Register a file or folder before it is created, for removal if this process dies."""
        with self._lock:
            if self._owner != os.getpid():  # in a child of a fork: it belongs to the parent
                self._registered.clear()
                self._process = None
            name = _hex(path)
            self._registered[name] = None
            if not self._send(f"+{name}\n"):
                self._start()

    def unregister(self, path: Path) -> None:
        """Unregister a file or folder that is gone or is to stay."""
        with self._lock:
            name = _hex(path)
            if self._owner == os.getpid() and name in self._registered:
                del self._registered[name]
                self._send(f"-{name}\n")

    def close(self) -> None:
        """End it, and wait for that: no process may outlive this one."""
        with self._lock:
            if self._process is not None and self._owner == os.getpid():
                self._process.communicate()
                self._process = None

    def _send(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        left = line.encode()
        try:
            while left:
                left = left[self._process.stdin.write(left) :]
        except OSError:  # it was killed
            return False
        return True

    def _start(self) -> None:
        if self._process is not None:
            self._process.communicate()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_REMOVER)],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            # A session of its own protects it from the terminal's Ctrl-C.
            start_new_session=True,
        )
        self._owner = os.getpid()
        self._send("".join(f"+{name}\n" for name in self._registered))
        # The earlier folders may have been of another kind: register them all.
        _sweep_scratch()


_remover = _Remover()
atexit.register(_remover.close)


@contextlib.contextmanager
def temporary_folder(parent: Path, *, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Create a folder; if it has not been moved away by the end of the context, it is removed.

    Args:
        parent: the folder to create it in; it must exist.
        prefix: the prefix of its name.
        suffix: the suffix of its name.

    Yields:
        The folder, which only the user can access, and which is not swept.

    Raises:
        OSError: it cannot be created.
    """
    while True:
        folder = parent.resolve() / f"{prefix}{secrets.token_urlsafe(6)}{suffix}"
        _remover.register(folder)
        try:
            folder.mkdir(mode=0o700)
            lock = _locked(folder)
            if lock is None:  # another process swept it first
                continue
            try:
                yield folder
            finally:
                # The remover may have been killed; a large folder takes seconds to remove,
                # in which the same may happen to this process.
                _remover.register(folder)
                remove_tree(folder)
                os.close(lock)
        finally:
            _remover.unregister(folder)
        return


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Create a folder for temporary files, for as long as the context lasts or the process lives.

    Yields:
        The folder; no other user can access it.

    Raises:
        OSError: it cannot be created.
    """
    _sweep_scratch()
    with temporary_folder(Path(tempfile.gettempdir()), prefix=_PREFIX) as folder:
        yield folder


def sweep(parent: Path, *, prefix: str, suffix: str = "") -> None:
    """Remove abandoned folders of longfat: those without a lock.

    Others may write to the parent folder, so another user's folder, one that
    others can write to, and a link are left alone.

    Args:
        parent: the folder that contains them.
        prefix: the prefix of their names.
        suffix: the suffix of their names.
    """
    with contextlib.suppress(OSError):
        for entry in os.scandir(parent):
            if entry.name.startswith(prefix) and entry.name.endswith(suffix):
                with contextlib.suppress(OSError):
                    _sweep(Path(entry.path))


def _sweep_scratch() -> None:
    sweep(Path(tempfile.gettempdir()), prefix=_PREFIX)


def _sweep(folder: Path) -> None:
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        about = os.fstat(lock)
        if about.st_uid == os.getuid() and about.st_mode & 0o022 == 0:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_tree(folder)
    finally:
        os.close(lock)


def _locked(folder: Path) -> int | None:
    """Lock a folder that has just been created; None if it is gone by then."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    # Where a file system has no such locks, a sweeping process gets none either.
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    if os.fstat(lock).st_nlink == 0 or not folder.exists():
        os.close(lock)
        return None
    return lock


def _hex(path: Path) -> str:
    return os.fsencode(path).hex()
