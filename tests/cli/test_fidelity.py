"""`longfat fidelity`: its page, its exit codes and its messages, on real runs of five seeds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import longfat
from tests.paths import TESTS

SEEDED = TESTS / "data" / "runs" / "seeded"
STUDY = str(SEEDED / "study.yaml")


def test_the_page_goes_to_stdout(tmp_path: Path) -> None:
    done = longfat("fidelity", str(SEEDED), "--study", str(SEEDED), cwd=tmp_path)
    assert done.returncode == 1, done.stderr  # a figure is off
    assert done.stdout.startswith("# Fidelity")
    assert "| lossy | bulk largest cwnd | 1.00 MB |" in done.stdout
    assert done.stderr == ""


def test_the_page_goes_to_a_file(tmp_path: Path) -> None:
    arguments = ("fidelity", str(SEEDED), "--study", str(SEEDED), "--out", "docs/fidelity.md")
    done = longfat(*arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "seeded: 8 figures: 4 within 15 %, 1 inside the band, 2 explained, 1 off, "
        "beyond 15 % with fewer than 8 seeds: 4",
        "off: seeded lossy bulk largest cwnd: published 1.00 MB, measured 31.1 KB",
    ]
    page = longfat("fidelity", str(SEEDED), "--study", str(SEEDED), cwd=tmp_path).stdout
    written = tmp_path / "docs/fidelity.md"
    assert written.read_text() == page
    by_hand = "<!-- written by hand -->\n## More\n"
    written.write_text(f"# Old\n{by_hand}")
    longfat(*arguments, cwd=tmp_path)
    assert written.read_text() == f"{page}\n{by_hand}"


def test_nothing_off_ends_with_0(tmp_path: Path) -> None:
    text = (SEEDED / "study.yaml").read_text()
    study = tmp_path / "seeded.yaml"
    study.write_text(text.replace("    bulk.max_cwnd: 1MB\n", ""))
    done = longfat("fidelity", str(SEEDED), "--study", "seeded.yaml", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (data,) = json.loads(done.stdout)
    assert (data["study"], data["good"], len(data["figures"])) == ("seeded", True, 7)
    sender = next(one for one in data["figures"] if one["metric"] == "bulk.sender_bps")
    assert sender["agreement"] == "inside the band"
    assert sender["low"] < sender["published"] == 24e6 < sender["high"]
    assert sender["seeds"] == 5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("runs/lab08",), "runs/lab08: there is no such folder; `longfat run lab08` would fill"),
        ((str(SEEDED),), "there is no lab 'seeded'"),
        ((str(SEEDED), "--study", "nothing"), "there is no file, folder or lab 'nothing'"),
        ((str(SEEDED), "--study", "lab08"), "it is not a run of "),
        ((str(SEEDED), ".", "--study", STUDY), "--study is of one folder of runs"),
        ((".", "--study", STUDY), "there are no runs in it"),
        ((str(SEEDED), "--study", STUDY, "--out", "/proc/x/y"), "/proc/x/y: cannot be written: "),
        ((), "Missing argument"),
    ],
)
def test_what_is_wrong_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = longfat("fidelity", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
