"""`longfat run` and the result cache: what is known is not run, whatever came between."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from longfat.execution.cache import ResultCache
from longfat.execution.cache.entry import NOTE
from tests.command import Command, longfat
from tests.execution.cache.test_store import on_small_disk
from tests.paths import LONGFAT
from tests.resealed import reseal

GRID = """\
title: A grid of twelve
memory: 512MB
grid:
  delay: [1ms, 2ms, 3ms, 4ms]
  loss: [0, 1%, 2%]
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {delay: $<delay>, loss: $<loss>}]]
flows:
  rtt: {ping: h1 -> h2, count: 2}
"""


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.yaml"
    path.write_text(GRID)
    return path


def digests(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    assert done.returncode == 0, done.stderr
    cases: dict[str, Any] = json.loads(done.stdout)["cases"]
    return {name: case["runs"][0]["digest"] for name, case in cases.items()}


def test_a_killed_run_goes_on_where_it_stopped(
    grid: Path, own_kernels: Path, result_cache_root: Path
) -> None:
    environment = {"LONGFAT_CACHE": str(own_kernels)}
    known: list[int] = []
    for _ in range(2):
        with Command(
            *("longfat", "run", "grid.yaml", "--json"),
            cwd=grid.parent,
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            wanted = (known[-1] if known else 0) + 3
            while len(list(result_cache_root.glob("??/*/manifest.json"))) < wanted:
                assert running.poll() is None
                time.sleep(0.005)
            running.send_signal(signal.SIGKILL)
        known.append(len(list(ResultCache().entries())))
    before = {entry.key: entry.folder.stat().st_ino for entry in ResultCache().entries()}
    rest = longfat("run", "grid.yaml", "--json", cwd=grid.parent, **environment)
    found = digests(rest)
    assert len(found) == 12
    # A run whose folder was in its place when the kill came is taken from there.
    counts = re.search(r"12 runs: (\d+) cached, (\d+) run\n", rest.stderr)
    assert counts is not None, rest.stderr
    assert int(counts[1]) >= known[-1]
    assert int(counts[1]) + int(counts[2]) == 12
    # Nothing twice: what was cached is still the same folder; nothing lost.
    after = {entry.key: entry.folder.stat().st_ino for entry in ResultCache().entries()}
    assert len(after) == 12
    assert before.items() <= after.items()
    again = longfat("run", "grid.yaml", "--json", cwd=grid.parent, **environment)
    assert "12 runs: 12 cached, 0 run\n" in again.stderr
    assert digests(again) == found
    fresh = longfat("run", "grid.yaml", "--json", "--fresh", cwd=grid.parent, **environment)
    assert "12 runs: 0 cached, 12 run\n" in fresh.stderr
    assert digests(fresh) == found


def test_an_edit_runs_only_what_it_touches(grid: Path) -> None:
    grid.write_text(GRID.replace("[1ms, 2ms, 3ms, 4ms]", "[1ms, 2ms]"))
    first = digests(longfat("run", "grid.yaml", "--json", cwd=grid.parent))
    # Title, names and the folder decide no result; one value of the grid, three cases.
    grid.write_text(
        GRID.replace("[1ms, 2ms, 3ms, 4ms]", "[1ms, 5ms]").replace("grid of twelve", "new title")
    )
    done = longfat("run", "grid.yaml", "--json", "--out", "elsewhere", cwd=grid.parent)
    assert "6 runs: 3 cached, 3 run\n" in done.stderr
    second = digests(done)
    same = first.keys() & second.keys()
    assert len(same) == 3
    assert {name: first[name] for name in same} == {name: second[name] for name in same}
    data = json.loads((grid.parent / "elsewhere" / f"{min(same)}-seed1/manifest.json").read_text())
    assert data["parameters"]["delay"]["text"] == "1ms"


def test_fresh_fails_loudly_where_bytes_differ(grid: Path) -> None:
    arguments = ("run", "grid.yaml", "--case", "delay1ms-loss0", "--json")
    assert longfat(*arguments, cwd=grid.parent).returncode == 0
    (entry,) = ResultCache().entries()
    (entry.folder / "raw" / "rtt.txt").write_text("tampered with")
    # What is damaged does not count.
    done = longfat(*arguments, "--fresh", cwd=grid.parent)
    assert done.returncode == 0
    assert f"the cached result {entry.key[:12]} is damaged" in done.stderr
    # One that is whole and another one must not be.
    (entry.folder / "raw" / "rtt.txt").unlink()
    (entry.folder / "raw" / "rtt.txt").write_text("another result")
    note = (entry.folder / NOTE).read_text()
    (entry.folder / NOTE).unlink()
    reseal(entry.folder)
    (entry.folder / NOTE).write_text(note)
    done = longfat(*arguments, "--fresh", cwd=grid.parent)
    assert done.returncode == 3
    assert "gave other bytes than the cached result" in done.stderr
    assert "raw/rtt.txt differ" in done.stderr
    assert "longfat run grid.yaml --case delay1ms-loss0 --seed 1" in done.stderr
    assert done.stdout == ""


def test_no_memory(grid: Path, result_cache_root: Path) -> None:
    done = longfat(
        "run", "grid.yaml", "--case", "delay1ms-*", "--no-cache", "--json", cwd=grid.parent
    )
    assert "3 runs: 0 cached, 3 run\n" in done.stderr
    assert not result_cache_root.exists()
    done = longfat("run", "grid.yaml", "--no-cache", "--fresh", cwd=grid.parent)
    assert done.returncode == 2


def test_failures_are_listed_at_the_end(grid: Path) -> None:
    text = GRID.replace("[1ms, 2ms, 3ms, 4ms]", "[1ms, 2ms]").replace(
        "flows:", "setup: [{root: 'test $<delay> = 1ms'}]\nflows:"
    )
    grid.write_text(text)
    done = longfat("run", "grid.yaml", "--keep-going", "--json", cwd=grid.parent)
    assert done.returncode == 2
    assert "6 runs: 0 cached, 3 run, 3 failed\n" in done.stderr
    assert done.stderr.count("`test 2ms = 1ms` exited with status 1") == 1
    lines = [line.strip() for line in done.stderr.splitlines() if line.startswith("    longfat")]
    assert len(lines) == 3
    data = json.loads(done.stdout)
    assert sorted(data["cases"]) == [f"delay1ms-loss{k}" for k in ("0", "1pct", "2pct")]
    assert [failure["line"] for failure in data["failures"]] == lines
    alone = subprocess.run(
        [LONGFAT, *lines[0].split()[1:]],
        cwd=grid.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert alone.returncode == 2
    assert "1 run: 0 cached, 0 run, 1 failed\n" in alone.stderr
    # Without --keep-going the first failure is the end; what was done is cached.
    done = longfat("run", "grid.yaml", "--jobs", "1", cwd=grid.parent)
    assert done.returncode == 2
    assert "6 runs: 3 cached, 0 run, 1 failed, 2 not run\n" in done.stderr
    assert done.stdout == ""


CAPTURE = """\
title: More than the disk holds
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [s1, h2, {rate: 100mbit, delay: 1ms}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 3s}
probes:
  packets: {kind: capture, of: s1-eth2, snap: 1500}
"""


@pytest.mark.parametrize("size", ["512k", "4m"])
def test_a_full_disk_is_reported(tmp_path: Path, size: str) -> None:
    (tmp_path / "capture.yaml").write_text(CAPTURE)
    disk = tmp_path / "disk"
    disk.mkdir()
    code = (
        "import os, subprocess, sys; "
        f"done = subprocess.run([{LONGFAT!r}, 'run', '../capture.yaml', '--json']); "
        "print('left', done.returncode, sorted(f for _, d, f in os.walk('.') if f))"
    )
    inside = f'cd "{disk}" && exec {sys.executable} -c "$0"'
    words = on_small_disk(["sh", "-c", inside, code], disk=disk, size=size)
    assert "runs/capture: the disk or your quota is full" in words
    assert "left 3 []" in words
    assert "Traceback" not in words


@pytest.mark.slow
def test_several_kernels_are_run_and_compared(grid: Path) -> None:
    arguments = ("run", "grid.yaml", "--case", "delay1ms-*", "--kernel", "6.1", "--kernel", "6.12")
    done = longfat(*arguments, "--no-report", cwd=grid.parent)
    assert done.returncode == 0, done.stderr
    assert "6 runs: 0 cached, 6 run\n" in done.stderr
    out = grid.parent / "runs" / "grid"
    manifest = json.loads((out / "6.1" / "delay1ms-loss0-seed1" / "manifest.json").read_text())
    assert manifest["case"]["kernel"] == "6.1"
    assert (out / "6.12" / "verdict.json").exists()
    assert re.search(r"^6\.1 ─+$", done.stdout, re.MULTILINE)
    assert "6.1 and 6.12 compared" in done.stdout
    data = json.loads(longfat(*arguments, "--json", cwd=grid.parent).stdout)
    assert set(data) == {"study", "kernels", "comparison"}
    assert set(data["kernels"]) == {"6.1", "6.12"}
    assert longfat(*arguments, "--kernel", "6.1", cwd=grid.parent).returncode == 2


def test_a_damaged_result_is_run_again(grid: Path) -> None:
    grid.write_text(GRID.replace("[1ms, 2ms, 3ms, 4ms]", "[1ms]").replace("[0, 1%, 2%]", "[0, 1%]"))
    first = digests(longfat("run", "grid.yaml", "--json", cwd=grid.parent))
    entry = next(iter(ResultCache().entries()))
    manifest = entry.folder / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"rtt.avg_s": ', '"rtt.avg_s": 1'))
    again = longfat("run", "grid.yaml", "--json", cwd=grid.parent)
    assert digests(again) == first
    assert f"{manifest}: damaged: its checksum" in again.stderr
    assert "was moved to" in again.stderr
    assert digests(longfat("run", "grid.yaml", "--json", cwd=grid.parent)) == first
