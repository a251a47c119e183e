"""Studies that a page sends are read within limits, and one at a time."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus

import pytest
from starlette.testclient import TestClient

from longfat.studio import threads
from longfat.studio.http import HttpError
from longfat.studio.threads import BusyError, StudyReader
from longfat.study.expansion import ExpansionLimits
from tests.study.messages import grid


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
