"""The first example of docs/study-format.md does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command import longfat
from tests.paths import REPOSITORY


@pytest.mark.slow
def test_its_claims_hold(tmp_path: Path) -> None:
    text = (REPOSITORY / "docs/study-format.md").read_text(encoding="utf-8")
    example = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert example is not None
    (tmp_path / "study.yaml").write_text(example[1].replace("seeds: 8", "seeds: 1"))
    done = longfat("run", "study.yaml", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("holds") == 2
