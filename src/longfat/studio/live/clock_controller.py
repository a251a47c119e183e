"""When virtual time passes in a session, and how fast.

The user may hold the clock: then time does not pass, except by steps. Otherwise it passes
while flows run, and while a command is in the foreground of a terminal; when all shells wait
at their prompts and no flow runs, it stops by itself, as in `longfat shell`.

While a command is in the foreground of a terminal it passes no faster than real time, so that
whoever types at two terminals can begin two programs side by side; a skip goes as fast as possible
until a command ends. For flows alone it passes as fast as possible. A pace set by the user applies
to all of them, except a skip.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from longfat.engine.machine import Pace
from longfat.live.shell import REAL_TIME
from longfat.live.shell.bash import SetPace, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from longfat.live.session import Session
    from longfat.live.task import Task
    from longfat.studio.live.events import Clock, ClockState
    from longfat.studio.live.messages import PaceChoice

_SPEED_OVER_S = 1.0
_NOT_SAID = -1.0


class ClockController:
    """Controls a session's virtual time.

    Args:
        session: the session, which is held.

    Attributes:
        is_held: the user holds the clock.
        pace: the pace set by the user.
        running: the shells of terminals with a command in the foreground.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.is_held = False
        self.pace: PaceChoice = None
        self.running: tuple[Task, ...] = ()
        self._skipped: tuple[Task, ...] = ()
        self._until_ns: int | None = None
        self._is_due = True
        self._is_going = False
        self._plays = False
        self._factor: float | None = _NOT_SAID

    @property
    def state(self) -> ClockState:
        """Return whether time passes."""
        if self._is_going:
            return "running"
        return "held" if self.is_held else "idle"

    @property
    def may_pass(self) -> bool:
        """Return whether time may pass now: the user does not hold it, or requested a step."""
        return not self.is_held or (
            self._until_ns is not None and self._session.now_ns < self._until_ns
        )

    def wake(self) -> None:
        """Let time pass: a terminal has input."""
        self._is_due = True

    def pause(self) -> None:
        """Pause time for the current work; `resume_time` then resumes."""
        if not self._session.is_held:
            self._session.pause()
            # A command in the foreground of a terminal was stopped with the rest.
            self._is_due = True

    def hold(self) -> None:
        """Hold time until the user resumes it."""
        self.is_held = True
        self._until_ns = None
        self.pause()

    def resume(self) -> None:
        """Resume time after `hold`."""
        self.is_held = False
        self._until_ns = None
        self._is_due = True

    def step(self, by_ns: int) -> None:
        """Let time advance by nanoseconds, and hold."""
        self.pause()
        self.is_held = True
        self._until_ns = self._session.now_ns + by_ns

    def set_pace(self, pace: PaceChoice) -> None:
        """Set the pace requested by the user."""
        self.pace = pace
        self._factor = _NOT_SAID

    @property
    def is_skipping(self) -> bool:
        """Return whether time passes as fast as possible until a command ends."""
        return bool(self._skipped)

    def skip(self, tasks: Sequence[Task]) -> None:
        """Let time pass as fast as possible until the shell of one of these is at its prompt.

        Args:
            tasks: the shells of terminals; none to end a skip.
        """
        self.pause()
        self._skipped = tuple(tasks)

    def toggle_skip(self, *, asks: Task | None = None) -> None:
        """Skip to the end of the first command that ends, or stop doing so.

        Args:
            asks: the shell whose command asks, and is not waited for.
        """
        self.skip(() if self.is_skipping else [task for task in self.running if task is not asks])

    def handle(self, requests: Iterable[tuple[Task, Skip | SetPace]]) -> None:
        """Do what commands typed at terminals request of the clock.

        Args:
            requests: the requests, each with its shell.
        """
        for task, request in requests:
            if isinstance(request, SetPace):
                self.set_pace("max" if request.factor is None else request.factor)
            elif request.own:
                self.skip([task])
            else:
                self.toggle_skip(asks=task)

    def resume_time(self, *, due_ns: int | None, awaited: Sequence[Task]) -> None:
        """Let time pass again, if it may and was paused.

        Args:
            due_ns: the time of the next action for flows, in nanoseconds of virtual time
                since boot.
            awaited: the processes of flows to wait for.
        """
        if not self._session.is_held:
            self._keep_pace()
            return
        if self._is_going and self._session.stop_reason in ("finished", "prompts"):
            self._skipped = ()
            self._is_due = self._is_due or self._session.stop_reason == "finished"
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
        self._keep_pace()
        ends = [one for one in (due_ns, self._until_ns) if one is not None]
        # A step advances time even if all processes are idle.
        prompts = not plays and not self.is_held
        until_ns = max(min(ends), now_ns + 1) if ends else None
        self._session.resume(
            until_ns=until_ns, ended=awaited, finished=self._skipped, prompts=prompts
        )
        self._is_going = True

    def _keep_pace(self) -> None:
        if self._skipped:
            factor = None
        elif self.pace is None:
            factor = None if self._plays and not self.running else REAL_TIME
        else:
            factor = None if self.pace == "max" else self.pace
        if factor != self._factor:
            self._factor = factor
            pace = None if factor is None else Pace(factor=factor, from_s=self._session.passing_s)
            self._session.set_pace(pace)


class ClockReport:
    """The state of a page's clock: the time, and its speed.

    Args:
        session: the session.
        clock: its clock's controller.
    """

    def __init__(self, session: Session, clock: ClockController) -> None:
        self._session = session
        self._clock = clock
        self._lately: deque[tuple[float, float]] = deque()
        self._shown: Clock | None = None

    def unsent(self) -> Clock | None:
        """Return the state if it has changed since the last call, else None."""
        now = self.to_json()
        if now == self._shown:
            return None
        self._shown = now
        return now

    def to_json(self) -> Clock:
        """Return it as an event has it."""
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
            "commands": len(self._clock.running),
            "skipping": self._clock.is_skipping,
        }
