"""When time passes in a room, and how fast.

A person may hold it: then it stands still, or goes on by a step. Otherwise it
passes while flows run, and while a command is in the foreground of a terminal;
when all terminals' shells wait at their prompts and no flow runs, it stands
still by itself, as in `longfat shell`.

For flows, and for commands that end by themselves, it passes as fast as the
machine can. Where all that goes on at terminals is what somebody has to end, it
passes in real time: a server that waits for clients would otherwise race through
years. A pace that was asked for holds for all of them.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Any, Literal

from longfat.engine.machine import Pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live.session import Session, Task

PaceChoice = float | Literal["max"] | None
"""Virtual seconds in a second of wall time, as fast as it goes, or as the module says."""

_REAL_TIME = 1.0
_SPEED_OVER_S = 1.0
_NOT_SAID = -1.0


class ClockController:
    """Lets a session's time pass.

    Args:
        session: the session, which is held now.

    Attributes:
        is_held: a person holds it.
        pace: as a person asked.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.is_held = False
        self.pace: PaceChoice = None
        self._until_ns: int | None = None
        self._is_due = True
        self._is_going = False
        self._plays = False
        self._factor: float | None = _NOT_SAID

    @property
    def state(self) -> str:
        """Return "running", "idle" or "held"."""
        if self._is_going:
            return "running"
        return "held" if self.is_held else "idle"

    @property
    def may_pass(self) -> bool:
        """Return whether time may pass now: no person holds it, or asked for a step."""
        return not self.is_held or (
            self._until_ns is not None and self._session.now_ns < self._until_ns
        )

    def wake(self) -> None:
        """Let time pass: a terminal has something to react to."""
        self._is_due = True

    def rest(self) -> None:
        """Let no time pass for what is to be done now; `go_on` then goes on as before."""
        if not self._session.is_held:
            self._session.pause()
            # A command in the foreground of a terminal was stopped with the rest.
            self._is_due = True

    def hold(self) -> None:
        """Let no more time pass, until a person says so."""
        self.is_held = True
        self._until_ns = None
        self.rest()

    def go(self) -> None:
        """Take the person's hold back."""
        self.is_held = False
        self._until_ns = None
        self._is_due = True

    def step(self, by_ns: int) -> None:
        """Let so much time pass, in nanoseconds, and hold."""
        self.rest()
        self.is_held = True
        self._until_ns = self._session.now_ns + by_ns

    def set_pace(self, pace: PaceChoice) -> None:
        """Take over the pace that a person asked for."""
        self.pace = pace
        self._factor = _NOT_SAID

    def go_on(self, *, due_ns: int | None, awaited: Sequence[Task], in_hurry: bool) -> None:
        """Let time pass again, if it is to and was held.

        Args:
            due_ns: when something is to be done for flows, in nanoseconds of virtual time
                since boot.
            awaited: the processes of flows that are to be waited for.
            in_hurry: at a terminal there is a command that ends by itself.
        """
        if not self._session.is_held:
            self._keep_pace(in_hurry=in_hurry)
            return
        self._is_going = False
        if not self.may_pass:
            self._until_ns = None
            return
        now_ns = self._session.now_ns
        plays = bool(awaited) or due_ns is not None
        if not (plays or self._is_due or self.is_held):
            return
        self._is_due = False
        self._plays = plays
        self._keep_pace(in_hurry=in_hurry)
        ends = [one for one in (due_ns, self._until_ns) if one is not None]
        # A step passes, whether anything has to do or not.
        prompts = not plays and not self.is_held
        until_ns = max(min(ends), now_ns + 1) if ends else None
        self._session.begin(until_ns=until_ns, ended=awaited, prompts=prompts)
        self._is_going = True

    def _keep_pace(self, *, in_hurry: bool) -> None:
        if self.pace is None:
            factor = None if self._plays or in_hurry else _REAL_TIME
        else:
            factor = None if self.pace == "max" else self.pace
        if factor != self._factor:
            self._factor = factor
            pace = None if factor is None else Pace(factor=factor, from_s=self._session.passing_s)
            self._session.set_pace(pace)


class ClockFace:
    """What a page's clock shows: the time, and how fast it passes.

    Args:
        session: the session.
        clock: what lets its time pass.
    """

    def __init__(self, session: Session, clock: ClockController) -> None:
        self._session = session
        self._clock = clock
        self._lately: deque[tuple[float, float]] = deque()
        self._shown: dict[str, Any] = {}

    def news(self) -> dict[str, Any] | None:
        """Return what it shows if that is another thing than the last time, else None."""
        now = self.to_json()
        if now == self._shown:
            return None
        self._shown = now
        return now

    def to_json(self) -> dict[str, Any]:
        """Return it as `Clock` of the page's `api/types.ts`."""
        now_s = self._session.now_s if self._session.is_held else self._session.passing_s
        wall_s = time.monotonic()
        self._lately.append((wall_s, now_s))
        while len(self._lately) > 2 and wall_s - self._lately[0][0] > _SPEED_OVER_S:
            self._lately.popleft()
        first_s, first_now_s = self._lately[0]
        passed_s = wall_s - first_s
        speed = (now_s - first_now_s) / passed_s if passed_s > 0 else 0.0
        state = self._clock.state
        return {
            "now_s": now_s,
            "state": state,
            "speed": round(speed, 4) if state == "running" else 0.0,
            "pace": self._clock.pace,
        }
