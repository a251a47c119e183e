"""The examples in Go and Rust: their own tests, where their tools are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
# Where they are installed to, if not on the path of whoever runs the tests.
PLACES = ("/usr/local/go/bin", str(Path.home() / ".cargo/bin"))


def check(argv: list[str], folder: str, **environment: str) -> None:
    """Run the tests of an example."""
    path = os.pathsep.join([os.environ.get("PATH", ""), *PLACES])
    if shutil.which(argv[0], path=path) is None:
        pytest.skip(f"{argv[0]} is not installed")
    program = Path(sys.executable).with_name("longfat")
    done = subprocess.run(
        argv,
        cwd=HERE / folder,
        env={**os.environ, "PATH": path, "LONGFAT": str(program), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_go() -> None:
    check(["go", "test", "-count", "1", "./..."], "go", GOTOOLCHAIN="local", GOFLAGS="-mod=mod")


def test_rust(tmp_path: Path) -> None:
    check(
        ["cargo", "test", "--offline", "--", "--test-threads", "1"],
        "rust",
        CARGO_TARGET_DIR=str(tmp_path),
    )
