"""What is there already is not made again, and what is not as it was is."""

import dataclasses
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from longfat.analysis.verdict import Verdict, evaluate
from longfat.common.checksum import FileSum, sealed
from longfat.output.plot import Trace
from longfat.output.report import record, rendering
from longfat.output.report.files import write_report
from longfat.output.report.record import RECORD, FileRecord, Record, read_record, value_digest
from longfat.study.text import StudyText

PLOTS = {"plots/ping.pdf", "plots/ping.png", "plots/traffic.pdf", "plots/traffic.png"}
PAGES = {"report.html", "report.pdf"}


@pytest.fixture
def folder(own_report: Path) -> Path:
    """A report as it was left."""
    return own_report


@pytest.fixture
def render_quickly(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have figures and the PDF made without drawing, where only which are made is looked at."""

    def replace() -> None:
        monkeypatch.setattr(rendering, "saved", lambda *_, **__: b"<svg></svg>")
        monkeypatch.setattr(rendering, "pdf_bytes", lambda html: html.encode())

    return replace


@pytest.fixture
def quick(render_quickly: Callable[[], None]) -> None:
    render_quickly()


def made_anew(folder: Path, change: Callable[[], Any], *, verdict: Verdict) -> set[str]:
    """Return which files another report made, after a change."""
    before = {name: (folder / name).stat().st_ino for name in PLOTS | PAGES}
    # What is gone must not lend its inode to what comes.
    kept = [(folder / name).open("rb") for name in before]
    change()
    write_report(verdict, folder)
    after = {name: (folder / name).stat().st_ino for name in PLOTS | PAGES}
    for file in kept:
        file.close()
    return {name for name in after if after[name] != before[name]}


def test_an_unchanged_report_is_not_even_thought_about(
    lab08: Verdict, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was rendered")

    first = write_report(lab08, folder)
    monkeypatch.setattr(rendering, "render", refuse)
    assert write_report(lab08, folder) == first
    assert [path.name for path in first.figures][:2] == ["traffic.png", "traffic.pdf"]
    with pytest.raises(AssertionError):
        write_report(evaluate(lab08.study, {}), folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PLOTS | PAGES))
def test_what_is_missing_edited_or_damaged_is_made_again_alone(
    lab08: Verdict, folder: Path, name: str, render_quickly: Callable[[], None]
) -> None:
    path = folder / name
    content = path.read_bytes()
    edited = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
    assert made_anew(folder, path.unlink, verdict=lab08) <= {name}
    assert path.read_bytes() == content
    render_quickly()
    for damaged in (edited, b""):
        assert made_anew(folder, partial(path.write_bytes, damaged), verdict=lab08) == {name}
        assert path.read_bytes() not in {edited, b""}


def test_a_link_in_a_files_place_is_replaced(lab08: Verdict, folder: Path) -> None:
    path = folder / "report.html"
    path.rename(folder / "mine.html")
    path.symlink_to("mine.html")
    write_report(lab08, folder)
    assert not path.is_symlink()
    assert path.read_bytes() == (folder / "mine.html").read_bytes()


@pytest.mark.usefixtures("quick")
def test_another_text_makes_the_pages_and_no_plot(lab08: Verdict, folder: Path) -> None:
    text = StudyText(markdown="# Other words\n")
    other = evaluate(dataclasses.replace(lab08.study, text=text), lab08.runs)
    assert made_anew(folder, lambda: None, verdict=other) == PAGES
    assert "Other words" in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick")
def test_another_language_makes_the_pages_and_no_plot(lab08: Verdict, folder: Path) -> None:
    markdown = (
        "# Другие слова\n\n## Цели\n\n**1. Почему?**\n\n"
        "<details><summary>Ответ</summary>\n\n- Так надо.\n\n</details>\n"
    )
    text = StudyText(markdown=markdown, language="ru")
    other = evaluate(dataclasses.replace(lab08.study, text=text), lab08.runs)
    assert made_anew(folder, lambda: None, verdict=other) == PAGES
    page = (folder / "report.html").read_text(encoding="utf-8")
    # The title is the translation's, once; what is in Russian says so, and the rest is English.
    assert page.count("Другие слова") == 2
    assert '<h1 lang="ru">Другие слова</h1>' in page
    assert '<section id="text" class="text" aria-label="The text" lang="ru">' in page
    assert '<html lang="en">' in page
    english = evaluate(
        dataclasses.replace(lab08.study, text=dataclasses.replace(text, language="en")), lab08.runs
    )
    assert made_anew(folder, lambda: None, verdict=english) == PAGES
    assert ' lang="ru"' not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("quick")
def test_another_title_makes_all(lab08: Verdict, folder: Path) -> None:
    other = evaluate(dataclasses.replace(lab08.study, title="Another title"), lab08.runs)
    assert made_anew(folder, lambda: None, verdict=other) == PLOTS | PAGES


@pytest.mark.usefixtures("quick")
def test_another_study_file_makes_the_pages(lab08: Verdict, folder: Path) -> None:
    other = dataclasses.replace(lab08, study=dataclasses.replace(lab08.study, source_sha256="0"))
    assert made_anew(folder, lambda: None, verdict=other) == PAGES


@pytest.mark.usefixtures("quick")
def test_another_metric_makes_the_pages(lab08: Verdict, folder: Path) -> None:
    runs = dict(lab08.runs)
    (run,) = runs["tuned"]
    metrics = {**run.metrics, "bulk.receiver_bps": 1e9}
    runs["tuned"] = (dataclasses.replace(run, metrics=metrics),)
    assert made_anew(folder, lambda: None, verdict=evaluate(lab08.study, runs)) == PAGES


@pytest.mark.usefixtures("quick")
def test_other_code_or_packages_make_all(
    lab08: Verdict, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def change() -> None:
        monkeypatch.setattr(record, "_environment_digest", lambda: "others")

    assert made_anew(folder, change, verdict=lab08) == PLOTS | PAGES


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 1, "files": {}}'])
def test_without_a_good_record_all_is_made(lab08: Verdict, folder: Path, content: str) -> None:
    def change() -> None:
        (folder / RECORD).write_text(content)

    assert made_anew(folder, change, verdict=lab08) == PLOTS | PAGES


def test_what_an_interrupted_report_began_is_made_again(lab08: Verdict, folder: Path) -> None:
    def change() -> None:
        record = read_record(folder)
        files = {**record.files, "plots/ping.png": FileRecord()}
        Record(files=files).write(folder)

    assert made_anew(folder, change, verdict=lab08) == {"plots/ping.png"}


@pytest.mark.usefixtures("quick")
def test_a_record_leads_nowhere_else(lab08: Verdict, folder: Path) -> None:
    secret = folder.parent / "secret"
    secret.write_text("not ours")
    files = {"figures/../../secret": {"made_from": "", "content": None}}
    record = sealed({"format": 1, "made_from": "", "files": files})
    (folder / RECORD).write_text(json.dumps(record))
    assert read_record(folder) == Record()
    write_report(lab08, folder)
    assert secret.exists()


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    content = FileSum(size_bytes=1, sha256="ab")
    files = {"z.png": FileRecord(made_from="x", content=content), "a.png": FileRecord()}
    record = Record(made_from="y", files=files)
    record.write(tmp_path)
    assert read_record(tmp_path) == record
    assert list(read_record(tmp_path).files) == ["z.png", "a.png"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (["ab", "c"], ["a", "bc"]),
        ([1], ["1"]),
        ([1], [1.0]),
        ([0], [False]),
        ([[], 1], [[1]]),
        (None, "None"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
        (np.array([1.0, 2.0]), np.array([[1.0, 2.0]])),
        (np.array([1]), np.array([1.0])),
        (FileRecord(made_from="a"), FileRecord(made_from="b")),
        (Trace(np.zeros(1), np.ones(1)), Trace(np.ones(1), np.zeros(1))),
    ],
)
def test_values_that_differ_have_other_digests(one: object, other: object) -> None:
    assert value_digest(one) != value_digest(other)
    assert value_digest(one) == value_digest(one)


def test_what_is_no_value_has_no_digest() -> None:
    with pytest.raises(TypeError):
        value_digest([print])
