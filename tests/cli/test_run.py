"""The command as a user calls it: what it prints, what it ends with, what it leaves behind."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from longfat import __version__
from tests.command import Command, longfat
from tests.conftest import processes_running

STUDY = """\
title: A small study
memory: 512MB
network:
  hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}
  switches: [s1]
  links: [[h1, s1], [h2, s1]]
setup:
  - root: tc qdisc add dev s1-eth2 root netem delay 10ms
flows:
  rtt: {ping: h1 -> h2, count: 3}
  bulk: {iperf3: h1 -> h2, time: 1s, rate: 10mbit, after: rtt}
cases:
  near:
  far:
    setup: [{root: tc qdisc change dev s1-eth2 root netem delay 30ms}]
claims:
  - far is farther: far.rtt.min > 2 * near.rtt.min
published:
  source: nobody
  near: {rtt.min: 10ms}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(STUDY)
    return path


def test_version(tmp_path: Path) -> None:
    assert longfat("--version", cwd=tmp_path).stdout == f"longfat {__version__}\n"


def test_tables_go_to_stdout_and_talk_to_stderr(study: Path) -> None:
    done = longfat("run", "small.yaml", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    assert re.search(r"10(\.0)? ms .*1\.00", done.stdout)
    assert "far is farther" in done.stdout
    assert re.search(r"near: .* virtual s in .* s", done.stderr)
    out = study.parent / "runs" / "small"
    assert {path.name for path in out.iterdir()} == {
        "near-seed1",
        "far-seed1",
        "plots",
        ".report.json",
        "report.html",
        "report.pdf",
        "verdict.json",
    }
    assert "2 runs: 0 cached, 2 run\n" in done.stderr
    verdict = json.loads((out / "verdict.json").read_text())
    assert (verdict["study"], verdict["title"]) == ("small", "A small study")
    assert verdict["claims"][0]["holds"] is True
    assert set(verdict["cases"]) == {"near", "far"}


def test_tables_are_printed_before_the_report_is_drawn(study: Path) -> None:
    (study.parent / "runs/small/report.html").mkdir(parents=True)
    done = longfat("run", "small.yaml", cwd=study.parent)
    assert done.returncode == 2
    assert "the report cannot be written" in done.stderr
    assert "far is farther" in done.stdout


def test_json(study: Path) -> None:
    done = longfat("run", "small.yaml", "--json", "--out", "o", "--seed", "7", cwd=study.parent)
    data: dict[str, Any] = json.loads(done.stdout)
    assert set(data) == {"study", "cases", "claims", "published"}
    assert data["study"] == "small"
    near = data["cases"]["near"]
    assert set(near) == {"metrics", "spread", "runs"}
    (run,) = near["runs"]
    assert set(run) == {"digest", "seed", "metrics", "virtual_s", "wall_s", "run_dir"}
    assert run["seed"] == 7
    assert run["metrics"] == near["metrics"]
    minimum = near["metrics"]["rtt.min_s"]
    assert near["spread"]["rtt.min_s"] == {"low": minimum, "high": minimum, "count": 1}
    assert near["metrics"]["rtt.min_s"] == pytest.approx(0.01, rel=0.01)
    assert near["metrics"]["bulk.sender_bps"] == pytest.approx(10e6, rel=0.05)
    assert (study.parent / run["run_dir"] / "manifest.json").exists()
    assert data["claims"] == [
        {
            "text": "far is farther",
            "expression": "far.rtt.min > 2 * near.rtt.min",
            "holds": True,
            "over_seeds": False,
            "seeds": None,
            "over_cases": [],
        }
    ]
    assert data["published"] == [
        {
            "case": "near",
            "metric": "rtt.min_s",
            "published": 0.01,
            **dict.fromkeys(("published_low", "published_high", "published_runs")),
            "measured": minimum,
            "low": minimum,
            "high": minimum,
            "count": 1,
            "ratio": minimum / 0.01,
            "inside_band": None,
            "inside_source": None,
        }
    ]


# With three pings, one seed in eighty loses those that are quick.
LOSSY = (
    STUDY.replace("netem delay 10ms", "netem delay 10ms loss 5%")
    .replace("title: A small study", "title: A small study\nseeds: 3")
    .replace("count: 3", "count: 20, interval: 100ms")
)


def test_seeds(study: Path) -> None:
    study.write_text(LOSSY)
    done = longfat("run", "small.yaml", "--no-report", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    assert "2 of 2 cases" in done.stdout
    assert "6 runs with the seeds 1-3" in done.stdout
    assert re.search(r"median +5-95 % +ratio +inside\n", done.stdout)
    assert re.search(r"holds +3 of 3 seeds +far is farther", done.stdout)
    # One line a case, not one a run.
    assert re.search(r"^near: 3 seeds, .* virtual s in .* s", done.stderr, re.MULTILINE)
    assert len(done.stderr.splitlines()) == 3
    out = study.parent / "runs" / "small"
    folders = {f"{case}-seed{seed}" for case in ("near", "far") for seed in (1, 2, 3)}
    assert {path.name for path in out.iterdir()} == {*folders, "verdict.json"}


def test_a_seed_of_several_gives_what_it_gives_alone(study: Path) -> None:
    study.write_text(LOSSY)
    several = longfat(
        *("run", "small.yaml", "--json", "--case", "near", "--seed", "4", "--out", "several"),
        cwd=study.parent,
    )
    near = json.loads(several.stdout)["cases"]["near"]
    assert [run["seed"] for run in near["runs"]] == [4, 5, 6]
    sent = sorted(run["metrics"]["bulk.sent_bytes"] for run in near["runs"])
    assert near["metrics"]["bulk.sent_bytes"] == sent[1]
    digests = [run["digest"] for run in near["runs"]]
    assert len(set(digests)) == 3
    alone = longfat(
        *("run", "small.yaml", "--json", "--case", "near", "--seed", "5", "--seeds", "1"),
        *("--out", "alone"),
        cwd=study.parent,
    )
    (run,) = json.loads(alone.stdout)["cases"]["near"]["runs"]
    assert run["digest"] == digests[1]
    for path in (study.parent / "alone/near-seed5/raw").iterdir():
        other = study.parent / "several/near-seed5/raw" / path.name
        assert other.read_bytes() == path.read_bytes()


def test_several_studies(study: Path) -> None:
    other = study.parent / "other" / "study.yaml"
    other.parent.mkdir()
    other.write_text(STUDY.replace("far is", "far is not").replace("far.rtt.min >", "0 >"))
    done = longfat("run", "small.yaml", "other", "--case", "far", cwd=study.parent)
    assert done.returncode == 0, done.stderr
    first, second = re.findall(r"^(\w+) ─+$", done.stdout, re.MULTILINE)
    assert (first, second) == ("small", "other")
    assert "small/far: " in done.stderr
    runs = study.parent / "runs"
    assert (runs / "small" / "report.html").exists()
    assert (runs / "other" / "far-seed1" / "manifest.json").exists()
    done = longfat("run", "other", "small.yaml", "--json", "--out", "o", cwd=study.parent)
    assert done.returncode == 1  # other's claim fails
    theirs, ours = json.loads(done.stdout)
    assert (theirs["study"], ours["study"]) == ("other", "small")
    assert theirs["cases"].keys() == {"near", "far"}
    folder = Path(ours["cases"]["far"]["runs"][0]["run_dir"])
    assert folder.resolve() == (study.parent / "o/small/far-seed1").resolve()


def test_two_studies_of_one_name(study: Path) -> None:
    done = longfat("run", "small.yaml", "./small.yaml", cwd=study.parent)
    assert done.returncode == 2
    assert "both called 'small'" in done.stderr


def test_a_lab_is_found_by_name(tmp_path: Path) -> None:
    done = longfat("run", "lab08", "--case", "unshaped", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["study"] == "lab08"
    assert (tmp_path / "runs/lab08/unshaped-seed1").is_dir()


def test_a_path_wins_over_a_lab(study: Path) -> None:
    (study.parent / "lab08").mkdir()
    study.rename(study.parent / "lab08" / "study.yaml")
    done = longfat("run", "lab08", "--case", "unshaped", cwd=study.parent)
    assert done.returncode == 2
    assert "its cases: near, far" in done.stderr
    (study.parent / "lab08" / "study.yaml").unlink()
    done = longfat("run", "lab08", cwd=study.parent)
    assert done.returncode == 2
    assert "the folder lab08 here holds no study.yaml, and hides the lab" in done.stderr


def test_an_unknown_name_tells_the_labs(tmp_path: Path) -> None:
    done = longfat("run", "lab88", cwd=tmp_path)
    assert done.returncode == 2
    assert "no file, folder or lab 'lab88'; did you mean 'lab" in done.stderr
    assert "? (labs: lab01, lab02, " in done.stderr


def test_a_case_alone_leaves_claims_unjudged(study: Path) -> None:
    done = longfat("run", "small.yaml", "--case", "near", "--json", cwd=study.parent)
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert list(data["cases"]) == ["near"]
    assert data["claims"][0]["holds"] is None


def test_a_failed_claim_ends_with_1(study: Path) -> None:
    study.write_text(STUDY.replace("far.rtt.min >", "far.rtt.min <"))
    assert longfat("run", "small.yaml", "--json", cwd=study.parent).returncode == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("flows:", "flow:"), "small.yaml:9:1: flow: "),
        (("count: 3", "count: many"), "small.yaml:10:32: flows.rtt.count: "),
        (("rate: 10mbit", "rate: 10mbps"), "small.yaml:11:44: flows.bulk.rate: "),
        (("[h2, s1]", "[h3, s1]"), "small.yaml:6:22: network.links[1][0]: "),
        (("h2: 10.0.0.2/8", "h1: 10.0.0.2/8"), "small.yaml:4:27: 'h1' is written twice"),
        (("10.0.0.2/8", "10.0.0.1/8"), "small.yaml:4:31: network.hosts.h2: "),
        (("dev s1-eth2 root netem delay 10ms", "dev s1-eth9 root netem"), "small.yaml:8:11: setup"),
        (("title:", "\ttitle:"), "small.yaml:1:1"),
    ],
)
def test_bad_input_ends_with_2_and_a_place(
    study: Path, change: tuple[str, str], message: str
) -> None:
    assert change[0] in STUDY
    study.write_text(STUDY.replace(*change, 1))
    done = longfat("run", "small.yaml", cwd=study.parent)
    assert done.returncode == 2, done.stderr
    assert f"longfat: {message}" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    runs = study.parent / "runs" / "small"
    assert not runs.exists() or list(runs.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "nowhere"),
        ("run", "small.yaml", "--case", "middle"),
        ("run", "small.yaml", "--seed", "-1"),
        ("run", "small.yaml", "--seed", str(2**63)),
        ("run", "small.yaml", "--seed", str(2**63 - 1), "--seeds", "2"),
        ("run", "small.yaml", "--seeds", "0"),
        ("run", "small.yaml", "--seeds", "1001"),
        ("run", "small.yaml", "nowhere"),
        ("run", "small.yaml", "--kernel", "six"),
        ("run", "small.yaml", "--out", "small.yaml"),
        ("walk",),
    ],
)
def test_bad_usage_ends_with_2(study: Path, arguments: tuple[str, ...]) -> None:
    done = longfat(*arguments, cwd=study.parent)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr


def test_a_kernel_that_is_not_built_ends_with_3(study: Path) -> None:
    empty = str(study.parent / "empty")
    done = longfat("run", "small.yaml", cwd=study.parent, LONGFAT_CACHE=empty)
    assert done.returncode == 3
    assert "longfat kernel build 6.1" in done.stderr


def test_ctrl_c_leaves_nothing(study: Path, own_kernels: Path) -> None:
    study.write_text(STUDY.replace("time: 1s, rate: 10mbit", "time: 3000s"))
    with Command(
        *("longfat", "run", "small.yaml"),
        cwd=study.parent,
        env={**os.environ, "LONGFAT_CACHE": str(own_kernels)},
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        time.sleep(2.5)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 130
        assert running.stderr is not None
        assert "Traceback" not in running.stderr.read()
    _assert_nothing_is_left(study.parent / "runs" / "small", own_kernels)


def test_sigkill_at_ten_moments_leaves_nothing(study: Path, own_kernels: Path) -> None:
    study.write_text(STUDY.replace("time: 1s, rate: 10mbit", "time: 4s, rate: 50mbit"))
    moments = random.Random(8)
    for _ in range(10):
        with Command(
            *("longfat", "run", "small.yaml", "--json"),
            cwd=study.parent,
            env={**os.environ, "LONGFAT_CACHE": str(own_kernels)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as running:
            time.sleep(moments.uniform(0.05, 2.0))
            running.kill()
        # Before a run has its guard, an empty folder may stay, until the next run sweeps it.
        _assert_nothing_is_left(study.parent / "runs" / "small", own_kernels, but_empty=True)


def _assert_nothing_is_left(
    out: Path, cache: Path, *, within_s: float = 5, but_empty: bool = False
) -> None:
    (folder,) = (cache / "kernels").glob("[0-9a-f]*")
    end_s = time.monotonic() + within_s
    while True:
        running = processes_running(folder / "linux")
        partial = list(out.glob(".*")) if out.exists() else []
        if but_empty:  # os.walk passes over what has just gone
            partial = [path for path in partial if any(f or d for _, d, f in os.walk(path))]
        if not running and not partial:
            break
        assert time.monotonic() < end_s, (running, partial)
        time.sleep(0.05)
    for run in out.glob("*-seed1"):
        assert (run / "manifest.json").exists()


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("lab8.mn", ["longfat convert lab8.mn study.yaml", "longfat shell lab8.mn"]),
        (
            "net.py",
            ["longfat exec --bind . -- python3 net.py", "longfat convert net.py study.yaml"],
        ),
        ("h1.pcap", ["longfat packets h1.pcap"]),
        ("h1.pcapng", ["longfat packets h1.pcapng"]),
        ("out.json", ["longfat plot --iperf out.json"]),
        ("case.pkt", ["longfat packetdrill case.pkt"]),
        ("results", ["longfat plot --iperf results/*.json"]),
    ],
)
def test_what_is_no_study_has_a_command_of_its_own(
    name: str, commands: list[str], tmp_path: Path
) -> None:
    if "." in name:
        (tmp_path / name).write_bytes(b"{}")
    else:
        (tmp_path / name).mkdir()
        (tmp_path / name / "tcp.json").write_bytes(b"{}")
    done = longfat("run", name, cwd=tmp_path)
    assert done.returncode == 2
    assert all(f"`{command}`" in done.stderr for command in commands), done.stderr
