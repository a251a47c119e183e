"""Figures in texts come from runs: `tools/text_figures.py`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import read_study
from longfat.study.labs import StudyFolder, all_labs
from longfat.study.text import ENGLISH, FIGURE, read_text
from tests.command import longfat
from tools.text_figures import figures_of, main

STUDY = """\
title: A delay
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  links: [[h1, h2, {delay: 5ms}]]
flows:
  rtt: {ping: h1 -> h2, count: 2, interval: 10ms}
"""


def written(folder: Path, text: str) -> Path:
    """Write a study and its text into a folder, and return the text's file."""
    (folder / "study.yaml").write_text(STUDY)
    file = folder / "text.md"
    file.write_text(text)
    return file


def test_figures_are_corrected_from_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "It takes 9.0<!-- = default.rtt.min / 1ms --> ms, 5{} ns, {} lost, {} m.\n"
    count = "5,000,123<!-- = default.rtt.min / 1ns; to 100000; kernel 6.1 -->"
    lost = "7<!-- = default.rtt.loss * 100 -->"
    median = "0.0<!-- = default.rtt.min / 1s * 100; median of 2 seeds -->"
    file = written(tmp_path, text.replace("5{}", count).format(lost, median))
    monkeypatch.setattr("sys.argv", ["text_figures", "--check", str(tmp_path)])
    before = file.read_text()
    assert main() == 1
    assert file.read_text() == before
    assert f"{file}:1: 9.0 -> 10.0  default.rtt.min / 1ms" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["text_figures", str(tmp_path)])
    assert main() == 0
    assert read_text(file) == "It takes 10.0 ms, 10,000,000 ns, 0 lost, 1.0 m.\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("default.rtt.min", "divide by a unit"),
        ("default.rtt.min /", "the answer"),
        ("default.rtt.loss; seven", "'seven' is no option"),
        ("other.rtt.loss", "other"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, source: str, message: str) -> None:
    file = written(tmp_path, f"One\n\n3<!-- = {source} -->\n")
    with pytest.raises(InputError, match=r"text\.md:3: ") as caught:
        figures_of(file, read_study(tmp_path / "study.yaml"))
    assert message in caught.value.message


def test_a_reader_sees_no_expressions(tmp_path: Path) -> None:
    written(tmp_path, "# Title\n\nIt takes 10.0<!-- = default.rtt.min / 1ms --> ms.\n")
    assert "It takes 10.0 ms." in longfat("show", str(tmp_path), cwd=tmp_path).stdout


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_figures_of_a_lab_name_what_its_study_measures(lab: StudyFolder) -> None:
    study = read_study(lab.study_file)
    for file in lab.text_files.values():
        figures_of(file, study)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_translation_has_the_figures_of_the_text(lab: StudyFolder) -> None:
    texts = {code: file.read_text("utf-8") for code, file in lab.text_files.items()}
    sources = {
        code: Counter(match["source"] for match in FIGURE.finditer(text))
        for code, text in texts.items()
    }
    assert all(counts == sources[ENGLISH] for counts in sources.values())


@pytest.mark.long
@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_the_figures_of_a_lab_are_those_of_a_run(
    lab: StudyFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["text_figures", "--check", str(lab.study_file.parent)])
    status = main()
    assert status == 0, capsys.readouterr().out
