"""The studies of this folder run, and their claims hold."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from longfat.study import read_study

HERE = Path(__file__).resolve().parent


def run(name: str | Path, cwd: Path) -> dict[str, Any]:
    """Run a study as a person does; return its cases."""
    program = Path(sys.executable).with_name("longfat")
    done = subprocess.run(
        [program, "run", HERE / name, "--json", "--no-report", "--no-cache"],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    cases: dict[str, Any] = json.loads(done.stdout)["cases"]
    return cases


def test_a_page_load(tmp_path: Path) -> None:
    metrics = run("page", tmp_path)["slow"]["metrics"]
    # 500 KB from slow start over a line of 20 Mbit/s and 40 ms, whose ends know each other.
    assert metrics["page.load_s"] == pytest.approx(0.450471, rel=0.01)
    assert metrics["tcp.peak_rtt_s"] > 0.04


def test_short_flows(tmp_path: Path) -> None:
    metrics = run("short-flows", tmp_path)["fq"]["metrics"]
    assert metrics["web.slowdown_p50"] < 5


def test_a_call_over_a_mobile_link(tmp_path: Path) -> None:
    cases = run("cellular", tmp_path)
    assert cases["fifo"]["metrics"]["call.mos"] < 2.5
    assert cases["fq"]["metrics"]["call.mos"] > 4


def test_failover(tmp_path: Path) -> None:
    cases = run("failover", tmp_path)
    # 20 ms between two datagrams: an outage of 10 s, and one of 300 ms.
    assert cases["static"]["metrics"]["call.longest_loss"] == pytest.approx(500, abs=10)
    assert cases["rerouted"]["metrics"]["call.longest_loss"] == pytest.approx(15, abs=3)


def test_a_service_from_an_image(tmp_path: Path) -> None:
    place = tmp_path / "image"
    shutil.copytree(HERE / "image", place)
    subprocess.run([sys.executable, place / "make_image.py"], check=True)
    case = run(place, tmp_path)["default"]
    assert case["metrics"]["upload.received_bytes"] > 1e6
    # 2 MB over a line of 20 Mbit/s and 20 ms.
    assert 0.8 < case["metrics"]["upload.elapsed_s"] < 2


@pytest.mark.parametrize("name", ["bbr3", "prague", "out-of-tree-tcp"])
def test_studies_of_kernels_that_are_not_here(name: str) -> None:
    study = read_study(HERE / name / "study.yaml")
    assert any("+" in planned.case.kernel for planned in study.cases.values())
