from __future__ import annotations

import json
import subprocess

import pytest

from longfat.cli.verify import Agreement, compare
from longfat.engine import toolset as toolsets
from longfat.execution.runs import Run
from longfat.study.digests import LabDigests
from tests.paths import LONGFAT

TOOLSET = 64 * "a"


class _Run:
    def __init__(self, name: str, *, digest: str, release: str = "6.1.192") -> None:
        self.folder = type("Folder", (), {"name": name})()
        self.digest = digest
        self.kernel = {"release": release}


@pytest.mark.parametrize(
    ("digest", "release", "toolset", "agreement"),
    [
        ("b", "6.1.192", TOOLSET, Agreement.SAME),
        ("b", "6.1.200", TOOLSET, Agreement.SAME),
        ("c", "6.1.192", TOOLSET, Agreement.DIFFERENT),
        ("c", "6.1.200", TOOLSET, Agreement.OTHER_KERNEL),
        ("b", "6.1.192", 64 * "f", Agreement.OTHER_TOOLSET),
    ],
)
def test_what_a_comparison_says(
    digest: str, release: str, toolset: str, agreement: Agreement
) -> None:
    recorded = LabDigests(toolset=TOOLSET, kernel="6.1.192", runs={"one-seed1": "b"})
    run: Run = _Run("one-seed1", digest=digest, release=release)  # type: ignore[assignment]
    new: Run = _Run("new-seed1", digest=digest)  # type: ignore[assignment]
    verified = compare("lab01", {"one": (run,), "new": (new,)}, recorded, toolset=toolset)
    assert [one.agreement for one in verified] == [agreement, Agreement.NOT_RECORDED]


def _verify(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [LONGFAT, "verify", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.xdist_group("toolset")
def test_a_lab_gives_the_recorded_bytes() -> None:
    toolsets.build(report=lambda *_: None)
    done = _verify("lab01", "--json", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    runs = json.loads(done.stdout)["runs"]
    assert [run["run"] for run in runs][-1] == "outage-seed1"
    # A kernel of another release may give other bytes.
    assert {run["agreement"] for run in runs} <= {"same", "other_kernel"}
    if all(run["kernel"] == "6.1.192" for run in runs):
        assert {run["agreement"] for run in runs} == {"same"}


def test_a_lab_without_digests_is_named() -> None:
    done = _verify("lab99")
    assert (done.returncode, done.stdout) == (2, "")
    assert "lab99" in done.stderr
