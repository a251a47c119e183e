"""Parameters of a grid that change together."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.study.read import parse_study
from tests.study.grid.test_grid import lines, small
from tests.study.messages import error, read

GRID = "{[aqm, line, target]: [[drop-tail, pfifo, 0s], [codel, codel limit $<n>, 5ms]], n: [1, 2]}"


def test_a_row_is_one_step(tmp_path: Path) -> None:
    study = small(tmp_path, GRID, "echo $<line> $<n> $<target>")
    assert list(study.cases) == ["drop-tail-n1", "drop-tail-n2", "codel-n1", "codel-n2"]
    assert lines(study)[1:3] == ["echo pfifo 2 0s", "echo codel limit 1 1 5ms"]
    assert study.grid is not None
    assert study.grid.product == 4
    assert [one.together for one in study.grid.parameters] == [
        ("line", "target"),
        ("aqm", "target"),
        ("aqm", "line"),
        (),
    ]
    settings = study.cases["codel-n2"].parameters
    assert [one.text for one in settings.values()] == ["codel", "codel limit 2", "5ms", "2"]


def test_as_many_values_name_a_case_as_tell_the_rows_apart(tmp_path: Path) -> None:
    grid = "{[aqm, target, line]: [[codel, 5ms, a], [codel, 9ms, b], [pie, 5ms, b]]}"
    assert list(small(tmp_path, grid, "$<line> $<target>").cases) == [
        *("codel-5ms", "codel-9ms", "pie-5ms")
    ]


def test_rows_may_be_a_list_by_name_and_be_filtered(tmp_path: Path) -> None:
    more = "lists: {pairs: [[a, 1], [b-c, 2], [d, 3]]}\nwhere: [x != b-c, y * 2 < 7]\n"
    study = small(tmp_path, "{[x, y]: pairs, n: [1, 2]}", "$<y> $<n>", more=more)
    assert list(study.cases) == ["a-n1", "a-n2", "d-n1", "d-n2"]


def test_a_text_of_a_list_may_hold_expressions(tmp_path: Path) -> None:
    study = small(
        tmp_path, "{line: [a $<n + k2>, b], n: [1, 2]}", "$<line> $<n>", more="let: {k2: n * 10}\n"
    )
    assert lines(study) == ["a 11 1", "a 22 2", "b 1", "b 2"]
    assert next(iter(study.cases)) == "a-n-k2-n1"


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        (
            "[codel, codel limit $<n>, 5ms]",
            "[codel, x]",
            "2:54: grid.[aqm, line, target][1]",
            "2 v",
        ),
        ("[codel, codel limit $<n>, 5ms]", "codel", "2:54: grid.[aqm, line, target][1]", "a row ("),
        (
            "5ms",
            "5mbit",
            "2:80: grid.[aqm, line, target][1][2]",
            "'0s' is a time and '5mbit' is a rate",
        ),
        (
            "[codel, codel limit $<n>, 5ms]",
            "[drop-tail, pfifo, 0s]",
            "2:54: grid.[aqm, line, target][1]",
            "is here twice",
        ),
        ("$<n>,", "$<m>,", "2:76: grid.[aqm, line, target][1][1]", "there is no parameter 'm'"),
        (
            "$<n>,",
            "$<line>,",
            "2:29: grid.[aqm, line, target]",
            "derived from itself: line -> line",
        ),
        ("target]:", "aqm]:", "2:8: grid.[aqm, line, aqm]", "the name 'aqm' is taken already"),
        ("[aqm", "[min", "2:8: grid.[min, line, target]", "a word of the expressions"),
        ("[[drop-tail, pfifo, 0s], [codel, codel limit $<n>, 5ms]]", "[]", None, "list is empty"),
        (
            "[[drop-tail, pfifo, 0s], [codel, codel limit $<n>, 5ms]]",
            "rows",
            None,
            "no list 'rows'",
        ),
    ],
)
def test_what_is_refused(
    tmp_path: Path, old: str, new: str, place: str | None, message: str
) -> None:
    text = f"""\
title: x
grid: {GRID.replace(old, new)}
network: {{hosts: {{h1: 10.0.0.1/8, h2: 10.0.0.2/8}}, links: [[h1, h2]]}}
setup: [{{h1: "echo $<line> $<n> $<target>"}}]
"""
    assert GRID.count(old) == 1
    where, said = error(text, tmp_path)
    assert message in said
    if place is not None:
        assert where == place


def test_each_column_but_the_first_is_of_use(tmp_path: Path) -> None:
    text = """\
title: x
grid: {[aqm, line, target]: [[a, b, 1ms], [c, d, 2ms]]}
network: {hosts: {h1: 10.0.0.1/8}}
setup: [{h1: "echo $<line>"}]
"""
    _, said = error(text, tmp_path)
    assert "'target' is used nowhere" in said
    _, said = error(text.replace("$<line>", "x"), tmp_path)
    assert "the parameters aqm, line, target are used nowhere" in said
    ok = text.replace("[{h1", "[{h1: 'echo $<target>'}, {h1")
    assert list(read(ok, tmp_path).cases) == ["a", "c"]
    assert list(parse_study(ok, name="x").cases) == ["a", "c"]
