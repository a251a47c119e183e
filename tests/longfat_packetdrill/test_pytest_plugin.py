"""Packetdrill scripts as tests of pytest, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def pytest_in(folder: Path, *arguments: str) -> str:
    """Run pytest in a folder without the options of the one that runs this; return its output."""
    environment = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
    argv = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments]
    done = subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def test_scripts_are_tests_with_the_option(tmp_path: Path) -> None:
    good = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n"
    (tmp_path / "good.pkt").write_text(good)
    (tmp_path / "bad.pkt").write_text(good + "+0 close(4) = 0\n")
    (tmp_path / "wrong.pkt").write_text(good + "+0 clos(3) = 0\n")
    assert "no tests ran" in pytest_in(tmp_path)
    printed = pytest_in(tmp_path, "--longfat-packetdrill")
    assert "2 failed, 1 passed" in printed
    assert "bad.pkt:2:1: descriptor 4 is not open" in printed
    assert "wrong.pkt:2:4: there is no system call clos(); did you mean 'close'?" in printed
