"""`longfat plan`: what it tells of a study, and that `longfat run` takes a grid as it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from longfat.execution.cost import parallel_wall_s
from tests.cli.test_run import STUDY
from tests.command import longfat

GRID = """\
title: A small grid
memory: 512MB
grid:
  cc: [cubic, reno]
  buffer: {values: [0.5, 2], unit: bdp}
  rtt: [10ms, 40ms]
let: {rate: 10mbit, bdp: rate * rtt + 8KB}
case_title: $<cc>, $<buffer>, $<rtt>
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1, s2]
  links: [[h1, s1], [s1, s2, {rate: $<rate>, delay: $<rtt / 2>, queue: $<buffer>}], [s2, h2]]
flows:
  bulk: {iperf3: h1 -> h2, time: 1s, congestion: $<cc>}
claims:
  - more buffer is no harm: cubic-2bdp-10ms.bulk.receiver > 0.5 * cubic-0_5bdp-10ms.bulk.receiver
"""


def test_a_grid_is_reported_and_costs_are_guessed(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(GRID, encoding="utf-8")
    done = longfat("plan", "small.yaml", "--seeds", "3", "--jobs", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 cases, 24 runs, of a grid of 8 combinations" in done.stdout
    assert "buffer     2       0.5 bdp, 2 bdp" in done.stdout
    assert "virtual time  72 s" in done.stdout
    assert "with 2 jobs" in done.stdout
    assert "No runs in runs/small to estimate from" in done.stdout
    assert "\x1b" not in done.stdout
    assert not (tmp_path / "runs").exists()


def test_long_tables_are_cut_unless_all_is_asked_for(tmp_path: Path) -> None:
    text = GRID.replace("[10ms, 40ms]", "{from: 10ms, to: 40ms, steps: 31}")
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    short = longfat("plan", "small.yaml", cwd=tmp_path).stdout
    assert "... and 114 more: --all lists them" in short
    assert "10ms, 11ms, 12ms, 13ms, 14ms, 15ms, ..., 40ms" in short
    long = longfat("plan", "small.yaml", "--all", cwd=tmp_path).stdout
    assert len([line for line in long.splitlines() if line.startswith("reno-")]) == 62


def test_a_study_without_a_grid_has_a_plan_too(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(STUDY, encoding="utf-8")
    data = json.loads(longfat("plan", "small.yaml", "--json", cwd=tmp_path).stdout)
    assert (data["cases"], data["runs"], data["grid"]) == (2, 2, None)
    assert [one["name"] for one in data["plan"]] == ["near", "far"]
    assert data["cases_without_known_rate"] == 0


def test_a_flow_without_a_limit_is_said_to_be_a_guess(tmp_path: Path) -> None:
    text = STUDY.replace("rate: 10mbit, ", "")
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    done = longfat("plan", "small.yaml", cwd=tmp_path)
    assert "2 cases with a flow whose rate no line limits" in done.stdout


def test_a_grid_is_run_and_the_plan_learns_from_it(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(GRID, encoding="utf-8")
    guess = json.loads(longfat("plan", "small.yaml", "--json", cwd=tmp_path).stdout)
    assert guess["known_runs"] == 0
    done = longfat("run", "small.yaml", "--case", "cubic-*", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert list(verdict["cases"]) == [
        *("cubic-0_5bdp-10ms", "cubic-0_5bdp-40ms", "cubic-2bdp-10ms", "cubic-2bdp-40ms"),
    ]
    assert verdict["claims"][0]["holds"] is True
    rates = {name: one["metrics"]["bulk.receiver_bps"] for name, one in verdict["cases"].items()}
    assert all(4e6 < rate < 10e6 for rate in rates.values())
    left = json.loads(longfat("plan", "small.yaml", "--json", cwd=tmp_path).stdout)
    assert left["known_runs"] == 4 == left["founded_on"]["runs"]
    assert [one["known_runs"] for one in left["plan"]] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert left["virtual_s"] == pytest.approx(guess["virtual_s"] / 2)
    arguments = ("plan", "small.yaml", "--json", "--no-cache")
    learned = json.loads(longfat(*arguments, cwd=tmp_path).stdout)
    assert learned["known_runs"] == 0
    assert learned["cpu_s"] > 1.2 * left["cpu_s"]
    wall_s = {name: one["runs"][0]["wall_s"] for name, one in verdict["cases"].items()}
    planned = {one["name"]: one["wall_s"] for one in learned["plan"]}
    assert {name: planned[name] for name in wall_s} == pytest.approx(wall_s, abs=0.001)
    assert 0.5 < guess["disk_bytes"] / learned["disk_bytes"] < 2
    told = longfat("plan", "small.yaml", cwd=tmp_path).stdout
    assert re.search(r"^4 of 8 runs are cached; the rest: about [\d.]+ s$", told, re.MULTILINE)
    # Where the runs' folder is gone, the memory teaches.
    shutil.rmtree(tmp_path / "runs")
    again = json.loads(longfat("plan", "small.yaml", "--json", cwd=tmp_path).stdout)
    assert again["known_runs"] == 4 == again["founded_on"]["runs"]
    told = longfat("plan", "small.yaml", "--case", "cubic-*", cwd=tmp_path).stdout
    assert "All 4 runs are cached: nothing is left to be run." in told


def test_bad_input_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(GRID, encoding="utf-8")
    for command in ("plan", "run"):
        done = longfat(command, "small.yaml", "--case", "bbr-*", cwd=tmp_path)
        assert done.returncode == 2
        assert "no case 'bbr-*' in it" in done.stderr
        assert "Traceback" not in done.stderr
    (tmp_path / "small.yaml").write_text(GRID.replace("[cubic, reno]", "[]"), encoding="utf-8")
    done = longfat("plan", "small.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert "small.yaml:4:7: grid.cc: the list is empty" in done.stderr


def test_the_longest_start_first() -> None:
    assert parallel_wall_s([1, 1, 1, 3], 2) == 3
    assert parallel_wall_s([1, 2, 3], 1) == 6
    assert parallel_wall_s([], 4) == 0
