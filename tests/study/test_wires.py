"""What links do is what queueing theory and arithmetic say."""

from __future__ import annotations

from pathlib import Path

import pytest

from longfat.common import resources
from tests.command import longfat

STUDY = resources.folder("studies") / "wires"


@pytest.mark.slow
def test_its_claims_hold(tmp_path: Path) -> None:
    done = longfat("run", str(STUDY), "--no-report", "--seeds", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
