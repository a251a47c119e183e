"""A thread that makes the calls which a script lets block (`0...0.2 read(...)`)."""

import ctypes
import os
import threading
from collections.abc import Callable
from typing import Any

from longfat.guest.packetdrill.calls import Prepared
from longfat.guest.packetdrill.waiting import Waiting


class Worker:
    """Makes calls, one after the other, beside the script.

    Args:
        waiting: woken when a call has returned.
    """

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._order = threading.Semaphore(0)
        self._ready = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._run: Callable[[], int] | None = None
        self.event: dict[str, Any] | None = None
        self.prepared: Prepared | None = None
        self.due_ns = 0
        self.result = self.errno = self.end_ns = 0
        self.is_done = True
        waiting.on(self._ready, self._take)
        threading.Thread(target=self._work, daemon=True).start()

    def start(self, event: dict[str, Any], prepared: Prepared, *, due_ns: int) -> None:
        """Begin a call."""
        self.event, self.prepared, self.due_ns = event, prepared, due_ns
        self.is_done = False
        self._run = prepared.run
        self._order.release()

    def _take(self) -> None:
        os.eventfd_read(self._ready)
        self.is_done = True

    def _work(self) -> None:
        while True:
            self._order.acquire()
            assert self._run is not None
            ctypes.set_errno(0)
            self.result = self._run()
            self.errno = ctypes.get_errno()
            self.end_ns = self._waiting.now_ns()
            os.eventfd_write(self._ready, 1)
