"""A session that a test speaks with as a page would, without a server between."""

from __future__ import annotations

import asyncio
import json
import struct
import threading
import time
from array import array
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from longfat.studio.broadcast import Listener
from longfat.studio.live import LiveSessions
from longfat.studio.live.session import LiveSession
from longfat.studio.workspace import Workspace

STUDY = """\
title: A small network
kernel: "6.1"
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 50mbit, delay: 10ms, queue: 250KB}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 2s}
  rtt: {ping: h1 -> h2, count: 3, after: bulk}
"""


class Page:
    """What a page knows of a session: all that it was sent."""

    def __init__(self, live: LiveSession, loop: asyncio.AbstractEventLoop) -> None:
        self.live = live
        self.events: list[dict[str, Any]] = []
        self.series: dict[tuple[int, str], tuple[list[float], list[float]]] = {}
        self.is_over = False
        self._changed = threading.Condition()
        asyncio.run_coroutine_threadsafe(self._listen(), loop)

    async def _listen(self) -> None:
        listener = Listener()
        self.live.join(listener)
        while (said := await listener.next()) is not None:
            with self._changed:
                if isinstance(said, str):
                    self.events.append(json.loads(said))
                else:
                    self._take_series(said)
                self._changed.notify_all()
        with self._changed:
            self.is_over = True
            self._changed.notify_all()

    def _take_series(self, data: bytes) -> None:
        (length,) = struct.unpack_from("<I", data)
        header = json.loads(data[4 : 4 + length])
        at = 4 + length + -(4 + length) % 8
        for entry in header["entries"]:
            key = (header["recording"], entry["key"])
            if header["whole"] or key not in self.series:
                self.series[key] = ([], [])
            for part in self.series[key]:
                numbers = array("d", data[at : at + 8 * entry["count"]])
                part.extend(numbers)
                at += 8 * entry["count"]

    def do(self, name: str, **fields: Any) -> None:
        self.live.do(json.dumps({"do": name, **fields}))

    def wait(self, until: Callable[[], Any], *, seconds: float = 60) -> Any:
        """Wait until something is so; no time passes here but the wall's."""
        end_s = time.monotonic() + seconds
        with self._changed:
            while not (found := until()):
                left_s = end_s - time.monotonic()
                assert left_s > 0, self.events[-5:]
                self._changed.wait(min(left_s, 1))
            return found

    def wait_for(self, until: Callable[[], Any], *, seconds: float = 30) -> bool:
        """Wait until something is so of which the page is not told."""
        end_s = time.monotonic() + seconds
        while not until():
            if time.monotonic() > end_s:
                return False
            time.sleep(0.01)
        return True

    def last(self, event: str) -> dict[str, Any] | None:
        return next((one for one in reversed(self.events) if one["event"] == event), None)

    @property
    def clock(self) -> dict[str, Any]:
        return self.last("clock") or {**self.state()["clock"]}

    def state(self) -> dict[str, Any]:
        found = self.last("state")
        assert found is not None
        return found

    def recording(self, number: int) -> dict[str, Any] | None:
        for one in reversed(self.events):
            if one["event"] == "recording" and one["recording"]["number"] == number:
                found: dict[str, Any] = one["recording"]
                return found
        return None

    def ended(self, number: int) -> dict[str, Any] | None:
        found = self.recording(number)
        return found if found and found["end_s"] is not None else None

    def messages(self) -> list[str]:
        return [one["text"] for one in self.events if one["event"] == "message"]

    def stands(self) -> bool:
        return bool(self.clock["state"] != "running")


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def sessions(tmp_path: Any, loop: asyncio.AbstractEventLoop) -> Iterator[LiveSessions]:
    del loop  # it ends after the sessions
    sessions = LiveSessions(workspace=Workspace(tmp_path))
    yield sessions
    sessions.close()


MakePage = Callable[..., Page]


@pytest.fixture
def make_page(sessions: LiveSessions, loop: asyncio.AbstractEventLoop) -> MakePage:
    def make(text: str = STUDY, *, case: str | None = None) -> Page:
        page = Page(sessions.create(name="small", text=text, case=case), loop)
        page.wait(lambda: page.last("state"))
        return page

    return make
