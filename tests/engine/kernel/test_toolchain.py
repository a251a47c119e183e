from __future__ import annotations

import platform
from pathlib import Path

import pytest

from longfat.engine.kernel import toolchain
from longfat.errors import HostError


def test_this_host_can_build() -> None:
    toolchain.check()


def test_the_compiler_and_the_linker_tell_their_versions() -> None:
    gcc, ld = toolchain.lines()
    assert gcc.startswith("gcc ")
    assert "ld" in ld


def test_missing_programs_are_named_with_the_command_that_mends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bc", "gcc", "ld", "make", "patch", "tar"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="needs bison, flex, xz") as caught:
        toolchain.check()
    assert caught.value.hint == "sudo apt-get install bison flex xz-utils"


def test_another_processor_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(HostError, match="this is aarch64"):
        toolchain.check()


def test_nothing_of_the_callers_reaches_the_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "CFLAGS",
        "MAKEFLAGS",
        "KBUILD_BUILD_USER",
        "LANG",
        "KCFLAGS",
        "ARCH",
        "CCACHE_DIR",
    ):
        monkeypatch.setenv(name, "theirs")
    environment = toolchain.environment(temporary=tmp_path, objects=tmp_path)
    assert "theirs" not in environment.values()
    assert environment["LC_ALL"] == "C"
