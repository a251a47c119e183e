"""The instructor's file: what it says when it is right, and where it is wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from longfat.errors import InputError
from longfat_class.study import PartKind, read_grading
from longfat_class.study.schema import grading_schema
from tests.paths import REPOSITORY

TEMPLATE = REPOSITORY / "labs" / "templates" / "bdp"

FILE = """\
title: A lab
study: study.yaml
parts:
  path: {setup: path.yaml, case: bare}
  mine: {study: study.yaml}
  script: {network: x.py}
  real: {iperf3: [a/one.json, two.json], rate: 1gbit}
  answers: {answers: answers.yaml}
exercises:
  fill: {part: mine, points: 2.5, claim: tuned.bulk.receiver > 1mbit, checks: [shaper, rate]}
  both: {part: real, points: 1, claim: "real.one.receiver > real.two.receiver"}
  first: {part: script, points: 1, claim: "script.flow1.receiver > 0"}
  bdp: {part: answers, points: 1, answer: 500mbit * 100ms, unit: MB}
  key: {part: answers, points: 1, answer: key-lossy.bulk.receiver, unit: mbit, tolerance: 2%}
"""


def read(folder: Path, text: str = FILE) -> object:
    shutil.copy(TEMPLATE / "instructor" / "study.yaml", folder)
    (folder / "grading.yaml").write_text(text)
    return read_grading(folder)


def test_what_it_says(tmp_path: Path) -> None:
    read(tmp_path)
    found = read_grading(tmp_path / "grading.yaml")
    assert found.title == "A lab"
    assert found.points == 6.5
    assert found.parts["real"].kind is PartKind.IPERF3
    assert found.parts["real"].files == ("a/one.json", "two.json")
    assert found.exercises[0].checks == ("shaper", "rate")
    assert found.exercises[4].named == {"key-lossy"}
    assert found.late is None
    assert found.limits.runs == 20


def test_there_may_be_several_hints(tmp_path: Path) -> None:
    text = FILE.replace("mine, points: 2.5,", "mine, points: 2.5, hint: [one, and two],")
    read(tmp_path, text.replace("real, points: 1,", "real, points: 1, hint: only one,"))
    hints = [one.hints for one in read_grading(tmp_path / "grading.yaml").exercises]
    assert hints[:3] == [("one", "and two"), ("only one",), ()]


def test_what_is_taken_follows_from_the_checks(tmp_path: Path) -> None:
    read(tmp_path)
    always = ("network", "setup", "files")
    assert read_grading(tmp_path / "grading.yaml").parts["mine"].takes == always
    read(tmp_path, FILE.replace("[shaper, rate]", "[overlap, algorithm]"))
    taken = read_grading(tmp_path / "grading.yaml").parts["mine"].takes
    assert set(taken) == {*always, "congestion", "times"}
    read(
        tmp_path,
        FILE.replace("mine: {study: study.yaml}", "mine: {study: study.yaml, takes: setup}"),
    )
    assert read_grading(tmp_path / "grading.yaml").parts["mine"].takes == ("setup",)


def test_the_template_is_good() -> None:
    found = read_grading(TEMPLATE)
    assert found.points == 20
    assert found.late is not None
    assert found.late.closes_s == 7 * 86400


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("title: A lab", "titel: A lab", "1:1", "unknown field 'titel'; did you mean 'title'"),
        ("study: study.yaml", "study: key.yaml", "2:8: study", "key.yaml"),
        ("case: bare", "case: bear", "4:34: parts.path.case", "did you mean 'bare'"),
        (", case: bare", "", "4:9: parts.path", "the field case is missing"),
        ("setup: path.yaml, ", "", "4:9: parts.path", "a part has one of"),
        ("a/one.json", "../one.json", "7:19: parts.real.iperf3[0]", "without . and .."),
        ("two.json]", "b/one.json]", "7:18: parts.real.iperf3", "same name"),
        ("points: 2.5", "points: many", "10:30", "a number of points"),
        ("part: mine", "part: mein", "10:16", "there is no part 'mein'; did you mean 'mine'"),
        ("[shaper, rate]", "[shapr]", "10:79: exercises.fill.checks", "there is no check 'shapr'"),
        (
            "tuned.bulk.receiver >",
            "tuned.bulk.recver >",
            "10:53: exercises.fill.claim",
            "did you mean 'receiver'",
        ),
        ("script.flow1", "script.bulk", "12:51", "there is no flow or probe"),
        ("answer: 500mbit * 100ms, unit: MB", "answer: 500mbit, unit: MB", "13:43", "a rate"),
        ("unit: MB", "unit: MW", "13:66: exercises.bdp.unit", "is no unit"),
        ("unit: MB", "", "13:43", "its unit (none)"),
        ("key-lossy.bulk", "lossi.bulk", "14:43", "there is no case 'lossi'"),
        (
            "part: answers, points: 1, answer: 5",
            "part: mine, points: 1, answer: 5",
            "13:40: exercises.bdp.answer",
            "is no answers",
        ),
        ("answer: 500mbit * 100ms, unit: MB", "hint: x", "13:8", "needs a key"),
        (
            "mine: {study: study.yaml}",
            "mine: {study: study.yaml, takes: [setup, seed]}",
            "5:36: parts.mine.takes",
            "there is no 'seed'",
        ),
        (
            "mine: {study: study.yaml}",
            "mine: {study: study.yaml, nodes: [h1, s3]}",
            "5:36: parts.mine.nodes",
            "there is no 's3'",
        ),
        (
            "path.yaml, case: bare",
            "path.yaml, case: bare, takes: setup",
            "4:47: parts.path.takes",
            "takes is of study",
        ),
        ("path: {setup", "tuned: {setup", "4:10: parts.tuned", "called as a case"),
        (
            "tuned.bulk.receiver > 1mbit",
            "tuned.bulk.receiver > 1mbit over seeds",
            "10:42: exercises.fill.claim",
            "`over seeds` is for claims of studies",
        ),
    ],
)
def test_what_is_wrong_has_a_place(
    tmp_path: Path, old: str, new: str, place: str, message: str
) -> None:
    assert old in FILE
    with pytest.raises(InputError) as caught:
        read(tmp_path, FILE.replace(old, new, 1))
    where = str(caught.value.place).removeprefix(f"{tmp_path / 'grading.yaml'}:")
    assert where.startswith(place), f"{where}: {caught.value.message}"
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("late_s", "share"),
    [(0, 0), (899, 0), (901, 0.2), (86400 + 900, 0.2), (86400 + 901, 0.4), (7.1 * 86400, 1.0)],
)
def test_what_lateness_costs(late_s: float, share: float) -> None:
    late = read_grading(TEMPLATE).late
    assert late is not None
    assert late.share(late_s) == pytest.approx(share)


def test_the_schema_takes_what_the_reader_takes() -> None:
    schema = grading_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    for text in (FILE, (TEMPLATE / "instructor" / "grading.yaml").read_text()):
        assert list(validator.iter_errors(YAML(typ="safe").load(text))) == []
    for old, new in (("titel", "x"), ("points: 2.5", "points: many"), ("setup: path", "x: path")):
        wrong = FILE.replace(old, new) if old in FILE else FILE.replace("title:", f"{old}:")
        assert list(validator.iter_errors(YAML(typ="safe").load(wrong)))


def test_there_is_no_lab(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="longfat labs new"):
        read_grading(tmp_path)
