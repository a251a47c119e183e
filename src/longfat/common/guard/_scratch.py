"""Folders that cannot outlive us, and what becomes of those that did all the same.

Three see to a folder's end. We remove it when it is done with. If we die first,
the *remover* does, a small process that each process of ours has: it gets the
name of a folder before that is made, and waits for our end. If it dies as well, whoever
makes a folder beside it next does: each folder is locked by whom it belongs to,
and one that nobody locks is nobody's. Its age says nothing, and is not asked.
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
    """The near end of this process's remover, which is started when there is something to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._noted: dict[str, None] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def note(self, path: Path) -> None:
        """Have it remove a file or folder that is about to be made, should we die."""
        with self._lock:
            if self._owner != os.getpid():  # in a child of a fork: the parent's is not ours
                self._noted.clear()
                self._process = None
            name = _hex(path)
            self._noted[name] = None
            if not self._tell(f"+{name}\n"):
                self._start()

    def cross_out(self, path: Path) -> None:
        """Let it forget a file or folder that is gone or is to stay."""
        with self._lock:
            name = _hex(path)
            if self._owner == os.getpid() and name in self._noted:
                del self._noted[name]
                self._tell(f"-{name}\n")

    def close(self) -> None:
        """End it, and wait for that: no process is to be left when we have ended."""
        with self._lock:
            if self._process is not None and self._owner == os.getpid():
                self._process.communicate()
                self._process = None

    def _tell(self, line: str) -> bool:
        if self._process is None or self._process.stdin is None:
            return False
        left = line.encode()
        try:
            while left:
                left = left[self._process.stdin.write(left) :]
        except OSError:  # somebody has killed it
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
            # A session of its own keeps the terminal's Ctrl-C away.
            start_new_session=True,
        )
        self._owner = os.getpid()
        self._tell("".join(f"+{name}\n" for name in self._noted))
        # Whatever we make now, it may have been another kind of folder that was left.
        _sweep_scratch()


_remover = _Remover()
atexit.register(_remover.close)


@contextlib.contextmanager
def doomed_folder(parent: Path, *, prefix: str, suffix: str = "") -> Iterator[Path]:
    """Make a folder; what has not been moved away by the end of the context is removed.

    Args:
        parent: the folder to make it in; it must be there.
        prefix: how its name begins.
        suffix: how its name ends.

    Yields:
        The folder, which only we can look into, and which nobody sweeps.

    Raises:
        OSError: it cannot be made.
    """
    while True:
        folder = parent.resolve() / f"{prefix}{secrets.token_urlsafe(6)}{suffix}"
        _remover.note(folder)
        try:
            folder.mkdir(mode=0o700)
            lock = _locked(folder)
            if lock is None:  # whoever swept was quicker
                continue
            try:
                yield folder
            finally:
                # Somebody may have killed the remover; a large folder takes seconds to remove,
                # in which the same may happen to us.
                _remover.note(folder)
                remove_tree(folder)
                os.close(lock)
        finally:
            _remover.cross_out(folder)
        return


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a folder for temporary files, for as long as the context lasts or our process lives.

    Yields:
        The folder; nobody else can look into it.

    Raises:
        OSError: it cannot be made.
    """
    _sweep_scratch()
    with doomed_folder(Path(tempfile.gettempdir()), prefix=_PREFIX) as folder:
        yield folder


def sweep(parent: Path, *, prefix: str, suffix: str = "") -> None:
    """Remove folders of ours that were left behind: those that nobody locks.

    Others may write to the folder that they are in, so another user's folder, one that
    others can write to, and a link are left alone.

    Args:
        parent: the folder that they are in.
        prefix: how their names begin.
        suffix: how they end.
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
    """Lock a folder that has just been made; None if it is gone by then."""
    try:
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    # Where a file system has no such locks, whoever sweeps gets none either.
    with contextlib.suppress(OSError):
        fcntl.flock(lock, fcntl.LOCK_EX)
    if os.fstat(lock).st_nlink == 0 or not folder.exists():
        os.close(lock)
        return None
    return lock


def _hex(path: Path) -> str:
    return os.fsencode(path).hex()
