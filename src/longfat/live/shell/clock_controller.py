"""When time passes in a session with terminals, and how fast.

It is stopped while every terminal's shell waits at its prompt. It passes
while a command is in the foreground anywhere, at the session's pace. A shell of a
network has real time, so that whoever types at two terminals, one after the other,
can begin two programs side by side; `longfat exec` goes as fast as the machine can,
since only the end matters there. At full speed, time passes in real time while a
program reads keys one by one, as editors, pagers and `top` do: there a person decides
what comes next, and `top` should not flicker by. A skip goes at full speed until a
command ends, whoever reads keys meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.engine.machine import Pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from longfat.live.session import Session
    from longfat.live.task import Task

REAL_TIME = 1.0


class ClockController:
    """Controls the time of a session as its terminals need it.

    Args:
        session: the session, which is held now.
        factor: virtual seconds in a second of wall time, while time passes; full speed, if None.
        until_ns: the time limit, in nanoseconds of virtual time since boot; none, if None.

    Attributes:
        is_over: the time limit is reached.
    """

    def __init__(
        self, session: Session, *, factor: float | None, until_ns: int | None = None
    ) -> None:
        self._session = session
        self._until_ns = until_ns
        self.is_over = False
        self._factor = factor
        self._skipped: tuple[Task, ...] = ()
        self._keys: bool | None = None
        self._is_due = True
        self._is_going = False
        self._apply_pace()

    @property
    def is_skipping(self) -> bool:
        """Return whether time passes at full speed until a command ends."""
        return bool(self._skipped)

    def wake(self) -> None:
        """Let time pass: a terminal has something to react to."""
        self._is_due = True

    def set_factor(self, factor: float | None) -> None:
        """Change the pace; a skip goes on."""
        self._interrupt()
        self._factor = factor
        self._apply_pace()

    def skip(self, tasks: Sequence[Task]) -> None:
        """Go at full speed until the shell of one of these is at its prompt.

        Args:
            tasks: the shells of terminals; none to end a skip.
        """
        self._interrupt()
        self._skipped = tuple(tasks)
        self._apply_pace()

    def resume(self) -> None:
        """Let time pass again if it should, and was held; at the appropriate pace."""
        if not self._session.is_held:
            return
        why = self._session.stop_reason if self._is_going else ""
        if why == "time":
            self.is_over = True
            return
        if why in ("finished", "prompts") and self._skipped:
            self._skipped = ()
            self._apply_pace()
            self._is_due = self._is_due or why == "finished"
        elif why == "keys":
            self._apply_pace(keys=not self._keys)
            self._is_due = True
        elif self._keys:
            self._apply_pace()  # all are at their prompts
        self._is_going = self._is_due
        if self._is_due:
            self._is_due = False
            self._session.resume(
                until_ns=self._until_ns, finished=self._skipped, prompts=True, keys=self._keys
            )

    def _interrupt(self) -> None:
        """Hold the session, if its time passes, until `resume`."""
        if not self._session.is_held:
            self._session.pause()
            self._is_due = True

    def _apply_pace(self, *, keys: bool = False) -> None:
        """Set the machine's pace.

        Args:
            keys: a program reads keys; counts at full speed only.
        """
        is_fast = self._factor is None and not self._skipped
        self._keys = keys if is_fast else None
        factor = None if self._skipped else REAL_TIME if self._keys else self._factor
        from_s = self._session.now_s
        self._session.set_pace(None if factor is None else Pace(factor=factor, from_s=from_s))
