from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from longfat.engine.kernel import find
from longfat.engine.kernel.launcher import put_launcher
from longfat.errors import HostError


def test_it_is_that_of_a_kernel_that_is_built_here(tmp_path: Path) -> None:
    put_launcher(tmp_path / "confine", series="6.1")
    assert (tmp_path / "confine").read_bytes() == find("6.1").launcher.read_bytes()
    assert os.access(tmp_path / "confine", os.X_OK)


def test_it_is_compiled_where_no_kernel_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    put_launcher(tmp_path / "confine", series="6.1")
    # A filter of one instruction, which allows every call.
    options = ["--set", "A=1", "--execute", "/", "--filter", "060000000000ff7f"]
    command = [str(tmp_path / "confine"), *options, "--", "/usr/bin/env"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "A=1\n")


def test_without_kernel_and_compiler_it_says_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGFAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="no compiler") as caught:
        put_launcher(tmp_path / "confine", series="6.1")
    assert "longfat kernel build 6.1" in caught.value.hint
    assert not (tmp_path / "confine").exists()
