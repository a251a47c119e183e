"""What failed in several workers is run again by `pytest --last-failed`, as `make test` does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """\
import pytest
@pytest.mark.xdist_group("group")
@pytest.mark.parametrize("number", ["1@2", "3"])
def test_of_a_group(number): assert number == "3"
def test_alone(): assert 0
def test_good(): pass
"""


def test_tests_of_groups_are_repeated(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")

    def run(*options: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "tests.conftest", *options],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1, done.stderr
        return done.stdout.splitlines()[-1]

    assert run("-n", "2", "--dist", "loadgroup").startswith("2 failed, 2 passed")
    assert run("--last-failed").startswith("2 failed in")
