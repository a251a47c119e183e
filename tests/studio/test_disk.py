"""The disk that a workspace may take: what is refused above it, and what makes room."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.engine.images import store, unpacked_images
from longfat.errors import InputError
from longfat.execution.cache import result_cache_root
from longfat.studio.app import make_app
from longfat.studio.disk import SHARE, DiskLimit
from longfat.studio.workspace import Workspace
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.extension import ExerciseExtension
from tests.engine.images.made import layer, oci
from tests.engine.images.test_images import ELF, file
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

MAX_BYTES = 200 << 10


@pytest.fixture
def limited(workspace: Path, static: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A page of a workspace that may take 200 KiB."""
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", tmp_path / "given" / "my-lab")
    given = read_assignments([tmp_path / "given" / "my-lab"], workspace=workspace)
    keys = keys_of_tests()
    app = make_app(
        workspace=workspace,
        keys=keys,
        static=static,
        extension=ExerciseExtension(given),
        most_bytes=MAX_BYTES,
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
    (workspace / "large").write_bytes(os.urandom(MAX_BYTES - (32 << 10)))
    job = ended(limited, ask(limited, STUDY, seeds=40).json()["id"])
    assert job["state"] == "failed"
    assert "it was ended, since your folder takes" in job["problem"]["message"]
    assert sum(case["seeds_done"] for case in job["cases"]) < 40


MB = 1 << 20

"""A run of it takes some 100 KB."""


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    return tmp_path / "state" / "caches"


@pytest.fixture
def member(workspace: Path, static: Path, caches: Path, tmp_path: Path) -> Iterator[TestClient]:
    """A page of a member of a class whose disk may take 4 MB."""
    keys = keys_of_tests()
    app = make_app(
        workspace=workspace,
        keys=keys,
        static=static,
        most_bytes=4 * MB,
        caches=caches,
        drafts=tmp_path / "state" / "drafts",
    )
    (tmp_path / "state").mkdir(exist_ok=True)
    with TestClient(app, base_url=ORIGIN, raise_server_exceptions=False) as client:
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        client.headers["Origin"] = ORIGIN
        yield client


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of images of the test's own."""
    place = tmp_path / "images"
    monkeypatch.setattr(store, "cache_root", lambda: place)
    return place


def image(size: int, name: str = "x") -> bytes:
    """Return an image that is small as a file and large when it is unpacked."""
    return oci([layer(file("bin/sh", ELF.decode("latin-1"), 0o755), file(name, name * size))])


def entries(folder: Path) -> list[Path]:
    return [path.parent for path in folder.rglob(".cached.json")]


def test_results_of_jobs_are_the_members_own_and_are_deleted_with_their_runs(
    member: TestClient, workspace: Path, caches: Path
) -> None:
    before = set(entries(result_cache_root()))
    job = ended(member, ask(member, STUDY).json()["id"])
    assert job["state"] == "done", job
    assert set(entries(result_cache_root())) == before
    assert len(entries(caches)) == 1
    # What the run directory has, too, counts once.
    used = Workspace(workspace, most_bytes=4 * MB, caches=caches).disk.used_bytes()
    alone = Workspace(workspace).disk.used_bytes()
    assert alone < used < alone + (40 << 10)
    (path,) = job["cases"][0]["runs"]
    assert member.delete("/api/runs", params={"runs": path}).status_code == 200
    assert entries(caches) == []


def test_results_are_evicted_before_the_member_is_refused_anything(
    member: TestClient, workspace: Path, caches: Path
) -> None:
    job = ended(member, ask(member, STUDY, seeds=3).json()["id"])
    assert len(entries(caches)) == 3
    for path in job["cases"][0]["runs"]:  # as a student with a shell can
        for each in sorted((workspace / path).rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() else each.unlink()
    rest = Workspace(workspace, most_bytes=4 * MB, caches=caches).disk.room_bytes()
    (workspace / "large").write_bytes(os.urandom(int(rest) - (8 << 10)))
    body = {"path": "a.yaml", "text": STUDY + "#" * (64 << 10)}
    assert member.put("/api/document", json=body).status_code == 200
    assert member.put("/api/document", json={**body, "path": "b.yaml"}).status_code == 200
    assert len(entries(caches)) < 3


def test_an_image_is_compared_with_the_room_before_it_is_unpacked(
    workspace: Path, caches: Path, images: Path
) -> None:
    ours = Workspace(workspace, most_bytes=4 * MB, caches=caches)
    (workspace / "large.tar").write_bytes(image(300 * MB))
    assert (workspace / "large.tar").stat().st_size < MB
    with pytest.raises(InputError, match=r"unpacked it takes 300 MB, and 3.* MB are left"):
        ours.stores.find_image(workspace / "large.tar", name="large.tar")
    assert not images.exists()
    (workspace / "small.tar").write_bytes(image(2 * MB))
    before = ours.disk.used_bytes()
    found = ours.stores.find_image(workspace / "small.tar", name="small.tar")
    assert 2 * MB <= ours.disk.used_bytes() - before < 2.1 * MB
    # Also for a server that was started anew, and no more than once.
    again = Workspace(workspace, most_bytes=4 * MB, caches=caches)
    assert again.stores.find_image(workspace / "small.tar", name="x").digest == found.digest
    assert again.disk.used_bytes() == ours.disk.used_bytes()
    # For the next one it makes room.
    (workspace / "next.tar").write_bytes(image(2 * MB, "y"))
    newer = again.stores.find_image(workspace / "next.tar", name="next.tar")
    assert [one.digest for one in unpacked_images()] == [newer.digest]
    assert again.disk.problem() == ""


def test_an_image_that_a_machine_may_have_stays(
    workspace: Path, caches: Path, images: Path
) -> None:
    ours = Workspace(workspace, most_bytes=4 * MB, caches=caches)
    for name in "xy":
        (workspace / f"{name}.tar").write_bytes(image(3 * MB, name))
    found = ours.stores.find_image(workspace / "x.tar", name="x.tar")
    ours.stores.has_machine = lambda: True
    with pytest.raises(InputError, match="unpacked it takes 3"):
        ours.stores.find_image(workspace / "y.tar", name="y.tar")
    assert [one.digest for one in unpacked_images()] == [found.digest]
    assert images.is_dir()
    ours.stores.has_machine = lambda: False
    assert ours.stores.find_image(workspace / "y.tar", name="y.tar").digest != found.digest


def test_results_have_a_share_that_runs_do_not_count_in(
    member: TestClient, workspace: Path, caches: Path
) -> None:
    job = ended(member, ask(member, STUDY, seeds=4).json()["id"])
    disk = Workspace(workspace).disk
    linked, whole = (disk.folder_bytes(caches, own=own) for own in (True, False))
    assert linked < whole
    ours = Workspace(workspace, most_bytes=(linked + whole) / 2 / SHARE, caches=caches)
    ours.stores.trim()
    assert len(entries(caches)) == 4
    for path in job["cases"][0]["runs"]:
        for each in sorted((workspace / path).rglob("*"), reverse=True):
            each.rmdir() if each.is_dir() else each.unlink()
    ours.stores.trim()
    assert len(entries(caches)) < 4


def test_images_at_once_cannot_exceed_the_room(workspace: Path, caches: Path, images: Path) -> None:
    ours = Workspace(workspace, most_bytes=4 * MB, caches=caches)
    names = [f"{letter}.tar" for letter in "abcd"]
    for name in names:
        (workspace / name).write_bytes(image(3 * MB, name[0]))
    barrier = threading.Barrier(4)

    def find(name: str) -> None:
        barrier.wait()
        ours.stores.find_image(workspace / name, name=name)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(find, names))
    assert len(unpacked_images()) == 1
    assert images.is_dir()
    assert ours.disk.problem() == ""


def test_an_image_of_many_small_files_takes_its_blocks(
    workspace: Path, caches: Path, images: Path
) -> None:
    ours = Workspace(workspace, most_bytes=4 * MB, caches=caches)
    many = [file(f"f{number}") for number in range(2000)]
    content = oci([layer(file("bin/sh", ELF.decode("latin-1"), 0o755), *many)])
    (workspace / "many.tar").write_bytes(content)
    with pytest.raises(InputError, match=r"unpacked it takes 7.8. MB"):
        ours.stores.find_image(workspace / "many.tar", name="many.tar")
    assert not images.exists()


def test_the_page_tells_that_an_image_is_too_large(
    member: TestClient, workspace: Path, images: Path
) -> None:
    (workspace / "large.tar").write_bytes(image(300 * MB))
    text = STUDY.replace("10.0.0.1/8", "{address: 10.0.0.1/8, root: large.tar}")
    asked = {"name": "x", "text": text, "path": "x.yaml"}
    (problem,) = member.post("/api/check", json=asked).json()["problems"]
    assert "unpacked it takes 300 MB" in problem["message"]
    assert member.post("/api/jobs", json=asked).status_code == 400
    assert member.post("/api/sessions", json={**asked, "case": None}).status_code == 400
    assert not images.exists()


def test_what_is_drawn_and_not_saved_counts(member: TestClient) -> None:
    def draw(number: int, size: int) -> int:
        step = {"set": "x" * size, "step": False}
        body: dict[str, Any] = {
            "page": "p",
            "base": None,
            "steps": [step],
            "fields": {},
            "closed": None,
        }
        return int(member.put(f"/api/drafts/draft-number-{number}", json=body).status_code)

    sent = [draw(number, MB) for number in range(20)]
    assert 3 <= sent.count(200) <= 5
    assert sent[-1] == 507
    assert (
        "unsaved networks"
        in member.put("/api/document", json={"path": "a.yaml", "text": STUDY}).json()["error"]
    )
    # A small one is no matter, nor is one that becomes smaller.
    assert draw(21, 1000) == 200
    assert draw(0, 1000) == 200


def test_a_damaged_list_of_images_is_an_empty_one(workspace: Path, caches: Path) -> None:
    caches.mkdir(parents=True)
    for text in ("{", "[]", '{"a": "b"}', json.dumps({"a": 7})):
        (caches / "images.json").write_text(text)
        assert Workspace(workspace, most_bytes=MB, caches=caches).disk.problem() == ""
