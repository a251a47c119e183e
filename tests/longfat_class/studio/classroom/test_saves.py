"""Saves at the same time: of those with one base, one is accepted, and nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.longfat_class.studio.classroom.test_class import ClassServer
from tests.paths import REPOSITORY

ROUNDS = 30
WRITERS = 4
LAB = "/api/labs/my-lab"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ClassServer]:
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", tmp_path / "given" / "my-lab")
    (tmp_path / "class").mkdir()
    lab = str(tmp_path / "given" / "my-lab")
    server = ClassServer(tmp_path / "class", 1, "machines=1, each=1", "--exercises", lab)
    yield server
    server.end()


@pytest.fixture
def writers(served: ClassServer) -> list[httpx.Client]:
    """Browsers of one student; a student has no more than some at a time."""
    return [served.client("s00") for _ in range(WRITERS)]


def race(
    writers: Sequence[httpx.Client], save: Callable[[httpx.Client, int, int], httpx.Response]
) -> list[list[int]]:
    """Save `WRITERS` times at once, in each of `ROUNDS` rounds; return the accepted writers."""
    barrier = threading.Barrier(WRITERS)

    def write(writer: int) -> list[bool]:
        accepted = []
        for turn in range(ROUNDS):
            barrier.wait()
            sent = save(writers[writer], writer, turn)
            assert sent.status_code in (200, 409), sent.text
            if sent.status_code == 409:
                assert "overwrite it?" in sent.json()["error"]
            accepted.append(sent.status_code == 200)
            barrier.wait()
        return accepted

    with ThreadPoolExecutor(WRITERS) as threads:
        found = list(threads.map(write, range(WRITERS)))
    return [[n for n in range(WRITERS) if found[n][turn]] for turn in range(ROUNDS)]


def versions() -> Callable[[int, Callable[[], str | None]], str | None]:
    """Return what gives all writers of a turn the same version, read by the first of them."""
    lock, known = threading.Lock(), {}

    def version(turn: int, read: Callable[[], str | None]) -> str | None:
        with lock:
            if turn not in known:
                known[turn] = read()
            return known[turn]

    return version


@pytest.mark.timeout(180)
def test_of_documents(served: ClassServer, writers: list[httpx.Client]) -> None:
    reader, version = served.client("s00"), versions()
    query = {"path": "mine.yaml"}
    body = {"path": "mine.yaml", "text": "title: first\n"}
    assert reader.put("/api/document", json=body).status_code == 200

    def read() -> str:
        found: str = reader.get("/api/document", params=query).json()["version"]
        return found

    def save(client: httpx.Client, writer: int, turn: int) -> httpx.Response:
        text = f"title: {turn} of {writer}\n"
        return client.put(
            "/api/document", json={**body, "text": text, "version": version(turn, read)}
        )

    accepted = race(writers, save)
    assert [len(each) for each in accepted] == [1] * ROUNDS
    (last,) = accepted[-1]
    assert (
        reader.get("/api/document", params=query).json()["text"]
        == f"title: {ROUNDS - 1} of {last}\n"
    )


@pytest.mark.timeout(180)
def test_of_new_files(writers: list[httpx.Client]) -> None:
    def save(client: httpx.Client, writer: int, turn: int) -> httpx.Response:
        text = f"title: of {writer}\n"
        return client.put("/api/document", json={"path": f"new{turn}.yaml", "text": text})

    assert [len(each) for each in race(writers, save)] == [1] * ROUNDS


@pytest.mark.timeout(180)
def test_of_parts_and_answers(served: ClassServer, writers: list[httpx.Client]) -> None:
    reader, version = served.client("s00"), versions()

    def read_part() -> str | None:
        parts = reader.get(f"{LAB}/exercises").json()["parts"]
        files = {one["file"]: one for part in parts for one in part["files"]}
        found: str | None = files["path.yaml"]["version"]
        return found

    def save_part(client: httpx.Client, writer: int, turn: int) -> httpx.Response:
        text = f"- h1: echo {turn} {writer}\n"
        sent = {"file": "path.yaml", "text": text, "version": version(turn, read_part)}
        return client.put(f"{LAB}/part", json=sent)

    assert [len(each) for each in race(writers, save_part)] == [1] * ROUNDS
    of_answers = versions()

    def read_answer() -> str | None:
        parts = reader.get(f"{LAB}/exercises").json()["parts"]
        found = {one["name"]: one["version"] for part in parts for one in part["answers"]}
        version: str | None = found["bdp"]
        return version

    def save_answer(client: httpx.Client, writer: int, turn: int) -> httpx.Response:
        version = of_answers(turn, read_answer)
        sent = {"question": "bdp", "text": f"{turn}.{writer + 1} MB", "version": version}
        return client.put(f"{LAB}/answer", json=sent)

    assert [len(each) for each in race(writers, save_answer)] == [1] * ROUNDS
    # Answers to different questions are no conflict, and none is lost.
    questions = ("bdp", "default_throughput", "lossy_throughput", "lossy_retransmits")

    def save_own(client: httpx.Client, writer: int, turn: int) -> httpx.Response:
        sent = {"question": questions[writer], "text": str(turn), "force": True}
        return client.put(f"{LAB}/answer", json=sent)

    assert [len(each) for each in race(writers, save_own)] == [WRITERS] * ROUNDS
    parts = reader.get(f"{LAB}/exercises").json()["parts"]
    answers = {one["name"]: one["text"] for part in parts for one in part["answers"]}
    assert {answers[name] for name in questions} == {str(ROUNDS - 1)}


WRITER = """
import os, sys, pathlib
path = pathlib.Path(sys.argv[1])
for number in range(10**9):
    new = path.with_name(".other")
    new.write_text(f"title: by another program {number}\\n")
    os.replace(new, path)
    print(number, flush=True)
    if not sys.stdin.readline():
        break
"""


@pytest.mark.timeout(120)
def test_what_another_program_writes_is_not_lost(served: ClassServer) -> None:
    file, client = served.root / "s00" / "mine.yaml", served.client("s00")
    file.write_text("title: first\n")
    program = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    for turn in range(ROUNDS):
        version = client.get("/api/document", params={"path": "mine.yaml"}).json()["version"]
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline() == f"{turn}\n"
        # It has written once more, or is about to.
        sent = client.put(
            "/api/document",
            json={"path": "mine.yaml", "text": f"title: mine {turn}\n", "version": version},
        )
        assert sent.status_code in (200, 409)
        if sent.status_code == 409:
            assert "another program" in file.read_text()
    program.stdin.close()
    program.wait(20)
    program.stdout.close()
