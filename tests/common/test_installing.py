"""Hints name the command of the host's distribution, or Debian's names where that is another."""

from pathlib import Path

import pytest

from longfat.common import installing
from longfat.common.installing import install_command


def test_command_is_of_apt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "apt-get").touch()
    monkeypatch.setattr(installing, "_APT_GET", tmp_path / "apt-get")
    assert install_command("bc", "flex") == "sudo apt-get install bc flex"


def test_without_apt_packages_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "_APT_GET", tmp_path / "apt-get")
    assert install_command("bc") == "install by the package manager: bc (Debian's names)"
