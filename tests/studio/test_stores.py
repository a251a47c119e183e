"""What a member of a class causes in caches of the server counts, is removed first, and limited."""

from __future__ import annotations

import json
import os
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
from longfat.studio.disk import SHARE
from longfat.studio.workspace import Workspace
from tests.engine.images.made import layer, oci
from tests.engine.images.test_images import ELF, file
from tests.studio.conftest import ORIGIN, TOKEN, keys_of_tests
from tests.studio.test_jobs import ask, ended

MB = 1 << 20
STUDY = """\
title: Two hosts
memory: 256MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  links: [[h1, h2, {delay: 1ms}]]
flows: {rtt: {ping: h1 -> h2, count: 1}}
"""
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
