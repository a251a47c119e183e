"""Results in a cache that others can write do not decide about points."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from longfat.execution.runs.run import MANIFEST
from tests.command import longfat
from tests.execution.cache.test_ownership import private
from tests.longfat_class.analysis.marked_lab import hand_in, put_lab
from tests.resealed import fitting

__all__ = ["private"]


def forge(cache: Path) -> int:
    """Write other figures, and checksums that fit them, into all results of a cache."""
    count = 0
    for path in cache.rglob(MANIFEST):
        data = json.loads(path.read_text())
        name = "zqbulkflow.receiver_bps"
        if name in data["metrics"]:
            # The key's, above all: next to it, what is slow is fast.
            data["metrics"][name] *= 0.001 if data["metrics"][name] > 5e6 else 1
            path.write_text(json.dumps(fitting(data), indent=2, sort_keys=True) + "\n")
            count += 1
    return count


@pytest.mark.timeout(300)
def test_grading_uses_no_cache_that_others_can_write(
    tmp_path: Path,
    private: Path,
) -> None:
    put_lab(tmp_path / "lab")
    hand_in(tmp_path / "alice", "a rate that is another")

    def graded(*more: str) -> tuple[dict[str, float], str]:
        done = longfat(
            *("grade", "alice", "--against", "lab", "--json", "--seed", "3", *more),
            cwd=tmp_path,
            LONGFAT_RESULT_CACHE=str(private),
        )
        assert done.returncode == 0, done.stderr
        (one,) = json.loads(done.stdout)["submissions"]
        return {each["exercise"]: each["points"] for each in one["exercises"]}, done.stderr

    honest, warned = graded()
    assert honest["own_works"] == 0
    assert "is not used" not in warned
    assert forge(private) >= 2
    private.chmod(0o777)
    points, warned = graded()
    assert points == honest
    assert f"the result cache {private} is not used" in warned
    assert "chmod go-w" in warned
    # What the user could have forged alone counts: it is the instructor.
    private.chmod(0o700)
    assert graded()[0]["own_works"] == 1
