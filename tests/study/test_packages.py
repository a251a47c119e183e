"""The field `packages`: how pins are written, and what they decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.analysis.compare.changes import case_changes
from longfat.errors import InputError
from longfat.model.case import Case
from longfat.study import Study, read_study
from longfat.study.formats.open import open_network
from longfat.study.formats.write import study_text
from longfat.study.read import parse_study

HEAD = """\
title: x
network: {hosts: {h1: 10.0.0.1/8, h2: 10.0.0.2/8}, links: [[h1, h2]]}
flows: {p: {ping: h1 -> h2}}
"""
A, B = "a" * 64, "b" * 64
LOCK = f"""\
# made by a tool
one==1.0 \\
    --hash=sha256:{B} \\
    --hash=sha256:{A}
    # via two
Two.X[more]==2.0 ; python_version < "4"  --hash=sha256:{A}
two-x==2.1 ; python_version >= "4" --hash sha256:{B}
"""


def read(text: str, folder: Path) -> Study:
    (folder / "study.yaml").write_text(HEAD + text, encoding="utf-8")
    return read_study(folder)


def wrong(text: str, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        read(text, folder)
    return str(caught.value).removeprefix(f"{folder}/study.yaml:")


def case_of(study: Study, name: str = "default") -> Case:
    return study.cases[name].case


def test_a_lock_file_and_a_list_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(LOCK)
    study = read("packages: lock\n", tmp_path)
    case = case_of(study)
    assert [one.requirement for one in case.packages] == [
        "one==1.0",
        'Two.X[more]==2.0; python_version < "4"',
        'two-x==2.1; python_version >= "4"',
    ]
    assert case.packages[0].hashes == (f"sha256:{A}", f"sha256:{B}")
    assert [one.name for one in case.packages] == ["one", "two-x", "two-x"]
    assert {place.line for place in study.cases["default"].places.packages} == {4}
    listed = "packages:\n" + "".join(f"  - '{one.line}'\n" for one in case.packages)
    again = read(listed, tmp_path)
    assert case_of(again).packages == case.packages
    assert [place.line for place in again.cases["default"].places.packages] == [5, 6, 7]
    assert Case.from_json(case.to_json()) == case
    assert case_of(parse_study(study_text(title="x", case=case), name="again")) == case
    assert open_network(tmp_path).packages == case.packages


def test_what_is_pinned_decides_the_case(tmp_path: Path) -> None:
    text = f"""\
packages: ["one==1.0 --hash=sha256:{A}"]
cases:
  common:
  other: {{packages: ["one==1.0 --hash=sha256:{B}"]}}
  none: {{packages: }}
"""
    study = read(text, tmp_path)
    bare = read("", tmp_path)
    assert case_of(study, "none").digest == case_of(bare).digest
    assert len({case_of(study, name).digest for name in study.cases}) == 3
    changes = case_changes(case_of(study, "common"), case_of(study, "none"))
    assert [change.path.partition("[")[0] for change in changes] == ["packages"]


def test_a_grid_may_vary_them(tmp_path: Path) -> None:
    text = f"""\
grid: {{version: ["1.0", "2.0"]}}
packages: ["one==$<version> --hash=sha256:{A}"]
"""
    study = read(text, tmp_path)
    assert [planned.case.packages[0].requirement for planned in study.cases.values()] == [
        "one==1.0",
        "one==2.0",
    ]


@pytest.mark.parametrize(
    ("line", "place", "words"),
    [
        ("one", "5:5: packages[0]", "names no one version"),
        (f"one>=1 --hash=sha256:{A}", "5:5: packages[0]", "names no one version"),
        (f"one==1.* --hash=sha256:{A}", "5:5: packages[0]", "several versions"),
        ("one==1.0", "5:5: packages[0]", "has no hash"),
        ("one==1.0 --hash=md5:12", "5:5: packages[0]", "no sha256:DIGEST"),
        (f"one @ https://x.org/one.whl --hash=sha256:{A}", "5:5: packages[0]", "no one version"),
        ("--index-url https://x.org/", "5:5: packages[0]", "an option of pip"),
        ("./one.whl", "5:5: packages[0]", "is not NAME==VERSION"),
    ],
)
def test_what_is_not_pinned_is_refused(line: str, place: str, words: str, tmp_path: Path) -> None:
    said = wrong(f"packages:\n  - {line!r}\n", tmp_path)
    assert said.startswith(f"{place}: ")
    assert words in said


def test_a_wrong_lock_file_is_reported_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text(f"{LOCK}\nthree\n")
    assert wrong("packages: lock\n", tmp_path).startswith("4:11: packages: lock, line 9: 'three'")
    (tmp_path / "lock").write_text(f"{LOCK}one==1.1 --hash=sha256:{A}\n")
    assert "one==1.0 is named before" in wrong("packages: lock\n", tmp_path)
    (tmp_path / "lock").write_text("# nothing\n")
    assert "lock names no package" in wrong("packages: lock\n", tmp_path)
    (tmp_path / "lock").write_bytes(b"\xff")
    assert "not text in UTF-8" in wrong("packages: lock\n", tmp_path)
    assert "no such file" in wrong("packages: gone\n", tmp_path)
    assert "outside of the study's folder" in wrong("packages: ../lock\n", tmp_path)
