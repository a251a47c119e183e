"""All live sessions of a server."""

from __future__ import annotations

import itertools
import secrets
import threading
from typing import TYPE_CHECKING, Any

from longfat.errors import InputError
from longfat.studio.live.drawn_network import read_drawing
from longfat.studio.live.session import LiveSession
from longfat.study.file_reader import FileReader, no_files

if TYPE_CHECKING:
    from longfat.studio.turns import Member
    from longfat.studio.workspace import Workspace
MOST_SESSIONS = 32


class LiveSessions:
    """The live sessions of a server; `close` ends them all.

    Args:
        workspace: the workspace, in whose `runs` the runs are saved.
        member: the member of a class in the queue for machines; None without a class.
    """

    def __init__(self, *, workspace: Workspace, member: Member | None = None) -> None:
        self._workspace = workspace
        self._member = member
        if member is not None:
            member.turns.join(member.name, self.count)
        # None for a session whose network is being built.
        self._sessions: dict[str, LiveSession | None] = {}
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._count = itertools.count(1)

    def create(
        self, *, name: str, text: str, case: str | None, beside: FileReader = no_files
    ) -> LiveSession:
        """Boot a machine and build the drawn network in it, which takes a fraction of a second.

        Args:
            name: the drawing's name.
            text: the text of the study.
            case: the case; see `read_drawing`.
            beside: reads the files that the study names.

        Raises:
            LongfatError: the drawing is invalid, or the machine failed.
            HttpError: the request is queued, to be repeated; or the workspace is full.
        """
        self._workspace.disk.check()
        drawn = read_drawing(text, name=name, case=case, beside=beside)
        # The id of another session cannot be guessed.
        number = f"{next(self._count)}-{secrets.token_hex(4)}"

        def begin() -> None:
            with self._lock:
                self._forget_ended()
                if len(self._sessions) >= MOST_SESSIONS:
                    raise InputError(
                        f"{MOST_SESSIONS} networks are already running: end some of their sessions"
                    )
                self._sessions[number] = None

        if self._member is None:
            begin()
        else:
            self._member.take(f"session {name}", begin=begin)
        try:
            session = LiveSession(
                number,
                name=name,
                drawn=drawn,
                is_closing=self._closing.is_set,
                workspace=self._workspace,
            )
        except BaseException:
            with self._lock:
                del self._sessions[number]
            raise
        with self._lock:
            self._sessions[number] = session
        return session

    def find(self, number: str) -> LiveSession | None:
        """Return the running session of an id; None if there is none."""
        session = self._sessions.get(number)
        return None if session is None or session.is_ending else session

    def end(self, number: str) -> bool:
        """Begin to end a session; return whether there was one. Its machine counts to its end."""
        session = self.find(number)
        if session is None:
            return False
        session.end()
        with self._lock:
            self._forget_ended()
        return True

    def count(self) -> int:
        """Return how many machines are running or booting; from any thread."""
        return sum(
            session is None or session.has_machine for session in list(self._sessions.values())
        )

    def infos(self) -> list[dict[str, Any]]:
        """Return all running sessions, as `SessionInfo` of the page's `api/types.ts`."""
        with self._lock:
            sessions = [session for session in self._sessions.values() if session is not None]
        return [session.info() for session in sessions if not session.is_ending]

    def stop(self) -> None:
        """Stop all of them, also those whose networks are being built."""
        self._closing.set()

    def close(self) -> None:
        """End all of them."""
        self.stop()
        with self._lock:
            sessions = [session for session in self._sessions.values() if session is not None]
        for session in sessions:
            session.end()
        for session in sessions:
            session.close()

    def _forget_ended(self) -> None:
        for number, session in list(self._sessions.items()):
            if session is not None and not session.has_machine:
                del self._sessions[number]
