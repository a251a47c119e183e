"""The source labs, typed word by word into real terminals at a person's speed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.labs.typed import mismatches, read_lab, shortened, student_at


def _check(lab: dict[str, Any], cwd: Path) -> None:
    with student_at(lab, cwd) as student:
        done = student.do(lab["steps"])
    assert mismatches(done) == []


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_figures_are_those_of_the_source(tmp_path: Path) -> None:
    _check(read_lab("lab08"), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_figures_of_a_shortened_lab_are_those_of_the_source(tmp_path: Path) -> None:
    _check(shortened(read_lab("lab16")), tmp_path)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("lab", ["lab09", "lab11", "lab16"])
def test_figures_of_long_labs_are_those_of_the_source(lab: str, tmp_path: Path) -> None:
    _check(read_lab(lab), tmp_path)
