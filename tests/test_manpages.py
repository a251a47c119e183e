"""Manual pages: each command has one, and troff reads it without a complaint."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from longfat.cli.main import command_modules
from tools import manpages


def test_each_command_has_a_page() -> None:
    pages = manpages.pages()
    assert {"longfat.1", *(f"longfat-{name}.1" for name in command_modules())} <= pages.keys()
    assert "longfat-kernel-build.1" in pages
    for name, text in pages.items():
        for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXIT STATUS"):
            assert f"\n.SH {section}\n" in text, name
        assert "\b" not in text, name


def test_options_and_examples() -> None:
    text = manpages.pages()["longfat-explain.1"]
    assert ".B \\-\\-json\nPrint one JSON object." in text
    assert ".nf\nlongfat explain runs/lab08/default\\-seed1 bulk.receiver\n.fi" in text


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff on this host")
def test_troff_reads_the_pages(tmp_path: Path) -> None:
    assert manpages.main([str(tmp_path)]) == 0
    command = ["groff", "-man", "-Tutf8", "-ww", "-z", *sorted(map(str, tmp_path.rglob("*.1")))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_usage() -> None:
    assert manpages.main(["a", "b"]) == 2
