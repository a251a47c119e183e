"""Whose turn it is to have a machine, where several persons share a computer.

Who wants a machine and finds none free gets a place in a queue, and keeps it by asking again. A
place is lost when nobody asks for it any more, so that a page that was closed holds up nobody;
and who has as many machines as one may have lets the others pass.

How many machines somebody has is asked of those who hold them, and never counted here: so no
machine that has ended, in whatever way, is held against anybody.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

from longfat.studio.http_error import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEPT_S = 15.0
"""So long a place in the queue is kept for who does not ask again."""

_ASK_EVERY_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Why somebody does not get a machine yet.

    Attributes:
        ahead: how many wait before them for one that is free.
        own: how many machines they have themselves.
        is_own_limit: they have as many as one may have.
        running: how many run, of all together.
    """

    ahead: int
    own: int
    is_own_limit: bool
    running: int

    @property
    def words(self) -> str:
        """What is waited for."""
        if self.is_own_limit:
            have = "a machine" if self.own == 1 else f"{self.own} machines"
            return f"You have {have} already, as many as one may have: end a session, or a job."
        before = {0: "you are next", 1: "one is before you"}.get(
            self.ahead, f"{self.ahead} are before you"
        )
        return f"Waiting for a machine: {self.running} run, as many as there may be; {before}."


@dataclass(slots=True)
class _Place:
    member: str
    key: str
    asked_s: float


class Turns:
    """The queue for machines; from any thread.

    Args:
        machines: how many may run at once.
        each: how many of them one member may have.
    """

    def __init__(self, *, machines: int, each: int) -> None:
        self._machines = machines
        self._each = each
        self._lock = threading.Lock()
        self._holders: dict[str, list[Callable[[], int]]] = {}
        self._queue: list[_Place] = []

    def join(self, member: str, count: Callable[[], int]) -> None:
        """Let a member hold machines.

        Args:
            member: who.
            count: tells how many they have; there may be several who hold some.
        """
        with self._lock:
            self._holders.setdefault(member, []).append(count)

    def take(self, member: str, key: str, *, begin: Callable[[], None]) -> Wait | None:
        """Take a machine, if it is one's turn.

        Args:
            member: who.
            key: what for; the place in the queue is kept for it.
            begin: called if it is, before anybody else's turn: from then on it counts.

        Returns:
            What is waited for; None if `begin` was called.
        """
        with self._lock:
            now_s = time.monotonic()
            self._queue = [one for one in self._queue if now_s - one.asked_s < KEPT_S]
            place = next((o for o in self._queue if (o.member, o.key) == (member, key)), None)
            if place is None:
                place = _Place(member, key, now_s)
                self._queue.append(place)
            place.asked_s = now_s
            counts = {one: self._count(one) for one in self._holders}
            running, own = sum(counts.values()), counts[member]
            ahead = 0
            taken = dict(counts)
            for other in self._queue[: self._queue.index(place)]:
                if taken[other.member] < self._each:
                    taken[other.member] += 1
                    ahead += 1
            if own >= self._each:
                return Wait(ahead=ahead, own=own, is_own_limit=True, running=running)
            if running + ahead >= self._machines:
                return Wait(ahead=ahead, own=own, is_own_limit=False, running=running)
            self._queue.remove(place)
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
    """Somebody who takes turns.

    Attributes:
        turns: the queue.
        name: who.
    """

    turns: Turns
    name: str

    def take(self, key: str, *, begin: Callable[[], None]) -> None:
        """Take a machine, or refuse: a page keeps the place in the queue by asking again.

        Args:
            key: what for.
            begin: as of `Turns.take`.

        Raises:
            Refusal: it is another one's turn, to be asked again; or they have as many machines
                as one may have.
        """
        wait = self.turns.take(self.name, key, begin=begin)
        if wait is None:
            return
        if wait.is_own_limit:
            self.turns.leave(self.name, key)
        status = HTTPStatus.TOO_MANY_REQUESTS
        raise Refusal(wait.words, status=status, is_queued=not wait.is_own_limit)

    def wait(
        self,
        key: str,
        *,
        begin: Callable[[], None],
        cancelled: threading.Event,
        on_wait: Callable[[str | None], None],
    ) -> bool:
        """Wait in this thread until it is one's turn.

        Args:
            key: what for.
            begin: as of `Turns.take`.
            cancelled: set by who gives up.
            on_wait: called with what is waited for whenever that changes, and with None at the end.

        Returns:
            Whether `begin` was called; False if they gave up.
        """
        reported: str | None = None
        try:
            while (wait := self.turns.take(self.name, key, begin=begin)) is not None:
                if wait.words != reported:
                    reported = wait.words
                    on_wait(reported)
                if cancelled.wait(_ASK_EVERY_S):
                    return False
        finally:
            self.turns.leave(self.name, key)
            on_wait(None)
        return True


class MachineTurns:
    """Turns for machines that one request starts and ends, such as for a script.

    Args:
        member: who takes turns at machines with others; None where nobody else does.
    """

    def __init__(self, member: Member | None) -> None:
        self._member = member
        self._lock = threading.Lock()
        self._running = 0
        if member is not None:
            member.turns.join(member.name, lambda: self._running)

    @contextlib.contextmanager
    def turn(self, key: str) -> Iterator[None]:
        """Have a machine.

        Args:
            key: what for; the place in the queue is kept for it.

        Raises:
            Refusal: as of `Member.take`.
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
