"""Checks of answers are counted where students cannot reach, and wait longer one by one."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.errors import HostError
from longfat.studio.app import make_app
from longfat.studio.progress import ExerciseProgress
from longfat_class.studio.assignments import check_counts
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.check_counts import (
    FIRST_WAIT_S,
    FREE_WRONG,
    MAX_WAIT_S,
    CheckCount,
    CheckCounts,
)
from longfat_class.studio.assignments.extension import ExerciseExtension
from tests.paths import REPOSITORY
from tests.studio.conftest import ORIGIN, TOKEN, keys_of_tests

LAB = "/api/labs/my-lab"
WRONG = ExerciseProgress(most=2, reasons=("wrong",), digest="a")
RIGHT = ExerciseProgress(points=2, most=2, digest="b")


@pytest.fixture
def start(tmp_path: Path, static: Path) -> Iterator[Callable[[], TestClient]]:
    """Start the studio of a student again and again, with one state of the server."""
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", tmp_path / "given" / "my-lab")
    workspace = tmp_path / "alice"
    workspace.mkdir()
    clients: list[TestClient] = []

    def started() -> TestClient:
        keys = keys_of_tests()
        given = read_assignments([tmp_path / "given" / "my-lab"], workspace=workspace)
        app = make_app(
            workspace=workspace,
            keys=keys,
            static=static,
            extension=ExerciseExtension(given, counts=tmp_path / "state" / "checks.json"),
        )
        client = TestClient(app, base_url=ORIGIN, raise_server_exceptions=False)
        clients.append(client.__enter__())
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        client.headers["Origin"] = ORIGIN
        return client

    yield started
    for client in clients:
        client.__exit__(None, None, None)


def answer(client: TestClient, text: str, question: str = "bdp") -> None:
    sent = {"question": question, "text": text, "force": True}
    assert client.put(f"{LAB}/answer", json=sent).status_code == 200


def checked(client: TestClient, *names: str) -> dict[str, Any]:
    """Check exercises; return the counts."""
    begun = client.post(f"{LAB}/check", json={"exercises": names or ["bdp"]})
    assert begun.status_code == 201, begun.text
    return after_check(client)


def after_check(client: TestClient) -> dict[str, Any]:
    deadline_s = time.monotonic() + 60
    while (found := client.get(f"{LAB}/exercises").json())["check"]["state"] != "done":
        assert found["check"]["state"] in ("waiting", "running"), found["check"]
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    counts: dict[str, Any] = found["counts"]
    return counts


def guess(client: TestClient, count: int) -> None:
    for number in range(count):
        answer(client, f"{number + 1} KB")
        checked(client)


def refused(client: TestClient) -> str:
    sent = client.post(f"{LAB}/check", json={"exercises": ["bdp"]})
    assert sent.status_code == 429, sent.text
    message: str = sent.json()["error"]
    return message


def test_the_wait_grows_and_ends() -> None:
    count = CheckCount()
    waits = []
    for _ in range(40):
        count = count.checked(WRONG, compared=True)
        waits.append(round(count.wait_s()))
    assert waits[: FREE_WRONG + 2] == [0, 0, 30, 60, 120]
    assert waits[-1] == MAX_WAIT_S
    assert sum(waits[:20]) > 5 * 3600
    right = count.checked(RIGHT, compared=True)
    assert (right.checks, right.wrong, right.wait_s()) == (41, 0, 0)
    # What says nothing of the key costs nothing.
    blank = count.checked(WRONG, compared=False)
    assert (blank.checks, blank.wrong, blank.next_s) == (41, 40, count.next_s)
    # A clock that is set back does not make the wait longer than it can be.
    assert CheckCount(next_s=time.time() + 1e9).wait_s() == MAX_WAIT_S


def test_counts_outlive_the_process(tmp_path: Path) -> None:
    file = tmp_path / "state" / "checks.json"
    counts = CheckCounts(file)
    counts.note("lab", {"a": CheckCount().checked(WRONG, compared=True)})
    counts.note("lab", {"b": CheckCount().checked(RIGHT, compared=True)})
    assert CheckCounts(file).of_lab("lab") == counts.of_lab("lab")
    assert file.stat().st_mode & 0o077 == 0
    for damage in ("{", "[]", '{"format": 1, "labs": {"lab": 3}}', '{"format": 7}'):
        file.write_text(damage)
        with pytest.raises(HostError, match="checks"):
            CheckCounts(file)


def test_what_cannot_be_counted_is_not_noted(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file where a folder has to be")
    counts = CheckCounts(tmp_path / "memory.json")
    broken = CheckCounts()
    broken._file = tmp_path / "state" / "checks.json"
    with pytest.raises(HostError, match="cannot be stored"):
        broken.note("lab", {"a": CheckCount()})
    assert broken.of_lab("lab") == {} == counts.of_lab("lab")


@pytest.mark.timeout(300)
def test_no_way_leads_around_the_wait(start: Callable[[], TestClient], tmp_path: Path) -> None:
    alice = start()
    guess(alice, FREE_WRONG)
    answer(alice, "7 KB")
    assert "The bandwidth-delay product: the next check of this answer" in refused(alice)
    # By a reset,
    assert alice.delete(f"{LAB}/progress").status_code == 200
    refused(alice)
    assert alice.get(f"{LAB}/progress").json()["checks"] == {"bdp": FREE_WRONG}
    # without files,
    shutil.rmtree(tmp_path / "alice" / "progress")
    shutil.rmtree(tmp_path / "alice" / "my-lab")
    alice.get(f"{LAB}/exercises")
    answer(alice, "7 KB")
    refused(alice)
    # with forged ones,
    (tmp_path / "alice" / "progress").mkdir(exist_ok=True)
    (tmp_path / "alice" / "progress" / "my-lab.json").write_text(
        '{"lab": "my-lab", "checks": {"bdp": 0}, "exercises": {}}'
    )
    assert alice.get(f"{LAB}/progress").json()["checks"] == {"bdp": FREE_WRONG}
    refused(alice)
    # by checking all, where it is left out and the others are checked,
    counts = checked(alice, "bdp", "lossy_retransmits")
    assert counts["bdp"]["checks"] == FREE_WRONG
    assert counts["lossy_retransmits"] == {"checks": 1, "wrong": 0, "wait_s": 0}
    assert "bdp" not in alice.get(f"{LAB}/progress").json()["exercises"]
    # after a restart, for everybody to see.
    again = start()
    refused(again)
    (summary,) = again.get("/api/progress").json()
    assert summary["checks"] == FREE_WRONG + 1
    wait_s = again.get(f"{LAB}/exercises").json()["counts"]["bdp"]["wait_s"]
    assert FIRST_WAIT_S - 25 < wait_s <= FIRST_WAIT_S


@pytest.mark.timeout(300)
def test_an_unchanged_answer_costs_nothing(start: Callable[[], TestClient]) -> None:
    alice = start()
    guess(alice, FREE_WRONG)
    before = alice.get(f"{LAB}/progress").json()["exercises"]["bdp"]
    assert checked(alice)["bdp"]["checks"] == FREE_WRONG
    # Not even where nothing is stored of the result any more, or another answer is changed.
    alice.delete(f"{LAB}/progress")
    answer(alice, "3", question="lossy_retransmits")
    assert checked(alice)["bdp"]["checks"] == FREE_WRONG
    assert alice.get(f"{LAB}/progress").json()["exercises"]["bdp"] == before
    # An answer that was checked before another one is a new one.
    answer(alice, "1 KB")
    refused(alice)


@pytest.mark.timeout(300)
def test_a_key_that_is_corrected_counts_for_the_same_answer(
    start: Callable[[], TestClient], tmp_path: Path
) -> None:
    alice = start()
    answer(alice, "3 MB")
    checked(alice)
    assert alice.get(f"{LAB}/progress").json()["exercises"]["bdp"]["points"] == 0
    file = tmp_path / "given" / "my-lab" / "instructor" / "grading.yaml"
    file.write_text(file.read_text().replace("500mbit * 100ms", "500mbit * 50ms"))
    again = start()
    assert checked(again)["bdp"]["checks"] == 2
    assert again.get(f"{LAB}/progress").json()["exercises"]["bdp"]["points"] == 2


@pytest.mark.timeout(300)
def test_what_is_no_answer_is_not_wrong(start: Callable[[], TestClient]) -> None:
    alice = start()
    for text in ("", "6,25 MB", "about 6 MB", "3 ms", "MB"):
        answer(alice, text)
        checked(alice)
    assert alice.get(f"{LAB}/exercises").json()["counts"]["bdp"]["wrong"] == 0
    guess(alice, FREE_WRONG - 1)
    answer(alice, "6.25 MB")
    assert checked(alice)["bdp"]["wrong"] == 0
    assert alice.get(f"{LAB}/progress").json()["exercises"]["bdp"]["points"] == 2
    guess(alice, FREE_WRONG)
    answer(alice, "9 KB")
    refused(alice)


@pytest.mark.timeout(300)
def test_parallel_requests_are_one_check(
    start: Callable[[], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_counts, "FREE_WRONG", 1)
    alice = start()
    barrier = threading.Barrier(8)

    def ask(number: int) -> int:
        answer(alice, f"{number + 1} KB")
        barrier.wait()
        return int(alice.post(f"{LAB}/check", json={"exercises": ["bdp"]}).status_code)

    with ThreadPoolExecutor(8) as threads:
        statuses = sorted(threads.map(ask, range(8)))
    assert set(statuses) <= {201, 409, 429}
    counts = after_check(alice)["bdp"]
    # A request that comes when the first check is over has an answer that was checked already.
    assert counts["wrong"] == counts["checks"] == 1
    answer(alice, "20 KB")
    refused(alice)


def test_nothing_tells_on_which_side_the_key_is(start: Callable[[], TestClient]) -> None:
    alice = start()
    texts = []
    for text in ("5 KB", "5 GB"):
        answer(alice, text)
        checked(alice)
        (reason,) = alice.get(f"{LAB}/progress").json()["exercises"]["bdp"]["reasons"]
        texts.append(reason.replace(text, "X"))
    assert texts[0] == texts[1]
