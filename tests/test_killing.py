"""Nothing is left behind by kills at random moments; the same by the thousand: `tests.killing`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.paths import REPOSITORY

pytestmark = pytest.mark.slow

# Those that start quickly; 8 kills take about 10 s where nobody else computes.
_CHEAP = ("run", "run, pool", "exec", "network")


@pytest.mark.timeout(1200)  # it is killed by the clock, and a busy host is slow
@pytest.mark.parametrize(("seed", "count"), [(1, 8), (2, 8)])
def test_nothing_is_left_behind(seed: int, count: int) -> None:
    only = [argument for name in _CHEAP for argument in ("--only", name)]
    command = [sys.executable, "-m", "tests.killing", "--count", str(count), "--seed", str(seed)]
    done = subprocess.run(
        [*command, *only],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(f"{count} kills, 0 leftovers\n")
