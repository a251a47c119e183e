"""The disk that a workspace may take: what is refused above it, and what makes room."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from longfat.studio.app import make_app
from longfat.studio.assignments.assignment import read_assignments
from longfat.studio.disk import DiskLimit
from tests.paths import REPOSITORY
from tests.studio.conftest import ORIGIN, TOKEN, keys_of_tests
from tests.studio.test_jobs import ask, ended

STUDY = """\
title: Two hosts
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: 1ms}]]
flows: {rtt: {ping: h1 -> h2, count: 1}}
"""

MOST_BYTES = 200 << 10


@pytest.fixture
def limited(workspace: Path, static: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A page of a workspace that may take 200 KiB."""
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", tmp_path / "given" / "my-lab")
    given = read_assignments([tmp_path / "given" / "my-lab"], workspace=workspace)
    keys = keys_of_tests()
    app = make_app(
        workspace=workspace, keys=keys, static=static, assignments=given, most_bytes=MOST_BYTES
    )
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


def put_run(workspace: Path, name: str, size: int) -> None:
    """Put something there that looks like a run, of which only the folder matters here."""
    folder = workspace / "runs" / "large" / name
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    (folder / "raw").write_bytes(os.urandom(size))


def test_what_is_used_counts_each_file_once_and_follows_no_link(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "runs" / "a").mkdir(parents=True)
    (tmp_path / "outside").write_bytes(bytes(1 << 20))
    before = DiskLimit(workspace, None).used_bytes()
    (workspace / "runs" / "a" / "raw").write_bytes(os.urandom(64 << 10))
    (workspace / ".hidden").write_bytes(os.urandom(64 << 10))
    os.link(workspace / "runs" / "a" / "raw", workspace / "again")
    (workspace / "link").symlink_to(tmp_path / "outside")
    used = DiskLimit(workspace, None).used_bytes() - before
    assert 128 << 10 <= used <= 144 << 10
    assert DiskLimit(workspace, before + used).problem() == ""
    problem = DiskLimit(workspace, before + used - 1).problem()
    assert "your folder takes" in problem
    assert "The largest are .hidden (64.0 KB)" in problem


def test_a_full_workspace_refuses_what_takes_room(limited: TestClient, workspace: Path) -> None:
    saved = {"path": "a.yaml", "text": STUDY}
    assert limited.put("/api/document", json=saved).status_code == 200
    part = {"file": "path.yaml", "text": "- h1: ls\n"}
    assert limited.put("/api/labs/my-lab/part", json=part).status_code == 200
    put_run(workspace, "one-seed1", 100 << 10)
    put_run(workspace, "two-seed1", 100 << 10)
    answer = {"question": "bdp", "text": "1 MB"}
    refused = [
        limited.put("/api/document", json={"path": "b.yaml", "text": STUDY}),
        limited.post("/api/labs/my-lab/check", json={"exercises": ["bdp"]}),
        limited.post("/api/jobs", json={"name": "a", "text": STUDY}),
        limited.post("/api/sessions", json={"name": "a", "text": STUDY, "case": None}),
    ]
    for one in refused:
        assert one.status_code == 507, one.text
        words = one.json()["error"]
        assert "its limit is 200 KB" in words
        assert "The largest are runs/large (" in words
        assert "Runs can be deleted" in words
    assert not (workspace / "b.yaml").exists()
    # What is handed in can always be saved, and a file that does not grow.
    longer = {**part, "text": "- h1: ls -l\n", "force": True}
    assert limited.put("/api/labs/my-lab/part", json=longer).status_code == 200
    assert limited.put("/api/labs/my-lab/answer", json=answer).status_code == 200
    assert limited.get("/api/labs/my-lab/submission").status_code == 200
    shorter = {"path": "a.yaml", "text": STUDY.replace("Two hosts", "Two"), "force": True}
    assert limited.put("/api/document", json=shorter).status_code == 200
    assert limited.put("/api/document", json={**shorter, "text": STUDY}).status_code == 507
    put_run(workspace, "three-seed1", 1 << 20)
    assert limited.put("/api/labs/my-lab/part", json={**part, "force": True}).status_code == 200
    assert limited.put("/api/labs/my-lab/part", json=longer).status_code == 507
    assert limited.delete("/api/runs?runs=runs/large/three-seed1").status_code == 200
    # What takes no room goes on.
    for path in ("/api/files", "/api/runs", "/api/document?path=a.yaml", "/api/labs/my-lab"):
        assert limited.get(path).status_code == 200
    gone = limited.delete("/api/runs", params={"runs": "runs/large/one-seed1"})
    assert gone.status_code == 200
    assert [one.name for one in (workspace / "runs" / "large").iterdir()] == ["two-seed1"]
    assert limited.put("/api/document", json={**saved, "force": True}).status_code == 200
    assert limited.delete("/api/runs?runs=runs/large/two-seed1").status_code == 200
    assert not (workspace / "runs" / "large").exists()


def test_only_runs_are_deleted(limited: TestClient, workspace: Path) -> None:
    put_run(workspace, "one-seed1", 1)
    (workspace / "mine").mkdir()
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "manifest.json").write_text("{}")
    (workspace / "runs" / "link").symlink_to(outside)
    for path in ("mine", "runs", "runs/large", "../outside", str(outside), "runs/link", "none"):
        assert limited.delete("/api/runs", params={"runs": path}).status_code >= 400, path
    assert limited.delete("/api/runs").status_code == 400
    assert (workspace / "mine").is_dir()
    assert (workspace / "runs" / "large" / "one-seed1" / "raw").is_file()
    assert (outside / "manifest.json").is_file()


def test_a_job_ends_when_its_runs_have_filled_the_workspace(
    limited: TestClient, workspace: Path
) -> None:
    (workspace / "large").write_bytes(os.urandom(MOST_BYTES - (32 << 10)))
    job = ended(limited, ask(limited, STUDY, seeds=40).json()["id"])
    assert job["state"] == "failed"
    assert "it was ended, since your folder takes" in job["problem"]["message"]
    assert sum(case["seeds_done"] for case in job["cases"]) < 40
