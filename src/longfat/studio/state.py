"""The studio's state of a workspace: its token, the sessions of browsers, its port, the drafts.

It is stored in the user's state folder (`$XDG_STATE_HOME`, else `~/.local/state`), in a private
folder for each workspace, and not in the workspace itself, which may be shared, copied or
given away. One studio at a time uses it: it holds a lock. Only the owner may read its files.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.errors import HostError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

MAX_BYTES = 4096
"""How many bytes of a file are read, unless the reader says otherwise."""

_OURS_ALONE = 0o077
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateFile:
    """A file that only its owner may read.

    Attributes:
        path: where it is, in a private folder.
    """

    path: Path

    def read(self, *, max_bytes: int = MAX_BYTES) -> str | None:
        """Return its content; None if we do not own it, or others may read or write it.

        Args:
            max_bytes: how many bytes of it are read.
        """
        try:
            file = os.open(self.path, _READ)
        except OSError:
            return None
        with os.fdopen(file, "rb") as stream:
            about = os.fstat(file)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
                return None
            if about.st_mode & _OURS_ALONE:
                return None
            return stream.read(max_bytes).decode("ascii", "replace").strip()

    def write(self, text: str) -> None:
        """Replace its content.

        Raises:
            HostError: it cannot be written.
        """
        hidden = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}")
        try:
            try:
                with os.fdopen(os.open(hidden, _NEW, 0o600), "w") as file:
                    file.write(text)
                hidden.replace(self.path)
            finally:
                hidden.unlink(missing_ok=True)
        except OSError as error:
            raise HostError(f"{self.path}: cannot be written: {error.strerror}") from None


MIN_TOKEN = 32
"""The minimum number of characters of a stored token that is used again."""

VARIABLE = "XDG_STATE_HOME"
_TOKEN = "token"
_RUNNING = "running.json"
_LOCK = "lock"
_CLASS = "class.json"
_SESSIONS, _CLASS_SESSIONS = "sessions.json", "class-sessions.json"
_SECRET = "proof-secret"
_SECRET_BYTES = 32
_MAX_CLASS_BYTES = 1 << 20


def workspace_id(workspace: Path) -> str:
    """Return a short id of a workspace.

    Args:
        workspace: the folder, without links.
    """
    return hashlib.sha256(os.fsencode(workspace)).hexdigest()[:16]


class WorkspaceState:
    """The folder of a workspace's state; use it as a context manager, which holds the lock.

    Args:
        workspace: the workspace.

    Attributes:
        folder: the folder.
    """

    def __init__(self, workspace: Path) -> None:
        named = os.environ.get(VARIABLE, "")
        home = Path(named) if Path(named).is_absolute() else Path.home() / ".local" / "state"
        self._workspace = workspace.resolve()
        self.folder = home / "longfat" / "studio" / workspace_id(self._workspace)
        self._lock: int | None = None

    def __enter__(self) -> WorkspaceState:
        """Lock the folder; it is created if needed.

        Raises:
            HostError: another studio has it, or it cannot be created or is not private.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            about = self.folder.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                raise HostError(f"{self.folder}: it is not a folder that you own")
            self.folder.chmod(0o700)
            self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise HostError(
                f"{self.folder}: the studio's state cannot be stored there: {error.strerror}",
                hint=f"set {VARIABLE} to a folder that you own",
            ) from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._let_go()
            url = self._running().get("url")
            there = f": {url}" if isinstance(url, str) else ""
            raise HostError(
                f"a studio of {self._workspace} is already running{there}",
                hint="open that one, or stop it first; another --workspace has its own studio",
            ) from None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Unlock the folder."""
        self._let_go()

    def token(self) -> str | None:
        """Return the stored token of this workspace; None if there is none, or it is not safe.

        It is safe in a file that we own and nobody else may read.
        """
        token = self._file(_TOKEN).read()
        return token if token and len(token) >= MIN_TOKEN else None

    def keep_token(self, token: str) -> None:
        """Store the token of this workspace.

        Raises:
            HostError: it cannot be stored.
        """
        self._file(_TOKEN).write(token)

    def forget_token(self) -> None:
        """Remove the token: the next studio generates a new one."""
        with contextlib.suppress(FileNotFoundError):
            (self.folder / _TOKEN).unlink()

    def class_tokens(self) -> dict[str, str]:
        """Return the tokens of a class, by its students' folders; none if they are not safe."""
        try:
            found = json.loads(self._file(_CLASS).read(max_bytes=_MAX_CLASS_BYTES) or "{}")
        except (ValueError, RecursionError):
            return {}
        texts = found.items() if isinstance(found, dict) else ()
        return {
            name: one
            for name, one in texts
            if isinstance(one, str) and one.isascii() and len(one) >= MIN_TOKEN
        }

    def keep_class_tokens(self, tokens: Mapping[str, str]) -> None:
        """Store the tokens of a class, by its students' folders.

        Raises:
            HostError: they cannot be stored.
        """
        self._file(_CLASS).write(json.dumps(dict(tokens)))

    def sessions_file(self, *, of_class: bool) -> PrivateFile:
        """Return the file of the sessions of browsers.

        Args:
            of_class: those of a class; a studio without a class has others.
        """
        return self._file(_CLASS_SESSIONS if of_class else _SESSIONS)

    def proof_secret(self) -> bytes:
        """Return the secret by which the server proves its identity to pages.

        Raises:
            HostError: a new one cannot be stored.
        """
        file = self._file(_SECRET)
        with contextlib.suppress(ValueError):
            if len(secret := bytes.fromhex(file.read() or "")) == _SECRET_BYTES:
                return secret
        secret = secrets.token_bytes(_SECRET_BYTES)
        file.write(secret.hex())
        return secret

    @property
    def last_port(self) -> int | None:
        """The port of the last studio of this workspace; None if unknown."""
        port = self._running().get("port")
        return port if isinstance(port, int) and 0 < port < 2**16 else None

    def note_running(self, *, url: str, port: int) -> None:
        """Record the URL, for a second studio's error message, and the port for the next start."""
        self._file(_RUNNING).write(json.dumps({"url": url, "port": port}))

    def _running(self) -> dict[str, object]:
        try:
            found = json.loads(self._file(_RUNNING).read() or "{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def _file(self, name: str) -> PrivateFile:
        return PrivateFile(path=self.folder / name)

    def _let_go(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
