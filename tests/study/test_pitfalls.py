"""The pitfalls: each has a mistake and its cure, and a text that says what is seen and why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import read_study
from longfat.study.labs import all_pitfalls, find_study
from longfat.study.text import FIGURE
from tools.figures import Texts
from tools.pitfalls import CURED, SECTIONS, TYPED

PITFALLS = all_pitfalls()


@pytest.mark.parametrize("name", PITFALLS)
def test_each_has_a_mistake_a_cure_and_a_text(name: str) -> None:
    study = read_study(PITFALLS[name].study_file)
    assert list(study.cases) == [TYPED, CURED]
    assert len(study.claims) == 2
    assert {planned.case.kernel for planned in study.cases.values()} == {"6.1"}
    file = PITFALLS[name].folder / "text.md"
    title, *rest = re.split(r"^#+ (.*)\n\n", file.read_text(), flags=re.MULTILINE)[1:]
    sections = dict(zip(rest[1::2], rest[2::2], strict=True))
    assert title == study.title
    assert tuple(sections) == SECTIONS
    text = " ".join(sections[section] for section in SECTIONS[:-1])
    assert 60 <= len(text.split()) <= 150
    assert FIGURE.search(sections["Results"])
    Texts().figures_in(file)


def test_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = PITFALLS["nagle-delayed-ack"].folder
    assert find_study("pitfalls/nagle-delayed-ack") == folder
    with pytest.raises(InputError, match=r"pitfall 'nagle'.*\(pitfalls: acks-"):
        find_study("pitfalls/nagle")
    # A path that exists wins.
    Path("pitfalls/nagle-delayed-ack").mkdir(parents=True)
    assert find_study("pitfalls/nagle-delayed-ack") == Path("pitfalls/nagle-delayed-ack")
