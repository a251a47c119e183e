"""Live sessions: each is a controller and the thread that owns it.

Commands come from the server's event loop and are carried out in that thread, between two
intervals of virtual time. Terminal input and sizes are handled while time passes.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from longfat.errors import InputError, LongfatError, MachineError
from longfat.studio.broadcast import Listeners
from longfat.studio.live.controller import SessionController
from longfat.studio.live.drawing import read_drawing
from longfat.studio.live.saved_run import RunWriter, WriteResult
from longfat.study.file_reader import FileReader, no_files

if TYPE_CHECKING:
    from longfat.studio.broadcast import Listener
    from longfat.studio.live.drawing import Drawn
    from longfat.studio.live.events import SessionEvent, SessionInfo
    from longfat.studio.live.files import SessionFile
    from longfat.studio.live.messages import TerminalSize
    from longfat.studio.machine_queue import Member
    from longfat.studio.workspace import Workspace

T = TypeVar("T")

_FINISH_WITHIN_S = 5.0
"""The time limit to save the run of a session that ends, in wall time."""

_LOG = logging.getLogger(__name__)


class _Closed(BaseException):
    """The session is to end, whatever it waits for."""


@dataclass(frozen=True, slots=True)
class _Posted:
    """A task for the session's thread.

    Attributes:
        do: the function.
        done: has a result when it was done, or will not be done.
        else_end: the listener to end if it will not be done.
    """

    do: Callable[[], None]
    done: Future[None]
    else_end: Listener | None


class LiveSession:
    """A live session.

    Args:
        number: its id.
        name: the drawing's name.
        drawn: the drawing.
        is_closing: returns whether the server is shutting down, also while the network is built.
        workspace: runs are saved in its `runs`; None to save none.

    Raises:
        LongfatError: the network cannot be built, or the server is shutting down.
    """

    def __init__(
        self,
        number: str,
        *,
        name: str,
        drawn: Drawn,
        is_closing: Callable[[], bool] = lambda: False,
        workspace: Workspace | None = None,
    ) -> None:
        self._last_s: float | None = None
        self._posted_late: list[Callable[[], None]] = []
        self._run_writer = RunWriter(workspace, name=name)
        self._is_closing = is_closing
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._posted: deque[_Posted] = deque()
        self._over = False
        self._listeners: Listeners[SessionEvent] = Listeners()
        try:
            self._controller = SessionController(
                number,
                name=name,
                drawn=drawn,
                listeners=self._listeners,
                on_wait=self._check,
                disk=None if workspace is None else workspace.disk,
                keep=lambda live, count: self._run_writer.keep(
                    live, lambda result: self._kept(count, result)
                ),
            )
        except _Closed:
            raise MachineError("longfat studio is shutting down: it starts no session") from None
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._live, name=f"session {number}", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Return whether it has ended."""
        return self._over

    def info(self) -> SessionInfo:
        """Return its description."""
        return self._controller.info()

    def capture(self, number: int) -> tuple[str, Path] | None:
        """Return the interface and the file of a capture; None if there is none."""
        return self._controller.captures.path_of(number)

    @property
    def has_machine(self) -> bool:
        """Return whether its machine may still run."""
        return self._thread.is_alive()

    @property
    def is_ending(self) -> bool:
        """Return whether it is about to end, or has ended."""
        return self._over or self._closing.is_set()

    def end(self) -> None:
        """Begin to end it with its machine, whatever it is doing, and wait for nothing."""
        self._closing.set()
        self._post(lambda: None)

    def close(self) -> None:
        """End it with its machine, whatever it is doing, and wait until it has ended."""
        self.end()
        self._thread.join()

    # Requests of pages: each returns a future of its completion.

    def do(self, text: str) -> Future[None]:
        """Carry out a command, as a page sends it; an invalid one is reported to all pages."""
        return self._post(lambda: self._controller.obey(text))

    def type_at(self, number: int, data: bytes) -> Future[None]:
        """Type at a terminal."""
        return self._post(lambda: self._controller.type_at(number, data))

    def resize(self, number: int, size: TerminalSize) -> Future[None]:
        """Set the size of a terminal."""
        return self._post(lambda: self._controller.resize(number, size))

    def files(self) -> list[SessionFile]:
        """Return the files that were written in its machine; waits for that.

        Raises:
            LongfatError: they cannot be listed.
        """
        return self._result(self._controller.files)

    def read_file(self, path: str) -> bytes:
        """Return the content of one of these files; waits for that.

        Raises:
            LongfatError: it cannot be read.
        """
        return self._result(lambda: self._controller.read_file(path))

    def _result(self, work: Callable[[], T]) -> T:
        """Return what the session's thread gets from a function.

        Raises:
            LongfatError: the function failed, or the session has ended.
        """
        results: list[T | LongfatError] = []

        def do() -> None:
            try:
                results.append(work())
            except LongfatError as error:
                results.append(error)
                if isinstance(error, MachineError):
                    raise

        self._post(do).result()
        if not results:
            raise InputError("the session has ended")
        (result,) = results
        if isinstance(result, LongfatError):
            raise result
        return result

    def join(self, listener: Listener) -> Future[None]:
        """Send a listener the whole state, and from then on all events."""

        def join() -> None:
            listener.send(self._controller.all())
            self._listeners.add(listener)

        return self._post(join, else_end=listener)

    def leave(self, listener: Listener) -> Future[None]:
        """Remove a listener."""
        return self._post(lambda: self._listeners.discard(listener))

    def watch(self, number: int, listener: Listener) -> Future[None]:
        """Send a listener a terminal's earlier and future output."""
        return self._post(
            lambda: self._controller.terminals.watch(number, listener), else_end=listener
        )

    def unwatch(self, number: int, listener: Listener) -> Future[None]:
        """Stop sending a listener a terminal's output."""
        return self._post(lambda: self._controller.terminals.unwatch(number, listener))

    def _post(self, do: Callable[[], None], *, else_end: Listener | None = None) -> Future[None]:
        posted = _Posted(do, Future(), else_end)
        with self._lock:
            if not self._over:
                self._posted.append(posted)
                os.eventfd_write(self._wake, 1)
                return posted.done
        _let_go(posted)
        return posted.done

    # In its thread.

    def _live(self) -> None:
        words = "the session was closed"
        try:
            while True:
                self._check()
                for _ in range(len(self._posted)):
                    posted = self._posted[0]
                    posted.do()
                    self._posted.popleft()
                    _settle(posted)
                if self._controller.turn(self._wake):
                    with contextlib.suppress(BlockingIOError):
                        os.eventfd_read(self._wake)
        except _Closed:
            pass
        except LongfatError as error:
            words = str(error)
        except Exception as error:
            _LOG.exception("a live session")
            words = f"the session failed: internal error ({type(error).__name__}: {error})"
        finally:
            with self._lock:
                self._over = True
                # No more wake-ups: the descriptor's number may be reused.
                os.close(self._wake)
            self._finish()
            with contextlib.suppress(LongfatError):
                self._controller.close()
            self._listeners.event({"event": "ended", "words": words})
            self._listeners.end()
            for posted in self._posted:
                _let_go(posted)

    def _finish(self) -> None:
        """Save the current run, and wait until all are written."""
        self._last_s = time.monotonic() + _FINISH_WITHIN_S
        try:
            self._controller.finish()
        except _Closed:
            _LOG.warning("the machine of a session did not respond: its last run is not saved")
        except Exception:
            _LOG.exception("the end of a live session")
        self._run_writer.close()
        # A session that has ended accepts no more tasks.
        for posted in list(self._posted_late):
            posted()

    def _kept(self, number: int, result: WriteResult) -> None:
        """Report a saved run from the session's thread; from any thread."""
        with self._lock:
            is_late = self._over
            if is_late:
                self._posted_late.append(lambda: self._report_saved(number, result))
        if not is_late:
            self._post(lambda: self._report_saved(number, result))

    def _report_saved(self, number: int, result: WriteResult) -> None:
        if result.path is not None:
            self._controller.saved(number, result.path, result.advice)
        if result.message:
            self._controller.warn(result.message)

    def _check(self) -> None:
        """Raise in the thread, whatever it waits for, if it is to end.

        Raises:
            _Closed: it is to end.
        """
        if self._last_s is not None:  # the remaining work has its own time limit
            if time.monotonic() > self._last_s:
                raise _Closed
        elif self._closing.is_set() or self._is_closing():
            raise _Closed


def _settle(posted: _Posted) -> None:
    with contextlib.suppress(InvalidStateError):  # the waiter was cancelled
        posted.done.set_result(None)


def _let_go(posted: _Posted) -> None:
    if posted.else_end is not None:
        posted.else_end.end()
    _settle(posted)


MAX_SESSIONS = 32


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
            member.queue.join(member.name, self.count)
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
                if len(self._sessions) >= MAX_SESSIONS:
                    raise InputError(
                        f"{MAX_SESSIONS} networks are already running: end some of their sessions"
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

    def infos(self) -> list[SessionInfo]:
        """Return the descriptions of all running sessions."""
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
