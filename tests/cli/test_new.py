"""`longfat new`: what it prints is a study that runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.study.templates import TEMPLATES, practice_networks
from tests.command import longfat


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_runs(tmp_path: Path, name: str) -> None:
    made = longfat("new", name, "--rate", "20mbit", "-o", "net.yaml", cwd=tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")
    text = (tmp_path / "net.yaml").read_text()
    short = text.replace("time: 10s", "time: 1s").replace("time: 5s", "time: 1s")
    (tmp_path / "net.yaml").write_text(short.replace("count: 100", "count: 5"))
    done = longfat("run", "net.yaml", "--no-report", "--no-cache", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_mistakes_end_with_2_and_files_are_not_written_over(tmp_path: Path) -> None:
    assert longfat("new", "dumbel", cwd=tmp_path).returncode == 2
    wrong = longfat("new", "tree", "--depth", "none", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "depth: 'none' is not a whole number" in wrong.stderr
    (tmp_path / "there.yaml").write_text("mine")
    there = longfat("new", "home", "-o", "there.yaml", cwd=tmp_path)
    assert there.returncode == 2
    assert (tmp_path / "there.yaml").read_text() == "mine"


def test_the_templates_are_listed(tmp_path: Path) -> None:
    listed = json.loads(longfat("new", "--json", cwd=tmp_path).stdout)
    assert [one["name"] for one in listed] == [*TEMPLATES, *practice_networks()]
    assert "parking-lot" in longfat("new", cwd=tmp_path).stdout
