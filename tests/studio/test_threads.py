"""Requests and readers of studies of one workspace hold up no other workspace, nor the end."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from longfat.studio import threads
from longfat.studio.http import HttpError
from longfat.studio.threads import (
    MAX_THREADS,
    BusyError,
    StudyReader,
    ThreadMiddleware,
    run_in_threadpool,
)
from longfat.study.expansion import ExpansionLimits
from tests.study.messages import grid

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


def test_a_workspace_whose_requests_wait_holds_no_other_one() -> None:
    go_on = threading.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        await run_in_threadpool(go_on.wait, 60)

    async def answers(scope: Scope, receive: Receive, send: Send) -> None:
        del scope, receive, send
        await run_in_threadpool(time.sleep, 0)

    async def ask(app: ThreadMiddleware) -> None:
        unused: Any = None
        await app({}, unused, unused)

    async def main() -> None:
        slow, quick = ThreadMiddleware(waits), ThreadMiddleware(answers)
        waiting = [asyncio.ensure_future(ask(slow)) for _ in range(60)]
        await asyncio.sleep(0.1)
        for _ in range(MAX_THREADS + 1):
            await asyncio.wait_for(ask(quick), 20)
        assert not any(one.done() for one in waiting)
        go_on.set()
        await asyncio.gather(*waiting)

    asyncio.run(main())


PROGRAM = """
import sys, time
from pathlib import Path
from longfat.studio import serve
from longfat.studio.address import Address
from longfat.studio.live.session import LiveSessions
serve._END_WITHIN_S = 2
LiveSessions.close = lambda self: time.sleep(1000)
serve.serve(workspace=Path(sys.argv[1]), static=Path(sys.argv[2]), address=Address(),
      query={}, browser=False)
"""


def test_an_end_does_not_wait_for_what_hangs(workspace: Path, static: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(workspace), str(static)],
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("longfat studio: http://")
        process.send_signal(signal.SIGTERM)
        began_s = time.monotonic()
        assert process.wait(60) == 0
        assert time.monotonic() - began_s < 20
        assert process.stderr.read() == (
            "longfat studio: it has ended without waiting for its machines\n"
        )


def test_a_grid_of_many_cases_is_refused_at_once(client: TestClient) -> None:
    answer = client.post("/api/check", json={"name": "g.yaml", "text": grid(50_000)})
    assert answer.status_code == HTTPStatus.OK
    (problem,) = answer.json()["problems"]
    assert (problem["line"], problem["field"]) == (3, "grid")
    assert "here are 50,000 cases, and at most 2,000 are possible" in problem["message"]
    assert "`longfat run` in a terminal" in problem["message"]
    answer = client.post("/api/check", json={"name": "g.yaml", "text": grid(50)})
    assert len(answer.json()["study"]["cases"]) == 50


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/api/export", {"suffix": ".mn"}),
        ("/api/jobs", {}),
        ("/api/sessions", {"case": None}),
    ],
)
def test_no_request_reads_a_larger_one(
    client: TestClient, path: str, fields: dict[str, str | None]
) -> None:
    body = {"name": "g.yaml", "text": grid(50_000), **fields}
    answer = client.post(path, json=body)
    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert "at most 2,000 are possible" in answer.json()["error"]


def test_the_reading_ends_at_its_deadline(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "DEADLINE_S", 0.2)
    began_s = time.monotonic()
    answer = client.post("/api/check", json={"name": "g.yaml", "text": grid(2_000)})
    assert answer.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert "the study was not read within 0.2 s" in answer.json()["error"]
    assert time.monotonic() - began_s < 10


def test_one_is_read_at_a_time_and_few_may_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "MAX_WAITING", 3)
    lock = threading.Lock()

    def read(limits: ExpansionLimits) -> bool:
        del limits
        alone = lock.acquire(blocking=False)
        time.sleep(0.05)
        lock.release()
        return alone

    async def ask() -> list[bool | BaseException]:
        reader = StudyReader()
        return await asyncio.gather(*(reader.run(read) for _ in range(10)), return_exceptions=True)

    answers = asyncio.run(ask())
    assert answers[:4] == [True] * 4
    for error in answers[4:]:
        assert isinstance(error, HttpError)
        assert error.status == HTTPStatus.TOO_MANY_REQUESTS


def test_who_waits_too_long_has_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "DEADLINE_S", 0.2)
    go_on = threading.Event()

    async def ask() -> list[object]:
        reader = StudyReader()
        return await asyncio.gather(
            *(reader.run(lambda _: go_on.wait(5)) for _ in range(2)), return_exceptions=True
        )

    with ThreadPoolExecutor(4) as pool:
        monkeypatch.setattr(threads, "_THREADS", pool)
        answers = asyncio.run(ask())
        go_on.set()
    assert [type(one) for one in answers] == [BusyError, BusyError]
