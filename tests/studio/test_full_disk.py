"""A disk that is full: what can be deleted, and what can still be saved."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.execution.cache.test_store import on_small_disk
from tests.paths import REPOSITORY

PROGRAM = """
import errno, os, sys
from pathlib import Path
from starlette.testclient import TestClient
from longfat.studio.app import make_app
from longfat_class.studio.assignments.assignment import read_assignments
from longfat_class.studio.assignments.extension import ExerciseExtension
from tests.studio.conftest import ORIGIN as origin, TOKEN, keys_of_tests
from longfat.studio.workspace import version_of

workspace, static, given = (Path(each) for each in sys.argv[1:4])
keys = keys_of_tests()
labs = read_assignments([given], workspace=workspace)
app = make_app(workspace=workspace, keys=keys, static=static, extension=ExerciseExtension(labs))

def fill():
    with (workspace / "filler").open("ab", buffering=0) as file:
        for size in (4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError as error:
                assert error.errno == errno.ENOSPC

with TestClient(app, base_url=origin, raise_server_exceptions=False) as client:
    client.get("/", params={"token": TOKEN})
    client.headers["Origin"] = origin
    save = lambda path, text, **more: client.put(
        "/api/document", json={"path": path, "text": text, **more}
    )
    large = "title: large\\n" + "#" * 20_000
    assert save("a.yaml", large).status_code == 200
    assert save("b.yaml", "title: b\\n").status_code == 200
    os.link(workspace / "b.yaml", workspace / "c.yaml")
    assert client.get("/api/labs/my-lab/exercises").status_code == 200
    for name in ("one-seed1", "two-seed1"):
        run = workspace / "runs" / "mine" / name
        run.mkdir(parents=True)
        (run / "manifest.json").write_text("{}")
        (run / "raw").write_bytes(b"r" * 30_000)
    fill()
    # Nothing new can be saved, and what is there is whole.
    refused = save("new.yaml", "title: new\\n")
    assert refused.status_code == 400, refused.text
    assert "No space left" in refused.json()["error"], refused.text
    assert not (workspace / "new.yaml").exists()
    grown = save("a.yaml", large + "#" * 50_000, version=version_of(large.encode()))
    assert grown.status_code == 400, grown.text
    assert (workspace / "a.yaml").read_text() == large
    # What does not grow can, even if it is as large.
    same = large.replace("large", "LARGE")
    answer = save("a.yaml", same, version=version_of(large.encode()))
    assert answer.status_code == 200, answer.text
    assert (workspace / "a.yaml").read_text() == same
    late = save("a.yaml", "title: late\\n", version=version_of(large.encode()))
    assert late.status_code == 409, late.text
    answer = save("a.yaml", "title: a\\n", version=answer.json()["version"])
    assert answer.status_code == 200, answer.text
    assert (workspace / "a.yaml").read_text() == "title: a\\n"
    # A file with another name is not written over in its place.
    fill()
    assert save("b.yaml", "title: B\\n", force=True).status_code == 400
    assert (workspace / "c.yaml").read_text() == "title: b\\n"
    # What is handed in can be saved where it does not grow, and can be handed in.
    fill()
    part = {"file": "path.yaml", "text": "- h1: ls\\n", "force": True}
    assert client.put("/api/labs/my-lab/part", json=part).status_code == 200
    assert client.get("/api/labs/my-lab/submission").status_code == 200
    # All of it can be deleted.
    fill()
    for path in ("runs/mine/one-seed1", "runs/mine/two-seed1"):
        fill()
        gone = client.delete("/api/runs", params={"runs": path})
        assert gone.status_code == 200, gone.text
        assert not (workspace / path).exists()
    fill()
    for path in ("a.yaml", "b.yaml"):
        gone = client.delete("/api/document", params={"path": path})
        assert gone.status_code == 200, gone.text
    assert not [each for each in workspace.rglob("*.partial")]
    assert save("new.yaml", "title: new\\n").status_code == 200
print("all is well")
"""


def test_what_works_on_a_full_disk(tmp_path: Path, static: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    given = tmp_path / "given" / "my-lab"
    shutil.copytree(REPOSITORY / "labs" / "templates" / "bdp", given)
    words = on_small_disk(
        [sys.executable, "-c", PROGRAM, str(disk), str(static), str(given)],
        disk=disk,
        size="300k",
    )
    assert "all is well\n" in words, words
