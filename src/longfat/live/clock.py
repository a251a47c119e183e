"""The virtual time of a live network, under the caller's control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from longfat.engine.machine import Pace
from longfat.engine.machine.pace import MAX_FACTOR, MIN_FACTOR
from longfat.errors import InputError

if TYPE_CHECKING:
    from longfat.live.session import Session


class Clock:
    """The clock of a live network.

    It is stopped between two calls. A call such as `run` or `sleep` lets it
    run, as fast as the machine can unless a pace was set.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._factor: float | None = None

    @property
    def now(self) -> float:
        """The virtual time since boot, in seconds."""
        return self._session.now_s

    @property
    def factor(self) -> float | None:
        """How many virtual seconds may pass in a second of wall time; None for no limit."""
        return self._factor

    def pace(self, factor: float | None) -> None:
        """Limit how fast time may pass while it does: no result depends on it.

        Args:
            factor: virtual seconds in a second of wall time; 1.0 is real time, None
                is as fast as the machine can.

        Raises:
            InputError: the factor is out of bounds.
        """
        if factor is not None and not MIN_FACTOR <= factor <= MAX_FACTOR:
            raise InputError(
                f"a pace is between {MIN_FACTOR:g} and {MAX_FACTOR:g}, but this is {factor:g}"
            )
        self._factor = factor
        pace = None if factor is None else Pace(factor=factor, from_s=self._session.now_s)
        self._session.set_pace(pace)

    def hold(self) -> None:
        """Stop time: the call that lets it pass returns.

        It is useful where other code runs meanwhile: in a callback for output,
        or in another thread. Processes in the network continue with the next call.
        """
        self._session.hold()
