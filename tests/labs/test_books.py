"""The books of labs balance: nothing is lost unaccounted, on any kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution.runs import load_run
from longfat.study import read_study
from longfat.study.labs import find_lab
from tests.books import imbalances
from tests.command import longfat
from tests.labs.test_claims import CASES

# What a flow counts itself is something else than what it lost.
OTHERWISE_COUNTED = {
    "lab02": ("reverse",),  # iperf3's server sends on after the end, and does not count that
    "lab04": ("duplicate",),  # another copy of what was lost arrives
    "lab13": ("probing",),  # a segment that is too large is sent again in several
    # When the server stops counting, fq_codel's queue holds up to its limit of 10,240 packets.
    "lab18": ("fq-codel-udp",),
}

# A program forwards their packets: those that it takes are copies, which the kernel then drops.
FORWARDED_BY_PROGRAMS = {"lab11": ("router-hol", "router-voq")}

# Each takes more than 3 s of CPU time; `make test-long` has them.
COSTLY = {
    "lab01": ("delayed",),
    "lab02": ("udp", "udp-over", "parallel", "clients", "both"),
    "lab04": ("corrupt-udp",),
    "lab06": ("reno", "cubic", "htcp", "reno-frames", "cubic-frames", "htcp-frames"),
    "lab07": ("cubic", "cubic-30ms"),
    "lab08": ("default", "tuned", "swapped"),
    "lab09": (
        *("single", "parallel", "loss-single", "loss-parallel"),
        *("mathis-single", "mathis-parallel", "bias-parallel", "bias-single"),
    ),
    "lab10": ("parallel",),
    "lab11": (
        *("tiny-cubic", "tiny-reno", "tiny-bbr", "bdp-cubic", "bdp-reno", "bdp-bbr"),
        *("loss-cubic", "loss-reno", "loss-bbr", "ten-times-cubic", "paced-cubic", "bucket-bbr"),
        "router-fabric",
    ),
    "lab12": ("maxrate", "over"),
    "lab16": ("drop-tail", "red"),
    "lab20": ("borrow", "quantum", "prio", "ceil", "shares", "default"),
    "lab21": ("dctcp", "step-cubic", "dctcp-small"),
    "lab22": ("flood",),
    "lab23": (
        *("messages", "page", "reno", "cubic", "kernel", "together"),
        *("together-reno", "together-packets", "alike"),
    ),
    "lab24": ("leo-cubic", "leo-bbr"),
    "lab26": ("bottleneck",),
}

# Where no case is compared with claims.
CHEAP = {"lab08": (("loss-cubic",), 0), "lab09": (("unshaped",), 0)}

LABS = sorted((CASES.keys() | CHEAP.keys()) - {"lab06"})

# 6.1 has no dualpi2.
LATER = ("lab22",)


def left_out(lab: str) -> set[str]:
    return {*OTHERWISE_COUNTED.get(lab, ()), *FORWARDED_BY_PROGRAMS.get(lab, ())}


def lines_of_imbalance(lab: str, names: list[str], out: Path, *options: str) -> list[str]:
    """Run cases of a lab, and return what does not balance."""
    argv = ["run", lab, "--no-report", "--jobs", "1", "--seeds", "1", "--out", str(out), *options]
    for name in names:
        argv += ["--case", name]
    done = longfat(*argv, cwd=out)
    assert done.returncode in (0, 1), done.stderr + done.stdout
    runs = [load_run(path.parent) for path in out.rglob("manifest.json")]
    assert len(runs) == len(names)
    return [line for run in runs for line in imbalances(run)]


@pytest.mark.slow
@pytest.mark.parametrize("lab", LABS)
def test_all_cases_that_cost_little(lab: str, tmp_path: Path) -> None:
    cases = read_study(find_lab(lab).study_file).cases
    names = [name for name in cases if name not in {*left_out(lab), *COSTLY.get(lab, ())}]
    assert lines_of_imbalance(lab, names, tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("lab", COSTLY)
def test_cases_that_cost_much(lab: str, tmp_path: Path) -> None:
    names = [name for name in COSTLY[lab] if name not in left_out(lab)]
    assert lines_of_imbalance(lab, names, tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.1", "7.2"])
@pytest.mark.parametrize("lab", LABS)
def test_a_case_on_other_kernels(lab: str, kernel: str, tmp_path: Path) -> None:
    if kernel == "6.1" and lab in LATER:
        pytest.skip("its kernel is a later one")
    name = next(name for name in (CASES | CHEAP)[lab][0] if name not in left_out(lab))
    assert lines_of_imbalance(lab, [name], tmp_path, "--kernel", kernel) == []
