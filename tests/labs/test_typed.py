"""The source labs, typed word by word into real terminals at a person's speed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labs.typed import mismatches, student_at


@pytest.mark.parametrize(
    "lab",
    [
        "lab08",
        pytest.param("lab09", marks=pytest.mark.slow),
        pytest.param("lab11", marks=pytest.mark.slow),
        pytest.param("lab16", marks=pytest.mark.slow),
    ],
)
@pytest.mark.timeout(7200)
def test_figures_are_those_of_the_source(lab: str, tmp_path: Path) -> None:
    with student_at(lab, tmp_path) as (student, steps):
        done = student.do(steps)
    assert mismatches(done) == []
