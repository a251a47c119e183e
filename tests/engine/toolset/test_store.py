"""Toolsets in the cache: their files are read once, and again when one was changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from longfat.common.checksum import folder_damage, write_sums
from longfat.engine.toolset import read, store


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small toolset, whose files are older than the clock's resolution."""
    folder = tmp_path / "toolsets" / "a"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "tc").write_text("x")
    (folder / "manifest.json").write_text('{"digest": "12", "packages": {"iproute2": "6.1"}}')
    write_sums(folder)
    now_s = time.time()
    monkeypatch.setattr(time, "time_ns", lambda: int((now_s + 10) * 1e9))
    return folder


def count_readings(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the folders whose files are read from now on."""
    readings: list[Path] = []

    def damage(folder: Path) -> str:
        readings.append(folder)
        return folder_damage(folder)

    monkeypatch.setattr(store, "folder_damage", damage)
    return readings


def test_its_files_are_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readings = count_readings(monkeypatch)
    first, second = read(folder), read(folder)
    assert readings == [folder]
    assert first == second
    assert first is not None
    assert (first.digest, first.has("tc"), first.has("perl")) == ("12", True, False)
    # Once a day, nevertheless: a disk may lose bytes.
    note = folder.with_name("a.checked")
    os.utime(note, (0, 0))
    read(folder)
    assert readings == [folder, folder]


@pytest.mark.parametrize("change", ["write", "add", "remove", "replace"])
def test_a_change_is_found(folder: Path, change: str) -> None:
    assert read(folder) is not None
    file = folder / "bin" / "tc"
    about = file.stat()
    if change == "write":
        file.write_text("y")
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    elif change == "add":
        (folder / "bin" / "ip").write_text("")
    elif change == "remove":
        file.unlink()
    else:
        file.rename(folder / "old")
        file.write_text("y")
        (folder / "old").unlink()
    assert read(folder) is None


def test_a_cache_that_cannot_be_written_to_is_read_each_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(store, "write_whole", refuse)
    readings = count_readings(monkeypatch)
    assert read(folder) == read(folder)
    assert readings == [folder, folder]
