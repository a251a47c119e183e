"""`longfat runs`: what is cached is listed, shown, and forgotten."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from longfat.engine.kernel import Kernel
from longfat.execution.cache import ResultCache
from longfat.execution.runs import Run
from longfat.model.case import Case
from tests.command import longfat
from tests.execution.runs.test_runs import keep

MakeCase = Callable[..., Case]


@pytest.fixture
def runs(tmp_path: Path, make_case: MakeCase, kernel: Kernel) -> list[Run]:
    """Remember three results, of two kernels; the second was last used 40 days ago."""
    other = replace(kernel, digest="f" * 64, release="6.12.1")
    made = [
        keep(tmp_path / "runs", make_case(seed=seed), used, text="x" * 500)
        for seed, used in ((1, kernel), (2, kernel), (3, other))
    ]
    made = [replace(run, study="alpha" if run.seed < 3 else "beta") for run in made]
    for run in made:
        ResultCache().put(run)
    old = time.time() - 40 * 86400
    os.utime(ResultCache().place(made[1].key), (old, old))
    return made


def test_list(runs: list[Run], tmp_path: Path) -> None:
    done = longfat("runs", "list", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split()[:4] == ["key", "study", "case", "seed"]
    assert len(rows) == 3
    assert rows[-1].split()[0] == runs[1].key[:12]  # used longest ago
    assert rows[-1].endswith("40 days ago")
    assert "3 results, 1.46 KB" in done.stderr
    data = json.loads(longfat("runs", "list", "--study", "beta", "--json", cwd=tmp_path).stdout)
    (entry,) = data["results"]
    assert (entry["key"], entry["kernel"], entry["seed"]) == (runs[2].key, "6.12.1", 3)
    assert Path(entry["folder"]).is_relative_to(data["folder"])
    assert len(longfat("runs", "list", "--kernel", "6.1", cwd=tmp_path).stdout.splitlines()) == 3
    empty = longfat("runs", "list", "--study", "gamma", cwd=tmp_path)
    assert (empty.returncode, empty.stdout) == (0, "")


def test_show(runs: list[Run], tmp_path: Path) -> None:
    done = longfat("runs", "show", runs[0].key[:8], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for text in (runs[0].key, runs[0].digest, "alpha", str(ResultCache().place(runs[0].key)), "tc"):
        assert text in done.stdout
    data = json.loads(longfat("runs", "show", runs[0].key, "--json", cwd=tmp_path).stdout)
    assert data["run"]["digest"] == runs[0].digest
    for key in ("abc", "zzzz", "0" * 63 + "1"):
        done = longfat("runs", "show", key, cwd=tmp_path)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr


def test_remove(runs: list[Run], tmp_path: Path) -> None:
    done = longfat("runs", "remove", runs[0].key[:8], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 result forgotten, 0 B freed\n500 B of files are those of run")
    assert {entry.seed for entry in ResultCache().entries()} == {2, 3}
    assert runs[0].folder.exists()
    assert longfat("runs", "remove", "--study", "alpha", cwd=tmp_path).returncode == 130
    assert longfat("runs", "remove", cwd=tmp_path).returncode == 2
    done = longfat("runs", "remove", "--study", "alpha", "--yes", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["results"] == 1
    assert {entry.seed for entry in ResultCache().entries()} == {3}


@pytest.mark.parametrize(
    ("rule", "left"),
    [
        (("--older", "30d"), {1, 3}),
        (("--kernels-gone",), {1, 2}),
        (("--keep", "0.6KB"), {3}),
        (("--keep", "1KB", "--older", "1w"), {1, 3}),
    ],
)
@pytest.mark.usefixtures("runs")
def test_gc(rule: tuple[str, ...], left: set[int], tmp_path: Path) -> None:
    tried = longfat("runs", "gc", *rule, "--dry-run", cwd=tmp_path)
    assert tried.returncode == 0, tried.stderr
    assert "would be forgotten" in tried.stdout
    assert len(list(ResultCache().entries())) == 3
    done = longfat("runs", "gc", *rule, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert {entry.seed for entry in ResultCache().entries()} == left


@pytest.mark.parametrize("rule", [(), ("--older", "long"), ("--keep", "much")])
def test_gc_needs_a_rule(rule: tuple[str, ...], tmp_path: Path) -> None:
    done = longfat("runs", "gc", *rule, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_what_is_damaged_is_found_set_aside_and_removed(runs: list[Run], tmp_path: Path) -> None:
    done = longfat("runs", "check", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "3 results as when made" in done.stderr
    place = ResultCache().place(runs[0].key)
    (place / "raw" / "a.txt").write_text("y" * 500)
    (ResultCache().place(runs[1].key) / ".cached.json").write_text("{")
    done = longfat("runs", "check", cwd=tmp_path)
    assert done.returncode == 3
    assert f"{place}: raw/a.txt: its bytes have changed" in done.stdout
    assert "1 result as when made" in done.stderr
    assert "2 more cannot be used" in longfat("runs", "list", cwd=tmp_path).stderr
    data = json.loads(longfat("runs", "list", "--json", cwd=tmp_path).stdout)
    assert (len(data["results"]), len(data["unreadable"])) == (1, 2)
    done = longfat("runs", "gc", "--damaged", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 that could not be used removed" in done.stdout
    assert ResultCache().unreadable() == []
    # The run directory is the memory's own file by another name.
    done = longfat("runs", "check", str(runs[0].folder), str(runs[2].folder), cwd=tmp_path)
    assert done.returncode == 3
    assert f"{runs[0].folder}: raw/a.txt: its bytes have changed" in done.stdout
