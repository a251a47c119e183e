"""The sessions of a server, without machines: ends wait for nothing."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from longfat.studio.live import session as all_sessions
from longfat.studio.live.session import LiveSessions
from longfat.studio.workspace import Workspace
from tests.studio.live.conftest import STUDY


class HangingSession:
    """A session whose machine does not end."""

    def __init__(self, number: str, **more: Any) -> None:
        del more
        self.number = number
        self.is_ending = False
        self.has_machine = True
        self.ends = 0
        self.closed = threading.Event()

    def info(self) -> dict[str, Any]:
        return {"id": self.number}

    def end(self) -> None:
        self.is_ending = True
        self.ends += 1

    def close(self) -> None:
        self.end()
        self.closed.wait(60)


def test_an_end_waits_for_no_machine_and_the_machine_counts_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_sessions, "LiveSession", HangingSession)
    sessions = LiveSessions(workspace=Workspace(tmp_path))
    live: Any = sessions.create(name="small", text=STUDY, case=None)
    began_s = time.monotonic()
    assert sessions.end(live.number)
    assert not sessions.end(live.number)
    assert time.monotonic() - began_s < 5
    assert live.ends == 1
    assert sessions.find(live.number) is None
    assert sessions.infos() == []
    assert sessions.count() == 1
    live.has_machine = False
    assert sessions.count() == 0


def test_all_are_ended_before_any_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_sessions, "LiveSession", HangingSession)
    sessions = LiveSessions(workspace=Workspace(tmp_path))
    lives: list[Any] = [sessions.create(name="x", text=STUDY, case=None) for _ in range(3)]
    closing = threading.Thread(target=sessions.close)
    closing.start()
    end_s = time.monotonic() + 20
    while not all(one.is_ending for one in lives):
        assert time.monotonic() < end_s
        time.sleep(0.01)
    for one in lives:
        one.closed.set()
    closing.join()
