"""Labs and published experiments by name, and paths that take precedence over labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.common import resources
from longfat.errors import InputError
from longfat.study import Heading, read_heading, read_study
from longfat.study.labs import (
    StudyFolder,
    all_courses,
    all_experiments,
    all_labs,
    course_of,
    find_experiments,
    find_lab,
    find_study,
    find_study_file,
    sorted_by_course,
)
from longfat.study.text import LanguageChoice
from tests.study.messages import BASE


def test_all_labs() -> None:
    labs = all_labs()
    assert [lab.name for lab in labs] == sorted(lab.name for lab in labs)
    assert "lab08" in [lab.name for lab in labs]
    for lab in labs:
        assert read_study(lab.study_file).name == lab.name


def test_a_heading_is_the_studys() -> None:
    for lab in all_labs():
        study = read_study(lab.study_file)
        assert read_heading(lab.folder) == Heading(title=study.title, course=study.course)


@pytest.mark.parametrize(
    "first",
    [
        "# A study.\n\ncourse: queues\ntitle: A\n  study\n",
        'title: "A study"  # so\ncourse:\n  queues\n',
        "title: A study\nkernel: '6.1'\ncourse: queues\n",
        "---\ntitle: A study\ncourse: queues\n",
    ],
)
def test_a_heading_wherever_it_stands(first: str, tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_text(first + BASE.partition("\n")[2])
    assert read_heading(tmp_path) == Heading(title="A study", course="queues")
    study = read_study(file)
    assert (study.title, study.course) == ("A study", "queues")


def test_a_heading_that_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    for text in ("", "title:\ncourse: queues\n", "title: A\ntitle: B\n", "title: A study\n"):
        file.write_text(text)
        with pytest.raises(InputError) as by_study:
            read_study(file)
        with pytest.raises(InputError) as by_heading:
            read_heading(file)
        assert str(by_heading.value) == str(by_study.value)


def test_each_of_our_labs_belongs_to_a_course() -> None:
    courses = {lab.name: read_study(lab.study_file).course for lab in all_labs()}
    declared = all_courses()
    assert set(courses.values()) == set(declared)
    for course in declared.values():
        assert set(course.titles) == set(course.about) == {"en", "es", "ru"}
    assert courses["lab06"] == courses["lab07"] != courses["lab08"]


def test_courses_in_their_order_and_languages() -> None:
    declared = all_courses()
    assert next(iter(declared)) == "first-steps"
    first = declared["first-steps"]
    assert first.title(LanguageChoice(wanted=("ru",))) == "Первые шаги"
    assert first.title(LanguageChoice(wanted=("xx",), strict=True)) == "First steps"
    assert sorted_by_course(["queues", "mine", "", "first-steps", "queues"], declared) == [
        *("first-steps", "queues", "Other labs", "mine"),
    ]
    assert course_of("mine", declared).title(LanguageChoice()) == "mine"


def test_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_study("lab08") == resources.folder("labs") / "lab08"
    (tmp_path / "lab08").mkdir()
    with pytest.raises(InputError, match=r"the folder lab08 here holds no study.yaml, and hides"):
        find_study("lab08")
    (tmp_path / "lab08" / "study.yaml").write_text("title: x\n")
    assert find_study("lab08") == Path("lab08")
    # What can only be a path is left to the reader of studies.
    for path in ("labs/lab88", "lab88.yaml", "./lab08"):
        assert find_study(path) == Path(path)


@pytest.mark.parametrize("name", ["lab88", ""])
def test_no_such_name(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"\(labs: lab01, lab02, "):
        find_lab(name)
    if name:
        with pytest.raises(InputError, match=r"no file, folder or lab 'lab88'; did you mean 'lab"):
            find_study(name)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("lab8.mn", "`longfat convert lab8.mn study.yaml`"),
        ("net.py", "`longfat exec --bind . -- python3 net.py`"),
        ("a b.pcap", "`longfat packets 'a b.pcap'`"),
        ("x.pcapng", "`longfat packets x.pcapng`"),
        ("t.pkt", "`longfat packetdrill t.pkt`"),
        ("out.json", "`longfat plot --iperf out.json`"),
        ("results", "`longfat plot --iperf results/*.json`"),
    ],
)
def test_what_another_command_takes(
    name: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "out.json").write_text("{}")
    with pytest.raises(InputError) as caught:
        find_study_file(name)
    assert str(caught.value).startswith(f"{name}: ")
    assert command in str(caught.value)


def test_texts(tmp_path: Path) -> None:
    lab = find_lab("lab08")
    here = type(lab)(name="x", folder=tmp_path)
    assert here.text_files == {}
    (tmp_path / "README.md").write_text("")
    assert here.text_files == {"en": tmp_path / "README.md"}
    (tmp_path / "text.md").write_text("")
    assert here.text_files == {"en": tmp_path / "text.md"}


WITHOUT_AN_ADDRESS = {"ten-flows"}
"""Experiments whose data have no public address that is known."""


@pytest.mark.parametrize("experiment", all_experiments().values(), ids=lambda one: one.name)
def test_an_experiment_names_its_source(experiment: StudyFolder) -> None:
    study = read_study(experiment.study_file)
    assert study.name == experiment.name
    assert study.published is not None
    assert study.published.source
    assert study.published.figures
    assert study.claims
    if experiment.name not in WITHOUT_AN_ADDRESS:
        assert study.published.address
        assert study.published.authors
        assert study.published.place
        assert experiment.text_files


def test_experiments_are_found_by_name() -> None:
    names = list(all_experiments())
    assert names == sorted(names)
    found = find_experiments(("hystart-80ms", "dctcp-queue", "hystart-80ms"))
    assert [one.name for one in found] == ["hystart-80ms", "dctcp-queue"]
    with pytest.raises(InputError, match=r"no published experiment 'dctcp'.*did you mean"):
        find_experiments(("dctcp",))
