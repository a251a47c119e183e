"""Nothing outside of the workspace is read or written, by whatever path."""

from __future__ import annotations

import os
import urllib.parse
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.errors import InputError
from longfat.studio.http import HttpError
from longfat.studio.workspace import Workspace
from tests.studio.conftest import STUDY

OUT = [
    "../secret.yaml",
    "a/../../secret.yaml",
    "a/./b.yaml",
    "/etc/passwd.yaml",
    "//secret.yaml",
    "a//b.yaml",
    "",
    "a\0.yaml",
    "a\nb.yaml",
    ".hidden.yaml",
    ".git/config.yaml",
    "link.yaml",
    "linked/secret.yaml",
    "inner/up/secret.yaml",
    "x" * 300 + ".yaml",
    "x/" * 600 + "y.yaml",
]


@pytest.fixture
def escapes(tmp_path: Path, workspace: Path) -> Path:
    """A file beside the workspace, and links that lead to it."""
    secret = tmp_path / "secret.yaml"
    secret.write_text("title: secret\nnetwork: {}\n")
    (workspace / "link.yaml").symlink_to(secret)
    (workspace / "linked").symlink_to(tmp_path)
    (workspace / "inner").mkdir()
    (workspace / "inner" / "up").symlink_to("../..")
    return secret


@pytest.mark.parametrize("path", OUT)
def test_no_path_leads_out(client: TestClient, escapes: Path, path: str) -> None:
    read = client.get("/api/document", params={"path": path})
    assert 400 <= read.status_code < 500
    assert "secret\n" not in read.text
    body = {"path": path, "text": STUDY, "force": True}
    written = client.put("/api/document", json=body)
    assert 400 <= written.status_code < 500
    assert written.json()["error"]
    assert escapes.read_text().startswith("title: secret")
    quoted = urllib.parse.quote(path)
    for where in ("diagnosis?run=", "panels?runs=", "share?runs=", "report/"):
        assert 400 <= client.get(f"/api/{where}{quoted}").status_code < 500


def test_links_are_not_listed(client: TestClient, escapes: Path, workspace: Path) -> None:
    assert escapes.is_file()
    (workspace / "mine.yaml").write_text(STUDY)
    assert [one["path"] for one in client.get("/api/files").json()] == ["mine.yaml"]


def test_runs_under_a_link_are_not_written(
    client: TestClient, tmp_path: Path, workspace: Path
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (workspace / "runs").symlink_to(tmp_path / "elsewhere")
    body: dict[str, Any] = {"name": "x", "text": STUDY, "lab": None, "cases": [], "seeds": None}
    answer = client.post("/api/jobs", json=body)
    assert answer.status_code == 400
    assert "symbolic link" in answer.json()["error"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_that_appears_meanwhile_is_not_followed(tmp_path: Path, workspace: Path) -> None:
    # What a check beforehand would miss: the name was a folder when it was looked at.
    ours = Workspace(workspace)
    (workspace / "folder").mkdir()
    ours.write("folder/a.yaml", b"1")
    (workspace / "folder").rename(workspace / "before")
    (workspace / "folder").symlink_to(tmp_path)
    with pytest.raises(InputError, match="symbolic link"):
        ours.write("folder/a.yaml", b"2")
    assert not (tmp_path / "a.yaml").exists()


def test_a_pipe_does_not_hold_the_server_up(client: TestClient, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe.yaml")
    assert client.get("/api/document", params={"path": "pipe.yaml"}).status_code == 404
    body = {"path": "pipe.yaml", "text": STUDY, "force": True}
    assert client.put("/api/document", json=body).status_code == 404


def test_writing_is_whole_and_keeps_the_mode(workspace: Path) -> None:
    ours = Workspace(workspace)
    ours.write("a.yaml", b"one")
    (workspace / "a.yaml").chmod(0o640)
    ours.write("a.yaml", b"two")
    assert (workspace / "a.yaml").read_bytes() == b"two"
    assert (workspace / "a.yaml").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in workspace.iterdir()] == ["a.yaml"]


def test_a_workspace_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        Workspace(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder"):
        Workspace(tmp_path / "file")


def test_what_another_program_writes_after_the_last_look_is_a_conflict(workspace: Path) -> None:
    ours = Workspace(workspace)
    ours.write("a.yaml", b"one")
    stored, none = ours.stored("a.yaml", most_bytes=10), ours.stored("b.yaml", most_bytes=10)
    (workspace / "a.yaml").write_bytes(b"two")  # in place, and as long as before
    (workspace / "b.yaml").write_bytes(b"two")
    for path, read in (("a.yaml", stored), ("b.yaml", none)):
        with pytest.raises(HttpError, match="has changed since it was opened") as caught:
            ours.replace(path, b"ours", stored=read)
        assert caught.value.status == 409
        assert (workspace / path).read_bytes() == b"two"
    ours.replace("a.yaml", b"ours", stored=ours.stored("a.yaml", most_bytes=10))
    ours.replace("c.yaml", b"ours", stored=none)
    assert sorted(path.name for path in workspace.iterdir()) == ["a.yaml", "b.yaml", "c.yaml"]
    assert (workspace / "c.yaml").stat().st_nlink == 1


def test_only_what_can_be_opened_is_deleted(
    client: TestClient, workspace: Path, escapes: Path
) -> None:
    (workspace / "mine.yaml").write_text(STUDY)
    (workspace / "notes.txt").write_text("mine")
    (workspace / ".hidden.yaml").write_text("mine")
    (workspace / "folder.yaml").mkdir()
    kept = workspace / "runs" / "mine"
    kept.mkdir(parents=True)
    (kept / "study.yaml").write_text(STUDY)
    for path in (
        *("notes.txt", ".hidden.yaml", "folder.yaml", "runs/mine/study.yaml", "none.yaml", ""),
        *(str(escapes), "../outside.yaml", "./mine.yaml", "/mine.yaml", "a/../mine.yaml"),
    ):
        refused = client.delete("/api/document", params={"path": path})
        assert 400 <= refused.status_code < 500, path
    for link in (one for one in workspace.iterdir() if one.is_symlink()):
        refused = client.delete("/api/document", params={"path": f"{link.name}/outside.yaml"})
        assert 400 <= refused.status_code < 500
    assert escapes.is_file()
    assert client.delete("/api/document").status_code == 400
    assert client.delete("/api/document", params={"path": "mine.yaml"}).status_code == 200
    assert not (workspace / "mine.yaml").exists()
    assert (kept / "study.yaml").exists()
