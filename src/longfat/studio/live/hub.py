"""Who looks at a room, and how what happens there reaches them.

A room speaks in its own thread, its listeners wait in the server's event loop.
A listener that does not take what it is told is cut off, rather than waited
for: its page connects anew and is told the whole state.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from typing import TypeAlias

Said: TypeAlias = str | bytes
"""A message of a WebSocket: JSON, or binary."""

MOST_WAITING = 2000
"""So many messages may wait for a listener."""


class Listener:
    """Somebody who looks; made in the event loop that it listens in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Said | None] = asyncio.Queue()
        self._lock = threading.Lock()
        self._waiting = 0
        self._ended = False

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
        return found

    def _put(self, one: Said | None) -> None:
        with self._lock:
            if self._ended:
                return
            if self._waiting >= MOST_WAITING:
                one = None
            self._ended = one is None
            self._waiting += 1
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, one)
        except RuntimeError:
            self._ended = True  # the server has ended
