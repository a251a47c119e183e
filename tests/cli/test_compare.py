"""`longfat compare`: what it finds, prints and ends with, on real runs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import command
from tests.paths import TESTS

# The runs below are made once.
pytestmark = pytest.mark.xdist_group("compare")

SEEDED = TESTS / "data" / "runs" / "seeded"

STUDY = """\
title: A lossy link
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  links: [[h1, h2, {rate: 20mbit, delay: $DELAY, loss: 0.5%}]]
flows:
  bulk: {iperf3: h1 -> h2, time: 1s}
probes:
  tcp: {of: bulk, every: 50ms}
cases:
  cubic:
claims:
  - the path is short: cubic.bulk.min_rtt < 100ms
"""


def longfat(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    cache = str(cwd / "memory")
    return command.longfat(*arguments, cwd=cwd, COLUMNS="80", LONGFAT_RESULT_CACHE=cache)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a study, and one that differs from it in a delay."""
    folder = tmp_path_factory.mktemp("lab")
    for name, delay in (("near", "10ms"), ("far", "100ms")):
        (folder / f"{name}.yaml").write_text(STUDY.replace("$DELAY", delay))
    play(folder, "near", "6.1", "runs/near/6.1")
    play(folder, "far", "6.1", "runs/far")
    return folder


def play(folder: Path, name: str, kernel: str, out: str) -> None:
    options = ("--seeds", "6", "--kernel", kernel, "--out", out, "--json")
    done = longfat("run", f"{name}.yaml", *options, cwd=folder)
    assert done.returncode in (0, 1), done.stderr  # the claim does not hold for the far one


@pytest.fixture(scope="module")
def two_kernels(lab: Path) -> Path:
    play(lab, "near", "6.12", "runs/near/6.12")
    return lab


def test_two_studies(lab: Path) -> None:
    done = longfat("compare", "runs/near/6.1", "far.yaml", cwd=lab)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("A  runs/near/6.1  1 case, seeds 1-6, Linux 6.1.")
    assert lines[1].startswith("B  far.yaml       1 case, seeds 1-6, Linux 6.1.")
    assert "links[0].delay: 10ms -> 100ms" in lines
    assert "What is real" in done.stdout
    real = [line for line in lines if line.startswith("bulk least RTT") and line.endswith("yes")]
    assert len(real) == 1
    assert max(map(len, lines)) <= 80


@pytest.mark.slow
def test_two_kernels(two_kernels: Path) -> None:
    done = longfat("compare", "near.yaml", "--kernel", "6.1", "--kernel", "6.12", cwd=two_kernels)
    assert done.returncode == 0, done.stderr
    assert "kernel: 6.1 -> 6.12" in done.stdout.splitlines()
    assert "Linux: 6.1." in done.stdout
    both = longfat("compare", "runs/near/6.1", "runs/near/6.12", "--json", cwd=two_kernels)
    data = json.loads(both.stdout)["contrasts"][0]
    assert [data["a"]["label"], data["b"]["label"]] == ["runs/near/6.1", "runs/near/6.12"]
    assert data["cases"][0]["a_seeds"] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_two_runs_tell_when_their_series_part(two_kernels: Path) -> None:
    sides = ("runs/near/6.1/cubic-seed1", "runs/near/6.12/cubic-seed1")
    done = longfat("compare", *sides, cwd=two_kernels)
    assert done.returncode == 0, done.stderr
    assert "When the series part" in done.stdout
    assert "What differs with this seed" in done.stdout
    (moment, *_) = json.loads(longfat("compare", *sides, "--json", cwd=two_kernels).stdout)[
        "moments"
    ]
    assert moment["time_s"] > 0
    assert longfat("compare", *sides, "--fail-on-difference", cwd=two_kernels).returncode == 1


def test_claims_are_judged_on_both_sides(lab: Path) -> None:
    shutil.copytree(lab / "runs" / "far", lab / "other" / "near")
    done = longfat("compare", "near.yaml", "near.yaml", "--kernel", "6.1", "--json", cwd=lab)
    assert json.loads(done.stdout)["contrasts"][0]["identical"] is True
    moved = longfat("compare", "near.yaml", "far.yaml", "--kernel", "6.1", "--json", cwd=lab)
    (claim,) = json.loads(moved.stdout)["contrasts"][0]["claims"]
    assert (claim["text"], claim["a"], claim["b"]) == ("the path is short", True, False)
    stale = longfat("compare", "near.yaml", "runs/far", "--runs", "other", cwd=lab)
    assert "the study was changed since these cases were run" in stale.stderr
    assert stale.returncode == 0


def test_the_same_runs_are_identical(tmp_path: Path) -> None:
    done = longfat("compare", str(SEEDED), str(SEEDED), "--fail-on-difference", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "byte-identical: all 6 runs" in done.stdout


def test_seeds_of_one_case_against_others(tmp_path: Path) -> None:
    case = str(SEEDED / "lossy")
    done = longfat("compare", case, "--seeds", "1-2", "--seeds", "3-5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "A  seeds 1-2  1 case, seeds 1-2, Linux 6.1.192" in done.stdout
    assert "Too few seeds to judge significance" in done.stdout


def test_a_case_against_another(tmp_path: Path) -> None:
    sides = (str(SEEDED / "lossy"), str(SEEDED / "clean"))
    done = longfat("compare", *sides, "--json", "--fail-on-difference", cwd=tmp_path)
    data = json.loads(done.stdout)["contrasts"][0]
    assert [case["name"] for case in data["cases"]] == ["lossy | clean"]
    (change,) = data["changes"]
    assert change["path"] == "setup[0]"
    assert change["before"].endswith("netem delay 10ms loss 1%")
    assert change["after"].endswith("netem delay 10ms")
    assert done.returncode == 0  # five seeds against one tell nothing for sure


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lab08",), "there is nothing to compare lab08 with: give B, or --kernel twice"),
        (("nothing", "lab08"), "there is no file, folder or lab 'nothing'"),
        (("lab08", "lab16"), "lab08: there are no runs of it in runs/lab08: `longfat run lab08`"),
        (("SEEDED", "SEEDED", "--case", "losy"), "no runs of a case 'losy'; did you mean 'lossy'?"),
        (("SEEDED", "SEEDED", "--seeds", "9-12"), "of its 6 runs none is with the seeds 9-12"),
        (("SEEDED", "SEEDED", "--seeds", "5-1"), "--seeds 5-1: not seeds: write one such as 3"),
        (("SEEDED", "--kernel", "6.1", "--kernel", "6.12"), "none is with the kernel 6.12"),
        (("SEEDED", "SEEDED", "--kernel", "6.1", "--kernel", "6.2"), "vary one of them"),
        (("SEEDED/lossy-seed1/raw", "SEEDED"), "raw: there are no runs in it (folders"),
        ((), "Missing argument"),
    ],
)
def test_what_is_wrong_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    there = [argument.replace("SEEDED", str(SEEDED)) for argument in arguments]
    done = longfat("compare", *there, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_of_several_kernels_want_a_kernel(tmp_path: Path) -> None:
    for kernel in ("7.2", "6.12"):
        shutil.copytree(SEEDED / "clean-seed1", tmp_path / "runs" / kernel / "clean-seed1")
    done = longfat("compare", "runs", "runs", cwd=tmp_path)
    assert done.returncode == 2
    assert "its runs are of several kernels: name one with --kernel" in done.stderr
    assert "6.12, 7.2" in done.stderr


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    shutil.copytree(SEEDED / "clean-seed1", tmp_path / "runs" / "clean-seed1")
    (tmp_path / "runs" / "clean-seed1" / "manifest.json").write_text("{}")
    done = longfat("compare", "runs", str(SEEDED), cwd=tmp_path)
    assert done.returncode == 2
    assert "runs/clean-seed1/manifest.json: its format is null" in done.stderr
