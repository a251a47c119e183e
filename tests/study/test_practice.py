"""The networks of practice: each asks a question, and its claims are the answers."""

from __future__ import annotations

import json

import pytest

from longfat.common import resources
from longfat.study import read_study
from longfat.study.templates import practice_networks
from longfat.study.text import FIGURE
from tests.command import longfat
from tests.figures import different_from_record

FOLDER = resources.folder("studies") / "practice"
NAMES = tuple(practice_networks())


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_question_claims_and_a_text_with_its_figures(name: str) -> None:
    network = practice_networks()[name]
    study = read_study(FOLDER / name)
    assert "?" in network.question
    assert network.title == study.title
    assert len(study.claims) >= 3
    text = (FOLDER / name / "text.md").read_text()
    assert text.startswith(f"# {study.title}\n")
    for heading in ("## Topology", "## Results", "## What to change"):
        assert heading in text
    assert FIGURE.search(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_its_claims_hold_and_its_text_has_the_results(
    name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp(name)
    made = longfat("new", name, "-o", "study.yaml", cwd=folder)
    assert (made.returncode, made.stderr) == (0, "")
    done = longfat("run", "study.yaml", "--json", "--no-cache", cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert different_from_record(FOLDER / name, json.loads(done.stdout)) == []
