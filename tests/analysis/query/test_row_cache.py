"""The cache never answers for a run that was replaced or removed, whoever else writes it."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from longfat.analysis.query import Catalog, row_cache
from longfat.analysis.query.row_cache import FOLDER
from tests.analysis.query.conftest import write_run
from tests.resealed import fitting

SUM = "select count(*) as runs, sum(value) as total from metrics where metric = 'x'"


def ask(root: Path, sql: str = SUM) -> list[dict[str, object]]:
    return list(Catalog([root]).query(sql).to_pylist())


def kept_rows(root: Path) -> int:
    content = (root / FOLDER / "runs.cache").read_bytes()
    return int(pq.read_table(pa.BufferReader(content[32:])).num_rows)


def fill(root: Path, count: int) -> None:
    for index in range(count):
        write_run(root / "study" / f"case-seed{index}", seed=index, metrics={"f.x": float(index)})


@pytest.mark.usefixtures("all_old")
def test_a_warm_catalog_opens_no_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path, 5)
    first = ask(tmp_path)
    assert first == [{"runs": 5, "total": 10.0}]
    assert kept_rows(tmp_path) == 5
    monkeypatch.setattr("json.loads", lambda _: pytest.fail("a manifest was read again"))
    assert ask(tmp_path) == first


@pytest.mark.usefixtures("all_old")
def test_replaced_removed_and_new_runs_are_seen(tmp_path: Path) -> None:
    fill(tmp_path, 5)
    ask(tmp_path)
    # A folder in place of another, as a run is replaced.
    new = write_run(tmp_path / "elsewhere", seed=1, metrics={"f.x": 100.0})
    shutil.rmtree(tmp_path / "study" / "case-seed1")
    new.rename(tmp_path / "study" / "case-seed1")
    assert ask(tmp_path) == [{"runs": 5, "total": 109.0}]
    shutil.rmtree(tmp_path / "study" / "case-seed4")
    assert ask(tmp_path) == [{"runs": 4, "total": 105.0}]
    assert kept_rows(tmp_path) == 4
    # Two runs that change places, and a manifest that is written over.
    study = tmp_path / "study"
    (study / "case-seed0").rename(study / "aside")
    (study / "case-seed2").rename(study / "case-seed0")
    (study / "aside").rename(study / "case-seed2")
    by_run = "select run, sum(value) as x from metrics group by run order by run"
    found = {Path(str(row["run"])).name: row["x"] for row in ask(tmp_path, by_run)}
    assert (found["case-seed0"], found["case-seed2"]) == (2.0, 0.0)
    path = study / "case-seed3" / "manifest.json"
    status = path.stat()
    path.write_text(json.dumps(fitting({**json.loads(path.read_text()), "metrics": {"f.x": 5.0}})))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ask(tmp_path) == [{"runs": 4, "total": 107.0}]


def test_a_run_of_this_moment_is_read_again(tmp_path: Path) -> None:
    fill(tmp_path, 2)
    ask(tmp_path)
    assert not (tmp_path / FOLDER / "runs.cache").exists()
    time.sleep(row_cache.YOUNG_S + 0.1)
    ask(tmp_path)
    assert kept_rows(tmp_path) == 2


@pytest.mark.usefixtures("all_old")
@pytest.mark.parametrize("damage", ["cut", "garbled", "other", "folder", "read-only"])
def test_a_broken_cache_is_no_cache(tmp_path: Path, damage: str) -> None:
    fill(tmp_path, 30)
    right = ask(tmp_path)
    path = tmp_path / FOLDER / "runs.cache"
    content = path.read_bytes()
    match damage:
        case "cut":
            path.write_bytes(content[: len(content) // 2])
        case "garbled":
            half = len(content) // 2
            path.write_bytes(content[:half] + bytes(200) + content[half + 200 :])
        case "other":
            table = pq.read_table(pa.BufferReader(content[32:]))
            metadata = {b"longfat.analysis.query": b"another format"}
            other = pa.BufferOutputStream()
            pq.write_table(table.replace_schema_metadata(metadata), other)
            inside = other.getvalue().to_pybytes()
            path.write_bytes(hashlib.sha256(inside).digest() + inside)
        case "folder":
            path.unlink()
            path.mkdir()
        case "read-only":
            shutil.rmtree(path.parent)
            path.parent.write_text("in the way")
    assert ask(tmp_path) == right
    if damage in ("cut", "garbled", "other"):
        assert kept_rows(tmp_path) == 30


ASK_OFTEN = """
import shutil, sys
from pathlib import Path
from longfat.analysis.query import Catalog
from longfat.analysis.query import row_cache
row_cache.YOUNG_S = -3600.0
root, total, count = Path(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
for _ in range(count):
    rows = Catalog([root]).query("select sum(value) as total from metrics").to_pylist()
    assert rows == [{"total": total}], rows
    shutil.rmtree(root / ".catalog", ignore_errors=True)
"""


def test_two_processes_and_a_kill_do_no_harm(tmp_path: Path) -> None:
    fill(tmp_path, 60)
    total = float(sum(range(60)))

    def start(count: int) -> subprocess.Popen[str]:
        arguments = [str(tmp_path), str(total), str(count)]
        return subprocess.Popen(
            [sys.executable, "-c", ASK_OFTEN, *arguments], stderr=subprocess.PIPE, text=True
        )

    victim, *workers = start(10_000), start(8), start(8)
    try:
        for worker in workers:
            _, errors = worker.communicate(timeout=100)
            assert worker.returncode == 0, errors
        assert victim.poll() is None
    finally:
        victim.kill()
        victim.communicate()
    assert ask(tmp_path) == [{"runs": 60, "total": total}]
    left = [path for path in (tmp_path / FOLDER).glob("*") if path.name != "runs.cache"]
    assert len(left) <= 1  # what the killed one was writing; it is swept after a minute
