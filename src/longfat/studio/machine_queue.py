"""The queue for machines, where several users share a computer.

A request for a machine that finds none free gets a place in the queue, and keeps it by being
repeated. A place expires when its requests stop, so that a closed page blocks nobody; a member
with the maximum number of machines is passed over.

The number of a member's machines is always queried from their owners, and never counted here:
so a machine that has ended, in whatever way, does not count.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from longfat.studio.http import HttpError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEPT_S = 15.0
"""How long a place in the queue is kept without a repeated request."""

_ASK_EVERY_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuePosition:
    """The position of a member in the queue, and why it does not get a machine yet.

    Attributes:
        ahead: how many are before them in the queue.
        own: how many machines they have.
        is_own_limit: they have the maximum number.
        running: how many are running, of all members.
    """

    ahead: int
    own: int
    is_own_limit: bool
    running: int

    @property
    def words(self) -> str:
        """The message for the user."""
        if self.is_own_limit:
            have = "a machine" if self.own == 1 else f"{self.own} machines"
            return f"You have {have} already, as many as one may have: end a session, or a job."
        before = {0: "you are next", 1: "one is before you"}.get(
            self.ahead, f"{self.ahead} are before you"
        )
        return f"Waiting for a machine: {self.running} run, as many as there may be; {before}."


@dataclass(slots=True)
class _Ticket:
    member: str
    key: str
    asked_s: float


class MachineQueue:
    """The queue for machines; thread-safe.

    Args:
        machines: how many may run at once.
        max_per_member: how many of them one member may have.
    """

    def __init__(self, *, machines: int, max_per_member: int) -> None:
        self._machines = machines
        self._max_per_member = max_per_member
        self._lock = threading.Lock()
        self._holders: dict[str, list[Callable[[], int]]] = {}
        self._queue: list[_Ticket] = []

    def join(self, member: str, count: Callable[[], int]) -> None:
        """Register an owner of a member's machines.

        Args:
            member: who.
            count: returns how many it has; a member may have several owners.
        """
        with self._lock:
            self._holders.setdefault(member, []).append(count)

    def take(self, member: str, key: str, *, begin: Callable[[], None]) -> QueuePosition | None:
        """Take a machine, if it is the member's turn.

        Args:
            member: who.
            key: what for; the place in the queue is kept for it.
            begin: called if it is, before anyone else's turn: from then on the machine counts.

        Returns:
            Why it has to wait; None if `begin` was called.
        """
        with self._lock:
            now_s = time.monotonic()
            self._queue = [one for one in self._queue if now_s - one.asked_s < KEPT_S]
            ticket = next((o for o in self._queue if (o.member, o.key) == (member, key)), None)
            if ticket is None:
                ticket = _Ticket(member, key, now_s)
                self._queue.append(ticket)
            ticket.asked_s = now_s
            counts = {one: self._count(one) for one in self._holders}
            running, own = sum(counts.values()), counts[member]
            ahead = 0
            taken = dict(counts)
            for other in self._queue[: self._queue.index(ticket)]:
                if taken[other.member] < self._max_per_member:
                    taken[other.member] += 1
                    ahead += 1
            if own >= self._max_per_member:
                return QueuePosition(ahead=ahead, own=own, is_own_limit=True, running=running)
            if running + ahead >= self._machines:
                return QueuePosition(ahead=ahead, own=own, is_own_limit=False, running=running)
            self._queue.remove(ticket)
            begin()
            return None

    def leave(self, member: str, key: str) -> None:
        """Give up a place in the queue."""
        with self._lock:
            self._queue = [o for o in self._queue if (o.member, o.key) != (member, key)]

    def state(self, member: str) -> tuple[int, int]:
        """Return how many machines a member has, and how many they wait for."""
        with self._lock:
            now_s = time.monotonic()
            waiting = sum(
                one.member == member and now_s - one.asked_s < KEPT_S for one in self._queue
            )
            return self._count(member), waiting

    def _count(self, member: str) -> int:
        return sum(count() for count in self._holders[member])


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of the class.

    Attributes:
        queue: the queue.
        name: the member's name.
    """

    queue: MachineQueue
    name: str

    def take(self, key: str, *, begin: Callable[[], None]) -> None:
        """Take a machine, or raise `HttpError`: repeating the request keeps the place in the queue.

        Args:
            key: what for.
            begin: as of `MachineQueue.take`.

        Raises:
            HttpError: the request is queued, to be repeated; or the member has the maximum
                number of machines.
        """
        position = self.queue.take(self.name, key, begin=begin)
        if position is None:
            return
        if position.is_own_limit:
            self.queue.leave(self.name, key)
        status = HTTPStatus.TOO_MANY_REQUESTS
        raise HttpError(position.words, status=status, is_queued=not position.is_own_limit)

    def wait(
        self,
        key: str,
        *,
        begin: Callable[[], None],
        cancelled: threading.Event,
        on_wait: Callable[[str | None], None],
    ) -> bool:
        """Wait in this thread until it is the member's turn.

        Args:
            key: what for.
            begin: as of `MachineQueue.take`.
            cancelled: set to stop waiting.
            on_wait: called when the reason for the wait changes, and with None at the end.

        Returns:
            Whether `begin` was called; False if it was cancelled.
        """
        reported: str | None = None
        try:
            while (position := self.queue.take(self.name, key, begin=begin)) is not None:
                if position.words != reported:
                    reported = position.words
                    on_wait(reported)
                if cancelled.wait(_ASK_EVERY_S):
                    return False
        finally:
            self.queue.leave(self.name, key)
            on_wait(None)
        return True


class MachineAccess:
    """The queue for machines that exist for one request only, such as for a script.

    Args:
        member: the member of a class in the queue for machines; None without a class.
    """

    def __init__(self, member: Member | None) -> None:
        self._member = member
        self._lock = threading.Lock()
        self._running = 0
        if member is not None:
            member.queue.join(member.name, lambda: self._running)

    @contextlib.contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Hold a machine.

        Args:
            key: what for; the place in the queue is kept for it.

        Raises:
            HttpError: as of `Member.take`.
        """
        if self._member is None:
            yield
            return
        self._member.take(key, begin=self._begin)
        try:
            yield
        finally:
            with self._lock:
                self._running -= 1

    def _begin(self) -> None:
        with self._lock:
            self._running += 1
