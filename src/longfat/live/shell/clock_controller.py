"""When time passes in a session with terminals, and how fast.

It is stopped while every terminal's shell waits at its prompt. It passes
while a command is in the foreground anywhere: as fast as the machine can, since
only the end matters; but in real time while a program reads keys
one by one, as editors, pagers and `top` do, because there a person decides what
comes next, and `top` should not flicker by. A pace that was specified holds for
both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.engine.machine import Pace

if TYPE_CHECKING:
    from longfat.live.session import Session

_REAL_TIME = 1.0


class ClockController:
    """Controls the time of a session as its terminals need it.

    Args:
        session: the session, which is held now.
        factor: virtual seconds in a second of wall time, while time passes; see above, if None.
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
        self._keys: bool | None = False if factor is None else None
        self._is_due = True
        self._is_going = False
        if factor is not None:
            self._set_pace(factor)

    def wake(self) -> None:
        """Let time pass: a terminal has something to react to."""
        self._is_due = True

    def resume(self) -> None:
        """Let time pass again if it should, and was held; at the appropriate pace."""
        if not self._session.is_held:
            return
        if self._is_going and self._session.why == "time":
            self.is_over = True
            return
        if self._is_going and self._session.why == "keys":
            self._say_keys(not self._keys)
            self._is_due = True
        elif self._keys:
            self._say_keys(False)  # all are at their prompts
        self._is_going = self._is_due
        if self._is_due:
            self._is_due = False
            self._session.begin(until_ns=self._until_ns, prompts=True, keys=self._keys)

    def _say_keys(self, keys: bool) -> None:
        self._keys = keys
        self._set_pace(_REAL_TIME if keys else None)

    def _set_pace(self, factor: float | None) -> None:
        from_s = self._session.now_s
        self._session.set_pace(None if factor is None else Pace(factor=factor, from_s=from_s))
