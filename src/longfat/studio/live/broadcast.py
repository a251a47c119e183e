"""Who looks at a room, and how what happens there reaches them.

A room speaks in its own thread, its listeners wait in the server's event loop.
A listener that does not take what it is told is cut off, rather than waited
for: its page connects anew and is told the whole state.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterable
from typing import Any, TypeAlias

Said: TypeAlias = str | bytes
"""A message of a WebSocket: JSON, or binary."""

MOST_WAITING = 2000
"""So many messages may wait for a listener."""

MOST_WAITING_BYTES = 32 * 1024**2
"""So large may be what waits for a listener when it is told more."""


class Listener:
    """Somebody who looks; made in the event loop that it listens in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Said | None] = asyncio.Queue()
        self._cut = asyncio.Event()
        self._lock = threading.Lock()
        self._waiting = 0
        self._waiting_bytes = 0
        self._ended = False

    @property
    def waiting_bytes(self) -> int:
        """How much waits for it; from any thread."""
        return self._waiting_bytes

    def tell(self, said: Iterable[Said]) -> None:
        """Tell it something; from any thread."""
        for one in said:
            self._put(one)

    def end(self) -> None:
        """Let it hear what waits for it, and nothing more; from any thread."""
        self._put(None)

    async def next(self) -> Said | None:
        """Return what it is told next; None at the end."""
        found = await self._queue.get()
        with self._lock:
            self._waiting -= 1
            self._waiting_bytes -= len(found or "")
        return found

    async def cut(self) -> None:
        """Wait until it is cut off, for it does not take what it is told."""
        await self._cut.wait()

    def _put(self, one: Said | None) -> None:
        with self._lock:
            if self._ended:
                return
            is_full = self._waiting >= MOST_WAITING or self._waiting_bytes > MOST_WAITING_BYTES
            self._ended = one is None or is_full
            if not is_full:
                self._waiting += 1
                self._waiting_bytes += len(one or "")
        try:
            if is_full:
                self._loop.call_soon_threadsafe(self._cut_off)
            else:
                self._loop.call_soon_threadsafe(self._queue.put_nowait, one)
        except RuntimeError:
            self._ended = True  # the server has ended

    def _cut_off(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)
        self._cut.set()


class Listeners:
    """All that look at a room; what they are told, they are told in one order."""

    def __init__(self) -> None:
        self._all: list[Listener] = []

    def add(self, listener: Listener) -> None:
        """Let somebody look from now on."""
        self._all.append(listener)

    def discard(self, listener: Listener) -> None:
        """Tell somebody nothing more."""
        if listener in self._all:
            self._all.remove(listener)

    def event(self, event: str, /, **fields: Any) -> None:
        """Tell all of an event: `SessionEvent` of the page's `api/types.ts`."""
        self.tell([json.dumps({"event": event, **fields})])

    def message(self, level: str, text: str, *, about: str = "") -> None:
        """Tell all a message for people.

        Args:
            level: `error`, `warning` or `info`.
            text: the message.
            about: the order that it is about.
        """
        self.event("message", level=level, text=text, about=about)

    def tell(self, said: Iterable[Said]) -> None:
        """Tell all the same messages."""
        told = list(said)
        for listener in self._all:
            listener.tell(told)

    def end(self) -> None:
        """Tell nobody anything more."""
        for listener in self._all:
            listener.end()
        self._all.clear()
