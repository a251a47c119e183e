"""The only function in which virtual time passes, and the thread for calls that may block.

Packets are read in the moment in which the kernel sends them: nothing else runs while the
clock stands still, so what poll(2) reports, it reports at once. And what we do takes no time,
not even reading the clock, which costs everybody else 256 ns (`take_no_time`).
"""

from __future__ import annotations

import ctypes
import os
import select
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from longfat.guest import system
from longfat_packetdrill.guest.calls import Prepared
from longfat_packetdrill.guest.device import Device

# Virtual time passes only when nothing can run: after so little, all has come to rest.
_REST_NS = 1000
_NEVER_NS = 1 << 61


def take_no_time() -> None:
    """Let this thread read the clock for nothing from now on, and the kernel that works for it.

    A script's packets and calls then come at their times exactly, and RTTs that are written
    down as 100 ms are measured as 100 ms. See kernel/patches/all/10-sample-clock.patch: who
    has read a tick has free time until the next read, which never comes.

    Raises:
        OSError: the kernel was built without that patch.
    """
    clock = os.open("/dev/sample_clock", os.O_RDWR | os.O_CLOEXEC)
    os.write(clock, struct.pack("<QQ", _REST_NS, _NEVER_NS))
    os.read(clock, 8)


class OverLimitError(Exception):
    """The virtual time that the script may take is over."""


class FloodError(Exception):
    """The kernel has sent more packets than anybody looks at."""


class Waiting:
    """What is waited for.

    Args:
        device: where packets come from.
        limit_ns: how long it may take from the start, in ns of virtual time.
        record: called for each packet that the kernel sends, with its time.
    """

    _MAX_PACKETS = 100_000

    def __init__(
        self, device: Device, *, limit_ns: int, record: Callable[[int, bytes], None]
    ) -> None:
        self._device = device
        self._record = record
        self._limit_ns = limit_ns
        self._timer = system.timer_descriptor()
        self._poll = select.poll()
        self._poll.register(device.fd, select.POLLIN)
        self._poll.register(self._timer, select.POLLIN)
        self._readers: dict[int, Callable[[], None]] = {}
        self._start_ns = 0
        self._seen = 0
        self.packets: deque[tuple[int, bytes]] = deque()

    def start(self, start_ns: int) -> None:
        """Say when the script's time begins, in ns of the monotonic clock, and wait for it."""
        self._start_ns = start_ns
        self.until(0)
        self.packets.clear()

    def now_ns(self) -> int:
        """Return the script's time, in ns."""
        return time.monotonic_ns() - self._start_ns

    def on(self, descriptor: int, read: Callable[[], None]) -> None:
        """Call `read` whenever a descriptor can be read."""
        self._readers[descriptor] = read
        self._poll.register(descriptor, select.POLLIN)

    def off(self, descriptor: int) -> None:
        """Look at a descriptor no more."""
        self._readers.pop(descriptor)
        self._poll.unregister(descriptor)

    def until(self, when_ns: int, *, done: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass until a moment of the script, or until something is done.

        Returns:
            Whether it is done; False, if the moment has come.

        Raises:
            OverLimitError: the script's time is over.
            FloodError: the kernel sends packets without end.
        """
        moment_ns = min(when_ns, self._limit_ns)
        system.set_timer(self._timer, max(1, self._start_ns + moment_ns))
        while not done():
            ready = {descriptor for descriptor, _ in self._poll.poll()}
            if self._device.fd in ready:
                self._take()
            for descriptor in ready & set(self._readers):
                self._readers[descriptor]()
            if self._timer in ready and not done():
                os.read(self._timer, 8)
                if moment_ns < when_ns:
                    raise OverLimitError
                return False
        return True

    def rest(self) -> None:
        """Wait until nothing else can run at this moment."""
        self.until(self.now_ns() + _REST_NS)

    def _take(self) -> None:
        now_ns = self.now_ns()
        while (packet := self._device.read()) is not None:
            self._seen += 1
            if self._seen > self._MAX_PACKETS:
                raise FloodError
            self._record(now_ns, packet)
            self.packets.append((now_ns, packet))


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
