"""Figures in texts come from runs: `tools/text_figures.py`, and the texts of the repository."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from longfat.errors import InputError
from longfat.study import read_study
from longfat.study.labs import StudyFolder, all_labs
from longfat.study.text import ENGLISH, FIGURE, read_text
from tests.command import longfat
from tools.figure_record import read_record
from tools.figures import RECORD_FILE, Texts, write
from tools.text_figures import differences, main
from tools.unannotated import unannotated, unpublished

STUDY = """\
title: A delay
network:
  hosts: {h1: 10.0.0.1/24, h2: 10.0.0.2/24}
  links: [[h1, h2, {delay: 5ms}]]
flows:
  rtt: {ping: h1 -> h2, count: 2, interval: 10ms}
published:
  source: A paper
  default: {rtt.min: 10.24ms, rtt.max: 31.5ms}
"""
TEXTS = Texts()
QUOTED = TEXTS.folders()
_LIST = Path(__file__).parent / "data/figures_without_record.txt"
WITHOUT_RECORD = _LIST.read_text(encoding="utf-8").split()
"""Studies that were not run since records exist: nothing compares their figures with runs."""
DERIVED = {("lab08", "512")}
"""Numbers in columns of published figures that the authors computed from these."""


def written(folder: Path, text: str) -> Path:
    """Write a study and its text into a folder, and return the text's file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(STUDY)
    file = folder / "text.md"
    file.write_text(text)
    return file


def record_of(values: dict[str, float], *, setting: str = "") -> str:
    """Return the content of a record."""
    runs = [{"setting": setting, "kernels": ["6.1.1"], "seeds": [1], "figures": values}]
    return json.dumps({"versions": {"longfat": "0"}, "runs": runs})


def test_figures_are_corrected_and_stored_from_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "It takes 9.0<!-- = default.rtt.min / 1ms --> ms, 5{} ns, {} lost, {} m, {} ms.\n"
    count = "5,000,123<!-- = default.rtt.min / 1ns; to 100000; kernel 6.1 -->"
    lost = "7<!-- = default.rtt.loss * 100 -->"
    median = "0.0<!-- = default.rtt.min / 1s * 100; median of 2 seeds -->"
    published = "1.0<!-- = published default.rtt.max / 1ms -->"
    study = tmp_path / "labs/lab"
    file = written(study, text.replace("5{}", count).format(lost, median, published))
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs/page.md"
    page.write_text(
        "From 1<!-- = labs/lab: default.rtt.max / 1ms --> to 4<!-- = labs/lab: 2 * 3 -->.\n"
    )
    before = file.read_text()
    assert main(["--check", "--run", str(study)], root=tmp_path) == 1
    assert file.read_text() == before
    assert "labs/lab/text.md:1: 9.0 -> 10.0  default.rtt.min / 1ms" in capsys.readouterr().out

    assert main([str(study)], root=tmp_path) == 0
    assert read_text(file) == "It takes 10.0 ms, 10,000,000 ns, 0 lost, 1.0 m, 31.5 ms.\n"
    assert read_text(page) == "From 10 to 6.\n"
    record = read_record(study)
    assert list(record.settings) == ["", "2 seeds", "kernel 6.1"]
    assert record.settings[""].values.keys() == {
        "default.rtt.loss * 100",
        "default.rtt.max / 1ms",
        "default.rtt.min / 1ms",
    }
    assert record.settings[""].values["default.rtt.min / 1ms"] == pytest.approx(10, abs=0.1)
    assert list(record.settings["2 seeds"].values) == ["default.rtt.min / 1s * 100; median"]
    assert record.settings["2 seeds"].seeds == (1, 2)
    assert record.settings["kernel 6.1"].kernels[0].startswith("6.1.")
    assert {"longfat", "toolset"} == record.versions.keys()

    # A second call takes all from the cache, and gives the same bytes.
    stored = (study / RECORD_FILE).read_bytes()
    capsys.readouterr()
    assert main([str(page)], root=tmp_path) == 0
    assert "0 differ (4 runs: 4 cached, 0 run)" in capsys.readouterr().err
    assert (study / RECORD_FILE).read_bytes() == stored
    assert main(["--check", "--run"], root=tmp_path) == 0
    assert list((tmp_path / "runs").iterdir()) == []


def test_texts_are_compared_with_the_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    study = tmp_path / "labs/lab"
    written(study, "It takes 9.0<!-- = default.rtt.min / 1ms --> ms.\n")
    (study / "text.ru.md").write_text("9.0<!-- = default.rtt.min / 1ms --> мс\n")
    (tmp_path / "README.md").write_text("9<!-- = labs/lab: default.rtt.min / 1ms --> ms.\n")
    assert main(["--check"], root=tmp_path) == 1
    assert "default.rtt.min / 1ms is not in" in capsys.readouterr().out
    (study / RECORD_FILE).write_text(record_of({"default.rtt.min / 1ms": 9.04}))
    assert main(["--check"], root=tmp_path) == 0
    (study / RECORD_FILE).write_text(record_of({"default.rtt.min / 1ms": 9.06}))
    assert main(["--check"], root=tmp_path) == 1
    out = capsys.readouterr().out
    assert "text.md:1: 9.0 -> 9.1  default.rtt.min / 1ms" in out
    assert "text.ru.md:1: 9.0 -> 9.1" in out
    assert "README.md" not in out
    (study / RECORD_FILE).write_text(record_of({"default.rtt.min / 1ms": 9, "old.x.y": 1}))
    assert main(["--check"], root=tmp_path) == 1
    assert "no text has old.x.y" in capsys.readouterr().out
    (study / RECORD_FILE).write_text("[]")
    assert main(["--check"], root=tmp_path) == 2
    assert "is no record of figures" in capsys.readouterr().err


def test_a_text_that_has_changed_is_not_corrected(tmp_path: Path) -> None:
    file = written(tmp_path, "9<!-- = default.rtt.min / 1ms -->\n")
    (figure,) = Texts(tmp_path).figures_in(file)
    edited = f"It is {file.read_text()}"
    file.write_text(edited)
    with pytest.raises(InputError, match=r"text\.md was changed since it was read"):
        write({figure: "10"})
    assert file.read_text() == edited


def test_a_study_that_fails_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    broken = tmp_path / "labs/lab1"
    file = written(broken, "9<!-- = default.rtt.min / 1ms -->\n")
    (broken / "study.yaml").write_text(f"{STUDY}setup: [{{h1: 'false'}}]\n")
    good = written(tmp_path / "labs/lab2", "9<!-- = default.rtt.min / 1ms -->\n")
    assert main([], root=tmp_path) == 2
    assert "default, seed 1" in capsys.readouterr().err
    assert (read_text(file), read_text(good)) == ("9\n", "10\n")
    assert not (broken / RECORD_FILE).exists()
    assert main([str(tmp_path / "labs/lab3")], root=tmp_path) == 2
    assert "neither the folder of a study nor a text" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("default.rtt.min", "divide by a unit"),
        ("default.rtt.min /", "the answer"),
        ("default.rtt.loss; seven", "'seven' is no option"),
        ("other.rtt.loss", "other"),
        ("labs/other: default.rtt.loss", "no study labs/other"),
        ("published default.rtt.loss; seed 2", "has no options"),
        ("published default.rtt.loss", "no result default.rtt.loss"),
        ("1 / default.rtt.loss", "has no value"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, source: str, message: str) -> None:
    file = written(tmp_path, f"One\n\n3<!-- = {source} -->\n")
    results = [{"default": {"rtt.loss": 0.0}}]
    with pytest.raises(InputError, match=r"text\.md:3: ") as caught:
        Texts(tmp_path).figures_in(file)[0].value(results)
    assert message in caught.value.message


def test_a_page_names_the_study(tmp_path: Path) -> None:
    example = "`3<!-- = default.rtt.loss -->`\n\n```\n3<!-- = default.rtt.loss -->\n```\n"
    (tmp_path / "README.md").write_text(example)
    assert Texts(tmp_path).figures_in(tmp_path / "README.md") == []
    (tmp_path / "README.md").write_text("3<!-- = default.rtt.loss -->\n")
    with pytest.raises(InputError, match=r"README\.md:1: default\.rtt\.loss names no study"):
        Texts(tmp_path).figures_in(tmp_path / "README.md")


def test_a_reader_sees_no_expressions(tmp_path: Path) -> None:
    written(tmp_path, "# Title\n\nIt takes 10.0<!-- = default.rtt.min / 1ms --> ms.\n")
    assert "It takes 10.0 ms." in longfat("show", str(tmp_path), cwd=tmp_path).stdout


def test_numbers_without_comments_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
# A delay of 7 ms

## Results

A delay of 5 ms gives 10<!-- = default.rtt.min / 1ms --> ms, and the mean was 15.0 ms, `1 ms`.

| | published | here |
|---|---|---|
| least, ms | 10.2 | 10 |
| largest | 31.5 ms | 20.0 ms |

```
9 ms
```

## Exercises

Try 6 ms.
"""
    file = written(tmp_path / "labs/lab", text)
    assert list(unannotated(file)) == [(5, "15.0 ms"), (9, "10"), (10, "20.0 ms")]
    study = read_study(file.parent)
    assert list(unpublished(file, study)) == []
    file.write_text(text.replace("31.5", "31.4"))
    assert list(unpublished(file, study)) == [(10, "31.4")]
    page = tmp_path / "README.md"
    page.write_text("It has 95 Mbit/s,\nwith 3<!-- = labs/lab: 3 --> losses.\n")
    monkeypatch.chdir(tmp_path)
    assert main(["--unannotated"], root=tmp_path) == 0
    assert capsys.readouterr().out.splitlines() == [
        "README.md:1: 95 Mbit/s",
        "labs/lab/text.md:5: 15.0 ms",
        "labs/lab/text.md:9: 10",
        "labs/lab/text.md:10: 20.0 ms",
    ]


def has_no_record(folder: Path) -> bool:
    """Return whether the figures of a study are not stored yet."""
    return folder.relative_to(TEXTS.root).as_posix() in WITHOUT_RECORD


@pytest.mark.parametrize(
    "folder", [one for one in QUOTED if not has_no_record(one)], ids=lambda folder: folder.name
)
def test_figures_in_texts_are_those_of_the_record(folder: Path) -> None:
    figures = TEXTS.figures_of_study(folder)
    assert differences(figures, read_record(folder), folder=folder) == []


def test_studies_without_a_record_have_none() -> None:
    """What has a record leaves the list, so that it gets shorter only."""
    done = [folder for folder in WITHOUT_RECORD if (TEXTS.root / folder / RECORD_FILE).exists()]
    assert done == []
    assert {TEXTS.root / folder for folder in WITHOUT_RECORD} <= set(QUOTED)


def test_no_record_is_left_over() -> None:
    records = {file.parent for file in TEXTS.root.glob(f"labs/*/{RECORD_FILE}")}
    records |= {file.parent for file in TEXTS.root.glob(f"studies/**/{RECORD_FILE}")}
    assert records <= set(QUOTED)


def test_each_figure_of_a_page_names_its_study() -> None:
    for page in TEXTS.pages():
        TEXTS.figures_in(page)


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_published_figures_in_tables_are_those_of_the_study(lab: StudyFolder) -> None:
    numbers = unpublished(lab.text_files[ENGLISH], read_study(lab.study_file))
    assert [(line, number) for line, number in numbers if (lab.name, number) not in DERIVED] == []


@pytest.mark.parametrize("lab", all_labs(), ids=lambda lab: lab.name)
def test_a_translation_has_the_figures_of_the_text(lab: StudyFolder) -> None:
    texts = {code: file.read_text("utf-8") for code, file in lab.text_files.items()}
    sources = {
        code: Counter(match["source"] for match in FIGURE.finditer(text))
        for code, text in texts.items()
    }
    assert all(counts == sources[ENGLISH] for counts in sources.values())


@pytest.mark.long
@pytest.mark.parametrize("folder", QUOTED, ids=lambda folder: folder.name)
def test_the_record_is_that_of_a_run(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    status = main(["--check", "--run", str(folder)])
    assert status == 0, capsys.readouterr().out
