"""Browser sessions: what a browser has after its user opened a link, in place of the token.

A session is a random value in a cookie. The server stores its hash only, so the file of the
sessions opens nothing. A session ends by logout, by a new link, or by its age, and its value
then opens nothing anywhere.

All of it belongs to the thread of the event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from longfat.common.decoding import Decoder, parse_json
from longfat.errors import HostError, InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from longfat.studio.state import PrivateFile

MAX_SESSIONS = 8
"""How many sessions an owner may have: beyond that, the least recently used ends."""

MAX_FILE_BYTES = 4 << 20
"""The largest file of sessions, in bytes: those of 500 owners."""

_SAVE_EVERY_S = 60.0
_CHECK_EVERY_S, _SOONEST_CHECK_S = 60.0, 0.01
_BYTES = 32
_ID_BYTES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """How long a session lasts.

    Attributes:
        idle_s: without a request or an open WebSocket, in seconds.
        absolute_s: in any case, in seconds.
    """

    idle_s: float = 7 * 86400.0
    absolute_s: float = 30 * 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """A session.

    Attributes:
        id: its public id, which opens nothing.
        digest: the hash of its value.
        owner: whose it is: a student's folder in a class.
        begun_s: when it began, in seconds since 1970.
        used_s: when it was last used, likewise.
    """

    id: str
    digest: str
    owner: str
    begun_s: float
    used_s: float


class Connection:
    """An open WebSocket, which is closed when what opened it ends.

    Args:
        session: its session; None if it was opened by a token.
    """

    def __init__(self, session: BrowserSession | None) -> None:
        self.session = session
        self.ended = asyncio.Event()


class BrowserSessions:
    """The sessions of all owners of a server.

    Args:
        file: where they are stored; None to keep them in memory.
        owners: whose stored sessions go on; those of others end.
        lifetime: how long they last.

    Raises:
        HostError: they cannot be stored.
    """

    def __init__(
        self,
        file: PrivateFile | None = None,
        *,
        owners: Collection[str] = (),
        lifetime: Lifetime | None = None,
    ) -> None:
        self._file = file
        self._lifetime = lifetime or Lifetime()
        self._saved_s = 0.0
        self._connections: defaultdict[str, set[Connection]] = defaultdict(set)
        stored = () if file is None else _read(file)
        self._all = {one.digest: one for one in stored if one.owner in owners and self._lasts(one)}
        self._save()  # those that have ended now do not return with the next start

    def begin(self, owner: str) -> str:
        """Begin a session, and return its value.

        Args:
            owner: whose it is.

        Raises:
            HostError: it cannot be stored.
        """
        now_s = time.time()
        self._drop_old()
        while len(own := self._of(owner)) >= MAX_SESSIONS:
            self._remove(min(own, key=lambda one: one.used_s))
        value = secrets.token_urlsafe(_BYTES)
        digest = _digest(value)
        self._all[digest] = BrowserSession(
            id=secrets.token_hex(_ID_BYTES),
            digest=digest,
            owner=owner,
            begun_s=now_s,
            used_s=now_s,
        )
        self._save()
        return value

    def owner_of(self, value: str) -> str | None:
        """Return the owner of the session of a value; None if there is none.

        The lookup is by the value's hash, so its time reveals nothing about values.

        Args:
            value: the value, of a cookie.
        """
        session = self._all.get(_digest(value))
        return None if session is None else session.owner

    def find(self, value: str, *, owner: str) -> BrowserSession | None:
        """Return the session of a value, which is used hereby; None if there is none any more.

        Args:
            value: the value, of a cookie.
            owner: whose session it must be.
        """
        session = self._all.get(_digest(value))
        if session is None or session.owner != owner or not self._use(session):
            return None
        return session

    def end(self, session: BrowserSession) -> None:
        """End a session, and close its WebSockets.

        Raises:
            HostError: this cannot be stored; until the server's end it has ended nevertheless.
        """
        self._remove(session)
        self._save()

    def end_others(self, kept: BrowserSession) -> int:
        """End all other sessions of a session's owner, and return how many there were.

        Raises:
            HostError: as of `end`.
        """
        others = [one for one in self._of(kept.owner) if one.id != kept.id]
        for session in others:
            self._remove(session)
        self._save()
        return len(others)

    def end_all(self, owner: str) -> None:
        """End all sessions of an owner, and close all WebSockets, also those by a token.

        Raises:
            HostError: as of `end`.
        """
        for session in self._of(owner):
            self._remove(session)
        for connection in self._connections[owner]:
            connection.ended.set()
        self._save()

    @contextlib.contextmanager
    def connected(self, owner: str, session: BrowserSession | None) -> Iterator[Connection]:
        """Note a WebSocket for as long as the context lasts.

        Args:
            owner: whose it is.
            session: what opened it; None if a token did.
        """
        connection = Connection(session)
        self._connections[owner].add(connection)
        try:
            yield connection
        finally:
            self._connections[owner].discard(connection)

    async def until_ended(self, connection: Connection) -> None:
        """Wait for the end of what opened a WebSocket; meanwhile its session is in use."""
        session, lifetime = connection.session, self._lifetime
        while session is None or ((now := self._all.get(session.digest)) and self._use(now)):
            check_s = min(_CHECK_EVERY_S, lifetime.idle_s / 2)
            if session is not None:
                left_s = session.begun_s + lifetime.absolute_s - time.time()
                check_s = min(check_s, max(left_s, _SOONEST_CHECK_S))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(connection.ended.wait(), check_s)
                return

    def _use(self, session: BrowserSession) -> bool:
        """Note that a session is used; return whether it lasts."""
        if not self._lasts(session):
            self._remove(session)
            return False
        now_s = time.time()
        self._all[session.digest] = replace(session, used_s=now_s)
        if abs(now_s - self._saved_s) > _SAVE_EVERY_S:
            # It is not lost if this cannot be stored: only its last use is.
            with contextlib.suppress(HostError):
                self._save()
        return True

    def _lasts(self, session: BrowserSession) -> bool:
        # A clock that was set back makes no session last longer.
        now_s = time.time()
        return (
            abs(now_s - session.used_s) < self._lifetime.idle_s
            and abs(now_s - session.begun_s) < self._lifetime.absolute_s
        )

    def _of(self, owner: str) -> list[BrowserSession]:
        return [one for one in self._all.values() if one.owner == owner]

    def _drop_old(self) -> None:
        for session in list(self._all.values()):
            if not self._lasts(session):
                self._remove(session)

    def _remove(self, session: BrowserSession) -> None:
        self._all.pop(session.digest, None)
        for connection in self._connections[session.owner]:
            if connection.session is not None and connection.session.id == session.id:
                connection.ended.set()

    def _save(self) -> None:
        self._saved_s = time.time()
        if self._file is not None:
            self._file.write(json.dumps([asdict(one) for one in self._all.values()]))


_STORED = Decoder(list[BrowserSession])


def _read(file: PrivateFile) -> list[BrowserSession]:
    """Return the stored sessions; none if the file is not ours alone, or damaged."""
    text = file.read(max_bytes=MAX_FILE_BYTES)
    if text is None:
        return []
    where = str(file.path)
    try:
        return _STORED.decode(parse_json(text.encode(), where=where), where=where)
    except InputError:
        return []


def _digest(value: str) -> str:
    """Return the hash of a value; it is random, so nobody can guess it from its hash."""
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()
