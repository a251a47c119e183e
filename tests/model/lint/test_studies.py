"""The lint warns of nothing in the labs and studies but of what they show on purpose."""

from __future__ import annotations

import itertools

from longfat.model.lint import lint_case
from longfat.study.read import read_study
from tests.paths import REPOSITORY

ON_PURPOSE = {
    ("lab24", "`net.ipv4.tcp_window_scaling=0`"),
    ("lab01", "`via 10.0.1.254`"),
    ("lab01", "`via 10.0.2.254`"),
}
_MAX_CASES = 20


def test_labs_and_studies() -> None:
    found = set()
    files = [*REPOSITORY.glob("labs/**/study.yaml"), *REPOSITORY.glob("studies/**/study.yaml")]
    assert len(files) > 50
    for file in files:
        if file.parent.parent.name == "pitfalls":  # they show mistakes
            continue
        for planned in itertools.islice(read_study(file).cases.values(), _MAX_CASES):
            found |= {
                (file.parent.name, warning.text.partition(":")[0])
                for warning in lint_case(planned.case)
            }
    assert found == ON_PURPOSE
