"""`longfat reproduce`: the list, and a cheap experiment with its table, page and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.study.labs import all_experiments
from tests.command import longfat

CHEAP = "hystart-80ms"


def test_the_list(tmp_path: Path) -> None:
    done = longfat("reproduce", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["experiment", "title", "published", "figures", "virtual", "s"]
    assert [line.split()[0] for line in lines] == list(all_experiments())
    listed = json.loads(longfat("reproduce", "--json", cwd=tmp_path).stdout)
    (cheap,) = [one for one in listed if one["name"] == CHEAP]
    assert (cheap["figures"], cheap["cases"]) == (1, 1)
    assert "Eric Dumazet" in cheap["published"]
    assert cheap["address"].startswith("https://")
    assert 80 < cheap["virtual_s"] < 200


def test_an_experiment(tmp_path: Path) -> None:
    arguments = ("reproduce", CHEAP, "--seeds", "2", "--jobs", "1")
    done = longfat(*arguments, "--out", "page.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr + done.stdout
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["case", "metric", "published", "ours", "5-95", "%", "verdict"] in rows
    (figure,) = [row for row in rows if row[:3] == ["default", "bulk", "sender"]]
    assert figure[3:8] == ["251", "Mbit/s", "(247-254,", "10", "runs)"]
    assert figure[-3:] == ["within", "15", "%"]
    assert 213 < float(figure[8]) < 289
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# Published experiments reproduced\n")
    assert f"\n## {CHEAP}\n" in page
    assert "| default | bulk sender | 251 Mbit/s (247-254, 10 runs) | " in page
    assert "Not run for this page: " in page
    assert "- holds: slow start does not end early" in page
    (data,) = json.loads(longfat(*arguments, "--json", cwd=tmp_path).stdout)
    assert (data["name"], data["good"], data["failures"]) == (CHEAP, True, [])
    assert data["figures"][0]["published"] == 250.75e6
    assert data["figures"][0]["seeds"] == 2
    assert data["claims"][0]["holds"] is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hystart",), "there is no published experiment 'hystart'"),
        (("--all", CHEAP), "--all runs all experiments: give it without names"),
        (("--seeds", "2"), "name the experiments to run, or add --all"),
        (("--out", "page.md"), "name the experiments to run, or add --all"),
    ],
)
def test_what_is_wrong_is_reported(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    done = longfat("reproduce", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
