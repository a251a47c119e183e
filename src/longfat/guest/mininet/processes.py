"""Processes that a script starts by multiprocessing, as threads: what they type is noted, too.

A process forked from the script would note what it does in a record of its own, which nobody
reads. Scripts run clients at once by it, and sample queues while their traffic runs.
"""

import multiprocessing
import os
import sys
import threading
from types import FrameType
from typing import Any

from longfat.guest.mininet.record import RECORD

_OWN_PID = os.getpid()


class TerminatedError(BaseException):
    """The script has ended the process; no `except Exception` of its own stops it."""


class Process(threading.Thread):
    """A process of multiprocessing.

    Attributes:
        at: the line and the column of the script that made it.
        samples: it samples the same thing over and over, and is ended: a probe does that.
    """

    def __init__(
        self,
        group: None = None,
        target: Any = None,
        name: "str | None" = None,
        args: Any = (),
        kwargs: Any = None,
        *,
        daemon: "bool | None" = None,
    ) -> None:
        super().__init__(group, target, name, tuple(args), dict(kwargs or {}))
        self.daemon = True  # a thread that goes on ends with the script
        self.at = RECORD.place()
        self.samples = False
        self._is_terminated = False
        self.pid: int | None = None
        self.exitcode: int | None = None

    def start(self) -> None:
        """Run it in a thread, whose trace function ends it when it is terminated."""
        body, outer = self.run, threading.gettrace()

        def traced(frame: FrameType, event: Any, argument: Any) -> Any:
            if self._is_terminated:
                raise TerminatedError
            if RECORD.is_of_script(frame):
                if outer is not None:
                    outer(frame, event, argument)
                return traced
            return None

        def run() -> None:
            sys.settrace(traced)
            try:
                body()
                self.exitcode = 0
            except TerminatedError:
                self.exitcode = None if self.samples else -15
            except SystemExit as end:
                self.exitcode = end.code if isinstance(end.code, int) else 0
            except BaseException:
                self.exitcode = 1
                raise
            finally:
                sys.settrace(None)

        self.run = run  # type: ignore[method-assign]
        self.pid = _OWN_PID
        super().start()

    def end_sampling(self) -> None:
        """End it, in its own thread, since a probe samples what it does.

        Raises:
            TerminatedError: always.
        """
        self.samples = True
        raise TerminatedError

    def terminate(self) -> None:
        """End it at its next step."""
        self._is_terminated = True
        if self.exitcode is None:
            self.exitcode = -15

    kill = terminate

    def is_alive(self) -> bool:
        """Return whether it would still run."""
        if self._is_terminated:
            return False
        return super().is_alive() or (self.samples and self.exitcode is None)

    def join(self, timeout: "float | None" = None) -> None:
        """Wait for it, unless it is to be ended at its next step."""
        if not self._is_terminated and not self.samples:
            super().join(timeout)

    def close(self) -> None:
        """Do nothing: a thread holds nothing."""


def install_processes() -> None:
    """Put `Process` where scripts import that of multiprocessing."""
    multiprocessing.Process = Process  # type: ignore[misc, assignment]
