"""The books of labs balance on both ends of the kernels' range: nothing is lost unaccounted."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.execution.runs import load_run
from tests.books import imbalances
from tests.command import longfat
from tests.labs.test_claims import CASES

# TCP sends again what was not lost, or its own count has more than the data.
SPURIOUS = {
    "lab03": "jitter",
    "lab04": "reordering",
}


# 6.1 has no dualpi2.
LATER = ("lab22",)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["6.1", "7.2"])
@pytest.mark.parametrize("lab", sorted(CASES.keys() - SPURIOUS.keys()))
def test_what_flows_miss_is_in_the_ledger(lab: str, kernel: str, tmp_path: Path) -> None:
    if kernel == "6.1" and lab in LATER:
        pytest.skip("its kernel is a later one")
    names, _ = CASES[lab]
    argv = ["run", lab, "--no-report", "--jobs", "1", "--kernel", kernel, "--out", str(tmp_path)]
    for name in names:
        argv += ["--case", name]
    done = longfat(*argv, cwd=tmp_path)
    assert done.returncode in (0, 1), done.stderr + done.stdout
    runs = [load_run(path.parent) for path in tmp_path.rglob("manifest.json")]
    assert len(runs) == len(names)
    assert [line for run in runs for line in imbalances(run)] == []
