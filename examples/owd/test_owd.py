"""A plug-in as its users have it: installed, and then known everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Install the package, and return the environment in which it is found."""
    folder = tmp_path_factory.mktemp("site")
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(HERE)],
        check=True,
    )
    return {**os.environ, "PYTHONPATH": str(folder)}


def longfat(*arguments: str, environment: dict[str, str], cwd: Path) -> str:
    program = Path(sys.executable).with_name("longfat")
    done = subprocess.run(
        [program, *arguments], env=environment, cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_lab_runs(environment: dict[str, str], tmp_path: Path) -> None:
    assert "owd" in longfat("labs", environment=environment, cwd=tmp_path)
    shown = longfat("run", "owd", "--json", environment=environment, cwd=tmp_path)
    metrics = json.loads(shown)["cases"]["default"]["metrics"]
    assert metrics["there.received"] == metrics["back.received"] == 50
    assert 0.010 < metrics["there.min_s"] < 0.011
    assert 0.070 < metrics["back.min_s"] < 0.071
    manifest = json.loads(next(tmp_path.rglob("manifest.json")).read_text())
    assert "longfat_owd" in manifest["tools"]


def test_schema_and_messages_know_it(environment: dict[str, str], tmp_path: Path) -> None:
    schema = json.loads(longfat("schema", environment=environment, cwd=tmp_path))
    assert any("owd" in one.get("properties", {}) for one in schema["$defs"]["flow"]["anyOf"])
