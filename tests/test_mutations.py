"""A few hundred changes of each kind of data; `tests.mutations` does more."""

from __future__ import annotations

import pytest

from tests.mutations import KINDS, run_kind

pytestmark = pytest.mark.slow

# What takes some milliseconds each; a script takes a machine.
COUNTS = {
    "script": 10,
    "study": 60,
    "forged manifest": 60,
    "queue samples": 100,
    "tcp samples": 100,
}


@pytest.mark.parametrize("kind", KINDS)
def test_changed_data_is_refused_or_right(kind: str) -> None:
    counted = run_kind(kind, count=COUNTS.get(kind, 200), seed=0)
    assert not counted.findings
    # Both come, or nothing was tried.
    assert counted.refused
