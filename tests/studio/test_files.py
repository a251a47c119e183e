"""A study that names files beside it, from opening it to sharing what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.studio.live.drawing import cannot_take, read_drawing
from longfat.study.file_reader import folder_reader
from tests.studio.test_jobs import ask, ended

STUDY = """\
title: Files
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: 10ms}]]
files:
  /opt/lab/hello: {from: hello, executable: true}  # beside the study
setup: [{h2: /opt/lab/hello}]
flows: {rtt: {ping: h1 -> h2, count: 2}}
claims:
  - it has the delay: default.rtt.min > 10ms
"""


@pytest.fixture
def path(workspace: Path) -> str:
    """A study in a folder of the workspace."""
    (workspace / "mine").mkdir()
    (workspace / "mine" / "study.yaml").write_text(STUDY)
    (workspace / "mine" / "hello").write_text("#!/bin/sh\necho hello\n")
    (workspace / "secret").write_text("secret")
    return "mine/study.yaml"


def problems(client: TestClient, text: str, **more: Any) -> list[str]:
    answer = client.post("/api/check", json={"text": text, "name": "mine", **more})
    assert answer.status_code == 200, answer.text
    return [f"{one['field']}: {one['message']}" for one in answer.json()["problems"]]


def test_it_is_opened_and_saved_as_it_is(client: TestClient, workspace: Path, path: str) -> None:
    opened = client.get("/api/document", params={"path": path}).json()
    assert opened["text"] == STUDY
    text = STUDY.replace("count: 2", "count: 3")
    assert (
        client.put(
            "/api/document", json={"path": path, "text": text, "version": opened["version"]}
        ).status_code
        == 200
    )
    assert (workspace / path).read_text() == text
    for suffix in (".py", ".mn"):
        body = {"name": "mine", "text": text, "suffix": suffix}
        answer = client.post("/api/export", json=body)
        assert answer.status_code == 200, answer.text
        assert any("files are left out" in one for one in answer.json()["warnings"])


def test_files_are_read_beside_the_document_only(client: TestClient, path: str) -> None:
    assert problems(client, STUDY, path=path, lab=None) == []
    (alone,) = problems(client, STUDY)
    assert alone.startswith("files./opt/lab/hello.from: 'hello' cannot be read, because this ")
    (other,) = problems(client, STUDY, path="study.yaml", lab=None)
    assert "there is no such file beside the study" in other
    (out,) = problems(client, STUDY.replace("from: hello", "from: ../secret"), path=path)
    assert "outside of the study's folder" in out
    (hidden,) = problems(client, STUDY, path="../study.yaml")
    assert "a path below the workspace has no '..' in it" in hidden
    (lab,) = problems(client, STUDY.replace("from: hello", "from: README"), lab="lab08")
    assert "there is no such file beside the study" in lab


def test_what_runs_cannot_take_other_files(workspace: Path, path: str) -> None:
    beside = folder_reader((workspace / path).parent)
    now = read_drawing(STUDY, name="mine", case=None, beside=beside)
    assert cannot_take(now, read_drawing(STUDY, name="mine", case=None, beside=now.beside)) == []
    (workspace / "mine" / "hello").write_text("another")
    new = read_drawing(STUDY, name="mine", case=None, beside=now.beside)
    assert cannot_take(now, new) == ["the files of the machine were changed"]


def test_a_session_and_a_job_have_the_files(client: TestClient, path: str) -> None:
    body = {"name": "mine", "text": STUDY, "case": None}
    assert client.post("/api/sessions", json=body).status_code == 400
    # Its set-up line runs the file.
    session = client.post("/api/sessions", json={**body, "path": path, "lab": None})
    assert session.status_code == 201, session.text
    assert client.delete(f"/api/sessions/{session.json()['id']}").status_code == 200
    job = ask(client, STUDY, path=path)
    assert job.status_code == 201, job.text
    done = ended(client, job.json()["id"])
    assert done["state"] == "done", done["problem"]
    runs = [run for case in done["cases"] for run in case["runs"]]
    assert [one["path"] for one in client.get("/api/runs").json()] == runs
    # The files are not kept beside the runs, and what the study claims is known all the same.
    assert "it has the delay" in client.get("/api/share", params={"runs": runs}).text
