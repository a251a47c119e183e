"""The input of a command, read from this process's input on demand.

Input that is available when the command can take it is passed on at once, and takes no
virtual time: so from a file, or from a pipe that was written in time, the same
bytes come at the same moments. When there is none yet, time must pass, since
it is unknown whether the command reads at all; it may have been given an
input that never ends and never has data. But once such an input has had
data and was read to its end, the user interacts with the command, and time
passes no faster than in reality until more comes.
"""

from __future__ import annotations

import contextlib
import os
import select
import stat
from typing import TYPE_CHECKING

from longfat.engine.machine import Pace

if TYPE_CHECKING:
    from longfat.live.session import Session
    from longfat.live.task import Task

_CHUNK = 1 << 16
# The machine waits this long for an interactive input that may have more data.
_GRACE_S = 0.02
_REAL_TIME = 1.0


class Feed:
    """An input of this process, for a command.

    Args:
        descriptor: the input.
        session: the session that the command runs in.
        is_paced: a pace was specified, and must not be changed here.
    """

    def __init__(self, descriptor: int, session: Session, *, is_paced: bool) -> None:
        self._session = session
        self._is_paced = is_paced
        self._descriptor = None if _is_anothers_terminal(descriptor) else descriptor
        self._is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        self._is_dry = False
        self._said_something = False

    @property
    def waits_for(self) -> list[int]:
        """Return the descriptor that the command waits for, if it does."""
        return [self._descriptor] if self._is_dry and self._descriptor is not None else []

    def wanted(self, now_ns: int) -> bytes | None:
        """Return input, b"" at its end, or None if there is none yet.

        Args:
            now_ns: the virtual time since boot, in nanoseconds.
        """
        if self._descriptor is None:
            return b""
        grace_s = _GRACE_S if self._said_something else 0.0
        if not self._is_file and not select.select([self._descriptor], [], [], grace_s)[0]:
            self._is_dry = True
            if self._said_something and not self._is_paced:
                self._session.set_pace(Pace(factor=_REAL_TIME, from_s=now_ns / 1e9))
            return None
        return self._read(self._descriptor)

    def come(self, task: Task) -> None:
        """Pass available input to a command that waits for it."""
        if self._descriptor is None:
            return
        data = self._read(self._descriptor)
        if self._is_dry:
            self._is_dry = False
            if not self._is_paced:
                self._session.set_pace(None)
        self._session.write_stdin(task, data)

    def _read(self, descriptor: int) -> bytes:
        data = b""
        with contextlib.suppress(OSError):  # a terminal that is gone
            data = os.read(descriptor, _CHUNK)
        self._said_something = True
        if not data:
            self._descriptor = None
        return data


def _is_anothers_terminal(descriptor: int) -> bool:
    """Return whether it is a terminal that we must not read: we run in the background."""
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:
        return False
