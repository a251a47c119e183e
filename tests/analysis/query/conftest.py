"""Run directories for the catalog: real ones, and many made of one by changing its manifest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longfat.analysis.query import row_cache
from tests.paths import TESTS
from tests.resealed import fitting

SEEDED = TESTS / "data" / "runs" / "seeded"
BASE = json.loads((SEEDED / "clean-seed1" / "manifest.json").read_text(encoding="utf-8"))

MakeRun = Callable[..., Path]


def write_run(folder: Path, **changes: Any) -> Path:
    """Write a run directory with a manifest alone: a real one, with other values."""
    folder.mkdir(parents=True, exist_ok=True)
    seed = changes.get("seed", BASE["seed"])
    manifest = {**BASE, "case": {**BASE["case"], "seed": seed}, **changes}
    partial = folder / ".manifest"
    partial.write_text(json.dumps(fitting(manifest)), encoding="utf-8")
    partial.replace(folder / "manifest.json")
    return folder


@pytest.fixture
def all_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take stamps of files that are just written for good, as if two seconds had passed."""
    monkeypatch.setattr(row_cache, "YOUNG_S", -3600.0)


@pytest.fixture
def seeded(tmp_path: Path) -> Path:
    """Real runs of two cases, six in all, in a folder that may be written to."""
    shutil.copytree(SEEDED, tmp_path / "runs" / "seeded")
    return tmp_path / "runs"
