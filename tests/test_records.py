"""What is kept of earlier test runs."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.paths import REPOSITORY
from tests.records import SLOW_TESTS, plain_name, slower_tests

TEST = """\
import os
import pathlib
import pytest

@pytest.mark.parametrize("number", range(3))
def test_it(number):
    assert number or pathlib.Path("repeated").exists()
"""
CONFTEST = """\
import pathlib
from tests.records import Records

def pytest_configure(config):
    config.pluginmanager.register(Records(pathlib.Path("build"), repeats=config.option.lf))
"""


def test_a_slower_machine_is_no_slower_test() -> None:
    before_s = {f"test{number}": 1.0 + number for number in range(30)}
    now_s = {name: 3 * seconds for name, seconds in before_s.items()}
    assert slower_tests(before_s, now_s) == {}
    now_s["test5"] += 10
    now_s["test7"] += 5
    now_s["test0"] += 1  # too little to say anything
    assert list(slower_tests(before_s, now_s)) == ["test5", "test7"]
    assert slower_tests(before_s, now_s)["test5"] == (18.0, 28.0)


def test_new_tests_are_not_compared() -> None:
    before_s = {f"test{number}": 1.0 for number in range(30)}
    assert slower_tests(before_s, {"new": 100.0, **before_s}) == {}


def test_the_group_is_no_part_of_a_name() -> None:
    assert plain_name("tests/test_a.py::test_it[a@b]@cluster") == "tests/test_a.py::test_it[a@b]"


def test_repeated_tests_are_counted(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TEST)
    pytester.makeconftest(CONFTEST)
    counts = Path(pytester.path / "build" / "repeated.json")
    for number in range(1, 4):
        (pytester.path / "repeated").unlink(missing_ok=True)
        pytester.runpytest().assert_outcomes(passed=2, failed=1)
        (pytester.path / "repeated").touch()
        shown = pytester.runpytest("--last-failed").stdout.str()
        assert "failed at first and passed when repeated: 1" in shown
        assert ("fix or remove it" in shown) == (number > 2)
        assert list(json.loads(counts.read_text()).values()) == [number]
    durations = json.loads((pytester.path / "build" / "durations.json").read_text())
    assert len(durations) == 3


def test_damaged_records_are_begun_anew(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_it(): pass")
    pytester.makeconftest(CONFTEST)
    (pytester.path / "build").mkdir()
    (pytester.path / "build" / "durations.json").write_text("[")
    pytester.runpytest().assert_outcomes(passed=1)
    assert len(json.loads((pytester.path / "build" / "durations.json").read_text())) == 1


def test_slow_tests_exist() -> None:
    missing = []
    for name in sorted(SLOW_TESTS):
        file, _, function = name.partition("::")
        path = REPOSITORY / file
        tree = ast.parse(path.read_text(encoding="utf-8") if path.is_file() else "")
        functions = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        if function not in functions:
            missing.append(name)
    assert missing == []
